"""`hermes ops sweep`: expected runs against real ones, for every job of every profile."""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

from .._common.command_line import UsageError, complain
from .._common.home import hermes_home
from ..core.finding import SEVERITIES, Finding, Sorted, sort
from ..core.incident_text import clean
from ..core.watch import Context
from ..schedule import brief as briefs
from ..schedule.sweep import look
from ..speak import say, say_json

PROGRAM = "hermes ops sweep"
SCRIPT = "hermes-ops-brief.py"
LINE = 600


def add_arguments(parser: Any) -> None:
    parser.add_argument(
        "--days", type=float, help="days of due times to compare (default: ops.sweep.days, 2)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--all", action="store_true", help="also what suppress.toml accepts")
    parser.add_argument(
        "--brief", action="store_true", help="what changed since the last brief, for an agent; else nothing"
    )
    parser.add_argument(
        "--write", action="store_true", help="with --brief: write it as a script for `hermes cron create`"
    )


def run(arguments: argparse.Namespace) -> int:
    if arguments.days is not None and not 0 < arguments.days <= 60:
        raise UsageError("--days: expected a number of days, more than 0 and at most 60")
    if arguments.write and not arguments.brief:
        raise UsageError("--write goes with --brief")
    if arguments.brief and arguments.json:
        raise UsageError("--brief is text for an agent; without it --json has everything")
    if arguments.write:
        return _write()
    context = Context(hermes_home(), time.time())
    try:
        return _brief(context) if arguments.brief else _report(context, arguments)
    finally:
        context.close()


def _report(context: Context, arguments: argparse.Namespace) -> int:
    reading = look(context, arguments.days)
    sorted_ = _sorted(context, reading.findings)
    found = sorted(sorted_.open, key=lambda one: (-SEVERITIES.index(one.severity), one.id))
    if arguments.json:
        say_json(
            {
                "findings": [_data(finding) for finding in found],
                "accepted": [{**_data(one), "reason": clean(why, LINE)} for one, why in sorted_.accepted],
                "blind": [{"key": one.key, "text": clean(one.text, LINE)} for one in _once(reading.blind)],
                "events": [{"id": one.id, "text": clean(one.text, LINE)} for one in reading.events],
            }
        )
        return 1 if found or reading.blind else 0
    for blind in _once(reading.blind):
        say(f"cannot tell: {clean(blind.text, LINE)}")
    for finding in found:
        _show(finding)
    for event in reading.events:
        say(f"event: {clean(event.text, LINE)}")
    if arguments.all:
        for finding, why in sorted_.accepted:
            say(f"accepted ({clean(why, LINE)}): {clean(finding.where, LINE)}: {clean(finding.text, LINE)}")
    elif sorted_.accepted:
        say(f"{len(sorted_.accepted)} accepted in suppress.toml; --all shows them.")
    if not found and not reading.blind:
        say(f"All jobs run as scheduled ({_count(context)}).")
    return 1 if found or reading.blind else 0


def _show(finding: Finding) -> None:
    say(f"{finding.severity}: {clean(finding.where, LINE)}: {clean(finding.text, LINE)}")
    for line in finding.evidence:
        say(f"    {clean(line, LINE)}")
    if finding.fix:
        say(f"    -> {clean(finding.fix, LINE)}")
    say(f"    {finding.id}")


def _data(finding: Finding) -> dict[str, Any]:
    return {
        **finding.as_dict(),
        "where": clean(finding.where, LINE),
        "text": clean(finding.text, LINE),
        "evidence": [clean(line, LINE) for line in finding.evidence],
    }


def _once(blind: Any) -> list[Any]:
    """One blindness of each key: what several rules cannot see is one thing."""
    return list({one.key: one for one in blind}.values())


def _sorted(context: Context, findings: Any) -> Sorted:
    from ..core import suppress

    return sort(findings, suppress.load(context.state, context.zone.tz), context.now)


def _count(context: Context) -> str:
    from ..host.jobs import read_jobs

    found = [read_jobs(profile.home).jobs for profile in context.profiles]
    live = sum(job.live for jobs in found for job in jobs)
    return f"{live} of {sum(map(len, found))} jobs are live, in {len(found)} profile{'s' * (len(found) > 1)}"


def _brief(context: Context) -> int:
    """Print what changed. The host takes an exit code other than 0 for a failure of the script."""
    reading = look(context)
    state = briefs.state_file(context.home)
    with state.changing() as opened:
        if opened.damaged:
            complain(PROGRAM, f"what the last brief told was damaged and lies at {opened.damaged}", 0)
        accepted = {finding.id for finding, _ in _sorted(context, reading.findings).accepted}
        kept = tuple(finding for finding in reading.findings if finding.id not in accepted)
        made = briefs.brief(
            type(reading)(kept, reading.blind, reading.events), opened.data, context.now, context.zone.tz
        )
        if made.text:
            # Printed before it is remembered: a run that ends in between tells it again.
            sys.stdout.buffer.write(made.text.encode("utf-8", "backslashreplace") + b"\n")
            sys.stdout.buffer.flush()
        opened.data = made.data
    return 0


def _write() -> int:
    from .._common.files import read_regular, write_atomic
    from ..launcher import is_ours, launcher_text

    home = hermes_home()
    path = home / "scripts" / SCRIPT
    if path.exists() and not is_ours(read_regular(path).decode("utf-8", "replace")):
        raise UsageError(f"{path} is there and was not written by this")
    write_atomic(path, launcher_text(home, ["sweep", "--brief"]))
    say(f"{path} is written")
    say(
        f'hermes cron create "15 5 * * *" "What the operator should do with the brief" --script {SCRIPT}'
        " --name operator-brief --deliver TARGET"
    )
    return 0
