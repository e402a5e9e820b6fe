"""Questions to the ledger: what was used between two times, by whom, on which day; grouped by sqlite."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from itertools import pairwise

from .moment import day, day_start

ONE_DAY = 26 * 3600.0  # a longer window of use belongs to no one day
GROUPS = {
    "profile": "s.profile",
    "session": "s.id",
    "root": "s.root",
    "job": "s.job",
    "source": "s.source",
    "model": "r.model",
    "provider": "r.billed",
    "task": "r.task",
    "price": "d.price",
}
_KEYS = {"s.": "session", "r.": "route", "d.": "price"}
_JOINS = {"session": " JOIN session s ON s.no = d.session", "route": " JOIN route r ON r.no = d.route"}
_COLUMNS = {  # of the sums, as the fields of Spent
    "calls": "calls",
    "input": "input",
    "output": "output",
    "cache_read": "cache_read",
    "cache_write": "cache_write",
    "reasoning": "reasoning",
    "usd": "usd",
    "unknown_calls": "CASE WHEN price='unknown' THEN MAX(calls, 1) ELSE 0 END",
    "included_tokens": "CASE WHEN price='included' THEN input + output + cache_read + cache_write ELSE 0 END",
}
_INNER = ", ".join(f"SUM({value}) AS {name}" for name, value in _COLUMNS.items())
_OUTER = ", ".join(f"SUM(d.{name})" for name in _COLUMNS)


@dataclass(frozen=True)
class Spent:
    """Use between two snapshots, summed over a group.

    ``group`` are the values of the asked columns. ``usd`` is what is known; ``unknown_calls`` had no price
    (then the sum is a lower bound); ``included_tokens`` were covered by a plan and cost nothing extra.
    """

    group: tuple[str | None, ...]
    calls: int
    input: int
    output: int
    cache_read: int
    cache_write: int
    reasoning: int
    usd: float
    unknown_calls: int
    included_tokens: int


@dataclass(frozen=True)
class Unplaced:
    """Use that no one day holds, overlapping the asked time; how much of it fell into that is not known.

    rows, sessions   what was there before the first snapshot, in rows that lived longer than a day
    windows          differences of two snapshots more than a day apart; `spent` counts them, "" by day
    """

    rows: int
    sessions: int
    windows: int = 0


def spent(
    ledger: sqlite3.Connection, by: Sequence[str], since: float, until: float, where: str = ""
) -> list[Spent]:
    """Windows of use whose middle lies in [since, until), grouped; the largest sum first."""
    names = [GROUPS[name] for name in by]
    keys = [key for letter, key in _KEYS.items() if any(name.startswith(letter) for name in names)]
    # Numbers are grouped first, and only then named: a million rows are never sorted by text.
    inner = f"SELECT {', '.join([*keys, _INNER])} FROM delta WHERE middle >= ? AND middle < ? {where} " + (
        f"GROUP BY {', '.join(keys)}" if keys else "HAVING COUNT(*) > 0"
    )
    joins = "".join(_JOINS[key] for key in keys if key in _JOINS)
    group = f"GROUP BY {', '.join(names)}" if names else "HAVING COUNT(*) > 0"
    query = (
        f"SELECT {', '.join([*names, _OUTER])} FROM ({inner}) d{joins} {group} "
        "ORDER BY SUM(d.usd) DESC, SUM(d.input + d.output + d.cache_read + d.cache_write) DESC"
    )
    rows = ledger.execute(query, (since, until))
    return [Spent(tuple(row[: len(names)]), *row[len(names) :]) for row in rows]


def spent_by_day(
    ledger: sqlite3.Connection, by: Sequence[str], since: float, until: float, zone: tzinfo
) -> list[tuple[str, Spent]]:
    """The same for each day of `zone`; "" holds windows too long for one day."""
    bounds = ledger.execute(
        "SELECT MIN(middle), MAX(middle) FROM delta WHERE middle >= ? AND middle < ?", (since, until)
    ).fetchone()
    if bounds[0] is None:
        return []
    found = []
    for start, end in pairwise(day_bounds(bounds[0], bounds[1], zone)):
        within = (max(start, since), min(end, until))
        place = f"AND until - since <= {ONE_DAY:.0f}"
        found += [(day(start, zone), group) for group in spent(ledger, by, *within, place)]
    place = f"AND until - since > {ONE_DAY:.0f}"
    return found + [("", group) for group in spent(ledger, by, since, until, place)]


def day_bounds(first: float, last: float, zone: tzinfo) -> list[float]:
    """The midnights around [first, last]: one more than there are days, right on days of 23 and 25 hours."""
    bounds = [day_start(first, zone)]
    while bounds[-1] <= last:
        noon = datetime.fromtimestamp(bounds[-1], zone).replace(hour=12, fold=0) + timedelta(days=1)
        bounds.append(day_start(noon.timestamp(), zone))
    return bounds


def unplaced(ledger: sqlite3.Connection, since: float, until: float) -> Unplaced:
    """What overlaps [since, until) and belongs to no one day of it."""
    rows = ledger.execute(
        "SELECT COUNT(*), COUNT(DISTINCT session) FROM unplaced "
        "WHERE last_seen >= ? AND (first_seen < ? OR first_seen IS NULL)",
        (since, until),
    ).fetchone()
    wide = ledger.execute(
        f"SELECT COUNT(*) FROM delta WHERE until - since > {ONE_DAY:.0f} AND until >= ? AND since < ?",
        (since, until),
    ).fetchone()
    return Unplaced(*rows, *wide)
