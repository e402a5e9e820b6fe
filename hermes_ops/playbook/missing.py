"""Why did nothing come of a job? Gone, off, not due, not run, failed, not delivered, or silent by design."""

from __future__ import annotations

from ..core.finding import DAY
from ..core.ledger import Run
from ..core.moment import show, span
from ..errors import OpsError
from ..host import schedules
from ..host.jobs import Job, find, read_jobs
from ..host.ticker import STALLED, read_ticker
from ..schedule.sweep import FAILING_TICKS
from .tree import Case, Found, Question, no, unknown, yes

LOOK_BACK = 30 * DAY


def job_of(case: Case) -> Job:
    """The job that is asked about. OpsError when there is none of that name."""
    if not case.subject:
        raise OpsError("name the job: hermes ops explain missing JOB (an id, or its name)")
    return case.once("job", lambda: find(read_jobs(case.context.home), str(case.subject)))


def is_off(case: Case) -> Found:
    job = job_of(case)
    seen = [f"cron/jobs.json {job.id}: enabled={job.enabled}, state={job.state}, {job.schedule.display}"]
    if job.live:
        return no(*seen)
    if job.paused_reason:
        seen.append(f"paused_reason: {job.paused_reason}")
    state = job.state if job.state in ("paused", "completed", "error") else "disabled"
    return yes(f"the job is {state}", seen, f"hermes cron resume {job.id}")


def is_scheduler_dead(case: Case) -> Found:
    ticker = read_ticker(case.context.home)
    if ticker.heartbeat_at is None:
        return yes(
            "the host's scheduler has never run here: jobs run inside the gateway",
            ["cron/ticker_heartbeat does not exist"],
            "hermes gateway start",
        )
    age = case.now - ticker.heartbeat_at
    seen = [f"cron/ticker_heartbeat: {span(max(0.0, age))} ago"]
    if age > STALLED:
        return yes(
            "the host's scheduler does not run", seen, "hermes ops explain dead", "hermes gateway status"
        )
    good = ticker.success_at
    looked = "missing" if good is None else f"{span(max(0.0, case.now - good))} ago"
    seen.append(f"cron/ticker_last_success: {looked}")
    if good is None or case.now - good > FAILING_TICKS:
        since = show(good, case.context.zone.tz)
        ever = "never looked without an error" if good is None else f"fails since {since}"
        return yes(
            f"the host's scheduler loops and {ever}: no job is started",
            seen,
            "grep 'Cron tick error' logs/errors.log",
            "hermes ops sweep",
        )
    return no(*seen)


def is_not_due(case: Case) -> Found:
    job, zone = job_of(case), case.context.zone.tz
    if job.schedule.kind == "invalid":
        return yes(
            f"its schedule is not valid: {job.schedule.problem}",
            [f"cron/jobs.json {job.id}: {job.raw.get('schedule')!r}"],
            f'hermes cron edit {job.id} --schedule "..."',
        )
    due = schedules.previous_due(job.schedule, case.now, zone, job.last_run_at or job.created_at)
    seen = [f"last due {show(due, zone)}; next_run_at {show(job.next_run_at, zone)}"]
    case.read["due"] = due
    if job.last_run_at is None and (due is None or due < (job.created_at or 0.0)):
        return yes(
            f"it was not due yet since it was made ({show(job.created_at, zone)})",
            seen,
            f"hermes cron run {job.id}   # to see it once now",
        )
    return no(*seen)


def is_not_run(case: Case) -> Found:
    job, zone, due = job_of(case), case.context.zone.tz, case.read.get("due")
    runs = runs_of(case, case.now - LOOK_BACK)
    last = runs[-1] if runs else None
    if last is None:
        stamp = f"jobs.json last_run_at: {show(job.last_run_at, zone)}"
        if job.last_run_at is None:
            return yes("it has never run", [stamp], f"hermes cron run {job.id}")
        return unknown(stamp, "its runs are not in the ledger")
    at = last.claimed_at or last.started_at
    seen = [f"last run {show(at, zone)}: {last.status}"]
    late = schedules.grace(job.schedule, case.now, zone) if job.schedule.recurring else 120.0
    if due is not None and at is not None and at < due - 1 and case.now - due > late:
        return yes(
            f"it was due at {show(due, zone)} and did not run",
            seen,
            "hermes ops sweep",
            f"hermes cron run {job.id}",
        )
    return no(*seen)


