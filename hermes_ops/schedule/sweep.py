"""Jobs run when their schedule says: expected runs against real ones, and what stops a job from running.

For every job of every profile the times at which it was due are computed from its own schedule and zone, and
looked up in what really ran. Around that stand the faults that keep a job from running, or its answer from
arriving, while it looks healthy in the host's list.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..core.finding import Blind, Event, Finding, Reading
from ..core.watch import Context
from ..errors import OpsError
from ..settings import Option, load, number
from . import job_faults as faults
from . import sweep_memory as memory
from . import sweep_text as text
from .expected import DOWN, LATE, MISSED, Attempt, Due, alive, bursts, dues, failing
from .sweep_facts import RULES, Facts, all_runs, blind_for, gather

if TYPE_CHECKING:
    from ..host.jobs import Job

DAY = 86_400.0
OUTAGE_JOBS = 2  # jobs that missed runs in one gap, from which on the gap is told instead of each job
FAILING_TICKS = 600.0  # seconds that the ticker may loop without one good loop

OPTIONS = (
    Option("sweep.days", 2.0, number(0.5, 60.0), "days of due times that are compared with real runs"),
    Option("sweep.paused_days", 7.0, number(0.0, 3660.0), "days that a job may be paused"),
    Option("sweep.failures", 1.0, number(1.0, 100.0), "failures in a row from which a job is reported"),
    Option("sweep.running_minutes", 60.0, number(1.0, 10_000.0), "minutes that a run may take"),
)


@dataclass(frozen=True)
class Limits:
    """The settings of a sweep, in seconds where they are times."""

    window: float
    paused_days: float
    failures: int
    running: float


def watch(context: Context) -> Reading:
    """Sweep every profile, and remember since when each job has the schedule it has."""
    state = memory.state_file(context.home)
    with state.changing() as opened:
        known = memory.read(opened.data)
        reading, seen = sweep(context, known)
        opened.data = {
            "jobs": {key: one.as_data() for key, one in sorted(seen.items())},
            "at": context.now,
        }
    if opened.damaged:
        said = f"what the sweep remembered was damaged and lies at {opened.damaged}"
        reading += Reading.of(events=[Event(f"sweep.memory:{opened.damaged}", said, "warning")])
    return reading


def look(context: Context, days: float | None = None) -> Reading:
    """Sweep every profile for a report, remembering nothing."""
    try:
        known = memory.read(memory.state_file(context.home).read())
    except OpsError as error:
        known, problem = {}, str(error)
    else:
        problem = None
    reading, _ = sweep(context, known, days)
    return reading + Reading.of(blind=[Blind("sweep.memory", problem, "sweep.memory")] if problem else [])


def sweep(
    context: Context, known: dict[str, memory.Known], days: float | None = None
) -> tuple[Reading, dict[str, memory.Known]]:
    """The reading of all profiles, and what is to be remembered; a profile not read keeps what was known."""
    limits = _limits(context, days)
    found = gather(context, context.now - limits.window)
    blind = list(found.blind)
    kept: dict[str, memory.Known] = {}
    for profile, error in found.unread:
        blind += blind_for(profile, error, RULES)
        kept.update({key: one for key, one in known.items() if key.startswith(f"{profile.name}/")})
    findings: list[Finding] = []
    events: list[Event] = []
    spared = _paused_by_budget(context)
    for facts in found.profiles:
        seen = memory.observed(known, facts.profile, facts.jobs.jobs, context.now)
        part, happened = _profile(context, facts, limits, seen, spared)
        findings += part
        events += happened + _gone(context, facts, memory.gone(known, facts.profile, facts.jobs.jobs))
        kept.update(seen)
    return Reading.of(findings, blind, events), kept


def _profile(
    context: Context, facts: Facts, limits: Limits, seen: dict[str, memory.Known], spared: set[str]
) -> tuple[list[Finding], list[Event]]:
    now, name = context.now, facts.profile.name
    findings = [*_of_list(facts), *_of_ticker(facts, now)]
    judged: dict[str, list[Due]] = {}
    if facts.runs is not None:
        every = [run for runs in facts.runs.values() for run in runs]
        tick_at = facts.ticker.success_at if facts.ticker is not None else None
        working = alive(every, tick_at, now - limits.window, now)
        for job in facts.jobs.jobs:
            start = _start(facts, job, seen[memory.key_of(facts.profile, job)], limits, now)
            if start is not None and job.id not in judged:
                mine = facts.runs.get(job.id, [])
                judged[job.id] = dues(job, mine, start, now, facts.zone.tz, working)
    down_since = text.down_since(facts, now)
    if down_since is not None:
        # What is due while the scheduler stands still is told with it, once.
        judged = {
            job_id: [due for due in times if not _still_down(due, now)] for job_id, times in judged.items()
        }
    told_apart = _gaps(judged)
    for job in _first_of_each(facts.jobs.jobs):
        about = seen[memory.key_of(facts.profile, job)]
        found = _of_record(context, facts, job, about, limits, spared)
        if facts.runs is not None:
            mine = judged.get(job.id, [])
            found += _of_runs(context, facts, job, mine, told_apart, limits, about, down_since)
        findings += [fault.finding(name, job) for fault in found]
    findings += text.outages(facts, told_apart, judged, now)
    caught_up = [text.burst_event(facts, burst) for burst in bursts(judged)]
    return findings, caught_up


def _of_record(
    context: Context, facts: Facts, job: Job, about: memory.Known, limits: Limits, spared: set[str]
) -> list[faults.Fault]:
    """What is wrong with a job whatever has run."""
    model = None if facts.config is None else faults.default_model(facts.config)
    key = memory.key_of(facts.profile, job)
    found = [
        faults.schedule_fault(job),
        None if key in spared else faults.paused_fault(job, about.idle, limits.paused_days, context.now),
        faults.script_fault(job, facts.profile.home),
        faults.drift_fault(job, model),
        faults.delivery_fault(job),
        _target_fault(facts, job),
    ]
    return [fault for fault in found if fault is not None] + faults.record_faults(job)


def _of_runs(
    context: Context,
    facts: Facts,
    job: Job,
    judged: list[Due],
    told_apart: dict[tuple[float, float], set[str]],
    limits: Limits,
    about: memory.Known,
    down_since: float | None,
) -> list[faults.Fault]:
    """What is wrong with a job by its runs; ``down_since``: the scheduler stands still since then."""
    runs = (facts.runs or {}).get(job.id, [])
    running = [run for run in runs if run.running]
    now, tz = context.now, facts.zone.tz
    found: list[faults.Fault | None] = []
    dead = [run for run in running if text.owner_is_gone(run)]
    alive_now = [run for run in running if run not in dead]
    found.append(text.cut_off(job, dead, now, tz))
    found.append(text.too_long(job, alive_now, runs, limits.running, now, tz))
    found.append(faults.claim_fault(job, bool(alive_now), now))
    found.append(faults.one_shot_fault(job, bool(running), now))
    found.append(_failing_fault(context, facts, job, runs, limits))
    own = [due for due in judged if due.gap is None or len(told_apart.get(due.gap, ())) < OUTAGE_JOBS]
    overdue = _overdue_fault(facts, job, runs, limits, about, now, down_since)
    found.append(overdue or text.missed(job, [due for due in own if due.verdict in (MISSED, DOWN)], now, tz))
    found.append(text.late(job, [due for due in own if due.verdict == LATE], now, tz))
    return [fault for fault in found if fault is not None]


def _failing_fault(
    context: Context, facts: Facts, job: Job, runs: list[Attempt], limits: Limits
) -> faults.Fault | None:
    if not job.enabled:
        return None
    if any(run.failed for run in runs[-3:]) or (not runs and job.last_status == "error"):
        streak = failing(all_runs(context, facts, job.id))
        if streak is not None:
            return text.streak(job, streak, limits.failures, context.now, facts.zone.tz)
    if job.last_status == "error" and not any(_covers(run, job) for run in runs):
        return text.last_failed(job, context.now, facts.zone.tz)
    return None


def _covers(run: Attempt, job: Job) -> bool:
    """Whether a run on record is the one that the job's own last status speaks of, or a later one."""
    return job.last_run_at is not None and (run.end or run.begin) >= job.last_run_at - 60


