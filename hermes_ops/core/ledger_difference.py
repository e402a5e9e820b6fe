"""What a row of running totals says against the last time it was seen. Values only; nothing is read here."""

from __future__ import annotations

from datetime import datetime, timedelta, tzinfo
from typing import Any, NamedTuple

from ..host.usage import UNATTRIBUTED
from .moment import FUTURE_SLACK, day_start

LATE = 60.0  # seconds by which a row's first stamp may lie before the snapshot that did not see it yet
SLIGHT = 1e-9  # dollars below which two sums are the same

Counts = tuple[int, int, int, int, int, int]


class Seen(NamedTuple):
    """The totals of one row as they were: six counts, two sums of dollars, first and last stamp."""

    counts: Counts
    estimated_usd: float
    actual_usd: float
    first: float | None
    last: float | None
    status: str = ""
    residual: bool = False

    @staticmethod
    def of(row: tuple[Any, ...]) -> Seen:
        """From a row of host/usage.raw_rows."""
        return Seen(row[6:12], row[12], row[13], row[15], row[16], row[14], row[5] == UNATTRIBUTED)


class Grown(NamedTuple):
    """Use in the window (since, until]; ``price``: actual, estimated, included, unknown."""

    counts: Counts
    usd: float
    price: str
    since: float
    until: float


class Difference(NamedTuple):
    """What became of a row.

    kind      same, grown, unplaced (a life before us that no one day holds), reset, future
    grown     the use, for "grown"
    remember  the totals that the next difference counts from; None: those that were
    """

    kind: str
    grown: Grown | None = None
    remember: Seen | None = None


class Days:
    """Tells whether two times lie on one day of a zone; quick when it is asked in order of time."""

    def __init__(self, zone: tzinfo) -> None:
        self._zone = zone
        self._start = self._end = 0.0

    def same(self, first: float, last: float) -> bool:
        if not self._start <= first < self._end:
            self._start = day_start(first, self._zone)
            local = datetime.fromtimestamp(first, self._zone)
            tomorrow = local.replace(hour=12, minute=0, fold=0) + timedelta(days=1)
            self._end = day_start(tomorrow.timestamp(), self._zone)
        return self._start <= last < self._end


_FUTURE = Difference("future")


def difference(
    before: Seen | None, row: Seen, snapshot_at: float | None, now: float, days: Days
) -> Difference:
    """What `row` tells against `before` (None: never seen); the last snapshot was at `snapshot_at`, if any.

    A row never seen that begins after the last snapshot is new, all of it. One that is older, or seen in the
    first snapshot, is placed by its own life when that lies in one day; else it is unplaced. Totals that went
    down are a reset: what came between cannot be known, and is never negative. A residual that went down has
    got rows of its own, which is no reset. A stamp ahead of the clock is "future": what the row holds is
    booked once its time is sound.
    """
    if (row.last or 0) > now + FUTURE_SLACK or (row.first or 0) > now + FUTURE_SLACK:
        return _FUTURE
    if row.residual:
        row = _at_least(row, before)
        if before is None and snapshot_at is not None:
            before = Seen((0, 0, 0, 0, 0, 0), 0.0, 0.0, None, None)
    elif before is not None and _is_another(before, row):
        before = None
    until = min(now, row.last) if row.last is not None else now
    if before is None:
        return _never_seen(row, until, snapshot_at, days)
    if _went_down(before, row):
        return Difference("reset", None, row)
    counts = tuple(new - old for new, old in zip(row.counts, before.counts, strict=True))
    estimated = row.estimated_usd - before.estimated_usd
    actual = row.actual_usd - before.actual_usd
    if not any(counts) and estimated <= SLIGHT and actual <= SLIGHT:
        return Difference("same", None, row if row.last != before.last else None)
    since = max(value for value in (snapshot_at, row.first, 0.0) if value is not None)
    return Difference("grown", _grown(counts, estimated, actual, row.status, since, until), row)


def _never_seen(row: Seen, until: float, snapshot_at: float | None, days: Days) -> Difference:
    counts, estimated, actual, first, last, status, _ = row
    if not any(counts) and estimated <= SLIGHT and actual <= SLIGHT:
        return Difference("same", None, row)
    if snapshot_at is not None and (first is None or first >= snapshot_at - LATE):
        since = snapshot_at if first is None else first
        return Difference("grown", _grown(counts, estimated, actual, status, since, until), row)
    if first is None or last is None or not days.same(first, max(first, until)):
        return Difference("unplaced", None, row)
    return Difference("grown", _grown(counts, estimated, actual, status, first, until), row)


def _grown(counts: Any, estimated: float, actual: float, status: str, since: float, until: float) -> Grown:
    """The host's estimate, or what was really billed where it says so; nothing on top of a plan."""
    if status == "included":
        usd, price = 0.0, "included"
    elif status == "actual" and (actual > SLIGHT or estimated <= SLIGHT):
        usd, price = actual, "actual"
    elif status in ("actual", "estimated"):
        usd, price = estimated, "estimated"
    else:
        usd, price = estimated, "unknown"
    return Grown(counts, max(0.0, usd), price, min(since, until), until)


def _is_another(before: Seen, row: Seen) -> bool:
    """Whether the row was deleted and made again: it begins after the old one was last used."""
    return before.last is not None and row.first is not None and row.first > before.last


def _went_down(before: Seen, row: Seen) -> bool:
    return (
        any(new < old for new, old in zip(row.counts, before.counts, strict=True))
        or row.estimated_usd < before.estimated_usd - SLIGHT
        or row.actual_usd < before.actual_usd - SLIGHT
    )


def _at_least(row: Seen, before: Seen | None) -> Seen:
    if before is None:
        return row
    return row._replace(
        counts=tuple(max(pair) for pair in zip(row.counts, before.counts, strict=True)),
        estimated_usd=max(row.estimated_usd, before.estimated_usd),
        actual_usd=max(row.actual_usd, before.actual_usd),
    )
