"""Applying a proposed time through the host, and taking it back: read, written down, undone one by one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.action import Action, Done
from ..core.finding import DAY
from ..core.state import StateFile
from ..core.typed import typed
from ..core.watch import Context
from ..errors import OpsError, Unreadable
from ..settings import load
from ..spend.run_costs import COLUMNS, JOB_ID, by_job, join, sound, zones
from .job_cost import Placed, job_cost, runs_per_day
from .moving import OPTIONS, Move, Wishes, propose

FORMAT = 1
KEPT = 200

Apply = Callable[..., Done]


@dataclass(frozen=True)
class _Made:
    """A move as it is written; ``undo`` are the arguments of the edit that takes it back."""

    at: float
    profile: str
    home: str
    job: str
    name: str
    before: str
    after: str
    undo: dict[str, Any]


def wishes(home: Path) -> Wishes:
    """What the settings say about moving."""
    found = load(home, OPTIONS)
    return Wishes(
        found["schedule.cheap_hours"],
        found["schedule.keep"],
        found["schedule.worth_usd"],
        found["schedule.worth_tokens"],
    )


def read_placed(context: Context, days: float) -> tuple[list[Placed], list[str]]:
    """Every job with what its runs of the last `days` cost, and the profiles that cannot be read."""
    from ..host.jobs import read_jobs
    from ..install import installed

    zone_of = zones(context.profiles)
    since = context.now - days * DAY
    runs = context.ledger().runs(since, context.now)
    rows = [row for row in context.ledger().spent(COLUMNS, since, context.now) if sound(row)]
    costs = by_job(join(runs, rows, zone_of, context.now))
    ours = set(installed(context.home).values())
    placed, problems = [], []
    for profile in context.profiles:
        try:
            jobs = read_jobs(profile.home).jobs
        except Unreadable as error:
            problems.append(str(error))
            continue
        zone = zone_of(profile.name)
        for job in jobs:
            per_day = runs_per_day(job.schedule, context.now, zone) if job.live else None
            cost = job_cost(costs.get((profile.name, job.id), []), per_day)
            mine = profile.home == context.home and job.id in ours
            placed.append(Placed(profile.name, profile.home, job, zone, cost, mine))
    return placed, problems


def proposal(context: Context, placed: list[Placed], named: str) -> Move:
    """The proposed move of one job, by id or name. OpsError when there is none, or it should wait."""
    moves = propose(placed, wishes(context.home), context.now)
    found = [move for move in moves if named in (move.placed.job.id, move.placed.job.name)]
    if not found:
        there = ", ".join(move.placed.job.id for move in moves) or "none"
        raise OpsError(f"no move is proposed for {named[:60]!r}; there are moves for: {there}")
    if len(found) > 1:
        raise OpsError(f"{named[:60]!r} names several jobs: {', '.join(one.placed.job.id for one in found)}")
    return found[0]


def apply_move(
    home: Path, move: Move, now: float, *, dry_run: bool = False, apply: Apply | None = None
) -> Done:
    """Move a job through the host and keep how it was. OpsError when others go first, or it has to wait."""
    from ..core import action as actions

    if move.first:
        raise OpsError(
            f"job {move.placed.job.id} reads from or feeds others: move {', '.join(move.first)} first"
        )
    if move.not_now:
        raise OpsError(f"job {move.placed.job.id}: {move.not_now}")
    job = move.placed.job
    as_read = {"schedule": job.raw.get("schedule"), "state": job.state}
    arguments = {"schedule": move.expr, "expect": as_read}
    change = Action("edit", move.placed.home, job.id, arguments, f"hermes ops schedule: {move.why}")
    done = (apply or actions.apply)(change, dry_run=dry_run, state_home=home)
    if done.ok and done.changed and not dry_run:
        with state_file(home).changing() as opened:
            opened.data["moves"] = [*opened.data["moves"], _record(move, done, now)][-KEPT:]
    return done


def undo_move(home: Path, named: str, *, dry_run: bool = False, apply: Apply | None = None) -> Done:
    """Give a job back the time it had before its last move. OpsError when none is on record."""
    from ..core import action as actions

    moves = [one for one in state_file(home).read()["moves"] if named in (one["job"], one["name"])]
    if not moves:
        raise OpsError(f"no move of {named[:60]!r} is on record")
    last = moves[-1]
    arguments = dict(last["undo"])
    back = Action("edit", Path(last["home"]), last["job"], arguments, "hermes ops schedule: undo")
    done = (apply or actions.apply)(back, dry_run=dry_run, state_home=home)
    if done.ok and not dry_run:
        with state_file(home).changing() as opened:
            opened.data["moves"] = [one for one in opened.data["moves"] if one != last]
    return done


def state_file(home: Path) -> StateFile:
    """The moves that were made and can be taken back."""
    return StateFile(home / "ops" / "schedule-moves.json", FORMAT, lambda: {"moves": []}, _check)


def _record(move: Move, done: Done, now: float) -> dict[str, Any]:
    job = move.placed.job
    undo = dict(done.undo.arguments) if done.undo else {"schedule": job.schedule.expr}
    return {
        "at": now,
        "profile": move.placed.profile,
        "home": str(move.placed.home),
        "job": job.id,
        "name": job.name,
        "before": job.schedule.expr,
        "after": move.expr,
        "undo": undo,
    }


def _check(data: dict[str, Any]) -> None:
    for one in typed(list[_Made], data["moves"]):
        typed(str, one.undo["schedule"])
        typed(dict[str, Any], one.undo.get("expect", {}))
        if not JOB_ID.fullmatch(one.job) or "\0" in one.home:
            raise ValueError("a move that is none")
