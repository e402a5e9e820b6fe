"""`hermes ops thinking`: reasoning tokens, watched models and auxiliary tasks by day, against the caps."""

from __future__ import annotations

import argparse
import time
from typing import Any

from .._common.command_line import UsageError
from .._common.home import hermes_home
from ..core.moment import day, show
from ..core.render import Table, as_text
from ..core.watch import Context
from ..settings import Settings, load
from ..speak import say, say_json
from ..spend.run_costs import dollars
from ..spend.thinking import OPTIONS, DayUse, between_days, explain, judge, read_days


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--days", type=int, default=7, help="how many full days besides today (default 7)")
    parser.add_argument("--json", action="store_true")


def run(arguments: argparse.Namespace) -> int:
    if not 1 <= arguments.days <= 3660:
        raise UsageError("--days: expected a whole number of days from 1 on")
    context = Context(hermes_home(), time.time())
    try:
        settings = load(context.home, OPTIONS)
        problems = [*settings.problems, *(one.text for one in context.ledger().collect(context.now).blind)]
        uses = read_days(context, arguments.days)
        problems += [one.text for one in between_days(context, uses)]
        findings = judge(context, uses)
        if arguments.json:
            data = [_data(use) for use in uses]
            said = [finding.as_dict() for finding in findings]
            caps = {
                "cap_usd": settings["thinking.cap_usd"],
                "cap_thinking_usd": settings["thinking.cap_thinking_usd"],
            }
            say_json(
                {**caps, "zone": context.zone.name, "days": data, "findings": said, "problems": problems}
            )
        else:
            for problem in problems:
                say(problem)
            for finding in findings:
                say(f"{finding.severity}: {finding.text}")
                for line in finding.evidence:
                    say(f"    {line}")
            _report(context, settings, uses)
        return 1 if findings or problems else 0
    finally:
        context.close()


def _report(context: Context, settings: Settings, uses: list[DayUse]) -> None:
    if not any(use.calls for use in uses):
        first = context.ledger().snapshots()[:1] or [context.now]
        say(f"No use is known by day yet; the first snapshot is of {show(first[0], context.zone.tz)}.")
        return
    today = day(context.now, context.zone.tz)
    columns = ("day", "all calls", "thinking", "watched", "reasoning tokens", "auxiliary", "")
    rows = tuple(_row(use, today) for use in uses if use.calls)
    numbers = frozenset(columns[1:-1])
    title = f"By day in {context.zone.name}; thinking = watched models + estimated reasoning of the others"
    for line in as_text(Table(columns, rows, numbers, title)).splitlines():
        say(line)
    total, thinking = settings["thinking.cap_usd"], settings["thinking.cap_thinking_usd"]
    say(f"Caps a day: {dollars(total)} for all calls, {dollars(thinking)} for thinking.")
    full = [use for use in uses if use.day and use.day != today and use.calls]
    if full:
        mean = sum(use.thinking_usd for use in full) / len(full)
        lower = any(use.thinking_lower_bound for use in full)
        days = f"{len(full)} full day{'s' if len(full) > 1 else ''}"
        say(f"Thinking on the {days} with use: {dollars(mean, lower)} a day on average.")
    for one in settings["thinking.watch"]:
        say(f"Watched: {one.model}" + (f" since {one.since}" if one.since else ""))


def _row(use: DayUse, today: str) -> tuple[str, ...]:
    label = f"{use.day} so far" if use.day == today else use.day or "no one day"
    auxiliary = sum(usd for _, usd, _ in use.tasks.values())
    lower = any(lower for _, _, lower in use.tasks.values())
    notes = [line for line in explain(use) if "known price" in line or "plan" in line]
    return (
        label,
        dollars(use.usd, use.lower_bound),
        ("~" if use.reasoning_usd else "") + dollars(use.thinking_usd, use.thinking_lower_bound),
        dollars(use.watched_usd, use.watched_unknown > 0),
        f"{use.reasoning:,}",
        dollars(auxiliary, lower),
        "; ".join(notes),
    )


def _data(use: DayUse) -> dict[str, Any]:
    return {
        "day": use.day or None,
        "usd": use.usd,
        "lower_bound": use.lower_bound,
        "calls": use.calls,
        "unpriced_calls": use.unknown_calls,
        "included_tokens": use.included_tokens,
        "thinking_usd": use.thinking_usd,
        "thinking_lower_bound": use.thinking_lower_bound,
        "watched_usd": use.watched_usd,
        "watched_models": use.watched_models,
        "reasoning_tokens": use.reasoning,
        "reasoning_usd_estimate": use.reasoning_usd,
        "reasoning_tokens_unpriced": use.reasoning_unknown,
        "reasoning_tokens_included": use.reasoning_included,
        "tasks": {task: {"calls": c, "usd": u, "lower_bound": lo} for task, (c, u, lo) in use.tasks.items()},
    }