def _overdue_fault(
    facts: Facts,
    job: Job,
    runs: list[Attempt],
    limits: Limits,
    about: memory.Known,
    now: float,
    down_since: float | None,
) -> faults.Fault | None:
    """A live job whose last run lies further back than the sweep looks, with two times missed since."""
    if not job.live or not job.schedule.recurring or not job.schedule.readable:
        return None
    if any(run.running or run.begin >= now - limits.window for run in runs):
        return None
    last = max([run.end or run.begin for run in runs] + [job.last_run_at or 0.0]) or None
    begin = max((at for at in (last, job.created_at, about.since) if at is not None), default=None)
    return text.overdue(job, last, begin, now, facts.zone.tz, down_since)


def _still_down(due: Due, now: float) -> bool:
    return due.verdict == DOWN and due.gap is not None and due.gap[1] >= now


def _start(facts: Facts, job: Job, about: memory.Known, limits: Limits, now: float) -> float | None:
    """From when on a job's due times count; None when none do."""
    if not job.live or not job.schedule.recurring or not job.schedule.readable:
        return None
    if facts.recorded is None:
        # Nothing ever ran here: what was due since the job was made was missed.
        recorded = job.created_at if job.last_run_at is None else None
    else:
        recorded = facts.recorded
    if recorded is None:
        return None
    bounds = (now - limits.window, recorded, job.created_at, about.since)
    return max(at for at in bounds if at is not None)


