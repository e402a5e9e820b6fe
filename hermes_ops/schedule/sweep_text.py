"""What a sweep says: the numbers behind a verdict put into one line, with the evidence for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import tzinfo

from .._common.files import is_alive
from ..core.finding import Event, Finding
from ..core.moment import show, span
from ..host.jobs import Job
from ..host.schedules import due_times, grace
from ..host.ticker import STALLED, Ticker
from .expected import DOWN, LATE, Attempt, Burst, Due, Streak
from .job_faults import Fault, where
from .sweep_facts import Facts

SHOWN = 5  # lines of evidence, of many of a kind
PATIENCE = 120.0  # seconds beyond the host's grace: it looks once a minute


def missed(job: Job, times: Sequence[Due], now: float, tz: tzinfo) -> Fault | None:
    """Times without a run."""
    if not times:
        return None
    first, last = times[0], times[-1]
    ran = last.run
    since = f"; it ran again {show(ran.begin, tz)}" if ran is not None else "; it has not run since"
    if len(times) == 1:
        said = f"it did not run when it was due, {show(last.at, tz)}{since}"
    else:
        said = f"it missed {len(times)} runs, {show(first.at, tz)} to {show(last.at, tz)}{since}"
    if any(due.verdict == DOWN for due in times):
        said += "; no other job ran then either"
    evidence = [f"schedule: {job.schedule.display}"]
    evidence += [f"due {show(due.at, tz)}: no run" for due in times[-SHOWN:]]
    if job.next_run_at is not None:
        evidence.append(f"next_run_at: {show(job.next_run_at, tz)}")
    severity = "error" if ran is None else "warning"
    return Fault("missed", severity, said, tuple(evidence), f"hermes cron runs {job.id}")


def late(job: Job, times: Sequence[Due], now: float, tz: tzinfo) -> Fault | None:
    """Runs that came, outside the host's own grace."""
    if not times:
        return None
    worst = max(times, key=lambda due: due.delay or 0.0)
    allowed = grace(job.schedule, worst.at, tz)
    count = "" if len(times) == 1 else f"{len(times)} runs were late; the worst, "
    said = (
        f"{count}due {show(worst.at, tz)}, began {span(worst.delay or 0.0)} late "
        f"(the host allows {span(allowed)})"
    )
    if worst.gap is not None:
        said += f": no job ran between {show(worst.gap[0], tz)} and {show(worst.gap[1], tz)}"
    evidence = tuple(
        f"due {show(due.at, tz)}, began {show(due.run.begin, tz)}"
        for due in times[-SHOWN:]
        if due.run is not None
    )
    return Fault("late", "warning", said, evidence, f"hermes cron runs {job.id}", remind=None)


def overdue(
    job: Job, last: float | None, begin: float | None, now: float, tz: tzinfo, down_since: float | None
) -> Fault | None:
    """A job that has not run for two of its times and more, or whose planned time is past.

    ``begin`` is from when on its times count, None when that is unknown. What fell due only after the
    scheduler stood still (``down_since``) is no fault of the job.
    """
    allowed = grace(job.schedule, now, tz) + PATIENCE
    times = [] if begin is None else due_times(job.schedule, begin, now - allowed, tz, begin)
    planned = job.next_run_at
    stuck = planned is not None and planned < now - allowed
    if len(times) < (1 if last is None else 2) and not stuck:
        return None
    owed = min(times[:1] + ([planned] if stuck and planned is not None else []))
    if down_since is not None and owed > down_since:
        return None
    evidence = (
        f"schedule: {job.schedule.display}",
        f"last_run_at: {show(last, tz)}, last_status: {job.last_status}",
        f"next_run_at: {show(planned, tz)}" + (", past, and nothing happened" if stuck else ""),
    )
    how = "has never run" if last is None else f"has not run for {span(now - last)}, since {show(last, tz)}"
    said = f"{how}, and was due {show(owed, tz)}"
    if len(times) > 1:
        said = f"{how}: {len(times)} times at which it was due went by, from {show(owed, tz)} on"
    return Fault("overdue", "error", said, evidence, f"hermes cron status; hermes cron run {job.id}")


