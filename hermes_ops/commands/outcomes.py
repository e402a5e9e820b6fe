"""`hermes ops outcomes`: what a successful run costs, per role, with intervals."""

from __future__ import annotations

import argparse
import time
from typing import Any

from .._common.command_line import UsageError
from .._common.home import hermes_home
from ..core.finding import DAY
from ..core.moment import show
from ..core.render import Table, as_text
from ..core.watch import Context
from ..errors import Unreadable
from ..speak import say, say_json
from ..spend.outcomes import (
    CANNOT_TELL,
    EMPTY,
    FAILED,
    MIN_RUNS,
    MIN_SUCCESSES,
    NO_SUCCESS,
    OK,
    SILENT,
    UNDELIVERED,
    UNJUDGED,
    Outcome,
    outcomes,
    read_roles,
)
from ..spend.run_costs import COLUMNS, dollars, join, sound, zones


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--days", type=float, default=28.0, help="how far back (default 28)")
    parser.add_argument("--role", help="only this role")
    parser.add_argument("--json", action="store_true")


def run(arguments: argparse.Namespace) -> int:
    if not 0 < arguments.days <= 3660:
        raise UsageError("--days: expected a number of days, more than 0")
    context = Context(hermes_home(), time.time())
    try:
        roles = read_roles(context.home)
        blind = [one.text for one in context.ledger().collect(context.now).blind]
        since = context.now - arguments.days * DAY
        names, unread = _names(context)
        runs = context.ledger().runs(since, context.now)
        rows = [row for row in context.ledger().spent(COLUMNS, since, context.now) if sound(row)]
        found = outcomes(join(runs, rows, zones(context.profiles), context.now), roles, names)
        if arguments.role is not None:
            _known(arguments.role, [*(role.name for role in roles), *(one.role for one in found)])
            found = [one for one in found if one.role == arguments.role]
        if arguments.json:
            say_json(
                {
                    "since": since,
                    "until": context.now,
                    "roles": [_data(one) for one in found],
                    "problems": blind + unread,
                }
            )
        else:
            _report(found, show(since, context.zone.tz), blind + unread)
        return 1 if blind or unread else 0
    finally:
        context.close()


def _names(context: Context) -> tuple[dict[str, str], list[str]]:
    """The names that jobs have now; a run keeps the one it had then."""
    from ..host.jobs import read_jobs

    names: dict[str, str] = {}
    problems = []
    for profile in context.profiles:
        try:
            names.update((job.id, job.name) for job in read_jobs(profile.home).jobs)
        except Unreadable as error:
            problems.append(str(error))
    return names, problems


def _known(role: str, there: list[str]) -> None:
    """UsageError for a role that is neither written down nor in use."""
    if role not in there:
        listed = ", ".join(dict.fromkeys(there)) or "none yet"
        raise UsageError(f"no such role: {role[:60]!r}; there are: {listed[:500]}")


def _report(found: list[Outcome], since: str, problems: list[str]) -> None:
    for problem in problems:
        say(problem)
    if not found:
        say(f"No run of a job is on record since {since}.")
        return
    columns = ("role", "runs", "said", "silent", "failed", "success", "cost", "per success", "")
    rows = tuple(_row(one) for one in found)
    numbers = frozenset(("runs", "said", "silent", "failed", "cost"))
    title = f"Since {since}: runs of jobs by role"
    for line in as_text(Table(columns, rows, numbers, title)).splitlines():
        say(line)
    say(f"A role needs {MIN_RUNS} judged runs and {MIN_SUCCESSES} successes to be told from chance.")
    say("Intervals are 95 %; failed: also empty and undelivered; >=: calls without a known price.")


def _row(one: Outcome) -> tuple[str, ...]:
    failed = one.counts[FAILED] + one.counts[EMPTY] + one.counts[UNDELIVERED]
    rate = "-" if one.rate is None else f"{one.rate[0]:.0%}-{one.rate[1]:.0%}"
    notes = []
    if one.counts[UNDELIVERED]:
        notes.append(f"{one.counts[UNDELIVERED]} undelivered")
    if one.unseen:
        notes.append(f"{one.unseen} not seen to arrive")
    if one.counts[UNJUDGED]:
        notes.append(f"{one.counts[UNJUDGED]} not judged")
    if one.differs:
        notes.append("success differs from the other roles")
    return (
        one.role,
        str(sum(one.counts.values())),
        str(one.successes),
        str(one.counts[SILENT]),
        str(failed),
        rate if one.state != CANNOT_TELL else f"{rate} (n={one.judged})",
        dollars(one.usd, one.lower_bound) if one.usd or not one.lower_bound else "unknown",
        _per_success(one),
        "; ".join(notes),
    )


def _per_success(one: Outcome) -> str:
    if one.state == NO_SUCCESS:
        return NO_SUCCESS
    if one.state == CANNOT_TELL or one.per_success is None:
        return CANNOT_TELL
    text = dollars(one.per_success, one.lower_bound)
    if one.interval is None:
        return f"{text} (no interval)"
    low, high = one.interval
    return f"{text} ({dollars(low)} to {dollars(high)})"


def _data(one: Outcome) -> dict[str, Any]:
    return {
        "role": one.role,
        "jobs": list(one.jobs),
        "state": one.state,
        "enough": one.state == OK,
        **{f"runs_{kind}": count for kind, count in one.counts.items()},
        "judged": one.judged,
        "unseen": one.unseen,
        "usd": one.usd,
        "tokens": one.tokens,
        "lower_bound": one.lower_bound,
        "usd_per_success": one.per_success,
        "usd_per_success_interval": list(one.interval) if one.interval else None,
        "success_interval": list(one.rate) if one.rate else None,
        "p_value": one.p_value,
        "differs": one.differs,
    }