def _gaps(judged: dict[str, list[Due]]) -> dict[tuple[float, float], set[str]]:
    """The stretches in which nothing ran, and the jobs that were due in each."""
    found: dict[tuple[float, float], set[str]] = {}
    for job_id, times in judged.items():
        for due in times:
            if due.gap is not None and due.verdict in (LATE, DOWN):
                found.setdefault(due.gap, set()).add(job_id)
    return found


def _gone(context: Context, facts: Facts, gone: dict[str, memory.Known]) -> list[Event]:
    """One-shots that are not on the list any more though they never ran, or failed: the host says no word."""
    if facts.runs is None:
        return []
    events = []
    for key, one in gone.items():
        job_id = key.partition("/")[2]
        if one.one_shot is None or one.idle is not None or one.one_shot > context.now:
            continue
        runs = all_runs(context, facts, job_id)
        last = runs[-1] if runs else None
        if last is not None and not last.failed and last.status != "unknown":
            continue
        events.append(text.gone_event(facts, job_id, one.name, one.one_shot, last))
    return events


def _of_list(facts: Facts) -> list[Finding]:
    """Faults of the list as a whole, and of the zone in which it is read."""
    name, found = facts.profile.name, []
    where = f"{facts.jobs.path}"
    for problem in facts.jobs.problems:
        found.append(
            Finding(
                "schedule.list", "error", where, problem, f"{name}/{problem[:60]}", fix="hermes cron list"
            )
        )
    if facts.zone.problem and facts.jobs.jobs:
        found.append(
            Finding("schedule.zone", "warning", f"zone of {where}", facts.zone.problem, f"{name}/zone")
        )
    return found


def _of_ticker(facts: Facts, now: float) -> list[Finding]:
    """The scheduler itself: not looping, looping and failing, or never started, as three things."""
    waiting = [job for job in facts.jobs.jobs if job.live and job.schedule.kind != "invalid"]
    if facts.ticker is None or facts.external or not waiting:
        return []
    return [
        Finding(
            f"schedule.{rule}", "critical", text.scheduler_of(facts), said, f"{facts.profile.name}/", (), fix
        )
        for rule, said, fix in text.ticker(facts.ticker, len(waiting), FAILING_TICKS, now, facts.zone.tz)
    ]


def _target_fault(facts: Facts, job: Job) -> faults.Fault | None:
    from ..host.delivery import parse_target, unreachable

    if not job.enabled or facts.config is None:
        return None
    reasons = [(one, unreachable(job, parse_target(one), facts.profile.home)) for one in job.deliver]
    wrong = [f"{one}: {why}" for one, why in reasons if why]
    if not wrong:
        return None
    said = f"what it says cannot be delivered to {'; '.join(wrong)}"
    return faults.Fault("target", "warning", said, (), f"hermes cron edit {job.id} --deliver TARGET")


def _paused_by_budget(context: Context) -> set[str]:
    """The jobs that `hermes ops budget` paused and will resume itself, as "<profile>/<id>"."""
    from ..spend.budget_pauses import paused

    try:
        return {f"{one['profile']}/{one['job']}" for one in paused(context.home)}
    except OpsError:
        return set()


def _first_of_each(jobs: Iterable[Job]) -> list[Job]:
    """One job for each id: two records of one id are one finding."""
    return list({job.id: job for job in reversed(tuple(jobs))}.values())[::-1]


def _limits(context: Context, days: float | None) -> Limits:
    found = load(context.home, OPTIONS)
    return Limits(
        window=(found["sweep.days"] if days is None else days) * DAY,
        paused_days=found["sweep.paused_days"],
        failures=int(found["sweep.failures"]),
        running=found["sweep.running_minutes"] * 60.0,
    )