def streak(job: Job, found: Streak, failures: int, now: float, tz: tzinfo) -> Fault | None:
    """Failures in a row."""
    if found.count < failures:
        return None
    if found.count == 1:
        said = f"its last run failed, {show(found.last, tz)}"
    else:
        many = f"at least {found.count}" if found.more else f"{found.count}"
        said = f"{many} failures in a row since {show(found.since, tz)}, the last {show(found.last, tz)}"
    error = found.error or job.last_error
    severity = "error" if found.count >= 3 else "warning"
    return Fault("failing", severity, _with_error(said, error), _error_lines(error), _look(job))


def last_failed(job: Job, now: float, tz: tzinfo) -> Fault:
    """What the job's own record says, where no run of it is on record."""
    said = f"its last run failed, {show(job.last_run_at, tz)}"
    return Fault(
        "failing", "warning", _with_error(said, job.last_error), _error_lines(job.last_error), _look(job)
    )


def too_long(
    job: Job, running: Sequence[Attempt], runs: Sequence[Attempt], limit: float, now: float, tz: tzinfo
) -> Fault | None:
    """A run that goes on for longer than `limit`, and than three of its longest runs."""
    past = [run.end - (run.started or run.begin) for run in runs if run.end is not None and not run.failed]
    allowed = max([limit, *(3 * length for length in past)])
    slow = [run for run in running if now - (run.started or run.begin) > allowed]
    if not slow:
        return None
    run = slow[0]
    begin = run.started or run.begin
    waits = run.status == "claimed"
    said = f"{'waits for a worker' if waits else 'has been running'} for {span(now - begin)}"
    usual = f", its longest before took {span(max(past))}" if past else ""
    return Fault(
        "long",
        "warning",
        f"{said}, since {show(begin, tz)}{usual}",
        (f"execution {run.id}: {run.status}, process {run.pid}",),
        f"hermes cron runs {job.id}",
    )


def cut_off(job: Job, dead: Sequence[Attempt], now: float, tz: tzinfo) -> Fault | None:
    """A run that counts as running while the process that ran it is gone."""
    if not dead:
        return None
    run = dead[-1]
    return Fault(
        "cut_off",
        "warning",
        f"its run of {show(run.begin, tz)} counts as {run.status}, and the process that ran it is gone",
        (f"execution {run.id}: process {run.pid}",),
        "the host notices when its gateway starts; was the work done?",
    )


def owner_is_gone(run: Attempt) -> bool:
    """Whether the process of a run that has not ended is proved gone."""
    return run.running and run.pid is not None and is_alive(run.pid, run.process_started_at) is False


def ticker(
    found: Ticker, waiting: int, failing_after: float, now: float, tz: tzinfo
) -> Iterator[tuple[str, str, str]]:
    """(rule, line, fix) of what is wrong with the scheduler of a profile that has jobs to run."""
    beat, good = found.heartbeat_at, found.success_at
    if beat is None and good is None:
        said = f"the scheduler has left no sign of life here: {waiting} jobs wait for it"
        yield "ticker_never", said, "hermes gateway run, or hermes gateway install"
        return
    if beat is None or now - beat > STALLED:
        since = show(beat if beat is not None else good, tz)
        said = f"the scheduler has not looked for due jobs since {since}: {waiting} jobs wait for it"
        yield "ticker_stalled", said, "hermes gateway status; hermes gateway restart"
        return
    if good is None or now - good > failing_after:
        ever = "never looked without an error" if good is None else f"fails since {show(good, tz)}"
        said = f"the scheduler loops and {ever}: no job is started"
        yield "ticker_failing", said, "grep 'Cron tick error' in logs/errors.log"


def down_since(facts: Facts, now: float) -> float | None:
    """Since when the scheduler stands still (0.0: it never ran); None when it does not or that is unknown."""
    if facts.ticker is None or facts.external:
        return None
    beat, good = facts.ticker.heartbeat_at, facts.ticker.success_at
    if beat is not None:
        return beat if now - beat > STALLED else None
    if good is None and any(job.last_run_at is not None for job in facts.jobs.jobs):
        return None
    return good or 0.0


