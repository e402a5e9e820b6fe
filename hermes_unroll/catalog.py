"""The sessions of a home: what is recorded, what is compiled, and how to find one by any of its names."""

from __future__ import annotations

import contextlib
import json
import os
import re
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import journal, sealing

TRACE_NAME = re.compile(r"\d{8}_\d{6}_[0-9a-f]{8}(_edit_\d{8}_\d{6}(_\d+)?)*\.py")


class NotFoundError(Exception):
    """No session, or more than one, answers to a name."""


@dataclass(frozen=True)
class Recorded:
    """One recorded session.

    ``state`` is live (a process is writing it), pending (its trace lacks events), compiled, refused (no
    trace can be published), damaged (its trace is kept, its journal has lost events of it) or trace only
    (its journal is gone).
    """

    session_id: str
    state: str
    journal: Path | None
    trace: Path | None
    bytes: int
    modified: float
    summary: dict[str, Any] = field(default_factory=dict)
    problem: str | None = None
    links: frozenset[str] = frozenset()  # sessions it names as its parent or predecessor

    def as_dict(self) -> dict[str, Any]:
        return {
            "session_id": self.session_id,
            "state": self.state,
            "trace": str(self.trace) if self.trace else None,
            "journal": str(self.journal) if self.journal else None,
            "bytes": self.bytes,
            "modified": journal_time(self.modified),
            **self.summary,
            **({"problem": self.problem} if self.problem else {}),
        }


def journal_time(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def sessions(home: Path) -> list[Recorded]:
    """Return the recorded sessions of a home, the one changed last at the end."""
    found = [entry for directory in sealing.journals(home) if (entry := _from_journal(home, directory))]
    named = {entry.trace.name for entry in found if entry.trace}
    found += [
        _from_trace(path) for path in traces(home) if path.name not in named and "_edit_" not in path.name
    ]
    return sorted(found, key=lambda entry: (entry.modified, entry.session_id))


def traces(home: Path) -> list[Path]:
    """Return the trace programs of a home, edits included, by name."""
    folder = sealing.unrolled_dir(home)
    try:
        return [folder / name for name in sorted(os.listdir(folder)) if TRACE_NAME.fullmatch(name)]
    except (FileNotFoundError, NotADirectoryError):
        return []


def _from_journal(home: Path, directory: Path) -> Recorded | None:
    paths = journal.segment_paths(directory)
    if not paths:
        return None
    seal = sealing.read_seal(directory)
    trace = sealing.unrolled_dir(home) / seal.trace if seal and seal.trace else None
    trace = trace or sealing.expected_trace(home, directory)
    if trace is not None and not trace.is_file():
        trace = None
    measured = sealing.sizes(directory)
    if any(journal.is_live(path) for path in paths):
        state = "live"
    elif seal is None or seal.sizes != measured:
        state = "pending"
    else:
        state = "compiled" if trace else "pending"
        if seal.problem:
            state = "damaged" if trace else "refused"
    header = journal.read_header(paths[0]) or {}
    return Recorded(
        session_id=str(header.get("session_id") or (seal.session_id if seal else directory.name)),
        state=state,
        journal=directory,
        trace=trace,
        bytes=sum(measured.values()) + (trace.stat().st_size if trace else 0),
        modified=max(path.stat().st_mtime for path in paths),
        summary=seal.summary if seal else {},
        problem=seal.problem if seal else None,
        links=_links(paths),
    )


def _links(paths: list[Path]) -> frozenset[str]:
    """Return what lineage records name. They are short lines, so a journal is read without parsing it all."""
    found: set[str] = set()
    for path in paths:
        with open(path, "rb") as source:
            for line in source:
                if line[journal.CHAIN_DIGITS + 1 :].startswith(b'{"k":"lineage"') and line.endswith(b"\n"):
                    # A damaged line names nothing; verify tells of it.
                    with contextlib.suppress(ValueError, RecursionError):
                        record = json.loads(line[journal.CHAIN_DIGITS + 1 :])
                        found.update(
                            str(record[name]) for name in ("parent", "predecessor") if name in record
                        )
    return frozenset(found)


def lineage(home: Path, entry: Recorded) -> list[Recorded]:
    """Return a session with all that belong to it: what it came from, what came from it, their children."""
    entries = sessions(home)
    wanted, grown = {entry.session_id} | entry.links, True
    while grown:
        before = len(wanted)
        for other in entries:
            if other.session_id in wanted or other.links & wanted:
                wanted |= {other.session_id} | other.links
        grown = len(wanted) > before
    return [other for other in entries if other.session_id in wanted]


def _from_trace(path: Path) -> Recorded:
    from .reader import TraceError, read_trace

    stat = path.stat()
    try:
        session = read_trace(str(path))["SESSION"]
    except TraceError as error:
        return Recorded(path.stem, "trace only", None, path, stat.st_size, stat.st_mtime, problem=str(error))
    names = ("model", "platform", "started_at", "ended_at", "end")
    return Recorded(
        session_id=str(session.get("session_id") or path.stem),
        state="trace only",
        journal=None,
        trace=path,
        bytes=stat.st_size,
        modified=stat.st_mtime,
        summary={name: session.get(name) for name in names},
    )


def find(home: Path, name: str) -> Recorded:
    """Find a session by a trace's path, its session id, its trace's name or a prefix of either.

    Raises NotFoundError, which says what was looked for and, where several answer, which.
    """
    entries = sessions(home)
    path = Path(name)
    if path.is_file():
        resolved = path.resolve()
        for entry in entries:
            if entry.trace and entry.trace.resolve() == resolved:
                return entry
        return _from_trace(path)
    for exact in (True, False):
        matches = [entry for entry in entries if _answers(entry, name, exact)]
        if len(matches) == 1:
            return matches[0]
        if matches:
            ids = ", ".join(entry.session_id for entry in matches[:5])
            raise NotFoundError(f"{name!r} names {len(matches)} sessions ({ids} ...); give more of the id")
    raise NotFoundError(
        f"no session, trace or file is called {name!r} in {home}; `hermes unroll list` shows them"
    )


def _answers(entry: Recorded, name: str, exact: bool) -> bool:
    own = [entry.session_id]
    own += [entry.trace.name, entry.trace.stem, entry.trace.stem[-8:]] if entry.trace else []
    own += [entry.journal.name] if entry.journal else []
    return any(candidate == name if exact else candidate.startswith(name) for candidate in own)
