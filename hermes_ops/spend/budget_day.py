"""The day against its cap: what was spent, what is still to come, and which jobs are worth a pause.

Values in, values out; `budget` reads and acts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path

from ..core.ledger import Spent
from ..core.moment import day, day_start
from ..host.jobs import Job
from .run_costs import JOB_ID, dollars, sound, tokens, total

BAD_SHARE = 0.05  # of the rows of a day; beyond it nothing is paused


@dataclass(frozen=True)
class Today:
    """What was spent since midnight.

    ``spent`` is the known part; ``unplaced`` was spent between two snapshots more than a day apart, today or
    before; ``early`` rows of use are from before the first snapshot and may hold something of today; ``bad``
    of ``rows`` rows had numbers that cannot be; ``unseen``: the use of some profile cannot be read.
    """

    day: str
    since: float
    until: float
    spent: Spent
    unplaced: Spent
    rows: int
    bad: int
    early: int = 0
    unseen: bool = False

    @property
    def lower_bound(self) -> bool:
        return any((self.early, self.unseen, self.spent.unknown_calls, self.unplaced.calls, self.bad))

    @property
    def unknown(self) -> bool:
        """Whether nothing is known of it, which is not the same as nothing spent."""
        return self.unseen and not (self.spent.usd or tokens(self.spent))

    @property
    def bad_share(self) -> float:
        return self.bad / self.rows if self.rows else 0.0


@dataclass(frozen=True)
class Over:
    """A cap that is reached: "usd" or "tokens", what was spent of it, the cap."""

    measure: str
    spent: float
    cap: float


@dataclass(frozen=True)
class Placed:
    """A job and where it belongs."""

    profile: str
    home: Path
    job: Job
    zone: tzinfo


@dataclass(frozen=True)
class Candidate:
    """A job whose runs of today are not over: how many, and what one has cost on average.

    ``expected`` is runs times mean, in the measure of the cap; None when no run of it is on record.
    """

    placed: Placed
    runs: int
    usd: float | None
    tokens: float | None
    lower_bound: bool
    expected: float | None

    @property
    def key(self) -> str:
        return f"{self.placed.profile}/{self.placed.job.id}"


def spent_today(rows: Iterable[tuple[str, Spent]], now: float, zone: tzinfo, early: int = 0) -> Today:
    """Sum the rows of `Ledger.spent_by_day` for the day of `now`; a row with impossible numbers is bad."""
    today, good, unplaced, count, bad = day(now, zone), [], [], 0, 0
    for label, spent in rows:
        if label not in (today, ""):
            continue
        count += 1
        if not sound(spent):
            bad += 1
        else:
            (good if label else unplaced).append(spent)
    return Today(today, day_start(now, zone), now, total(good), total(unplaced), count, bad, early)


def reached(today: Today, cap_usd: float | None, cap_tokens: float | None) -> Over | None:
    """The cap that is reached, dollars first. Only what is known to be spent today counts."""
    for measure, spent, cap in (
        ("usd", today.spent.usd, cap_usd),
        ("tokens", float(tokens(today.spent)), cap_tokens),
    ):
        if cap is not None and spent >= cap:
            return Over(measure, spent, cap)
    return None


def spared(placed: Placed, keep: Collection[str], ours: Collection[str]) -> str | None:
    """Why a job is never paused by the budget; None: it may be."""
    job = placed.job
    if not JOB_ID.fullmatch(job.id):
        return "its id is none of the host's"
    if job.id in ours:
        return "a watcher of ours"
    if job.no_agent:
        return "a script: it calls no model"
    if job.id in keep or job.name in keep:
        return "on the list ops.budget.keep"
    if not job.schedule.recurring:
        return "runs once" if job.schedule.kind == "once" else "no schedule that recurs"
    if not job.live:
        return "switched off" if job.state == "scheduled" else f"{job.state} already"
    return None


def runs_left(job: Job, now: float, end: float, zone: tzinfo) -> int:
    """How many runs the host will start in [now, end); one that is overdue counts as to come."""
    from ..host.schedules import due_times

    first = job.next_run_at
    if first is None:
        after = due_times(job.schedule, now, end, zone, job.last_run_at or job.created_at)
        left = sum(1 for at in after if at < end)
    elif first >= end:
        left = 0
    else:
        start = max(first, now)  # what is overdue runs at the next tick; what follows counts from then
        left = 1 + sum(1 for at in due_times(job.schedule, start, end, zone, start) if at < end)
    if job.repeat_times:
        left = min(left, max(0, job.repeat_times - job.repeat_completed))
    return left


def candidates(
    placed: Iterable[Placed],
    mean_costs: Mapping[tuple[str, str], tuple[float, float, bool]],
    measure: str,
    now: float,
    end: float,
    keep: Collection[str] = (),
    ours: Collection[str] = (),
    left: Callable[[Job, float, float, tzinfo], int] = runs_left,
) -> list[Candidate]:
    """The jobs that may be paused and have runs to come before `end`, the most expensive first.

    `mean_costs` are (USD, tokens, USD is a lower bound) of a run by (profile, job).
    """
    found = []
    for one in placed:
        if spared(one, keep, ours) is not None:
            continue
        runs = left(one.job, now, end, one.zone)
        if runs <= 0:
            continue
        usd, count, lower = mean_costs.get((one.profile, one.job.id), (None, None, True))
        per_run = usd if measure == "usd" else count
        expected = None if per_run is None else per_run * runs
        found.append(Candidate(one, runs, usd, count, lower, expected))
    return sorted(found, key=lambda each: (-(each.expected or 0.0), each.key))


def choose(found: Sequence[Candidate], most: int) -> list[Candidate]:
    """Those worth a pause: the first `most` that are expected to cost something."""
    return [one for one in found if one.expected is not None and one.expected > 0][:most]


def amount(measure: str, value: float, lower_bound: bool = False) -> str:
    """A sum in the measure of a cap."""
    if measure == "usd":
        return dollars(value, lower_bound)
    return f"{'>= ' if lower_bound else ''}{value:,.0f} tokens"


def describe(one: Candidate, measure: str) -> str:
    """One line about a job that is still to run."""
    job, runs = one.placed.job.label, f"{one.runs} run{'s' if one.runs > 1 else ''} to come today"
    if one.expected is None:
        return f"{job}: {runs}, no run of it on record"
    each = one.usd if measure == "usd" else one.tokens
    lower = measure == "usd" and one.lower_bound
    return (
        f"{job}: {runs} x {amount(measure, each or 0.0, lower)}"
        f" = {amount(measure, one.expected, lower)} expected"
    )
