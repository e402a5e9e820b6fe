"""Jobs that read the output of others (`context_from`) still run after the same run of those when moved."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import tzinfo
from functools import lru_cache

from ..core.finding import DAY
from ..host.schedules import Schedule, due_times
from ..spend.run_costs import day_end
from .job_cost import Placed

CHAIN_SPAN = 28 * DAY
Key = tuple[str, str]  # profile and job id
Links = Mapping[Key, Sequence[tuple[Placed, Placed]]]
LEAST_GAP = 600.0  # seconds that a job is given to end before the one that reads from it


def sources_first(jobs: Mapping[Key, Placed]) -> list[Placed]:
    """The costliest first, but a job after those it reads from (`context_from`); circles end somewhere."""
    order: list[Placed] = []
    seen: set[Key] = set()

    def visit(one: Placed) -> None:
        if one.key in seen:
            return
        seen.add(one.key)
        for source in sources(one, jobs):
            visit(source)
        order.append(one)

    for one in sorted(jobs.values(), key=lambda one: (-(one.cost.usd_per_day or 0.0), one.key)):
        visit(one)
    return order


def sources(one: Placed, jobs: Mapping[Key, Placed]) -> list[Placed]:
    """The jobs that one reads from, of those that are to run."""
    found = (jobs.get((one.profile, job_id)) for job_id in one.job.context_from)
    return [source for source in found if source is not None and source.key != one.key]


def links_of(jobs: Mapping[Key, Placed]) -> Links:
    """The pairs (source, reader) that each job is one of."""
    found: dict[Key, list[tuple[Placed, Placed]]] = {}
    for reader in jobs.values():
        for source in sources(reader, jobs):
            found.setdefault(source.key, []).append((source, reader))
            found.setdefault(reader.key, []).append((source, reader))
    return found


def fits_chain(
    one: Placed,
    expr: str,
    links: Links,
    planned: Mapping[Key, str],
    now: float,
) -> tuple[str, ...] | None:
    """The jobs that have to move first for `expr` to keep the order of its chain; None: it does not keep it.

    With the other jobs at their planned times the order must hold; where it does not hold at their times of
    today, they have to move first.
    """
    first = []
    for source, reader in links.get(one.key, ()):
        other = reader if source is one else source
        later = planned.get(other.key, other.job.schedule.expr)
        if not _in_order(source, reader, one, expr, other, later, now):
            return None
        if not _in_order(source, reader, one, expr, other, other.job.schedule.expr, now):
            first.append(other.job.id)
    return tuple(first)


def _in_order(
    source: Placed, reader: Placed, moved: Placed, expr: str, other: Placed, other_expr: str, now: float
) -> bool:
    exprs = {moved.key: expr, other.key: other_expr}
    start = _midnight(now, reader.zone)
    before = [_times(place, place.job.schedule.expr, start) for place in (source, reader)]
    after = [_times(place, exprs[place.key], start) for place in (source, reader)]
    return keeps_order(*before, *after, max(LEAST_GAP, source.cost.longest))


def keeps_order(
    source: Sequence[float],
    reader: Sequence[float],
    new_source: Sequence[float],
    new_reader: Sequence[float],
    gap: float,
) -> bool:
    """Whether each run of the reader still follows the same run of its source.

    And by at least `gap` seconds, where it did so before. All times from the same midnight on, ascending.
    """
    if len(source) != len(new_source) or len(reader) != len(new_reader):
        return False
    old, new = _follows(source, reader), _follows(new_source, new_reader)
    return all(
        place == new_place and (new_wait >= gap or new_wait >= wait)
        for (place, wait), (new_place, new_wait) in zip(old, new, strict=True)
    )


def _follows(source: Sequence[float], reader: Sequence[float]) -> list[tuple[int, float]]:
    found = []
    for at in reader:
        place = bisect_left(source, at) - 1
        found.append((place, at - source[place] if place >= 0 else float("inf")))
    return found


def _times(one: Placed, expr: str, start: float) -> Sequence[float]:
    return _due(replace(one.job.schedule, expr=expr), start, one.zone)


@lru_cache(maxsize=2048)
def _due(schedule: Schedule, start: float, zone: tzinfo) -> tuple[float, ...]:
    """Asked again and again: every minute tried for a job is held against the same times of the others."""
    return tuple(due_times(schedule, start, start + CHAIN_SPAN, zone))


def _midnight(now: float, zone: tzinfo) -> float:
    return day_end(now, zone) - 1  # due times are those after it
