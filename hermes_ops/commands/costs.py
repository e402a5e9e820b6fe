"""`hermes ops costs`: what was spent, by day, provider, model, task, job and session."""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .._common.command_line import UsageError
from .._common.home import hermes_home
from ..core import report_file
from ..core.ledger import nothing_recorded
from ..core.render import as_text
from ..core.watch import Context
from ..speak import say, say_json
from ..spend.costs import GROUPS, NO_JOB, TOP, UNSEEN, Report, from_ledger
from ..spend.costs_text import (
    cost,
    count,
    counted,
    group_names,
    lifetime_table,
    measured_table,
    movers_table,
    remarks,
    table_of,
)

MOST_DAYS = 3660


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--days", type=int, default=14, help="days to show, today included (default 14)")
    parser.add_argument("--db", metavar="FILE", help="read one state.db alone, without the ledger")
    parser.add_argument("--out", metavar="FILE.html", help="write the page there")
    parser.add_argument("--by", choices=GROUPS, help="show one table only")
    parser.add_argument("--top", type=int, default=TOP, help=f"lines of a table (default {TOP})")
    parser.add_argument("--json", action="store_true", help="print all of it as JSON")


def run(arguments: argparse.Namespace) -> int:
    if not 0 < arguments.days <= MOST_DAYS:
        raise UsageError(f"--days: expected 1 to {MOST_DAYS}")
    if arguments.top < 1:
        raise UsageError("--top: expected 1 or more")
    context = Context(hermes_home(), time.time())
    zone = context.zone
    try:
        report = _report(context, arguments)
    finally:
        context.close()
    if arguments.out:
        from ..spend.costs_page import as_page

        report_file.write(Path(arguments.out), as_page(report, zone.tz), context.home)
    if arguments.json:
        say_json(report.as_dict())
    elif arguments.out:
        say(f"wrote {arguments.out}: {cost(report.total)} in {report.days} days")
    else:
        _say(report, zone.tz, arguments.by)
    return 1 if report.problems else 0


def _report(context: Context, arguments: argparse.Namespace) -> Report:
    zone = context.zone
    if arguments.db:
        from ..spend.costs_database import from_database

        path = Path(arguments.db)
        path = path / "state.db" if path.is_dir() else path
        return from_database(path, context.now, arguments.days, zone.tz, zone.name, arguments.top)
    ledger = context.ledger()
    collected = ledger.collect(context.now)
    problems = [blind.text for blind in collected.blind]
    if ledger.began() is None:
        problems.append(nothing_recorded(context.home))
    notes = [f"{counted(collected.bad, 'row')} left out: no usable numbers"] if collected.bad else []
    if collected.resets:
        notes.append(
            f"{counted(collected.resets, 'row')} not counted: the totals went down since the last look"
        )
    if collected.future:
        notes.append(f"{counted(collected.future, 'row')} not counted yet: dated ahead of the clock")
    return from_ledger(
        ledger,
        context.now,
        arguments.days,
        zone.tz,
        zone.name,
        _namer(context),
        arguments.top,
        problems,
        notes,
        collected.unseen,
    )


def _namer(context: Context) -> Any:
    """Names of jobs and sessions as the host has them now, and what stops each."""
    from ..spend.attribution import describe, pause_command

    homes = {profile.name: profile.home for profile in context.profiles}

    def name(kind: str, group: tuple[str | None, ...]) -> tuple[str, Mapping[str, Any]]:
        profile = group[0] or ""
        if kind == "job":
            if not group[1]:
                return NO_JOB, {"profile": profile}
            label, command = describe(homes.get(profile), profile, group[1], "", "cron")
            return label, {"profile": profile, "stop": command}
        _, job_id, root, source = group
        label, command = describe(homes.get(profile), profile, None, root or "", source or "unknown")
        if job_id:
            command = pause_command(profile, job_id)
        return label, {"profile": profile, "source": source, "job": job_id, "stop": command}

    return name


def _say(report: Report, tz: Any, by: str | None) -> None:
    from ..spend.costs_page import subtitle

    total = report.total
    say(f"costs of {report.days} days: {subtitle(report, tz)}")
    plan = f", {count(total.included_tokens)} of them in a plan" if total.included_tokens else ""
    used = f", {count(total.calls)} calls, {count(total.tokens)} tokens{plan}"
    say(f"total {cost(total)}{used if total.reason != UNSEEN else ''}")
    for text in remarks(report):
        say(f"! {text}" if text in report.problems else f"- {text}")
    tables = [table_of(report, name) for name in group_names(by)]
    if by is None:
        if report.lifetime is not None:
            tables += [lifetime_table(report, "session"), lifetime_table(report, "job")]
        if report.measured:
            tables.append(measured_table(report))
        if report.movers:
            tables.append(movers_table(report))
    for table in tables:
        say("")
        for line in as_text(table).splitlines():
            say(line)
