"""What jobs said has arrived: the watcher over the channels, from the ledger, never from a list of ids.

A channel where the last thing to be sent did not arrive is failing. One that used to speak, and has been
silent for longer than its own history explains, has stopped. That everything is silent is not good news by
itself, and is shown as what it is. Runs that did not happen at all are told by the sweep.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .._common.redact import Redactor
from ..core.finding import DAY, Blind, Finding, Reading
from ..core.moment import show, span
from ..core.watch import Context
from ..errors import Unreadable
from ..settings import Option, load, number
from .channels import Channel, Member, Place, Quiet, channels
from .delivery_log import with_log

LOG_BYTES = 400_000

OPTIONS = (
    Option("deliveries.days", 7.0, number(1.0, 90.0), "days that `hermes ops deliveries` counts"),
    Option(
        "deliveries.history_days", 60.0, number(7.0, 3660.0), "days from which a channel's habit is known"
    ),
)


def watch(context: Context) -> Reading:
    """Channels that fail or have stopped, and jobs that have, one finding each."""
    collected = context.ledger().collect(context.now)
    found, unread = read_channels(context)
    blind = [Blind(one.key, one.text, "deliveries.", one.holds, one.fix) for one in collected.blind]
    findings = [finding for channel in found for finding in judge(context, channel)]
    return Reading.of(findings, blind + unread)


def read_channels(context: Context, days: float | None = None) -> tuple[list[Channel], list[Blind]]:
    """The channels of every profile, over the last `days`, and the profiles that cannot be read."""
    settings = load(context.home, OPTIONS)
    since = context.now - (settings["deliveries.days"] if days is None else days) * DAY
    places, blind = read_places(context)
    unread = {one.key.partition(":")[2] for one in blind}
    history = context.now - max(settings["deliveries.history_days"] * DAY, context.now - since)
    runs = []
    for profile in context.profiles:
        if profile.name not in unread:
            mine = context.ledger().runs(history, context.now, profile=profile.name)
            runs += with_log(profile.home, mine)
    return channels(runs, places, since, context.now, due_count), blind


def read_places(context: Context) -> tuple[list[Place], list[Blind]]:
    """Every job with its profile and zone."""
    from ..host.jobs import read_jobs
    from ..host.zone import zone
    from ..install import installed

    ours = set(installed(context.home).values())
    places, blind = [], []
    for profile in context.profiles:
        try:
            jobs = read_jobs(profile.home).jobs
        except Unreadable as error:
            # Ids begin with the rule, so that a profile is covered rule by rule.
            blind += [
                Blind(f"jobs:{profile.name}", str(error), f"deliveries.{rule}:{profile.name}/")
                for rule in ("failing", "stopped", "quiet")
            ]
            continue
        tz = zone(profile.home).tz
        mine = ours if profile.home == context.home else set()
        places += [Place(profile.name, job, tz, job.id in mine) for job in jobs]
    return places, blind


def due_count(place: Place, since: float, until: float) -> int | None:
    """How often a job was due in a span, by its schedule of now; None when that does not tell.

    From its creation on, and up to its pause. An interval is counted, not anchored: it drifts with each run.
    """
    from ..host.schedules import due_times

    job = place.job
    start = max(since, job.created_at or since)
    end = until if job.live else min(until, job.paused_at or start)
    if job.schedule.kind == "interval" and job.schedule.minutes > 0:
        return int(max(0.0, end - start) // (job.schedule.minutes * 60))
    if job.schedule.kind != "cron" or job.schedule.problem:
        return None
    return len(due_times(job.schedule, start, end, place.zone)) if end > start else 0


def judge(context: Context, channel: Channel) -> list[Finding]:
    """What is wrong with one channel."""
    key, where = f"{channel.profile}/{channel.target}", f"channel {channel.target}"
    if channel.failing is not None:
        return [_failing(context, channel, key, where)]
    if channel.quiet is not None:
        names = ", ".join(one.name for one in channel.members if one.state == "live")
        text = f"has stopped speaking: {told(context, channel.quiet)}"
        return [
            Finding(
                "deliveries.stopped",
                "warning",
                where,
                text,
                key,
                (f"jobs: {names}",),
                "hermes ops deliveries; then read the last output of these jobs",
                holds=1,
            )
        ]
    odd = [one for one in channel.members if one.quiet is not None]
    return [_quiet_job(context, channel, one) for one in odd]


def told(context: Context, quiet: Quiet) -> str:
    """A silence in words, with its numbers."""
    since = show(quiet.since, context.zone.tz)
    return (
        f"silent in all {quiet.silent} runs since {since}; before, it spoke in {quiet.spoke} of"
        f" {quiet.before} runs, and was silent for {quiet.longest} in a row at most"
        f" (chance {quiet.chance:.1g})"
    )


def _quiet_job(context: Context, channel: Channel, member: Member) -> Finding:
    return Finding(
        "deliveries.quiet",
        "warning",
        f"job {member.job_id} ({member.name})",
        f"has stopped speaking in {channel.target}: {told(context, member.quiet)}",  # type: ignore[arg-type]
        f"{channel.profile}/{member.job_id}/{channel.target}",
        fix=f"hermes cron runs {member.job_id}; read its last output",
    )


def _failing(context: Context, channel: Channel, key: str, where: str) -> Finding:
    failing = channel.failing
    assert failing is not None
    mine = [one for one in channel.members if one.ours and one.job_id in failing.jobs]
    zone = context.zone.tz
    arrived = (
        f"the last message arrived {show(failing.last_sent, zone)}"
        if failing.last_sent
        else ("nothing is on record that arrived")
    )
    text = (
        f"nothing arrives since {show(failing.since, zone)} ({span(context.now - failing.since)}):"
        f" {failing.times} failed in a row, {arrived}: {error_text(failing.error)}"
    )
    if mine:
        text += "; messages of hermes ops itself are among them"
    names = {one.job_id: one.name for one in channel.members}
    evidence = [f"job {job} ({names.get(job, job)})" for job in failing.jobs[:5]]
    profile = next((one for one in context.profiles if one.name == channel.profile), None)
    if profile is not None:
        evidence += log_lines(profile.home, failing.jobs, failing.since)
    severity = "critical" if mine else "error"
    fix = "mend the target, then `hermes cron run JOB`; `hermes ops test-alert` tries the other ways out"
    return Finding("deliveries.failing", severity, where, text, key, tuple(evidence), fix)


def error_text(error: str) -> str:
    """What the host said, on one line, without secrets, cut."""
    return " ".join(Redactor().text(error).split())[:200] or "no reason given"


def log_lines(home: Path, jobs: Sequence[str], since: float) -> list[str]:
    """The newest lines of the host's error log about deliveries of these jobs; [] when it cannot be read."""
    from ..host.logs import recent

    path = home / "logs" / "errors.log"
    try:
        records = recent(path, since - DAY, LOG_BYTES)
    except Unreadable:
        return []
    lines = [
        record.message
        for record in records
        if "cron" in record.logger
        and "deliver" in record.message.lower()
        and any(job in record.message for job in jobs)
    ]
    return [f"errors.log: {error_text(line)}" for line in lines[-2:]]
