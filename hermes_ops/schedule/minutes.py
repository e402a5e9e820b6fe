"""In which minutes of the day agents start: where it is crowded, and where there is room."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Set
from dataclasses import replace
from datetime import datetime, timedelta, tzinfo

from ..core.finding import DAY
from ..host.schedules import due_times
from .chains import Key, sources_first
from .job_cost import Placed

MINUTES = 24 * 60
WEEK = 7 * DAY
CLUSTER = 3  # agents that start in the same minute
_SINGLE = re.compile(r"\d{1,2}")


class Busy:
    """At which times agents start over the coming week, and in which minutes of the day that is in a zone."""

    def __init__(self, jobs: Iterable[Placed], now: float) -> None:
        self._now = now
        self._times = {
            one.key: due_times(one.job.schedule, now, now + WEEK, one.zone)
            for one in jobs
            if not one.job.no_agent
        }
        self._starts = Counter(at for times in self._times.values() for at in times)
        self._minutes: dict[tzinfo, Counter[int]] = {}  # by zone, how many agents start in each minute

    def move(self, one: Placed, expr: str) -> None:
        self._starts.subtract(self._times.get(one.key, ()))
        for zone, agents in self._minutes.items():
            agents.subtract(self._counted(one.key, zone))
        moved = replace(one.job.schedule, expr=expr)
        self._times[one.key] = due_times(moved, self._now, self._now + WEEK, one.zone)
        self._starts.update(self._times[one.key])
        for zone, agents in self._minutes.items():
            agents.update(self._counted(one.key, zone))

    def of(self, one: Placed) -> set[int]:
        return {_minute(at, one.zone) for at in self._times.get(one.key, ())}

    def others(self, one: Placed) -> set[int]:
        """The minutes of the other agents in the zone of a job; one of most minutes anyway is no reason."""
        if one.zone not in self._minutes:
            counted = (self._counted(key, one.zone) for key in self._times)
            self._minutes[one.zone] = Counter(minute for minutes in counted for minute in minutes)
        own = self._counted(one.key, one.zone)
        return {minute for minute, agents in self._minutes[one.zone].items() if agents > (minute in own)}

    def crowd(self, one: Placed) -> int:
        """How many agents start in the fullest minute of a job."""
        return max((self._starts[at] for at in self._times.get(one.key, ())), default=0)

    def _counted(self, key: Key, zone: tzinfo) -> set[int]:
        times = self._times.get(key, ())
        return {_minute(at, zone) for at in times} if len(times) < MINUTES else set()


def crowded(jobs: Mapping[Key, Placed], planned: Mapping[Key, str], now: float) -> list[Placed]:
    """The jobs to move out of crowded minutes: all but the costliest of each, sources last."""
    starts: dict[float, list[Placed]] = {}
    for one in jobs.values():
        if not one.job.no_agent and one.key not in planned:
            for at in due_times(one.job.schedule, now, now + WEEK, one.zone):
                starts.setdefault(at, []).append(one)
    rank = {one.key: place for place, one in enumerate(sources_first(jobs))}
    found: dict[Key, Placed] = {}
    for crowd in starts.values():
        if len(crowd) >= CLUSTER:
            for one in sorted(crowd, key=lambda one: rank[one.key])[1:]:
                found[one.key] = one
    return sorted(found.values(), key=lambda one: rank[one.key])


def _minute(at: float, zone: tzinfo) -> int:
    local = datetime.fromtimestamp(at, zone)
    return local.hour * 60 + local.minute


def near(minute: int, others: Set[int], apart: int) -> bool:
    """Whether one of the others is less than `apart` minutes away, round the clock."""
    return any((minute + step) % MINUTES in others for step in range(1 - apart, apart))


def hours_of_change(zone: tzinfo, now: float) -> set[int]:
    """The hours of the day that a change of clocks leaves out or repeats within the next year."""
    found: set[int] = set()
    at = datetime.fromtimestamp(now, zone)
    for _ in range(370):
        after = datetime.fromtimestamp(at.timestamp() + DAY, zone)
        change = (after.utcoffset() or timedelta()) - (at.utcoffset() or timedelta())
        if change:
            moment = at.timestamp()
            while datetime.fromtimestamp(moment, zone).utcoffset() == at.utcoffset():
                moment += 900
            before = datetime.fromtimestamp(moment - 900, zone).hour
            behind = datetime.fromtimestamp(moment, zone).hour
            found |= {(before + 1) % 24} if change > timedelta() else {before, behind}
        at = after
    return found


def time_of(expr: str) -> tuple[int, int | None] | None:
    """(minute, hour) of five fields whose minute is a single one; the hour is None when it is not."""
    fields = expr.split()
    if len(fields) != 5 or not _SINGLE.fullmatch(fields[0]):
        return None
    return int(fields[0]), int(fields[1]) if _SINGLE.fullmatch(fields[1]) else None
