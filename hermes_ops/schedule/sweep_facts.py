"""What a sweep looks at in one profile, read once: jobs, their runs, the ticker, what is configured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..core.finding import Blind
from ..core.watch import Context
from ..errors import OpsError, Unreadable
from ..host.executions import FINISHED, KEPT, Execution, read_executions
from ..host.jobs import Jobs, read_jobs
from ..host.profiles import Profile
from ..host.ticker import Ticker, read_ticker
from ..host.zone import Zone, zone
from .expected import Attempt

if TYPE_CHECKING:
    from ..core.ledger import Run

FAILED = ("failed", "empty")  # outcomes of a run that count as a failure
LEAD = 86_400.0  # runs so long before the sweep's time are read too: an interval counts from the last one


@dataclass(frozen=True)
class Facts:
    """One profile. ``runs`` by job id, oldest first, from some time before the sweep's on; None: unknown.

    ``recorded`` is the time from which on every run is on record; None when there is none at all.
    ``ticker`` is None when its files cannot be read; ``config`` when config.yaml cannot.
    """

    profile: Profile
    zone: Zone
    jobs: Jobs
    runs: Mapping[str, list[Attempt]] | None
    recorded: float | None
    ticker: Ticker | None
    config: Mapping[str, Any] | None
    external: bool = False  # whether another scheduler than the host's own ticker starts the jobs


@dataclass
class Gathered:
    """The profiles that could be read, and what could not. ``unread`` are names of profiles without jobs."""

    profiles: list[Facts] = field(default_factory=list)
    unread: list[tuple[Profile, Unreadable]] = field(default_factory=list)
    blind: list[Blind] = field(default_factory=list)


def gather(context: Context, since: float) -> Gathered:
    """Read every profile. What cannot be read of one is told and hides no other."""
    found = Gathered()
    ledger = _collected(context, found)
    for profile in context.profiles:
        try:
            jobs = read_jobs(profile.home)
        except Unreadable as error:
            found.unread.append((profile, error))
            continue
        runs, recorded = _runs(context, profile, since, ledger, found)
        found.profiles.append(
            Facts(
                profile,
                zone(profile.home),
                jobs,
                runs,
                recorded,
                _ticker(profile, found),
                _config(profile),
                _external(profile),
            )
        )
    return found


def all_runs(context: Context, facts: Facts, job_id: str) -> list[Attempt]:
    """Every run of one job on record, for a streak that reaches further back than the sweep."""
    here = (facts.runs or {}).get(job_id, [])
    try:
        kept = context.ledger().runs(0.0, context.now + 86_400, profile=facts.profile.name, job_id=job_id)
    except OpsError:
        return here
    return _merged([_of_ledger(run) for run in kept], here)


def _collected(context: Context, found: Gathered) -> bool:
    """Bring the ledger up to date; whether it can be asked."""
    try:
        blind = context.ledger().collect(context.now).blind
    except OpsError as error:
        # Without it the host's own records are looked at, which reach back less far.
        found.blind.append(Blind("ledger", str(error), covers="ledger:", fix="hermes ops doctor"))
        return False
    found.blind += [
        Blind(one.key, one.text, "ledger:", one.holds, one.fix) for one in blind if one.key == "ledger"
    ]
    return True


def _runs(
    context: Context, profile: Profile, since: float, ledger: bool, found: Gathered
) -> tuple[dict[str, list[Attempt]] | None, float | None]:
    """The runs of a profile by job, and the time from which on all of them are on record."""
    kept: list[Run] = []
    snapshots: list[float] = []
    if ledger:
        try:
            kept = context.ledger().runs(since - LEAD, context.now + LEAD, profile=profile.name)
            snapshots = [at for at in context.ledger().snapshots() if at < context.now]
        except OpsError as error:
            found.blind.append(Blind(f"ledger:{profile.name}", str(error), covers="ledger:"))
    try:
        executions = [one for one in read_executions(profile.home) if one.claimed_at is not None]
    except Unreadable as error:
        found.blind += blind_for(profile, error, RUN_RULES)
        return None, None
    merged = _merged(map(_of_ledger, kept), map(_of_host, executions))
    by_job: dict[str, list[Attempt]] = {}
    for run in merged:
        by_job.setdefault(run.job_id, []).append(run)
    return by_job, _recorded(merged, executions, snapshots, since)


def _recorded(
    runs: list[Attempt], executions: list[Execution], snapshots: list[float], since: float
) -> float | None:
    """From when on no run is missing: the host keeps the newest, the ledger what it has seen of them."""
    oldest = min((one.claimed_at or 0.0 for one in executions), default=None)
    full = sum(one.status in FINISHED for one in executions) >= KEPT
    if full and oldest is not None and (not snapshots or snapshots[-1] < oldest):
        return oldest
    if snapshots and snapshots[0] <= since:
        return 0.0
    return min((run.begin for run in runs), default=None)


# The rules of findings that rest on runs, and all there are: a blindness names what it covers rule by rule.
RUN_RULES = ("missed", "late", "outage", "failing", "long", "cut_off", "lost", "overdue", "stale_claim")
TICKER_RULES = ("ticker_stalled", "ticker_failing", "ticker_never")
RULES = (
    *RUN_RULES,
    *TICKER_RULES,
    "broken",
    "dead",
    "drift",
    "invalid",
    "list",
    "paused",
    "record",
    "script",
    "target",
    "undelivered",
    "zone",
)


def blind_for(profile: Profile, error: Unreadable, rules: Iterable[str]) -> list[Blind]:
    """One blindness, said once, that covers the findings of some rules in a profile."""
    text = f"schedule of profile {profile.name}: {error}"
    return [Blind(f"{error.source}", text, covers=f"schedule.{rule}:{profile.name}/") for rule in rules]


def _ticker(profile: Profile, found: Gathered) -> Ticker | None:
    try:
        return read_ticker(profile.home)
    except Unreadable as error:
        found.blind += blind_for(profile, error, TICKER_RULES)
        return None


def _config(profile: Profile) -> Mapping[str, Any] | None:
    from .._common.config import read_config

    config = read_config(profile.home)
    return config.values if config.known else None


def _external(profile: Profile) -> bool:
    from .._common.config import read_config

    named = str(read_config(profile.home).get("cron.provider") or "").strip()
    return named not in ("", "builtin", "in-process", "inprocess")


def _merged(older: Iterable[Attempt], newer: Iterable[Attempt]) -> list[Attempt]:
    """Both by id; of two of one run, what the ledger knows of its outcome and the host of its state."""
    found = {run.id: run for run in older}
    for run in newer:
        before = found.get(run.id)
        known = before is not None and before.failed and not run.running
        found[run.id] = _with_failure(run, before) if known and before is not None else run
    return sorted(found.values(), key=lambda run: run.begin)


def _with_failure(run: Attempt, before: Attempt) -> Attempt:
    return Attempt(**{**vars(run), "failed": True, "error": run.error or before.error})


def _of_ledger(run: Run) -> Attempt:
    failed = run.status == "failed" or (run.status == "completed" and run.outcome in FAILED)
    return Attempt(
        id=run.execution_id,
        job_id=run.job_id,
        status=run.status,
        begin=run.claimed_at or run.started_at or 0.0,
        end=_end(run.status, run.finished_at),
        error=run.error,
        by_hand=run.source == "direct",
        failed=failed,
        started=run.started_at,
    )


def _of_host(run: Execution) -> Attempt:
    return Attempt(
        id=run.id,
        job_id=run.job_id,
        status=run.status,
        begin=run.claimed_at or run.started_at or 0.0,
        end=_end(run.status, run.finished_at),
        error=run.error,
        by_hand=run.source == "direct",
        failed=run.status == "failed",
        started=run.started_at,
        pid=run.pid,
        process_started_at=run.process_started_at,
    )


def _end(status: str, finished_at: float | None) -> float | None:
    """When a run ended; of one that was cut off the host writes when it found out, maybe much later."""
    return None if status == "unknown" else finished_at
