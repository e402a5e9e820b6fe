"""The day's cap: what was spent today, and which jobs would spend most of what is still to come.

The cap is in dollars, in tokens, or both; without one there is no budget. At the cap the jobs whose runs
*still to come today* are expected to cost most are proposed for a pause, or paused (`ops.budget.act`), once
a day; `budget_pauses` keeps which, and resumes exactly those on the next day.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import tzinfo
from typing import Any

from ..core.finding import DAY, Blind, Event, Finding, Reading
from ..core.ledger import Collected, Ledger
from ..core.moment import day, day_start, show
from ..core.watch import Context
from ..errors import Unreadable
from ..settings import Option, Settings, load, number, switch, words
from . import budget_pauses
from .budget_day import (
    BAD_SHARE,
    Candidate,
    Over,
    Placed,
    Today,
    amount,
    candidates,
    choose,
    describe,
    reached,
    spent_today,
)
from .run_costs import COLUMNS, by_job, day_end, join, means, sound, zones

HISTORY = 28 * DAY  # how far back the mean cost of a run looks

_MORE_THAN_NOTHING = 1e-6  # a cap of 0 would be reached by every day

OPTIONS = (
    Option(
        "budget.cap_usd", None, number(_MORE_THAN_NOTHING), "dollars a day over all profiles; none: no cap"
    ),
    Option("budget.cap_tokens", None, number(1.0), "tokens a day, without cache reads; none: no cap"),
    Option("budget.act", False, switch, "pause at the cap; false: propose only"),
    Option("budget.pause", 3, number(1.0, 100.0), "how many jobs are paused, once a day"),
    Option("budget.keep", (), words, "jobs that are never paused, by id or name"),
)


def read_today(ledger: Ledger, now: float, zone: tzinfo, collected: Collected | None = None) -> Today:
    """What the ledger knows of today; `collected` is what came of bringing it up to now."""
    start = day_start(now, zone)
    rows = ledger.spent_by_day(("profile", "session"), start, now, zone)
    today = spent_today(rows, now, zone, ledger.unplaced(start, now).rows)
    return replace(today, unseen=collected is not None and collected.unseen(start, now))


def read_jobs_of(context: Context) -> tuple[list[Placed], list[Blind]]:
    """Every job of every profile, and the profiles whose jobs cannot be read."""
    from ..host.jobs import read_jobs

    profiles = context.profiles
    zone_of = zones(profiles)
    placed, blind = [], []
    for profile in profiles:
        try:
            jobs = read_jobs(profile.home).jobs
        except Unreadable as error:
            blind.append(Blind(f"jobs:{profile.name}", str(error), f"budget.pause_failed:{profile.name}/"))
            continue
        placed += [Placed(profile.name, profile.home, job, zone_of(profile.name)) for job in jobs]
    return placed, blind


def mean_costs(context: Context) -> dict[tuple[str, str], tuple[float, float, bool]]:
    """What a run of each job has cost on average in the last 28 days."""
    ledger, since = context.ledger(), context.now - HISTORY
    runs = ledger.runs(since, context.now)
    rows = [row for row in ledger.spent(COLUMNS, since, context.now) if sound(row)]
    return means(by_job(join(runs, rows, zones(context.profiles), context.now)))


def still_to_come(
    context: Context, measure: str, keep: Collection[str]
) -> tuple[list[Candidate], list[Blind]]:
    """The candidates of today over all profiles."""
    from ..install import installed

    placed, blind = read_jobs_of(context)
    end = day_end(context.now, context.zone.tz)
    ours = set(installed(context.home).values())
    return candidates(placed, mean_costs(context), measure, context.now, end, keep, ours), blind


# --- the watcher


def watch(context: Context) -> Reading:
    """Resume what the budget paused on an earlier day; at the cap, propose or pause. Silent without a cap."""
    settings = load(context.home, OPTIONS)
    reading = _wrong_settings(context, settings) + _resume(context, settings)
    if settings["budget.cap_usd"] is None and settings["budget.cap_tokens"] is None:
        return reading
    collected = context.ledger().collect(context.now)
    reading += Reading.of(
        blind=[Blind(one.key, one.text, "budget.", one.holds, one.fix) for one in collected.blind]
    )
    today = read_today(context.ledger(), context.now, context.zone.tz, collected)
    over = reached(today, settings["budget.cap_usd"], settings["budget.cap_tokens"])
    bad_rows = collected.bad > 0 and any(one.key.startswith("usage/") for one in collected.blind)
    if today.bad_share > BAD_SHARE or bad_rows:
        return reading + Reading.of([_bad_data(context, today, collected.bad)])
    return reading if over is None else reading + act(context, settings, today, over)


def act(context: Context, settings: Settings, today: Today, over: Over) -> Reading:
    """Pause (when `ops.budget.act` says so) or propose; the finding says what was done and what to do."""
    found, blind = still_to_come(context, over.measure, settings["budget.keep"])
    chosen = choose(found, int(settings["budget.pause"]))
    events, findings, done = [], [], ""
    if settings["budget.act"]:
        reason = f"hermes ops budget: {today.day} is over {amount(over.measure, over.cap)}"
        result = budget_pauses.pause(
            context.home, today.day, context.now, chosen, int(settings["budget.pause"]), reason
        )
        done = result.text()
        findings += result.failures()
        if result.paused:
            names = ", ".join(f"{one['name']} ({one['job']})" for one in result.paused)
            text = f"paused until tomorrow, for the budget: {names}"
            events.append(Event(f"budget.paused:{today.day}:{context.now:.0f}", text, "warning"))
    done = done or _paused_today(context, today.day)
    findings.append(_over(context, today, over, found, chosen, done))
    return Reading.of(findings, blind, events)


def _paused_today(context: Context, label: str) -> str:
    names = [
        f"{one['name']} ({one['job']})" for one in budget_pauses.paused(context.home) if one["day"] == label
    ]
    return f"paused today: {', '.join(names)}" if names else ""


def _over(
    context: Context,
    today: Today,
    over: Over,
    found: Sequence[Candidate],
    chosen: Sequence[Candidate],
    done: str,
) -> Finding:
    zone = context.zone
    spent = amount(over.measure, over.spent, today.lower_bound)
    text = f"spent {spent} since {show(today.since, zone.tz)}, the cap is {amount(over.measure, over.cap)}"
    if done:
        text += f"; {done}"
    elif chosen:
        dearest = [f"{one.placed.job.name} ({one.placed.job.id})" for one in chosen]
        text += f"; most of what is still to come today: {', '.join(dearest)}"
    else:
        text += "; no job that may be paused has a known cost still to come today"
    evidence = [describe(one, over.measure) for one in (chosen or found[:3])]
    if today.spent.unknown_calls:
        evidence.append(f"calls without a known price: {today.spent.unknown_calls} of {today.spent.calls}")
    fix = "`hermes ops budget resume` takes it back now" if done else ""
    if chosen and not done:
        fix = "`hermes ops budget pause` pauses them until tomorrow; ops.budget.act: true does it by itself"
    key = f"{context.profiles[0].name}/{over.measure}"
    return Finding("budget.over", "error", "the day's budget", text, key, tuple(evidence), fix, remind=None)


def _bad_data(context: Context, today: Today, unread: int) -> Finding:
    text = (
        f"{max(today.bad, unread)} rows of use have numbers that cannot be, more than {BAD_SHARE:.0%};"
        " the budget cannot tell what was spent, and pauses nothing"
    )
    key = f"{context.profiles[0].name}/today"
    return Finding("budget.bad_data", "error", "the day's budget", text, key, fix="hermes ops costs")


def _wrong_settings(context: Context, settings: Settings) -> Reading:
    """A cap that is written and wrong is no cap; a config that cannot be read may hold one."""
    findings, blind = [], []
    for problem in settings.problems:
        option = next((one.name for one in OPTIONS if f"{one.name} " in problem), None)
        if option:
            key = f"{context.profiles[0].name}/{option}"
            findings.append(Finding("budget.settings", "warning", "config.yaml", problem, key))
        else:
            text = f"whether there is a budget is not known: {problem}"
            blind.append(Blind("budget.config", text, "budget.over:", fix="hermes ops doctor"))
    return Reading.of(findings, blind)


def _resume(context: Context, settings: Settings) -> Reading:
    """Resume what was paused on another day than today, or say that it waits."""
    today = day(context.now, context.zone.tz)
    try:
        waiting = budget_pauses.due(context.home, today, context.now)
    except Unreadable:
        damaged = budget_pauses.repair(context.home, today, context.now)
        text = (
            f"what the budget had paused is not known any more: its record was damaged and is now {damaged}"
        )
        return Reading.of(events=[Event(f"budget.damaged:{damaged.name}", text, "error")])
    promised = [one for one in waiting if settings["budget.act"] or one["asked"]]
    findings = [_still_paused(one) for one in waiting if one not in promised]
    result = budget_pauses.resume(context.home, promised)
    events = []
    if result.texts:
        text = "; ".join(result.texts)
        events.append(Event(f"budget.resumed:{today}:{context.now:.0f}", text))
    return Reading.of([*findings, *result.failures()], result.blind, events)


def _still_paused(record: dict[str, Any]) -> Finding:
    return Finding(
        "budget.still_paused",
        "warning",
        f"job {record['job']} ({record['name']})",
        f"still paused for the budget of {record['day']}: ops.budget.act is off",
        f"{record['profile']}/{record['job']}",
        fix="hermes ops budget resume",
    )
