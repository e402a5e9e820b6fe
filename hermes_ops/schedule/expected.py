"""Expected runs against real ones: pure functions over due times and attempts.

The host starts a job once for all the times that passed while it could not (its gateway was down, the machine
slept), and skips what falls due while the job still runs. So a time without a run is a fault of its own only
when the scheduler was at work then; otherwise it belongs to one gap that is told once for all jobs.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import tzinfo

from ..host.jobs import Job
from ..host.schedules import MIN_GRACE, TICK, due_times, grace

ON_TIME, LATE, MISSED, DOWN, PENDING = "on time", "late", "missed", "down", "pending"

EARLY = 2.0  # seconds by which a stamp of the host may lie before the time it was due
ALONGSIDE = 120.0  # starts within this of each other are of the same waking up
SIGN = 10.0  # a start so much later than a time shows that the scheduler had come to look at that time
BURST_WINDOW = 600.0
BURST_STARTS = 5


@dataclass(frozen=True)
class Attempt:
    """One run of a job as far as its times go; ``end`` is None while it runs or when that is unknown."""

    id: str
    job_id: str
    status: str
    begin: float
    end: float | None
    error: str | None = None
    by_hand: bool = False
    failed: bool = False
    started: float | None = None
    pid: int | None = None
    process_started_at: str | None = None

    @property
    def running(self) -> bool:
        return self.status in ("claimed", "running")


@dataclass(frozen=True)
class Due:
    """One time at which a job was due, and what came of it.

    verdict  ON_TIME, LATE (a run before the next time, outside the host's grace), MISSED (no run, though the
             scheduler worked), DOWN (no run, and nothing else ran either), PENDING (within its grace)
    run      the run that served it; of MISSED and DOWN the next one, None when there is none
    gap      of LATE and DOWN: the stretch without a start of any job around it, None when there was one
    """

    at: float
    verdict: str
    run: Attempt | None = None
    gap: tuple[float, float] | None = None

    @property
    def delay(self) -> float | None:
        return None if self.run is None else self.run.begin - self.at


@dataclass(frozen=True)
class Alive:
    """When the scheduler was at work: starts of any job that it made itself, and its last good loop."""

    starts: tuple[float, ...]
    tick_at: float | None
    since: float
    now: float

    def gap(self, at: float, until: float) -> tuple[float, float] | None:
        """The stretch around `at` without a start, when there is none before `until`; else None."""
        last_sign = until - ALONGSIDE if until < self.now else until
        if until >= self.now and self.tick_at is not None and at + TICK < self.tick_at:
            return None
        place = bisect_right(self.starts, at + SIGN)
        if place < len(self.starts) and self.starts[place] < last_sign:
            return None
        before = bisect_left(self.starts, at - EARLY)
        begin = self.starts[before - 1] if before else self.since
        end = next((start for start in self.starts[place:]), self.now)
        return begin, end


def alive(attempts: Sequence[Attempt], tick_at: float | None, since: float, now: float) -> Alive:
    """When the scheduler of a profile was at work; runs started by hand say nothing of it."""
    return Alive(tuple(sorted(run.begin for run in attempts if not run.by_hand)), tick_at, since, now)


def dues(
    job: Job, runs: Sequence[Attempt], since: float, now: float, zone: tzinfo, working: Alive
) -> list[Due]:
    """Every time in (since, now] at which a recurring job was due, with its verdict; ``runs`` are its own."""
    ordered = sorted(runs, key=lambda run: run.begin)
    begins = [run.begin for run in ordered]
    times = _times(job, ordered, since, now, zone)
    found = []
    for place, at in enumerate(times):
        following = times[place + 1] if place + 1 < len(times) else now + 1
        found.append(_judge(job, at, following, ordered, begins, now, zone, working))
    return found


def _judge(
    job: Job,
    at: float,
    following: float,
    runs: Sequence[Attempt],
    begins: Sequence[float],
    now: float,
    zone: tzinfo,
    working: Alive,
) -> Due:
    place = bisect_left(begins, at - EARLY)
    run = runs[place] if place < len(runs) else None
    if run is not None and run.begin - at <= MIN_GRACE and run.begin < following:
        return Due(at, ON_TIME, run)
    allowed = grace(job.schedule, at, zone)
    if run is not None and run.begin < following:
        if run.begin - at <= allowed:
            return Due(at, ON_TIME, run)
        return Due(at, LATE, run, working.gap(at, run.begin))
    if now - at <= allowed + TICK:
        return Due(at, PENDING)
    gap = working.gap(at, now if run is None else run.begin)
    return Due(at, MISSED if gap is None else DOWN, run, gap)


def _times(job: Job, runs: Sequence[Attempt], since: float, now: float, zone: tzinfo) -> list[float]:
    """The due times between the runs: the host plans anew from the end of each, and not while one goes on.

    Of a run that was cut off no end is known; there it had planned from the beginning. Before the first run
    that is known it is planned from `since`.
    """
    found: list[float] = []
    anchor: float | None = since
    for run in [*runs, None]:
        until = now if run is None else run.begin + EARLY
        if anchor is not None and until > since:
            found += [at for at in due_times(job.schedule, anchor, until, zone, anchor) if at > since]
        if run is not None:
            anchor = None if run.running else max(since, run.end or run.begin)
    return found


@dataclass(frozen=True)
class Streak:
    """Failures in a row up to now: how many, since when, and the last error. Times are those of claims."""

    count: int
    since: float
    last: float
    error: str | None
    more: bool = False  # whether runs before those that are known may have failed too


def failing(runs: Sequence[Attempt]) -> Streak | None:
    """The failures at the end of a job's runs; None when the last one that ended did not fail.

    A run that was cut off counts neither way: whether it did its work is unknown.
    """
    ended = [run for run in sorted(runs, key=lambda run: run.begin) if not run.running]
    known = [run for run in ended if run.failed or run.status != "unknown"]
    count = 0
    for run in reversed(known):
        if not run.failed:
            break
        count += 1
    if not count:
        return None
    first, last = known[-count], known[-1]
    return Streak(count, first.begin, last.begin, last.error, more=count == len(known))


@dataclass(frozen=True)
class Burst:
    """Many starts within a few minutes after a stretch without any: the host caught up.

    ``gap`` is that stretch, ``jobs`` the ids that started, the earliest time that was made up for ``owed``.
    """

    at: float
    end: float
    gap: tuple[float, float]
    jobs: tuple[str, ...]
    starts: int
    owed: float


def bursts(judged: dict[str, list[Due]]) -> list[Burst]:
    """The catch-up bursts in the dues of a profile's jobs."""
    made_up: dict[str, tuple[float, str, float, tuple[float, float]]] = {}
    for job_id, found in judged.items():
        for due in found:
            if due.run is not None and due.gap is not None and due.verdict in (LATE, DOWN):
                known = made_up.get(due.run.id)
                owed = min(due.at, known[2]) if known else due.at
                made_up[due.run.id] = (due.run.begin, job_id, owed, due.gap)
    starts = sorted(made_up.values())
    found_bursts, place = [], 0
    while place < len(starts):
        end = bisect_right([start[0] for start in starts], starts[place][0] + BURST_WINDOW)
        group = starts[place:end]
        if len(group) >= BURST_STARTS:
            jobs = tuple(dict.fromkeys(start[1] for start in group))
            gap = (min(start[3][0] for start in group), group[0][0])
            owed = min(start[2] for start in group)
            found_bursts.append(Burst(group[0][0], group[-1][0], gap, jobs, len(group), owed))
            place = end
        else:
            place += 1
    return found_bursts
