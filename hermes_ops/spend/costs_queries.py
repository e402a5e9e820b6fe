"""Sums over the usage table of one state.db, as far as its schema has the columns."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from ..core.ledger import Spent
from ..host.database import columns
from ..host.usage import billed_by, normal_url, providers_by_url

# As the fields of Spent: calls, input, output, cache read and written, reasoning, dollars, calls without a
# price, tokens in a plan.
Sums = tuple[float, ...]

_TABLE = "session_model_usage"
_COUNTS = (
    "api_call_count",
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
)
_ESTIMATED, _ACTUAL = "estimated_cost_usd", "actual_cost_usd"
_ROUTE = ("billing_provider", "billing_base_url", "model", "task")


class Usage:
    """Questions to one open database about the days that begin at `bounds` and end at `until`.

    ``bad`` is how many of the ``rows`` hold no usable numbers; they are left out of every sum, ``sound`` is
    the SQL condition for that. ``unplaced`` are (first seen, last seen, session) of the rows that lived in
    this time, and on more than one day.
    """

    def __init__(
        self, connection: sqlite3.Connection, bounds: list[float], until: float, sound: str | None = None
    ) -> None:
        self._cursor = connection.cursor()
        self._cursor.row_factory = None
        self._present = columns(connection, _TABLE)
        self._sessions = columns(connection, "sessions")
        self._bounds, self._until = bounds, until
        self._dated = {"session_id", "first_seen", "last_seen"} <= self._present
        first, last = (_day_index(name, bounds) for name in ("first_seen", "last_seen"))
        self._first_day, self._one_day = first, f"{first} = {last}"
        self.sound = sound or "1"
        self.rows = self.bad = self._placed = 0
        self.unplaced: list[tuple[float, float, str]] = []
        if self._present and sound is None:
            self.rows = int(self._cursor.execute(f"SELECT COUNT(*) FROM {_TABLE}").fetchone()[0])
            self._look()

    def by_day(self) -> list[tuple[int, Spent]]:
        """(index of the day, use) by model, provider and task, of rows that one day holds whole."""
        if not self._dated:
            return []
        route = ", ".join(self._column(name) for name in _ROUTE)
        query = (
            f"SELECT COUNT(*), {self._first_day}, {route}, {self._sums()} FROM {_TABLE} "
            f"WHERE {self._within()} GROUP BY 2, 3, 4, 5, 6"
        )
        rows = self._cursor.execute(query, self._times()).fetchall()
        written = [(provider or "", normal_url(url or "")) for _, _, provider, url, *_ in rows]
        by_url = providers_by_url(written)
        found = []
        for (count, index, _, _, model, task, *sums), (provider, url) in zip(rows, written, strict=True):
            group = (billed_by(provider, url, by_url), model or "unknown", task or "")
            found.append((index, Spent(group, *sums)))
            self._placed += count
        return found

    def by_session(self) -> Iterator[tuple[str, Sums]]:
        """The same use by session."""
        if not self._dated:
            return
        # Few rows are sorted sooner than all of them are looked up in the order of the index.
        few = "+" if self._placed < self.rows / 4 else ""
        query = (
            f"SELECT session_id, {self._sums()} FROM {_TABLE} WHERE {self._within()} GROUP BY {few}session_id"
        )
        for session_id, *sums in self._cursor.execute(query, self._times()):
            yield str(session_id), tuple(sums)

    def lifetimes(self) -> Iterator[tuple[str, Sums]]:
        """All that each session ever used: its rows, or its own totals where those are more."""
        rows = self._all_rows()
        if "id" in self._sessions:
            own = ", ".join(
                f"COALESCE({name}, 0)" if name in self._sessions else "0" for name in (*_COUNTS, _ESTIMATED)
            )
            status = "cost_status" if "cost_status" in self._sessions else "NULL"
            nothing = (0,) * 10
            query = f"SELECT id, {status}, {own} FROM sessions"
            for session_id, state, *totals in self._cursor.execute(query):
                sums = rows.pop(session_id, nothing)
                found = _at_least(sums, totals, state) if _exceed(totals, sums) else sums[:9]
                if sums is not nothing or any(found):
                    yield str(session_id), found
        for session_id, sums in rows.items():
            yield str(session_id), sums[:9]

    def _all_rows(self) -> dict[str, Sums]:
        """Sums by session over all time, and the estimate of each as the host wrote it."""
        if "session_id" not in self._present:
            return {}
        query = (
            f"SELECT session_id, {self._sums()}, SUM({self._number(_ESTIMATED)}) FROM {_TABLE} "
            f"WHERE {self.sound} GROUP BY session_id"
        )
        return {row[0]: row[1:] for row in self._cursor.execute(query)}

    def _times(self) -> tuple[float, float, float]:
        return self._bounds[0], self._bounds[0], self._until

    def _within(self) -> str:
        window = "last_seen >= ? AND first_seen >= ? AND first_seen < ?"
        return f"{window} AND {self._one_day} AND {self.sound}"

    def _look(self) -> None:
        """Find bad rows and unplaced ones in one pass; where none is bad, no sum has to look for them."""
        names = [name for name in (*_COUNTS, _ESTIMATED, _ACTUAL) if name in self._present]
        # Text compares as more than any number, and NULL is nothing.
        checks = " AND ".join(f"{name} BETWEEN 0 AND 1000000000000000" for name in names)
        sound = f"COALESCE({checks or '1'}, 1)"
        lived = "COALESCE(last_seen, 1e18) >= ? AND COALESCE(first_seen, 0) < ?"
        timed = f"first_seen IS NOT NULL AND last_seen IS NOT NULL AND {self._one_day}"
        outside = f"{lived} AND NOT ({timed})" if self._dated else "0 > ? AND 0 > ?"
        times = (self._bounds[0], self._until)
        found = (
            "COALESCE(first_seen, 0), COALESCE(last_seen, 1e18), session_id" if self._dated else "0, 0, ''"
        )
        query = f"SELECT {sound}, {outside}, {found} FROM {_TABLE} WHERE NOT ({checks or '1'}) OR ({outside})"
        for good, unplaced, *row in self._cursor.execute(query, times * 2):
            self.bad += not good
            if good and unplaced:
                self.unplaced.append(tuple(row))
        if self.bad:
            self.sound = sound

    def _sums(self) -> str:
        status, calls = self._column("cost_status"), self._number(_COUNTS[0])
        estimated, actual = self._number(_ESTIMATED), self._number(_ACTUAL)
        tokens = " + ".join(self._number(name) for name in _COUNTS[1:5])
        values = [
            *(name if name in self._present else "0" for name in _COUNTS),
            f"CASE {status} WHEN 'included' THEN 0 WHEN 'actual' THEN "
            f"CASE WHEN {actual} > 0 THEN {actual} ELSE {estimated} END ELSE {estimated} END",
            f"CASE WHEN {status} IN ('actual', 'estimated', 'included') THEN 0 ELSE MAX({calls}, 1) END",
            f"CASE {status} WHEN 'included' THEN {tokens} ELSE 0 END",
        ]
        return ", ".join(f"COALESCE(SUM({value}), 0)" for value in values)

    def _number(self, name: str) -> str:
        return f"COALESCE({name}, 0)" if name in self._present else "0"

    def _column(self, name: str) -> str:
        return name if name in self._present else "NULL"


def _exceed(totals: list[float], sums: Sums) -> bool:
    """Whether a session's own totals (six counts, the estimate) are more than the sums of its rows."""
    calls, into, out, read, written, thought, estimated = totals
    try:
        return (
            calls > sums[0]
            or into > sums[1]
            or out > sums[2]
            or read > sums[3]
            or written > sums[4]
            or thought > sums[5]
            or estimated > sums[9] + 1e-9
        )
    except TypeError:  # totals that are text
        return False


def _at_least(sums: Sums, totals: list[float], status: str | None) -> Sums:
    """The larger ones of both; what an estimate holds beyond the rows has a price by the session's status."""
    usd, unknown, included, estimated = sums[6:]
    beyond = totals[6] - estimated
    if beyond > 1e-9 and status != "included":
        usd += beyond
        unknown += status not in ("actual", "estimated")
    return (*map(max, sums[:6], totals), usd, unknown, included)


def _day_index(name: str, bounds: list[float]) -> str:
    """An SQL expression: on which day from the bounds on a time lies, -1 before the first; by halving."""

    def halve(low: int, high: int) -> str:
        if low == high:
            return str(low)
        middle = (low + high + 1) // 2
        earlier, later = halve(low, middle - 1), halve(middle, high)
        return f"CASE WHEN {name} < {bounds[middle]!r} THEN {earlier} ELSE {later} END"

    return f"(CASE WHEN {name} < {bounds[0]!r} THEN -1 ELSE {halve(0, len(bounds) - 1)} END)"
