"""A gate in front of an agent: it is woken when a text changed, and only then.

The host runs a job's script first; when the last line that prints is `{"wakeAgent": false}` no model is
called. What the script prints otherwise is put in the prompt. The host remembers nothing between two runs.
"""

from __future__ import annotations

import json
import os
import signal
import stat
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from .._common.redact import Redactor
from ..core.moment import span
from ..errors import OpsError
from .gate_state import BASELINE, CHANGED, FAILED, REMEMBERED, SAME, Gate
from .gate_text import Options, difference, normalised

QUIET = '{"wakeAgent": false}'
LARGEST = 2_000_000  # bytes of a text that are read
PATIENCE = 1.0  # seconds that a pipe may stay open when the command has ended
FAILURE_AGAIN = 86_400.0  # seconds until the same failure wakes the agent again
MARKERS = {"[SILENT]", "SILENT", "NO_REPLY", "NO REPLY"}


@dataclass(frozen=True)
class Source:
    """What a run of the source gave: a text, or why there is none."""

    text: str = ""
    failure: str | None = None


@dataclass(frozen=True)
class Verdict:
    """What is printed ("" for nothing but the quiet line), and what the gate remembers then."""

    outcome: str
    wake: bool
    text: str
    gate: Gate

    def printed(self) -> str:
        """The whole standard output of the run."""
        return self.text.rstrip("\n") + "\n" if self.wake else QUIET + "\n"


def decide(
    gate: Gate, source: Source, options: Options, now: float, *, quiet_failure: bool = False
) -> Verdict:
    """Whether the agent is woken, with what text; the source is redacted here, before anything is kept."""
    redact = Redactor().text
    if source.failure is not None:
        return _failed(gate, redact(source.failure), now, quiet_failure)
    text = _clean(redact(source.text))
    try:
        compared = normalised(text, options)
    except OpsError as error:
        return _failed(gate, redact(str(error)), now, quiet_failure)
    outcome = BASELINE if gate.compared is None else SAME if compared == gate.compared else CHANGED
    outcomes = (*gate.outcomes, outcome)[-REMEMBERED:]
    later = replace(gate, ran_at=now, outcomes=outcomes, failure=None, failure_told_at=None)
    if outcome == SAME:
        return Verdict(outcome, False, "", later)
    later = replace(later, text=text, compared=compared, changed_at=now)
    if outcome == BASELINE:
        return Verdict(outcome, False, "", later)
    return Verdict(outcome, True, _told(gate, later, options, now), later)


