"""Actions on jobs: proposed, applied through the host, read back, written down, undone.

Only the host changes its files: in its own process through `cron.jobs`, elsewhere through its command.
What an action says it did, it has read. Every one is a line of `<home>/ops/actions.jsonl`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Action:
    """One change: verb (pause, resume, edit, create, remove, run), profile home, job, what is to be set, and why."""

    verb: str
    home: Path
    job_id: str | None
    arguments: Mapping[str, Any] = field(default_factory=dict)
    reason: str = ""

    def command(self) -> str:
        """The host command a person would type for it, quoted for a shell."""
        raise NotImplementedError


@dataclass(frozen=True)
class Done:
    """What became of an action; ``detail`` is what was read back; ``undo`` would take it back."""

    action: Action
    ok: bool
    detail: str
    job_id: str | None
    undo: Action | None


def apply(action: Action, *, dry_run: bool = False, state_home: Path | None = None) -> Done:
    """Carry out an action and read back what it changed; never raises for what the host refuses (ok=False).

    With `dry_run` nothing is changed and `detail` is the command. `state_home` holds the journal (default:
    the action's home). A job id that is not 12 hex digits is refused before anything runs.
    """
    raise NotImplementedError


def journal(state_home: Path, limit: int = 100) -> list[dict[str, Any]]:
    """The newest actions, oldest first: {at, verb, job_id, home, arguments, reason, ok, detail}."""
    raise NotImplementedError
