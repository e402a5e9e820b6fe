"""`hermes ops budget`: the day against its cap, what is paused for it, pausing and resuming now."""

from __future__ import annotations

import argparse
import time
from typing import Any

from .._common.home import hermes_home
from ..core.ledger import nothing_recorded
from ..core.moment import show
from ..core.watch import Context
from ..settings import Settings, load
from ..speak import say, say_json
from ..spend import budget, budget_pauses
from ..spend.budget import OPTIONS
from ..spend.budget_day import BAD_SHARE, Candidate, Over, Today, amount, choose, describe, reached
from ..spend.run_costs import day_end, dollars, tokens

OFF = (
    "The budget is off. A cap is set in config.yaml under ops: `budget: {cap_usd: 10}`, or cap_tokens;"
    " `act: true` lets it pause jobs by itself."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("verb", nargs="?", choices=("status", "pause", "resume"), default="status")
    parser.add_argument("--dry-run", action="store_true", help="change nothing, say what would be done")
    parser.add_argument("--json", action="store_true")
    parser.add_argument(
        "--log", metavar="FILE", help="count a JSONL log of calls instead of the host's own numbers"
    )
    parser.add_argument(
        "--day", metavar="DATE", help="with --log: the day to count, 2026-11-29 (default: today)"
    )


def run(arguments: argparse.Namespace) -> int:
    context = Context(hermes_home(), time.time())
    try:
        settings = load(context.home, OPTIONS)
        if arguments.log or arguments.day:
            from ..spend.usage_log import report

            return report(arguments, context, settings)
        if arguments.verb == "resume":
            return _resume(arguments, context)
        return _status(arguments, context, settings)
    finally:
        context.close()


def _status(arguments: argparse.Namespace, context: Context, settings: Settings) -> int:
    caps = (settings["budget.cap_usd"], settings["budget.cap_tokens"])
    pausing = arguments.verb == "pause"
    if caps == (None, None):
        paused = budget_pauses.paused(context.home)
        if arguments.json:
            say_json({"on": False, "paused": paused, "problems": settings.problems})
        else:
            _say_all([*settings.problems, OFF, *_paused_lines(paused)])
        return 1 if settings.problems or paused or pausing else 0
    collected = None if arguments.dry_run else context.ledger().collect(context.now)
    today = budget.read_today(context.ledger(), context.now, context.zone.tz, collected)
    over = reached(today, *caps)
    measure = over.measure if over else "usd" if caps[0] is not None else "tokens"
    found, unread = budget.still_to_come(context, measure, settings["budget.keep"])
    chosen = choose(found, int(settings["budget.pause"]))
    problems = [*settings.problems, *(one.text for one in (*(collected.blind if collected else ()), *unread))]
    if context.ledger().began() is None:
        problems.append(nothing_recorded(context.home))
    result: dict[str, Any] = {}
    if pausing:
        result = _pause(arguments, context, settings, today, over, chosen)
    paused = budget_pauses.paused(context.home)
    if arguments.json:
        say_json({**_data(context, settings, today, over, found, paused), "problems": problems, **result})
    else:
        _say_all(problems)
        _say_all(_today_lines(context, settings, today, over, measure))
        _say_all(_to_come_lines(found, chosen, measure))
        _say_all(_paused_lines(paused))
        _say_all(result.get("said", []))
    failed = bool(result.get("failed")) if pausing else over is not None
    return 1 if failed or problems or today.bad_share > BAD_SHARE else 0


def _pause(
    arguments: argparse.Namespace,
    context: Context,
    settings: Settings,
    today: Today,
    over: Over | None,
    chosen: list[Candidate],
) -> dict[str, Any]:
    """Pause what the watcher would; a person may do it below the cap too."""
    if today.bad_share > BAD_SHARE:
        return {
            "failed": True,
            "said": ["Nothing is paused: too many rows of today have impossible numbers."],
        }
    if arguments.dry_run:
        return {"said": [f"Would pause {one.placed.job.label}" for one in chosen], "dry_run": True}
    measure = over.measure if over else "usd" if settings["budget.cap_usd"] is not None else "tokens"
    cap = settings["budget.cap_usd" if measure == "usd" else "budget.cap_tokens"]
    reason = f"hermes ops budget: {today.day}, cap {amount(measure, cap)}"
    done = budget_pauses.pause(
        context.home, today.day, context.now, chosen, int(settings["budget.pause"]), reason, asked=True
    )
    said = [done.text() or "Nothing to pause: it was done today already, or nothing is left to run."]
    return {"failed": bool(done.failed), "said": said}


def _resume(arguments: argparse.Namespace, context: Context) -> int:
    waiting = budget_pauses.paused(context.home)
    result = budget_pauses.resume(context.home, waiting, dry_run=arguments.dry_run)
    troubles = [finding.text for finding in result.failures()] + [one.text for one in result.blind]
    if arguments.json:
        say_json(
            {
                "resumed": result.resumed,
                "said": result.texts,
                "failed": troubles,
                "dry_run": arguments.dry_run,
            }
        )
    else:
        _say_all([*result.texts, *troubles] or ["Nothing is paused for the budget."])
    return 1 if troubles else 0


def _data(
    context: Context,
    settings: Settings,
    today: Today,
    over: Over | None,
    found: list[Candidate],
    paused: list[dict[str, Any]],
) -> dict[str, Any]:
    return {
        "on": True,
        "day": today.day,
        "zone": context.zone.name,
        "cap_usd": settings["budget.cap_usd"],
        "cap_tokens": settings["budget.cap_tokens"],
        "act": settings["budget.act"],
        "spent_usd": None if today.unknown else today.spent.usd,
        "spent_tokens": None if today.unknown else tokens(today.spent),
        "lower_bound": today.lower_bound,
        "unpriced_calls": today.spent.unknown_calls,
        "included_tokens": today.spent.included_tokens,
        "unplaced_usd": today.unplaced.usd,
        "bad_rows": today.bad,
        "over": over.measure if over else None,
        "to_come": [
            {
                "profile": one.placed.profile,
                "job": one.placed.job.id,
                "name": one.placed.job.name,
                "runs": one.runs,
                "usd_per_run": one.usd,
                "tokens_per_run": one.tokens,
                "lower_bound": one.lower_bound,
            }
            for one in found
        ],
        "paused": paused,
    }


def _today_lines(
    context: Context, settings: Settings, today: Today, over: Over | None, measure: str
) -> list[str]:
    zone = context.zone
    lines = [f"Today, {show(today.since, zone.tz)} to {show(today.until, zone.tz)} ({zone.name}):"]
    for kind, spent, name in (
        ("usd", today.spent.usd, "budget.cap_usd"),
        ("tokens", float(tokens(today.spent)), "budget.cap_tokens"),
    ):
        cap = settings[name]
        share = "" if cap is None else f" of {amount(kind, cap)}"
        if today.unknown:
            lines.append(f"  spent an unknown sum of {kind}{share}")
            continue
        share += "" if cap is None else f" ({spent / cap:.0%})"
        lines.append(f"  spent {amount(kind, spent, today.lower_bound)}{share}")
    if today.spent.unknown_calls:
        lines.append(f"  calls without a known price: {today.spent.unknown_calls} of {today.spent.calls}")
    if today.spent.included_tokens:
        lines.append(f"  {today.spent.included_tokens:,} tokens are included in a plan")
    if today.unplaced.calls:
        lines.append(f"  {dollars(today.unplaced.usd)} more was spent, today or before")
    if today.early:
        lines.append(f"  what {today.early} long sessions used before the first snapshot is not known by day")
    if today.bad:
        lines.append(f"  {today.bad} of {today.rows} rows have numbers that cannot be, and are left out")
    if over:
        lines.append(f"  The cap of {amount(over.measure, over.cap)} is reached.")
    end, unit = show(day_end(context.now, zone.tz), zone.tz), "dollars" if measure == "usd" else measure
    lines.append(f"Still to come until {end}, in {unit}:")
    return lines


def _to_come_lines(found: list[Candidate], chosen: list[Candidate], measure: str) -> list[str]:
    if not found:
        return ["  no job that may be paused"]
    return [f"  {'* ' if one in chosen else '  '}{describe(one, measure)}" for one in found[:10]] + [
        "  (* would be paused at the cap)"
    ] * bool(chosen)


def _paused_lines(paused: list[dict[str, Any]]) -> list[str]:
    return [f"Paused for the budget of {one['day']}: {one['name']} ({one['job']})" for one in paused]


def _say_all(lines: list[str]) -> None:
    for line in lines:
        say(line)
