"""Evidence: one line of JSON per gate and per merge, appended, each holding the hash of the line before it.

A record says what was tested: lane, commit, tree, base, command, exit, duration, hash of the log. Nothing is
changed afterwards; a line that a killed process left unfinished stays, and is told as such.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .._common.files import FileLock, append_line, open_append, read_regular
from ..core.typed import typed
from ..errors import OpsError
from .repository import Repository

FILE_NAME = "evidence.jsonl"
LOGS = "logs"
GREEN, RED, TIMEOUT, UNSTARTED = "green", "red", "timeout", "unstarted"
_LOCK_SECONDS = 30.0


@dataclass(frozen=True)
class Gate:
    """One run of the gate.

    subject   "lane": on the lane's commit; "merge": on the commit that merges it
    base      where the lane began; for a merge, the tip it was merged into
    exit      of the command; None at its time limit, or when it could not be started
    outcome   "green", "red", "timeout", "unstarted"
    changed   files of the commit that the command changed in its checkout; None when that is not known
    log       file below logs/, log_hash its SHA-256 as written
    """

    id: str
    lane: str
    subject: str
    commit: str
    tree: str
    base: str
    command: str
    command_hash: str
    exit: int | None
    outcome: str
    duration: float
    changed: int | None
    log: str
    log_hash: str
    at: str
    kind: str = "gate"


@dataclass(frozen=True)
class Merge:
    """A merge that passed both gates, written before the branch moves.

    base      the tip it was merged into, commit the lane's, result the merge
    ref       the branch that moves from base to result; target the branch that is wanted in the end
    """

    id: str
    lane: str
    commit: str
    tree: str
    base: str
    result: str
    target: str
    ref: str
    lane_gate: str
    result_gate: str
    at: str
    kind: str = "merge"


@dataclass(frozen=True)
class Removed:
    """A lane that was removed: its branch pointed at `commit`."""

    id: str
    lane: str
    commit: str
    forced: bool
    at: str
    kind: str = "removed"


Record = Gate | Merge | Removed
_KINDS = {"gate": Gate, "merge": Merge, "removed": Removed}


@dataclass
class Records:
    """What the file holds, in order; `problems` names lines that are no record or break the chain."""

    records: list[Record]
    problems: list[str]

    def gates(self) -> list[Gate]:
        return [one for one in self.records if isinstance(one, Gate)]

    def merges(self) -> list[Merge]:
        return [one for one in self.records if isinstance(one, Merge)]

    def green(self, commit: str, tree: str, command_hash: str) -> Gate | None:
        """The latest record of exactly this commit and command, if it is green and of this tree."""
        fitting = [one for one in self.gates() if (one.commit, one.command_hash) == (commit, command_hash)]
        return fitting[-1] if fitting and fitting[-1].outcome == GREEN and fitting[-1].tree == tree else None


def read(repository: Repository) -> Records:
    """Everything that was recorded. Raises OSError when the file is there and cannot be read."""
    found = Records([], [])
    try:
        content = read_regular(repository.state / FILE_NAME)
    except FileNotFoundError:
        return found
    before = ""
    for number, line in enumerate(content.split(b"\n"), 1):
        if not line:
            continue
        parsed = _parsed(line)
        if parsed is None:
            found.problems.append(f"line {number} of {FILE_NAME} is no record (a killed run, or an edit)")
            continue
        record, previous = parsed
        if previous != before:
            found.problems.append(f"line {number} of {FILE_NAME} does not follow the one before it: edited")
        before = _hash(line)
        found.records.append(record)
    return found


def append(repository: Repository, record: Record) -> None:
    """Add one record, on the disk before this returns."""
    path = repository.state / FILE_NAME
    lock = FileLock(path.with_name(f"{FILE_NAME}.lock"))
    if not lock.acquire(_LOCK_SECONDS):
        raise OpsError(f"{path} is locked by process {lock.holder()}; nothing was recorded")
    try:
        data = {**asdict(record), "previous": _last_hash(path)}
        fd = open_append(path)
        try:
            append_line(fd, json.dumps(data, sort_keys=True, ensure_ascii=True).encode())
            os.fsync(fd)
        finally:
            os.close(fd)
    finally:
        lock.release()


def log_hash(repository: Repository, name: str) -> str | None:
    """The hash of a log as it lies there; None when it is gone or cannot be read."""
    try:
        return _hash(read_regular(repository.state / LOGS / name))
    except (OSError, ValueError):
        return None


def _last_hash(path: Path) -> str:
    try:
        lines = read_regular(path).split(b"\n")
    except FileNotFoundError:
        return ""
    return next((_hash(line) for line in reversed(lines) if _parsed(line) is not None), "")


def _parsed(line: bytes) -> tuple[Record, str] | None:
    """A record and the hash it names as the one before; None for what is none."""
    try:
        data = json.loads(line)
        previous = data.pop("previous")
        return typed(_KINDS[data["kind"]], data), str(previous)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def as_dict(record: Record) -> dict[str, Any]:
    return asdict(record)


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
