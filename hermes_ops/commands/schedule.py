"""`hermes ops schedule`: what each job's runs cost, and which jobs are worth another time. Proposes only."""

from __future__ import annotations

import argparse
import time
from typing import Any

from .._common.command_line import UsageError
from .._common.home import hermes_home
from ..core.action import Done
from ..core.render import Table, as_text
from ..core.watch import Context
from ..schedule.job_cost import Placed
from ..schedule.moves import apply_move, proposal, read_placed, undo_move, wishes
from ..schedule.moving import OPTIONS, Move, Wishes, propose
from ..settings import load
from ..speak import say, say_json
from ..spend.run_costs import dollars


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--days", type=float, default=28.0, help="days of runs to count (default 28)")
    change = parser.add_mutually_exclusive_group()
    change.add_argument("--apply", metavar="JOB", help="move one job as proposed, through the host")
    change.add_argument("--undo", metavar="JOB", help="give a job back the time before its last move")
    parser.add_argument("--dry-run", action="store_true", help="with --apply or --undo: say the command only")
    parser.add_argument("--json", action="store_true")


def run(arguments: argparse.Namespace) -> int:
    if not 0 < arguments.days <= 3660:
        raise UsageError("--days: expected a number of days, more than 0")
    context = Context(hermes_home(), time.time())
    try:
        if arguments.undo:
            return _say_done(arguments, undo_move(context.home, arguments.undo, dry_run=arguments.dry_run))
        blind = [] if arguments.dry_run else context.ledger().collect(context.now).blind
        placed, problems = read_placed(context, arguments.days)
        if arguments.apply:
            move = proposal(context, placed, arguments.apply)
            done = apply_move(context.home, move, context.now, dry_run=arguments.dry_run)
            return _say_done(arguments, done)
        complete = not problems
        problems += [one.text for one in blind] + load(context.home, OPTIONS).problems
        wished = wishes(context.home)
        moves = propose(placed, wished, context.now)
        if arguments.json:
            jobs = [_job(one) for one in _costly(placed)]
            say_json(
                {
                    "days": arguments.days,
                    "jobs": jobs,
                    "moves": [_move(m) for m in moves],
                    "problems": problems,
                }
            )
        else:
            _report(placed, moves, wished, arguments.days, problems, complete=complete)
        return 1 if problems else 0
    finally:
        context.close()


def _say_done(arguments: argparse.Namespace, done: Done) -> int:
    if arguments.json:
        say_json({"ok": done.ok, "job": done.job_id, "detail": done.detail, "dry_run": arguments.dry_run})
    else:
        say(done.detail if done.ok else f"not done: {done.detail}")
    return 0 if done.ok else 1


def _costly(placed: list[Placed]) -> list[Placed]:
    """Jobs that call a model and are still to run, the dearest a day first."""
    agents = [one for one in placed if not one.job.no_agent and one.job.live]
    return sorted(agents, key=lambda one: (-(one.cost.usd_per_day or 0), -one.cost.tokens, one.job.id))


def _report(
    placed: list[Placed],
    moves: list[Move],
    wished: Wishes,
    days: float,
    problems: list[str],
    *,
    complete: bool,
) -> None:
    for problem in problems:
        say(problem)
    agents = _costly(placed)
    if not agents:
        nothing = "No job that calls a model is to run."
        say(nothing if complete else "What is to run is not known: not every list of jobs could be read.")
        return
    columns = ("job", "name", "schedule", "runs", "a run", "95 %", "tokens a run", "a day")
    numbers = frozenset(("runs", "a run", "tokens a run", "a day"))
    title = f"Jobs that cost: means over the runs of the last {days:g} days"
    for line in as_text(Table(columns, tuple(map(_row, agents)), numbers, title)).splitlines():
        say(line)
    say("")
    if wished.cheap is None:
        say("No cheap hours are declared (ops.schedule.cheap_hours), so none are proposed.")
    if not moves:
        say("No job is worth moving.")
        return
    say("Worth moving (nothing is changed until you do it):")
    for move in moves:
        say(f"  {move.placed.job.label}: {move.placed.job.schedule.expr} -> {move.expr}: {move.why}")
        say(f"    {move.command()}")
        for note in _notes(move):
            say(f"    {note}")
    say("`hermes ops schedule --apply JOB` does one and reads it back; `--undo JOB` takes it back.")


def _notes(move: Move) -> list[str]:
    first = [f"move {', '.join(move.first)} first: it reads from them or feeds them"] if move.first else []
    return [*move.notes, *first, *([move.not_now] if move.not_now else [])]


def _row(one: Placed) -> tuple[str, ...]:
    cost = one.cost
    known = cost.usd is not None
    interval = "cannot tell" if known else "-"
    if cost.interval is not None:
        interval = f"{dollars(cost.interval[0])} to {dollars(cost.interval[1])}"
    name = one.job.name if one.profile == "default" else f"{one.job.name} [{one.profile}]"
    return (
        one.job.id,
        name,
        one.job.schedule.display,
        str(cost.runs),
        dollars(cost.usd, cost.lower_bound) if known else "no run yet",
        interval,
        f"{cost.tokens:,.0f}" if known else "-",
        "-" if cost.usd_per_day is None else dollars(cost.usd_per_day, cost.lower_bound),
    )


def _job(one: Placed) -> dict[str, Any]:
    cost = one.cost
    return {
        "profile": one.profile,
        "job": one.job.id,
        "name": one.job.name,
        "schedule": one.job.schedule.display,
        "runs": cost.runs,
        "usd_per_run": cost.usd,
        "usd_per_run_interval": list(cost.interval) if cost.interval else None,
        "lower_bound": cost.lower_bound,
        "tokens_per_run": cost.tokens,
        "runs_per_day": cost.per_day,
        "usd_per_day": cost.usd_per_day,
    }


def _move(move: Move) -> dict[str, Any]:
    return {
        "profile": move.placed.profile,
        "job": move.placed.job.id,
        "name": move.placed.job.name,
        "before": move.placed.job.schedule.expr,
        "after": move.expr,
        "why": move.why,
        "notes": list(move.notes),
        "first": list(move.first),
        "not_now": move.not_now,
        "command": move.command(),
    }