def is_failed(case: Case) -> Found:
    job = job_of(case)
    runs = runs_of(case, case.now - LOOK_BACK)
    if runs and runs[-1].outcome in ("failed", "empty"):
        last = runs[-1]
        return yes(
            f"its last run failed: {last.error or last.outcome}",
            [
                f"executions.db {last.execution_id}: {last.status}",
                *([f"output {last.output}"] if last.output else []),
            ],
            f"hermes cron runs {job.id}",
        )
    if job.last_status == "error":
        return yes(
            f"its last run failed: {job.last_error}", ["jobs.json last_status: error"], "hermes ops sweep"
        )
    return no(f"jobs.json last_status: {job.last_status}")


def is_undelivered(case: Case) -> Found:
    job = job_of(case)
    seen = [f"jobs.json deliver: {', '.join(job.deliver)}; last_delivery_error: {job.last_delivery_error}"]
    if job.last_delivery_error:
        return yes(
            f"it ran, and what it said did not arrive: {job.last_delivery_error}",
            seen,
            f"hermes cron edit {job.id} --deliver TARGET",
        )
    if job.deliver == ("local",):
        return yes(
            "it delivers to `local`: its answer is only in cron/output",
            seen,
            f"hermes cron edit {job.id} --deliver TARGET",
        )
    if "origin" in job.deliver and not job.origin:
        return yes(
            "it delivers to the chat it was made in, and it was made in none",
            seen,
            f"hermes cron edit {job.id} --deliver TARGET",
        )
    return no(*seen)


def is_silent(case: Case) -> Found:
    runs = runs_of(case, case.now - LOOK_BACK)
    if not runs:
        return unknown("its runs are not in the ledger")
    last = runs[-1]
    seen = [
        f"last run {show(last.claimed_at, case.context.zone.tz)}: {last.outcome}",
        f"output {last.output}",
    ]
    if last.outcome != "silent":
        return no(*seen)
    return yes(
        "it ran and had nothing to say; that is silence by design",
        seen,
        f"hermes cron runs {job_of(case).id}",
    )


def is_drifted(case: Case) -> Found:
    job = job_of(case)
    from .._common.config import read_config

    config = read_config(case.context.home)
    if job.no_agent or job.model or not config.known:
        return no(f"model {job.model or 'of the config'}") if config.known else unknown(str(config.problem))
    now, then = config.get("model.default"), job.model_snapshot
    seen = [f"jobs.json model_snapshot: {then}; config.yaml model.default: {now}"]
    if then and now and then != now:
        return yes(
            "the config names another model than when the job was made; the host does not run it unpinned",
            seen,
            "pin the job's model with the agent's cronjob tool, or make the job again",
        )
    return no(*seen)


QUESTIONS: tuple[Question, ...] = (
    ("Is the job off?", is_off),
    ("Is the scheduler dead?", is_scheduler_dead),
    ("Was it not due?", is_not_due),
    ("Was it due and did not run?", is_not_run),
    ("Has the model changed under it?", is_drifted),
    ("Did it fail?", is_failed),
    ("Did its answer not arrive?", is_undelivered),
    ("Was it silent by design?", is_silent),
)


def runs_of(case: Case, since: float) -> list[Run]:
    """The runs of the job that is asked about, from `since` on, collected now."""

    def read() -> list[Run]:
        ledger = case.context.ledger()
        ledger.collect(case.now)
        return ledger.runs(since, case.now + 1, job_id=job_of(case).id)

    return case.once("runs", read)
