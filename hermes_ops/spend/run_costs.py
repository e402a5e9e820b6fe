"""What each run of a job cost: the runs of the ledger joined with the sessions they opened.

A run of an agent opens the session `cron_<job>_<date>_<time>`; sub-agents and continuations hang below it
and are counted with it. The stamp is wall clock in the zone of the home, without offset.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo

from ..core.ledger import Run, Spent

JOB_ID = re.compile(r"[0-9a-f]{12}")
ROOT = re.compile(r"cron_([0-9a-f]{12})_(\d{8}_\d{6})")
SLACK = 2.0  # seconds between the host's two clocks readings: the stamp of a session has whole seconds
LONGEST_RUN = 24 * 3600.0  # a run that was never seen to end owns what began within this time

COLUMNS = ("profile", "job", "root")  # the columns of Ledger.spent that `join` takes


@dataclass(frozen=True)
class RunCost:
    """One run and what it cost.

    ``run`` is None for a session whose run the host had forgotten before it was seen; ``spent`` is None when
    the cost is not known (an agent that answered, and no session of it).
    """

    profile: str
    job_id: str
    at: float
    run: Run | None
    spent: Spent | None

    @property
    def usd(self) -> float:
        """The known part of the cost."""
        return self.spent.usd if self.spent else 0.0

    @property
    def tokens(self) -> int:
        return tokens(self.spent) if self.spent else 0

    @property
    def lower_bound(self) -> bool:
        """Whether more may have been spent than `usd` says."""
        return self.spent is None or self.spent.unknown_calls > 0


def tokens(spent: Spent) -> int:
    """Tokens that a provider works on anew: without those read from a cache; reasoning is part of output."""
    return spent.input + spent.output + spent.cache_write


def sound(spent: Spent) -> bool:
    """Whether every number of a sum can be one: finite, not negative."""
    counts = (spent.calls, spent.input, spent.output, spent.cache_read, spent.cache_write, spent.reasoning)
    numbers = (*counts, spent.usd, spent.unknown_calls, spent.included_tokens)
    return all(
        isinstance(number, (int, float)) and math.isfinite(number) and number >= 0 for number in numbers
    )


def total(rows: Iterable[Spent], group: tuple[str | None, ...] = ()) -> Spent:
    """The sum of several sums."""
    calls = new = out = read = write = thought = unknown = included = 0
    usd = 0.0
    for row in rows:
        calls, new, out = calls + row.calls, new + row.input, out + row.output
        read, write, thought = read + row.cache_read, write + row.cache_write, thought + row.reasoning
        usd, unknown, included = usd + row.usd, unknown + row.unknown_calls, included + row.included_tokens
    return Spent(group, calls, new, out, read, write, thought, usd, unknown, included)


def dollars(usd: float, lower_bound: bool = False) -> str:
    """`$1.02`, with three or four digits for small sums; `>= $1.02`, rounded down, for a lower bound."""
    decimals = 2 if usd >= 0.1 or usd == 0 else 4
    if lower_bound:
        step = 10**decimals
        return f">= ${math.floor(usd * step + 1e-9) / step:,.{decimals}f}"
    return f"${usd:,.{decimals}f}"


def join(
    runs: Sequence[Run], rows: Iterable[Spent], zone_of: Callable[[str], tzinfo], until: float = math.inf
) -> list[RunCost]:
    """Give every run the sessions it opened; `rows` are grouped by COLUMNS. Oldest first.

    A run owns a session of its job whose stamp lies between its claim and its end. What belongs to no run
    stands alone, with `run` None. Runs not over yet are left out, with their sessions.
    """
    owned: dict[tuple[str, str], list[Run]] = {}
    for run in runs:
        if _start(run) is not None:
            owned.setdefault((run.profile, run.job_id), []).append(run)
    for each in owned.values():
        each.sort(key=lambda run: _start(run) or 0.0)
    starts = {key: [_start(run) or 0.0 for run in each] for key, each in owned.items()}
    found: dict[tuple[str, str, int], list[Spent]] = {}
    result: list[RunCost] = []
    for row in rows:
        profile, job, root = row.group
        stamps = session_times(root or "", zone_of(profile or ""))
        if profile is None or job is None or not stamps or not JOB_ID.fullmatch(job):
            continue
        key = (profile, job)
        place = next(
            (p for at in stamps if (p := _owner(owned.get(key, []), starts.get(key, []), at)) is not None),
            None,
        )
        if place is None:
            if stamps[0] < until:
                result.append(RunCost(profile, job, stamps[0], None, row))
        else:
            found.setdefault((profile, job, place), []).append(row)
    for (profile, job), each in owned.items():
        for place, run in enumerate(each):
            if run.outcome == "running":
                continue
            sessions = found.get((profile, job, place))
            spent = total(sessions, (profile, job, None)) if sessions else _without_session(run)
            result.append(RunCost(profile, job, _start(run) or 0.0, run, spent))
    return sorted(result, key=lambda one: (one.at, one.profile, one.job_id))


def by_job(costs: Iterable[RunCost]) -> dict[tuple[str, str], list[RunCost]]:
    """The runs of each (profile, job)."""
    result: dict[tuple[str, str], list[RunCost]] = {}
    for one in costs:
        result.setdefault((one.profile, one.job_id), []).append(one)
    return result


def session_times(root: str, zone: tzinfo) -> tuple[float, ...]:
    """When the session that a root id names was opened: one time, two in the hour that clocks repeat."""
    found = ROOT.fullmatch(root)
    if found is None:
        return ()
    try:
        local = datetime.strptime(found[2], "%Y%m%d_%H%M%S").replace(tzinfo=zone)
        first, second = local.timestamp(), local.replace(fold=1).timestamp()
    except (ValueError, OverflowError):
        return ()
    return (first,) if abs(second - first) < 1 else tuple(sorted((first, second)))


def zones(profiles: Iterable[object]) -> Callable[[str], tzinfo]:
    """A function from the name of a profile to the zone of its home, each read once."""
    from ..host.zone import zone

    homes = {profile.name: profile.home for profile in profiles}  # type: ignore[attr-defined]
    known: dict[str, tzinfo] = {}

    def of(name: str) -> tzinfo:
        if name not in known:
            home = homes.get(name) or next(iter(homes.values()))
            known[name] = zone(home).tz
        return known[name]

    return of


def day_end(at: float, zone: tzinfo) -> float:
    """The next midnight in `zone`; right on days of 23 and 25 hours."""
    local = datetime.fromtimestamp(at, zone).replace(tzinfo=None, fold=0)
    tomorrow = local.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    return tomorrow.replace(tzinfo=zone).timestamp()


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def means(
    costs: Mapping[tuple[str, str], Sequence[RunCost]],
) -> dict[tuple[str, str], tuple[float, float, bool]]:
    """Per job: mean USD and mean tokens of a run, and whether the USD are a lower bound."""
    return {
        key: (
            mean([one.usd for one in each]),
            mean([float(one.tokens) for one in each]),
            any(one.lower_bound for one in each),
        )
        for key, each in costs.items()
        if each
    }


def _start(run: Run) -> float | None:
    return run.claimed_at if run.claimed_at is not None else run.started_at


def _owner(runs: Sequence[Run], starts: Sequence[float], at: float) -> int | None:
    """The run that was under way at a time: the last one claimed before it, unless that had ended."""
    place = bisect_right(starts, at + SLACK) - 1
    if place < 0:
        return None
    run = runs[place]
    end = run.finished_at if run.finished_at is not None else starts[place] + LONGEST_RUN
    return place if at <= end + SLACK else None


def _without_session(run: Run) -> Spent | None:
    """The cost of a run that opened no session: nothing for scripts and gates, unknown for an answer."""
    if run.no_agent or run.outcome in ("silent", "failed", "empty"):
        return Spent((run.profile, run.job_id, None), 0, 0, 0, 0, 0, 0, 0.0, 0, 0)
    return None
