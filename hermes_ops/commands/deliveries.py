"""`hermes ops deliveries`: what was sent, silent and failed, by channel and job."""

from __future__ import annotations

import argparse
import time
from typing import Any

from .._common.command_line import UsageError
from .._common.home import hermes_home
from ..core.finding import Finding
from ..core.moment import show
from ..core.render import Table, as_text
from ..core.watch import Context
from ..schedule.channels import FAILED, SENT, SILENT, UNDELIVERED, UNKNOWN, Channel, Member
from ..schedule.deliveries import OPTIONS, judge, read_channels
from ..settings import load
from ..speak import say, say_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--days", type=float, help="how many days to count (default: ops.deliveries.days, 7)")
    parser.add_argument("--json", action="store_true")


def run(arguments: argparse.Namespace) -> int:
    if arguments.days is not None and not 0 < arguments.days <= 3660:
        raise UsageError("--days: expected a number of days, more than 0")
    context = Context(hermes_home(), time.time())
    try:
        days = (
            arguments.days if arguments.days is not None else load(context.home, OPTIONS)["deliveries.days"]
        )
        blind = [one.text for one in context.ledger().collect(context.now).blind]
        found, unread = read_channels(context, days)
        problems = blind + list(dict.fromkeys(one.text for one in unread))
        findings = [finding for channel in found for finding in judge(context, channel)]
        if arguments.json:
            data = [_data(one) for one in found]
            said = [finding.as_dict() for finding in findings]
            say_json({"days": days, "channels": data, "findings": said, "problems": problems})
        else:
            _report(context, found, findings, days, problems, complete=not unread)
        return 1 if findings or problems else 0
    finally:
        context.close()


def _report(
    context: Context,
    found: list[Channel],
    findings: list[Finding],
    days: float,
    problems: list[str],
    *,
    complete: bool,
) -> None:
    for problem in problems:
        say(problem)
    for finding in findings:
        say(f"{finding.severity}: {finding.where}: {finding.text}")
        for line in finding.evidence:
            say(f"    {line}")
    if not found:
        nothing = "No job delivers anything, and no run of one is on record."
        say(nothing if complete else "What delivers is not known: no list of jobs could be read.")
        return
    columns = (
        "channel",
        "job",
        "due",
        "runs",
        "sent",
        "silent",
        "failed",
        "undelivered",
        "last sent",
        "state",
    )
    rows = []
    for channel in found:
        name = channel.target if channel.profile == "default" else f"{channel.target} ({channel.profile})"
        rows.append(_row(context, name, "", channel, channel.state))
        rows += [_row(context, "", one.name, one, _state(one)) for one in channel.members]
    numbers = frozenset(("due", "runs", "sent", "silent", "failed", "undelivered"))
    title = f"The last {days:g} days, in {context.zone.name}"
    for line in as_text(Table(columns, tuple(rows), numbers, title)).splitlines():
        say(line)


def _row(context: Context, channel: str, job: str, one: Channel | Member, state: str) -> tuple[str, ...]:
    counts = one.counts
    due = "?" if one.expected is None else str(one.expected)
    unknown = f"; {counts[UNKNOWN]} unknown" if counts[UNKNOWN] else ""
    return (
        channel,
        job,
        due,
        str(sum(counts.values())),
        *(str(counts[kind]) for kind in (SENT, SILENT, FAILED, UNDELIVERED)),
        show(one.last_sent, context.zone.tz) if one.last_sent else "never seen",
        state + unknown,
    )


def _state(one: Member) -> str:
    if one.quiet is not None:
        return "stopped speaking"
    return f"{one.state} (watcher)" if one.ours else one.state


def _data(channel: Channel) -> dict[str, Any]:
    return {
        "profile": channel.profile,
        "target": channel.target,
        "state": channel.state,
        "expected": channel.expected,
        **channel.counts,
        "last_sent": channel.last_sent,
        "failing": vars(channel.failing) if channel.failing else None,
        "quiet": vars(channel.quiet) if channel.quiet else None,
        "jobs": [
            {
                "job": one.job_id,
                "name": one.name,
                "state": one.state,
                "ours": one.ours,
                "expected": one.expected,
                **one.counts,
                "last_sent": one.last_sent,
                "quiet": vars(one.quiet) if one.quiet else None,
            }
            for one in channel.members
        ],
    }
