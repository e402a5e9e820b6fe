"""What a job's own record says is wrong with it: pure functions over the record and the time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.finding import Finding
from ..core.moment import span
from ..host.jobs import Job
from ..host.schedules import written
from ..host.zone import SERVER, host_time

ONE_SHOT_GRACE = 120.0  # seconds by which the host still takes a one-shot
CLAIM_TTL = 1800.0  # seconds after which the host takes the claim of a one-shot for dead
MARGIN = 300.0


@dataclass(frozen=True)
class Fault:
    """One fault: a rule below "schedule.", how bad, one line, evidence, what to do."""

    rule: str
    severity: str
    text: str
    evidence: tuple[str, ...] = ()
    fix: str = ""
    remind: float | None = 86_400.0

    def finding(self, profile: str, job: Job) -> Finding:
        return Finding(
            f"schedule.{self.rule}",
            self.severity,
            where(profile, job.id, job.name),
            self.text,
            f"{profile}/{job.id}",
            self.evidence,
            self.fix,
            remind=self.remind,
        )


def where(profile: str, job_id: str, name: str) -> str:
    """For a person: "job 06c6883b7ddd (morning digest)", with the profile where it is not the first."""
    shown = f"job {job_id} ({name})" if name else f"job {job_id}"
    return shown if profile == "default" else f"{shown} of profile {profile}"


def schedule_fault(job: Job) -> Fault | None:
    """A schedule the host cannot use, a job killed by a bad edit, or one it gave up on."""
    edit = f'hermes cron edit {job.id} --schedule "{_shown(job)}"'
    recurs = job.schedule.recurring or written(job.schedule.display, SERVER, 0.0).recurring
    if job.state == "completed" and not job.enabled:
        if not recurs:
            return None
        return Fault(
            "dead",
            "error",
            f"its schedule {job.schedule.display} recurs, and the host has switched it off as completed",
            (f"schedule in jobs.json: {str(job.raw.get('schedule'))[:120]}", "state: completed"),
            f"{edit}; hermes cron resume {job.id}",
        )
    if not job.enabled:
        return None
    if job.schedule.kind == "invalid":
        return Fault(
            "invalid",
            "error",
            f"its schedule is {job.schedule.problem}: it never runs",
            (f"schedule in jobs.json: {str(job.raw.get('schedule'))[:120]}",),
            edit if recurs else f"hermes cron edit {job.id} --schedule SCHEDULE",
        )
    if job.state == "error":
        return Fault(
            "broken",
            "error",
            "the host could not compute its next run",
            (f"last_error: {job.last_error}", f"schedule: {job.schedule.display}"),
            edit,
        )
    if job.no_agent and not job.script:
        return Fault("broken", "error", "it runs a script and names none", ("no_agent: true",))
    return None


def one_shot_fault(job: Job, running: bool, now: float) -> Fault | None:
    """A one-shot whose time is past and that never ran."""
    run_at = job.schedule.run_at
    if job.schedule.kind != "once" or run_at is None or job.last_run_at is not None or running:
        return None
    past = now - run_at
    if job.state == "completed" or past <= ONE_SHOT_GRACE + MARGIN:
        return None
    late = f"its time was {span(past)} ago and it never ran"
    evidence = (f"schedule: {job.schedule.display}", f"state: {job.state}, enabled: {job.enabled}")
    fix = f"hermes cron run {job.id}, or hermes cron remove {job.id}"
    if not job.enabled:
        return Fault("lost", "error", f"{late}: paused, and the host does not resume it now", evidence, fix)
    if job.next_run_at is None:
        return Fault("lost", "error", f"{late}: the host has given it up", evidence, fix)
    return Fault("lost", "error", f"{late}; the host still means to run it", evidence, fix)


def claim_fault(job: Job, running: bool, now: float) -> Fault | None:
    """A claim left by a run that is over or dead: the host waits for it, then starts the job again."""
    if running:
        return None
    for name, limit in (("run_claim", CLAIM_TTL), ("fire_claim", CLAIM_TTL)):
        claim = job.raw.get(name)
        if not isinstance(claim, Mapping):
            continue
        at = host_time(claim.get("at"))
        if at is None or now - at <= limit + MARGIN:
            continue
        return Fault(
            "stale_claim",
            "warning",
            f"claimed {span(now - at)} ago by a run that is not there any more",
            (f"{name}: by {str(claim.get('by'))[:80]}",),
            f"hermes cron runs {job.id}; was its work done?",
        )
    return None


def paused_fault(job: Job, idle_since: float | None, days: float, now: float) -> Fault | None:
    """A job that is paused for longer than anybody means a pause to be."""
    if job.enabled or job.state == "completed":
        return None
    since = job.paused_at or idle_since
    if since is not None and now - since < days * 86_400:
        return None
    how = "paused" if job.state == "paused" else f"switched off (state {job.state})"
    length = f"{how} for {span(now - since)}" if since is not None else f"{how}, nobody knows since when"
    reason = f": {job.paused_reason}" if job.paused_reason else ", no reason given"
    fix = f"hermes cron resume {job.id}, or hermes cron remove {job.id}"
    return Fault("paused", "info", length + reason, (), fix, remind=30 * 86_400.0)


def script_fault(job: Job, home: Path) -> Fault | None:
    """A script the host will not find, or will not run because it lies elsewhere."""
    if not job.enabled or not job.script:
        return None
    folder = home / "scripts"
    try:
        path = (folder / Path(job.script).expanduser()).resolve()
        inside = path.is_relative_to(folder.resolve())
        kind = "missing" if not path.exists() else "" if path.is_file() else "not a file"
    except (OSError, RuntimeError, ValueError) as error:
        return Fault("script", "error", f"its script {job.script!r} cannot be looked at: {error}")
    if not inside:
        text = f"its script {job.script!r} lies outside {folder}: every run fails"
        return Fault("script", "error", text, (f"resolves to {path}",), f"put it below {folder}")
    if not kind:
        return None
    first = job.script.split()[0]
    hint = ""
    if first != job.script and (folder / first).is_file():
        hint = f"; the host takes no arguments: put them into a script of their own beside {first}"
    return Fault("script", "error", f"its script {job.script!r} is {kind}: every run fails{hint}")


def drift_fault(job: Job, default_model: str | None) -> Fault | None:
    """An unpinned job whose model is not the default any more: the host refuses to run it."""
    if not job.enabled or job.no_agent or job.model or not job.model_snapshot or not default_model:
        return None
    if default_model.strip().lower() == job.model_snapshot.lower():
        return None
    return Fault(
        "drift",
        "error",
        f"made for the default model {job.model_snapshot}, which is now {default_model}: the host skips "
        "every run of it until it is pinned",
        (f"model_snapshot: {job.model_snapshot}",),
        f"pin it in a session: cronjob(action='update', job_id='{job.id}', model='{default_model}')",
    )


def delivery_fault(job: Job) -> Fault | None:
    """A last run whose answer did not arrive, whatever the run itself came to."""
    if not job.last_delivery_error:
        return None
    ok = " though the run counts as ok" if job.last_status == "ok" else ""
    return Fault(
        "undelivered",
        "error",
        f"its last answer did not reach {', '.join(job.deliver)}{ok}: {job.last_delivery_error}",
        (f"last_status: {job.last_status}",),
        f"mend the target, then hermes cron run {job.id}",
    )


def record_faults(job: Job) -> list[Fault]:
    """Faults of the record that the host mends or ignores without a word."""
    if not job.problems:
        return []
    return [
        Fault(
            "record",
            "warning",
            "; ".join(job.problems),
            (),
            "hermes cron list shows what the host made of it",
        )
    ]


def default_model(config: Mapping[str, Any]) -> str | None:
    """The model an unpinned job runs with, by config.yaml; None when that says nothing."""
    written_model = config.get("model")
    if isinstance(written_model, Mapping):
        written_model = written_model.get("default") or written_model.get("model")
    return written_model.strip() or None if isinstance(written_model, str) else None


def _shown(job: Job) -> str:
    return job.schedule.display if job.schedule.display not in ("", "?") else "SCHEDULE"