def run_command(words: Sequence[str], timeout: float) -> Source:
    """Run a command without a shell, in a group of its own that is ended at the time limit.

    A failure is not "no change": exit code, time limit, and what cannot be started are told.
    """
    import subprocess

    try:
        process = subprocess.Popen(
            list(words),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        return Source(failure=f"{words[0]} could not be started: {getattr(error, 'strerror', None) or error}")
    out, err = _Pipe(process.stdout), _Pipe(process.stderr)
    try:
        code = process.wait(timeout)
        # What it left running may hold the pipes open; its own text is in them by then.
        _wait_for(out, err)
    except subprocess.TimeoutExpired:
        code = None
    finally:
        _end(process.pid)
        process.wait()
    _wait_for(out, err)
    said = _tail(err.content() or out.content())
    if out.size > LARGEST:
        return Source(failure=f"{words[0]} gave more than {LARGEST} bytes")
    if code is None:
        return Source(failure=f"{words[0]} did not end within {span(timeout)}{said}")
    if code != 0:
        return Source(failure=f"{words[0]} ended with exit code {code}{said}")
    return text_of(out.content(), words[0])


class _Pipe(threading.Thread):
    """Reads a pipe as it fills, keeps at most LARGEST bytes, and gives no less when it never ends."""

    def __init__(self, stream: IO[bytes] | None) -> None:
        super().__init__(daemon=True)
        self._stream = stream
        self._pieces: list[bytes] = []
        self.size = 0
        self.start()

    def run(self) -> None:
        with self._stream as stream:
            while piece := os.read(stream.fileno(), 65_536):
                if self.size <= LARGEST:
                    self._pieces.append(piece)
                self.size += len(piece)

    def content(self) -> bytes:
        return b"".join(list(self._pieces))


def read_file(path: Path) -> Source:
    """The text of a file; one that is not there, or no file (a pipe would never end), is a failure."""
    try:
        fd = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(fd, "rb") as file:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                return Source(failure=f"{path} is no regular file")
            return text_of(file.read(LARGEST + 1), str(path))
    except OSError as error:
        return Source(failure=f"{path}: {error.strerror or error}")


def text_of(raw: bytes, name: str) -> Source:
    """A text of bytes; one that is too large is a failure, not a cut text that never changes."""
    if len(raw) > LARGEST:
        return Source(failure=f"{name} gave more than {LARGEST} bytes")
    return Source(raw.decode("utf-8-sig", "replace"))


def _failed(gate: Gate, failure: str, now: float, quiet: bool) -> Verdict:
    outcomes = (*gate.outcomes, FAILED)[-REMEMBERED:]
    told_at = gate.failure_told_at
    known = gate.failure == failure and told_at is not None and 0 <= now - told_at < FAILURE_AGAIN
    later = replace(gate, ran_at=now, outcomes=outcomes, failure=failure)
    if quiet or known:
        return Verdict(FAILED, False, "", later)
    text = f"{gate.name} cannot tell whether anything changed: {_clean(failure)}"
    return Verdict(FAILED, True, _guarded(text[:2000]), replace(later, failure_told_at=now))


def _told(before: Gate, after: Gate, options: Options, now: float) -> str:
    old, new = (before.text or "").splitlines(), (after.text or "").splitlines()
    same = "" if before.changed_at is None else f" after {span(max(0.0, now - before.changed_at))}"
    head = f"{after.name} changed{same}:"
    body = difference(old, new) if options.as_diff else new
    lines = [head, *_bounded(body, options.limit - len(head))]
    if after.always_changing:
        lines.append(
            f"(It changed in each of the last {REMEMBERED} runs, so the gate saves nothing:"
            " leave out what always differs with --skip-lines REGEX or --round DIGITS.)"
        )
    return _guarded("\n".join(lines))


def _bounded(lines: list[str], limit: int) -> list[str]:
    kept, size = [], 0
    for number, line in enumerate(lines):
        size += len(line) + 1
        if size > limit:
            left = f"({len(lines) - number} more lines)"
            return [*kept, left] if kept else [line[: max(0, limit)], left]
        kept.append(line)
    return kept


def _guarded(text: str) -> str:
    """A text whose last line the host does not take for its gate or for a sign of silence."""
    last = next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")
    try:
        is_gate = isinstance(json.loads(last), dict)
    except (ValueError, RecursionError):
        is_gate = False
    return f"{text}\n(end)" if is_gate or last.upper() in MARKERS else text


def _clean(text: str) -> str:
    """Text without what a terminal or a message could take for a command; lines and tabs stay."""
    return "".join(
        character if character.isprintable() or character in "\n\t" else ascii(character)[1:-1]
        for character in text.replace("\r\n", "\n")
    )


def _tail(raw: bytes) -> str:
    lines = [line.strip() for line in raw[-4000:].decode("utf-8", "replace").splitlines() if line.strip()]
    return f": {' | '.join(lines[-3:])[-500:]}" if lines else ""


def _wait_for(*pipes: _Pipe) -> None:
    until = time.monotonic() + PATIENCE
    for pipe in pipes:
        pipe.join(max(0.0, until - time.monotonic()))


def _end(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


def script_name(name: str) -> str:
    """The file of a gate in `scripts/`."""
    return f"ops-gate-{name}.py"


def write_script(home: Path, name: str, words: Sequence[str]) -> tuple[Path, bool]:
    """Write the script that runs `hermes ops gate WORDS` for a job; returns it and whether it changed."""
    from .._common.files import read_regular, write_atomic
    from ..launcher import is_ours, launcher_text

    path = home / "scripts" / script_name(name)
    text = launcher_text(home, ["gate", *words])
    try:
        there = read_regular(path).decode("utf-8", "replace")
    except FileNotFoundError:
        there = None
    if there == text:
        return path, False
    if there is not None and not is_ours(there):
        raise OpsError(f"{path} is not ours: move it away, or take another name")
    write_atomic(path, text)
    return path, True
