"""What a run of each job costs, with its interval, and how often it runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path

from ..core import statistics
from ..core.finding import DAY
from ..host.jobs import Job
from ..host.schedules import Schedule, due_times
from ..spend.run_costs import RunCost, mean

MOST_TIMES = 10_000  # due_times tells no more


@dataclass(frozen=True)
class JobCost:
    """What a run costs: the mean over `runs` runs and its interval (None: fewer than five), and per day.

    ``usd`` None: no run is on record. ``longest`` is the longest run, in seconds.
    """

    runs: int
    usd: float | None
    interval: tuple[float, float] | None
    lower_bound: bool
    tokens: float
    per_day: float | None
    longest: float = 0.0

    @property
    def usd_per_day(self) -> float | None:
        return None if self.usd is None or self.per_day is None else self.usd * self.per_day


@dataclass(frozen=True)
class Placed:
    """A job, where it belongs, its zone, what its runs cost."""

    profile: str
    home: Path
    job: Job
    zone: tzinfo
    cost: JobCost
    ours: bool = False

    @property
    def key(self) -> tuple[str, str]:
        return (self.profile, self.job.id)


def job_cost(costs: Sequence[RunCost], per_day: float | None) -> JobCost:
    """The mean cost of a run with its bootstrap interval over runs."""
    usd = [one.usd for one in costs]
    interval = statistics.bootstrap(usd, mean) if usd else None
    longest = [
        one.run.finished_at - one.run.claimed_at
        for one in costs
        if one.run and one.run.finished_at is not None and one.run.claimed_at is not None
    ]
    return JobCost(
        len(usd),
        mean(usd) if usd else None,
        interval,
        any(one.lower_bound for one in costs),
        mean([float(one.tokens) for one in costs]),
        per_day,
        max(longest, default=0.0),
    )


def runs_per_day(schedule: Schedule, now: float, zone: tzinfo) -> float | None:
    """How often a schedule is due a day, over the next 28 days."""
    if schedule.kind == "interval" and schedule.minutes > 0:
        return 24 * 60 / schedule.minutes
    if schedule.kind != "cron" or not schedule.readable:
        return None
    times = due_times(schedule, now, now + 28 * DAY, zone)
    if len(times) >= MOST_TIMES:  # cut: the density of what there is
        return (len(times) - 1) / (times[-1] - times[0]) * DAY
    return len(times) / 28
