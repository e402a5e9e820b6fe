"""Verify: was a journal or trace altered after it was written?

Every journal line hashes the one before it, and a trace holds the end of each segment's chain and a
digest of its own data. That shows an alteration to whoever checks; somebody who rewrites a whole
chain and every copy of its end is not found out by this.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from . import journal
from .catalog import Recorded


@dataclass
class Verified:
    """What was found out about one session; ``notes`` say it in words."""

    session_id: str
    ok: bool = True
    notes: list[str] = field(default_factory=list)

    def altered(self, note: str) -> None:
        self.ok = False
        self.notes.append(note)

    def as_dict(self) -> dict[str, Any]:
        return {"session_id": self.session_id, "ok": self.ok, "notes": self.notes}


def verify(entry: Recorded) -> Verified:
    """Check the journal's chains, the trace's digest, and each against the other."""
    result = Verified(entry.session_id)
    heads: dict[str, list[str]] = {}
    if entry.journal:
        heads = _journal(entry, result)
    if entry.trace:
        _trace(entry, heads, result)
    if not entry.trace:
        result.notes.append(entry.problem or "not compiled yet")
    return result


def _journal(entry: Recorded, result: Verified) -> dict[str, list[str]]:
    """Check every line; return each segment's chain values, one per event."""
    heads: dict[str, list[str]] = {}
    for path in journal.segment_paths(entry.journal):
        reader = journal.SegmentReader(path)
        heads[str(int(path.stem))] = [reader.chain for _ in reader]
        if reader.problem:
            result.altered(f"journal: {reader.problem}")
        if reader.torn:
            result.notes.append(f"{path.name} ends with {reader.torn} bytes that are no whole line")
    result.notes.append(f"journal of {len(heads)} segments, {sum(map(len, heads.values()))} records")
    return heads


def _trace(entry: Recorded, heads: dict[str, list[str]], result: Verified) -> None:
    from .generator import verify_program
    from .reader import TraceError, read_trace

    problem = verify_program(entry.trace.read_bytes())
    if problem:
        result.altered(f"trace: {problem}")
        return
    try:
        chain = read_trace(str(entry.trace))["CHAIN"]
    except TraceError as error:
        result.altered(f"trace: {error}")
        return
    if not entry.journal:
        copy = "_edit_" in entry.trace.name
        result.notes.append(
            f"trace agrees with its digest; {'an edited copy' if copy else 'its journal is gone'}"
        )
        return
    before = result.ok
    for label, end in chain.items():
        values = heads.get(label, [])
        count = end["events"]
        if count > len(values) or (count and values[count - 1] != end["head"]):
            result.altered(f"trace: segment {label} of the journal is not the one it was compiled from")
    if before and not result.ok:
        return
    more = sum(map(len, heads.values())) - sum(end["events"] for end in chain.values())
    result.notes.append(
        "trace agrees with its journal" + (f", which has {more} newer records" if more > 0 else "")
    )