def scheduler_of(facts: Facts) -> str:
    name = facts.profile.name
    return "scheduler" if name == "default" else f"scheduler of profile {name}"


def outages(
    facts: Facts,
    gaps: Mapping[tuple[float, float], set[str]],
    judged: Mapping[str, Sequence[Due]],
    now: float,
) -> list[Finding]:
    """The stretches in which nothing ran though several jobs were due, as one finding."""
    wide = sorted(gap for gap, jobs in gaps.items() if len(jobs) >= 2)
    if not wide:
        return []
    tz, names = facts.zone.tz, {job.id: job.name for job in facts.jobs.jobs}
    lost = [
        (job_id, due)
        for job_id, times in judged.items()
        for due in times
        if due.gap in wide and due.verdict in (LATE, DOWN)
    ]
    skipped = sum(due.verdict == DOWN for _, due in lost)
    begin, end = max(wide, key=lambda gap: gap[1] - gap[0])
    jobs = sorted({job_id for job_id, _ in lost})
    more = f", and in {len(wide) - 1} shorter stretches" if len(wide) > 1 else ""
    until = "now" if end >= now else show(end, tz)
    said = (
        f"no job ran from {show(begin, tz)} to {until} ({span(end - begin)}){more}: {len(jobs)} jobs were "
        f"due, {skipped} runs did not happen, {len(lost) - skipped} came late"
    )
    evidence = [
        f"{where(facts.profile.name, job_id, names.get(job_id, ''))}: due "
        f"{', '.join(show(due.at, tz) for one, due in lost if one == job_id)}"[:300]
        for job_id in jobs[:SHOWN]
    ]
    if len(jobs) > SHOWN:
        evidence.append(f"and {len(jobs) - SHOWN} more jobs")
    key, fix = f"{facts.profile.name}/", "hermes gateway status; journalctl of its unit for that time"
    severity = "error" if end >= now else "warning"
    return [
        Finding(
            "schedule.outage", severity, scheduler_of(facts), said, key, tuple(evidence), fix, remind=None
        )
    ]


def burst_event(facts: Facts, burst: Burst) -> Event:
    """Many jobs started at once because the host caught up: told once, and no trend."""
    tz = facts.zone.tz
    said = (
        f"{scheduler_of(facts)}: catch-up burst: {burst.starts} runs of {len(burst.jobs)} jobs began within "
        f"{span(max(1.0, burst.end - burst.at))} from {show(burst.at, tz)} on, after "
        f"{span(burst.at - burst.gap[0])} without any (due since {show(burst.owed, tz)}); "
        "what they spend is no trend"
    )
    return Event(f"schedule.burst:{facts.profile.name}/{int(burst.at)}", said, "warning")


def gone_event(facts: Facts, job_id: str, name: str, run_at: float, last: Attempt | None) -> Event:
    """A one-shot that is off the list without having done its work."""
    due = show(run_at, facts.zone.tz)
    if last is None:
        what = f"was due {due}, is not on the list any more, and no run of it is on record"
    elif last.failed:
        error = f": {_first_line(last.error)}" if last.error else ""
        what = f"was due {due}, failed, and the host has dropped it{error}"
    else:
        what = f"was due {due}, was cut off as it ran, and the host has dropped it"
    said = f"one-shot {where(facts.profile.name, job_id, name)} {what}"
    return Event(f"schedule.gone:{facts.profile.name}/{job_id}/{int(run_at)}", said, "error")


def _with_error(said: str, error: str | None) -> str:
    line = _first_line(error)
    return f"{said}: {line}" if line else said


def _first_line(error: str | None) -> str:
    lines = [line.strip() for line in (error or "").splitlines() if line.strip()]
    return lines[0] if lines else ""


def _error_lines(error: str | None) -> tuple[str, ...]:
    return tuple(line.strip() for line in (error or "").splitlines() if line.strip())[1 : SHOWN + 1]


def _look(job: Job) -> str:
    return f"hermes cron runs {job.id}"
