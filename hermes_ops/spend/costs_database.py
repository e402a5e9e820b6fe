"""The same report from one state.db alone: lifetimes by session, and by day only what one day holds whole.

Grouped by the database: a million rows pass through no list of ours.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import tzinfo
from heapq import nsmallest
from pathlib import Path

from ..core.ledger import BAD_SHARE, Spent
from ..core.moment import day
from ..host.database import columns, reading
from ..host.usage import job_of, read_session, root
from .attribution import session_label
from .costs import (
    COLUMNS,
    NO_JOB,
    TOP,
    Group,
    Line,
    Report,
    all_seen,
    as_seen,
    by_columns,
    last_days,
    summed,
    unless_early,
)
from .costs_queries import Sums, Usage

Groups = dict[str, tuple[int, Sums]]  # name -> how many sessions, and their sums


def from_database(path: Path, now: float, days: int, zone: tzinfo, zone_name: str, top: int = TOP) -> Report:
    """The report of one database: use of rows that began and ended on one day, and totals by session.

    Raises Unreadable.
    """
    bounds = last_days(now, days, zone)
    with ThreadPoolExecutor(1) as other, reading(path) as connection:
        usage = Usage(connection, bounds, now + 1.0)
        # Each question is a pass over every row: sqlite answers the longest beside the others.
        all_time = other.submit(_lifetimes, path, usage.sound)
        placed = usage.by_day()
        unplaced = usage.unplaced
        groups = dict(by_columns([spent for _, spent in placed], top))
        in_time = _by_root(usage.by_session(), _lineage(connection))
        groups |= {"job": _jobs(in_time, top), "session": _sessions(in_time, connection, top)}
        lifetimes = all_time.result()
        lifetime = {"job": _jobs(lifetimes, top), "session": _sessions(lifetimes, connection, top)}
    bad = f"{usage.bad} of {usage.rows} rows hold no usable numbers and are left out"
    ends = [*bounds[1:], now + 1.0]
    by_day = []
    for i, (start, end) in enumerate(zip(bounds, ends, strict=True)):
        alive = sum(first < end and last >= start for first, last, _ in unplaced)
        figure = summed((spent for index, spent in placed if index == i), alive)
        by_day.append(Line(day(start, zone), day(start, zone), unless_early(figure, end, now)))
    return Report(
        source=str(path),
        zone=zone_name,
        since=bounds[0],
        until=now,
        days=days,
        snapshots=(0, None, None),
        total=as_seen(summed((spent for _, spent in placed), len(unplaced)), all_seen(by_day)),
        no_day=None,
        by_day=tuple(by_day),
        groups={name: groups[name] for name in (*COLUMNS, "job", "session")},
        unplaced_rows=len(unplaced),
        unplaced_sessions=len({session for _, _, session in unplaced}),
        movers_unknown="one database alone has no snapshots to compare",
        lifetime=lifetime,
        lifetime_total=summed([_spent(_total(sums for _, sums in lifetimes.values()))] if lifetimes else []),
        problems=(bad,) if usage.bad > usage.rows * BAD_SHARE else (),
        notes=(bad,) if 0 < usage.bad <= usage.rows * BAD_SHARE else (),
    )


def _lifetimes(path: Path, sound: str) -> Groups:
    with reading(path) as connection:
        usage = Usage(connection, [0.0], 0.0, sound)
        return _by_root(usage.lifetimes(), _lineage(connection))


def _lineage(connection: sqlite3.Connection) -> Callable[[str], str | None]:
    """The parents of all sessions: quicker than a look-up for each."""
    if not {"id", "parent_session_id"} <= columns(connection, "sessions"):
        return lambda _: None
    rows = connection.execute(
        "SELECT id, parent_session_id FROM sessions WHERE parent_session_id IS NOT NULL"
    )
    return {str(row[0]): str(row[1]) for row in rows if row[1]}.get


def _by_root(sessions: Iterable[tuple[str, Sums]], parent: Callable[[str], str | None]) -> Groups:
    """Sub-agents and continuations count for the first session."""
    return _merged((root(session_id, parent), 1, sums) for session_id, sums in sessions)


def _jobs(by_root: Groups, top: int) -> Group:
    jobs = _merged((job_of(name) or "", count, sums) for name, (count, sums) in by_root.items())

    def line(name: str, count: int, spent: Spent) -> Line:
        return Line(name, f"job {name}" if name else NO_JOB, summed([spent]), {"sessions": count})

    return _group(jobs, line, top)


def _sessions(by_root: Groups, connection: sqlite3.Connection, top: int) -> Group:
    def line(name: str, count: int, spent: Spent) -> Line:
        found = read_session(connection, name)
        source = found.source if found is not None else "unknown"
        details = {"source": source, "job": job_of(name), "sessions": count}
        return Line(name, session_label(name, found, source), summed([spent]), details)

    return _group(by_root, line, top)


def _merged(parts: Iterable[tuple[str, int, Sums]]) -> Groups:
    groups: dict[str, list[tuple[int, Sums]]] = {}
    for name, count, sums in parts:
        held = groups.get(name)
        if held is None:
            groups[name] = [(count, sums)]
        else:
            held.append((count, sums))
    return {
        name: found[0] if len(found) == 1 else (sum(count for count, _ in found), _total(s for _, s in found))
        for name, found in groups.items()
    }


def _group(groups: Groups, line: Callable[[str, int, Spent], Line], top: int) -> Group:
    def order(item: tuple[str, tuple[int, Sums]]) -> tuple[float, float, str]:
        _, into, out, read, written, _, usd, *_ = item[1][1]
        return -usd, -(into + out + read + written), item[0]

    first = nsmallest(top, groups.items(), key=order)
    lines = tuple(line(name, count, _spent(sums)) for name, (count, sums) in first)
    hidden = len(groups) - len(first)
    if not hidden:
        return Group(lines)
    shown = {name for name, _ in first}
    rest = _total(sums for name, (_, sums) in groups.items() if name not in shown)
    return Group(lines, summed([_spent(rest)]), hidden)


def _total(parts: Iterable[Sums]) -> Sums:
    return tuple(map(sum, zip(*parts, strict=True)))


def _spent(sums: Sums) -> Spent:
    return Spent((), *sums)
