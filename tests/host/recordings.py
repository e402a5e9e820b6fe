"""What hermes_unroll made of the sessions of a home, compiled and replayed without the host's store.

state.db is moved away before a journal is compiled and back after the trace was replayed, so that
nothing in a trace can come from it. The trace runs in an interpreter without site-packages, without
the checkout and without an environment.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from hermes_unroll import journal
from hermes_unroll._common.redact import Redactor
from tests.host.hermes import HermesHome
from tests.host.installs import CHECKOUT
from tests.host.stored import sessions, stored_messages
from tests.unroll.hook_streams import as_stored

UNROLL = CHECKOUT / "hermes_unroll"
Finished = subprocess.CompletedProcess[str]


class CommandError(Exception):
    """A command that was expected to work did not; the message holds what it said."""


@dataclass(frozen=True)
class Recording:
    """One recorded session: its trace, the JSON object of its replay, and what the host stored."""

    home: Path
    session_id: str
    trace: Path
    result: dict[str, Any]

    @property
    def system_prompt(self) -> Any:
        """The replayed system message's content."""
        return next((m["content"] for m in self.result["messages"] if m["role"] == "system"), None)

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The replayed messages without the system message, in the form of `stored_messages`."""
        replayed = [as_stored(m) for m in self.result["messages"] if m["role"] != "system"]
        return self._redacted(replayed)

    @property
    def stored(self) -> list[dict[str, Any]]:
        """The host's active rows, redacted with the numbers of this session's journal."""
        return self._redacted(stored_messages(self.home, self.session_id))

    @property
    def stored_system_prompt(self) -> Any:
        """sessions.system_prompt, redacted likewise."""
        found = [row["system_prompt"] for row in sessions(self.home) if row["id"] == self.session_id]
        return self._redacted(found)[0]

    def steps(self, kind: str) -> list[dict[str, Any]]:
        """The replayed steps of one kind."""
        return [step for step in self.result["steps"] if step["kind"] == kind]

    @property
    def inexact(self) -> list[tuple[str, int | None, str]]:
        """What the trace says of itself: (what, index of the message, why)."""
        return [(note["what"], note.get("message"), note["why"]) for note in self.result["inexact"]]

    def _redacted(self, values: list[Any]) -> list[Any]:
        journal_of = journal.session_dir(self.home, self.session_id)
        numbers = self.home.parent / f"{journal_of.name}.secrets"
        if (journal_of / "secrets").exists():
            shutil.copyfile(journal_of / "secrets", numbers)
        redactor = Redactor(number=journal.SecretNumbers(numbers, journal.load_key(self.home)))
        redacted = [redactor.value(value) for value in values]
        numbers.unlink(missing_ok=True)
        assert redactor.failures == 0
        return redacted


def recordings(home: HermesHome) -> dict[str, Recording]:
    """Compile every journal of a home and replay every trace; session id -> Recording."""
    with without_state(home):
        return {found.session_id: found for found in map(partial(replayed, home), compile_all(home))}


def compile_all(home: HermesHome) -> list[Path]:
    """Compile every journal of a home with the commands of this checkout; the traces' paths."""
    found = json.loads(unroll(home, "compile", "--all", "--json").stdout)
    assert found["problems"] == []
    return [Path(trace) for trace in found["traces"]]


def replayed(home: HermesHome, trace: Path) -> Recording:
    """Run a trace and set it beside the home it was recorded in."""
    result = json.loads(run_trace(trace, home.root).stdout)
    return Recording(home.path, result["session_id"], trace, result)


def run_trace(trace: Path, directory: Path, *options: str) -> Finished:
    """Run a trace in a plain interpreter. CommandError unless it exits 0."""
    return _run([sys.executable, "-I", "-S", str(trace), *options], directory, {})


def unroll(home: HermesHome, *arguments: str) -> Finished:
    """`python -m hermes_unroll ARGUMENTS` from this checkout. CommandError unless it exits 0."""
    return _run([sys.executable, "-m", "hermes_unroll", *arguments], CHECKOUT, home.environment())


@contextmanager
def without_state(home: HermesHome) -> Iterator[None]:
    """Keep state.db where nothing of the home points to. No process may be using the home."""
    away = home.root / "away"
    away.mkdir()
    hidden = [path.rename(away / path.name) for path in home.path.glob("state.db*")]
    try:
        yield
        assert not list(home.path.glob("state.db*"))
    finally:
        for path in hidden:
            path.rename(home.path / path.name)
        away.rmdir()


def _run(command: Sequence[str], directory: Path, environment: dict[str, str]) -> Finished:
    options: dict[str, Any] = {"stdin": subprocess.DEVNULL, "capture_output": True, "timeout": 60}
    ended = subprocess.run(
        command, cwd=directory, env=environment, text=True, encoding="utf-8", errors="replace", **options
    )
    if ended.returncode != 0:
        raise CommandError(f"{list(command)} exited {ended.returncode}:\n{ended.stdout}\n{ended.stderr}")
    return ended
