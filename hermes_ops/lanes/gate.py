"""The gate: one command, run on a clean checkout of exactly one commit, and what became of it on record."""

from __future__ import annotations

import os
import re
import signal
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import IO

from .._common.files import write_atomic
from ..core.incident_text import redacted
from ..errors import OpsError
from . import evidence
from .checkout import Run, changed_files, check_out, run
from .evidence import Gate
from .register import Command, Lane, Settings, worktrees_folder
from .repository import Repository

HEAD_BYTES = 300_000
TAIL_BYTES = 700_000
TAIL_LINES = 12
_READ_GRACE = 1.0

# What a gate is given of our environment. Keys, tokens and whatever belongs to a session are not among it.
_NAMES = """
    PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TMPDIR TERM COLUMNS CI
    XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_RUNTIME_DIR SSL_CERT_FILE SSL_CERT_DIR LD_LIBRARY_PATH
    VIRTUAL_ENV CONDA_PREFIX PYENV_ROOT JAVA_HOME GOPATH GOROOT CARGO_HOME RUSTUP_HOME NVM_DIR DOCKER_HOST
"""
_KEPT = frozenset(_NAMES.split())


@dataclass(frozen=True)
class Gated:
    """A record, and the last lines of its log, redacted."""

    record: Gate
    tail: tuple[str, ...]
    reused: bool = False


@dataclass(frozen=True)
class _Ran:
    exit: int | None
    outcome: str
    duration: float
    output: str


def gate(
    repository: Repository, settings: Settings, lane: Lane, commit: str, base: str, subject: str
) -> Gated:
    """Run the gate on a commit and record it; the checkout is gone afterwards.

    Raises OpsError when there is no gate, or the commit cannot be checked out: then nothing is recorded.
    """
    command = command_in(settings)
    with run(repository, worktrees_folder(repository, settings)) as here:
        git = check_out(repository, commit, here.checkout, [f"refs/heads/{settings.target}"])
        tree = git.tree(commit) or ""
        before = changed_files(git)  # line endings that were committed unlike the attributes say
        variables = environment(settings.keep_env) | {"HERMES_LANE": lane.name, "HERMES_LANE_COMMIT": commit}
        ran = _execute(command, here, variables, settings.timeout)
        try:
            after = changed_files(git) if git.commit("HEAD") == commit else None
        except OpsError:
            after = None
        end = f"exit {ran.exit}" if ran.exit is not None else ran.outcome
        text = redacted(f"$ {command.text}\n{ran.output.rstrip()}\n[{end} after {ran.duration:.1f} s]\n")
        name = f"{here.id}.log"
        log = repository.state / evidence.LOGS / name
        write_atomic(log, text.encode("utf-8", "replace"))
        record = Gate(
            id=here.id,
            lane=lane.name,
            subject=subject,
            commit=commit,
            tree=tree,
            base=base,
            command=redacted(command.text),
            command_hash=command.hash,
            exit=ran.exit,
            outcome=ran.outcome,
            duration=round(ran.duration, 3),
            changed=None if after is None else max(0, after - before),
            log=name,
            log_hash=evidence.log_hash(repository, name) or "",
            at=now(),
        )
        evidence.append(repository, record)
    return Gated(record, _tail(text))


def command_in(settings: Settings) -> Command:
    """The gate that was fixed. OpsError when there is none."""
    if settings.command is None:
        raise OpsError("no gate is set; `hermes ops lanes init --gate 'COMMAND' --target BRANCH` sets it")
    return settings.command


def green(repository: Repository, settings: Settings, commit: str) -> Gated | None:
    """The green record of exactly this commit and command, with its log as it was written; else None."""
    tree = repository.git.tree(commit) or ""
    found = evidence.read(repository).green(commit, tree, command_in(settings).hash)
    if found is None or evidence.log_hash(repository, found.log) != found.log_hash:
        return None
    return Gated(found, (), True)


def environment(keep: tuple[str, ...], variables: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The environment of a gate: a short list of names, and those asked for; git asks nobody in it."""
    kept = {name: value for name, value in variables.items() if name in _KEPT or name.startswith("LC_")}
    kept |= {name: variables[name] for name in keep if name in variables}
    return kept | {"GIT_TERMINAL_PROMPT": "0", "GIT_EDITOR": ":", "GIT_PAGER": "cat"}


def now() -> str:
    """The time of a record: UTC, to the second."""
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def _execute(command: Command, here: Run, variables: dict[str, str], timeout: float) -> _Ran:
    """Run it in a process group of its own, which ends with it, at the time limit, or when we are stopped."""
    import subprocess

    begun = time.monotonic()
    try:
        process = subprocess.Popen(
            command.line,
            cwd=here.checkout,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        return _Ran(None, evidence.UNSTARTED, time.monotonic() - begun, f"cannot be started: {why}")
    output = _Output(process.stdout)
    try:
        here.began(process.pid)
        try:
            code: int | None = process.wait(timeout)
        except subprocess.TimeoutExpired:
            code = None
    finally:
        _end(process.pid)
        process.wait()
    duration = time.monotonic() - begun
    output.thread.join(_READ_GRACE)
    outcome = evidence.TIMEOUT if code is None else evidence.GREEN if code == 0 else evidence.RED
    return _Ran(code, outcome, duration, output.text())


class _Output:
    """The beginning and the end of what a process says; what lies between is counted and dropped."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._head, self._tail, self._dropped = bytearray(), bytearray(), 0
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self) -> None:
        with self._stream:
            while chunk := os.read(self._stream.fileno(), 65_536):
                room = max(0, HEAD_BYTES - len(self._head))
                self._head += chunk[:room]
                self._tail += chunk[room:]
                if len(self._tail) > 2 * TAIL_BYTES:
                    self._dropped += len(self._tail) - TAIL_BYTES
                    del self._tail[:-TAIL_BYTES]

    def text(self) -> str:
        head, tail, dropped = bytes(self._head), bytes(self._tail), self._dropped
        if len(tail) > TAIL_BYTES:
            dropped += len(tail) - TAIL_BYTES
            tail = tail[-TAIL_BYTES:]
        if dropped:
            # Cut at line ends: half a secret at a cut would not be known for one.
            head = head[: head.rfind(b"\n") + 1]
            tail = tail[tail.find(b"\n") + 1 :]
            return f"{_decoded(head)}[... {dropped:,} bytes are left out ...]\n{_decoded(tail)}"
        return _decoded(head + tail)


def _decoded(content: bytes) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", content.decode("utf-8", "replace")).replace("\r\n", "\n")


def _tail(text: str) -> tuple[str, ...]:
    return tuple(line for line in text.splitlines()[-TAIL_LINES:] if line.strip())


def _end(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


def log_path(repository: Repository, record: Gate) -> Path:
    """Where the log of a record lies."""
    return repository.state / evidence.LOGS / record.log
