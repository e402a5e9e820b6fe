"""Jobs that cost, and jobs worth moving to another time; proposals only.

A job is worth moving out of a minute in which several agents start at once, and, when the user declares cheap
hours (`ops.schedule.cheap_hours`), into them. Without that declaration nothing is said about prices: most
providers have one price all day. A move changes the minute and the hour of a cron expression and nothing
else, so that a daily job stays daily; `chains` sees to it that a job still runs after those it reads from.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from typing import Any

from ..host.schedules import next_due
from ..settings import Option, number, words
from ..spend.run_costs import JOB_ID
from .chains import Key, Links, fits_chain, links_of, sources, sources_first
from .job_cost import JobCost, Placed
from .minutes import MINUTES, Busy, crowded, hours_of_change, near, time_of

APART = (5, 1)  # minutes between two agents, as wished and at least


def hours(value: Any) -> tuple[int, int]:
    """A check: "01:00-06:00" as minutes of the day; it may go over midnight."""
    found = re.fullmatch(r"\s*(\d{1,2}):(\d\d)\s*-\s*(\d{1,2}):(\d\d)\s*", str(value))
    numbers = [int(part) for part in found.groups()] if found else [99, 0, 0, 0]
    start, end = numbers[0] * 60 + numbers[1], numbers[2] * 60 + numbers[3]
    if max(numbers[1], numbers[3]) > 59 or start >= MINUTES or end > MINUTES or start == end:
        raise ValueError('expected hours like "01:00-06:00"')
    return start, end


OPTIONS = (
    Option(
        "schedule.cheap_hours",
        None,
        hours,
        'hours in which calls cost less, "01:00-06:00", in the home\'s zone',
    ),
    Option("schedule.keep", (), words, "jobs that are never proposed for a move, by id or name"),
    Option("schedule.worth_usd", 0.05, number(0.0), "dollars a day from which a job is worth moving"),
    Option("schedule.worth_tokens", 100_000.0, number(0.0), "tokens a run from which an unpriced job is"),
)


@dataclass(frozen=True)
class Move:
    """A proposed time: the new expression and why.

    first      jobs that have to be moved before this one, so that it still runs after them
    not_now    why it should not be applied at this moment, or ""; an application now would leave out a run
               or make one too many
    """

    placed: Placed
    expr: str
    why: str
    notes: tuple[str, ...] = ()
    first: tuple[str, ...] = ()
    not_now: str = ""

    def command(self) -> str:
        """What a person types for it; the expression has digits and `* , - /` alone."""
        from shlex import quote

        profile = "" if self.placed.profile == "default" else f"-p {quote(self.placed.profile)} "
        return f'hermes {profile}cron edit {self.placed.job.id} --schedule "{self.expr}"'


@dataclass(frozen=True)
class Wishes:
    """What the user said about moving."""

    cheap: tuple[int, int] | None = None
    keep: tuple[str, ...] = ()
    worth_usd: float = 0.05
    worth_tokens: float = 100_000.0


def propose(placed: Iterable[Placed], wishes: Wishes, now: float) -> list[Move]:
    """The moves that are worth it, each sound by itself unless it names others in `first`."""
    jobs = {one.key: one for one in placed if one.job.live and one.job.schedule.kind == "cron"}
    dear = {key for key, one in jobs.items() if _worth(one.cost, wishes)}
    feeding = _feeding(dear, jobs)
    planned: dict[Key, str] = {}
    moves: list[Move] = []
    busy, links = Busy(jobs.values(), now), links_of(jobs)
    if wishes.cheap is not None:
        for one in sources_first(jobs):
            if one.key not in dear and one.key not in feeding:
                continue
            move = _into_cheap_hours(one, wishes, links, planned, busy, now)
            if move is not None:
                moves.append(move)
                planned[one.key] = move.expr
                busy.move(one, move.expr)
        for move in _for_nothing(moves, dear, jobs):
            moves.remove(move)
            del planned[move.placed.key]
            busy.move(move.placed, move.placed.job.schedule.expr)
    for one in crowded(jobs, planned, now):
        move = _out_of_the_crowd(one, wishes, links, planned, busy, now)
        if move is not None:
            moves.append(move)
            planned[one.key] = move.expr
            busy.move(one, move.expr)
    return moves


def kept(one: Placed, wishes: Wishes) -> str | None:
    """Why a job is not moved at all; None: it may be."""
    if not JOB_ID.fullmatch(one.job.id):
        return "its id is none of the host's"
    if one.ours:
        return "a watcher of this plugin"
    if one.job.no_agent:
        return "a script: it calls no model"
    if one.job.id in wishes.keep or one.job.name in wishes.keep:
        return "on the list ops.schedule.keep"
    if not time_of(one.job.schedule.expr):
        return "its minute is not a single one"
    return None


def applies_now(one: Placed, expr: str, now: float) -> str:
    """Why a move should wait, or "": the next run before and after it must be the same one.

    The host plans the next run anew when a schedule changes. Between the old and the new time of a day it
    would leave today's run out, or make it twice.
    """
    old = next_due(one.job.schedule, now, one.zone)
    new = next_due(replace(one.job.schedule, expr=expr), now, one.zone)
    if old is None or new is None:
        return "it is not due any more"
    same_hour = one.job.schedule.expr.split()[1] == expr.split()[1]
    before, after = (_slot(at, one.zone, same_hour) for at in (old, new))
    if before == after:
        return ""
    wait = datetime.fromtimestamp(min(old, new), one.zone).strftime("%Y-%m-%d %H:%M")
    return f"now it would {'leave out' if new > old else 'repeat'} a run; apply it after {wait}"


# --- the two kinds of moves


def _into_cheap_hours(
    one: Placed,
    wishes: Wishes,
    links: Links,
    planned: Mapping[Key, str],
    busy: Busy,
    now: float,
) -> Move | None:
    start, end = wishes.cheap or (0, 0)
    at = time_of(one.job.schedule.expr)
    if kept(one, wishes) or at is None or at[1] is None:
        return None
    old = at[1] * 60 + at[0]
    inside = [(start + step) % MINUTES for step in range((end - start) % MINUTES or MINUTES)]
    if old in inside:
        return None
    changing = hours_of_change(one.zone, now)
    free = [minute for minute in inside if minute // 60 not in changing]
    order = sorted(free, key=lambda minute: (minute % 60 != at[0], abs(minute - old)))
    found = _first_fit(one, order, links, planned, busy, now)
    if found is None:
        return None
    expr, first = found
    why = f"costs {_spent(one.cost)}, outside the cheap hours"
    if not _worth(one.cost, wishes):
        why = "a job that reads from it costs more, outside the cheap hours"
    return Move(one, expr, why, _notes(one), first, applies_now(one, expr, now))


def _out_of_the_crowd(
    one: Placed,
    wishes: Wishes,
    links: Links,
    planned: Mapping[Key, str],
    busy: Busy,
    now: float,
) -> Move | None:
    at = time_of(one.job.schedule.expr)
    if kept(one, wishes) or at is None:
        return None
    others = busy.others(one)
    later = [minute for minute in range(at[0] + 1, 60)] + [minute for minute in range(at[0] - 1, -1, -1)]
    hours_ = [at[1]] if at[1] is not None else sorted({minute // 60 for minute in busy.of(one)})
    for apart in APART:
        for minute in later:
            if any(near(hour * 60 + minute, others, apart) for hour in hours_):
                continue
            expr = " ".join([str(minute), *one.job.schedule.expr.split()[1:]])
            first = fits_chain(one, expr, links, planned, now)
            if first is not None:
                count = busy.crowd(one)
                why = f"starts in the same minute as {count - 1} other agents"
                return Move(one, expr, why, (), first, applies_now(one, expr, now))
    return None


def _first_fit(
    one: Placed,
    order: Sequence[int],
    links: Links,
    planned: Mapping[Key, str],
    busy: Busy,
    now: float,
) -> tuple[str, tuple[str, ...]] | None:
    """The first minute of the day in `order` that is free and keeps the chain."""
    others = busy.others(one)
    rest = one.job.schedule.expr.split()[2:]
    for apart in APART:
        for minute in order:
            if near(minute, others, apart):
                continue
            expr = " ".join([str(minute % 60), str(minute // 60), *rest])
            first = fits_chain(one, expr, links, planned, now)
            if first is not None:
                return expr, first
    return None


def _feeding(dear: set[Key], jobs: Mapping[Key, Placed]) -> set[Key]:
    """The jobs that those read from, and so on: a reader can only follow where its sources go."""
    found: set[Key] = set()
    ahead = [jobs[key] for key in dear]
    while ahead:
        for source in sources(ahead.pop(), jobs):
            if source.key not in found:
                found.add(source.key)
                ahead.append(source)
    return found


def _for_nothing(moves: Sequence[Move], dear: set[Key], jobs: Mapping[Key, Placed]) -> list[Move]:
    """Moves of cheap sources whose readers do not move after all."""
    needed = {move.placed.key for move in moves if move.placed.key in dear}
    while True:
        more = {
            source.key for key in needed for source in sources(jobs[key], jobs) if source.key not in needed
        }
        if not more:
            return [move for move in moves if move.placed.key not in needed]
        needed |= more


def _spent(cost: JobCost) -> str:
    usd = cost.usd_per_day
    return f"about ${usd:.2f} a day" if usd else f"about {cost.tokens:,.0f} tokens a run"


def _worth(cost: JobCost, wishes: Wishes) -> bool:
    if cost.usd_per_day is not None and cost.usd_per_day >= wishes.worth_usd > 0:
        return True
    return cost.lower_bound and cost.tokens >= wishes.worth_tokens > 0


def _notes(one: Placed) -> tuple[str, ...]:
    loud = [target for target in one.job.deliver if target != "local"]
    return (f"its message would then come to {', '.join(loud)} at that time",) if loud else ()


def _slot(at: float, zone: tzinfo, same_hour: bool) -> str:
    return datetime.fromtimestamp(at, zone).strftime("%Y-%m-%d %H" if same_hour else "%Y-%m-%d")
