"""`hermes ops incidents`: list, acknowledge, snooze and show incidents."""

from __future__ import annotations

import argparse
import getpass
import time
from datetime import tzinfo

from .._common.command_line import UsageError
from .._common.home import hermes_home
from ..core.incident import Incident, Incidents, as_dict
from ..core.incident_text import seconds
from ..core.moment import show, span
from ..speak import say, say_json

MAX_CLOSED_SHOWN = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--all", action="store_true", help="also what is over, and what is only suspected")
    verbs = parser.add_subparsers(dest="incidents_verb", metavar="VERB")
    ack = verbs.add_parser("ack", help="acknowledge: no reminders; its end is told")
    ack.add_argument("incident", metavar="ID", help="an id, or a beginning of one that is unique")
    ack.add_argument("--by", metavar="NAME", default="", help="who (default: you)")
    snooze = verbs.add_parser("snooze", help="say nothing of it for a time, its end excepted")
    snooze.add_argument("incident", metavar="ID")
    snooze.add_argument(
        "--for", dest="time", metavar="TIME", required=True, help="90m, 4h, 2d or 1w, at most a year"
    )
    shown = verbs.add_parser("show", help="all evidence and history of one")
    shown.add_argument("incident", metavar="ID")
    for verb in (ack, snooze, shown):
        verb.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Exit code of a list: 1 when something is open and nobody has acknowledged it."""
    incidents, now = Incidents(hermes_home()), time.time()
    verb = getattr(arguments, "incidents_verb", None)
    if verb == "ack":
        return _changed(
            arguments, incidents.acknowledge(arguments.incident, arguments.by or _user(), now), now
        )
    if verb == "snooze":
        try:
            length = seconds(arguments.time)
        except ValueError as error:
            raise UsageError(f"--for: {error}") from None
        return _changed(arguments, incidents.snooze(arguments.incident, now + length, now), now)
    if verb == "show":
        return _show(arguments, incidents.find(arguments.incident))
    return _list(arguments, incidents.all(closed=arguments.all), now)


def _list(arguments: argparse.Namespace, found: list[Incident], now: float) -> int:
    waiting = any(one.state == "open" and not _snoozed(one, now) for one in found)
    if not arguments.all:
        found = [one for one in found if one.state in ("open", "acknowledged")]
    if arguments.json:
        say_json({"incidents": [as_dict(one) for one in found]})
        return int(waiting)
    closed = [one for one in found if one.state == "closed"]
    for one in [one for one in found if one.state != "closed"] + closed[:MAX_CLOSED_SHOWN]:
        say(_line(one, now))
        say(f"    {one.where}: {one.text}" if one.where else f"    {one.text}")
        if one.fix and one.state != "closed":
            say(f"    fix: {one.fix}")
    if len(closed) > MAX_CLOSED_SHOWN:
        say(f"and {len(closed) - MAX_CLOSED_SHOWN} more that are over: --json has all")
    if not found:
        say("no incidents" if arguments.all else "nothing is open")
    return int(waiting)


def _line(one: Incident, now: float) -> str:
    state = one.state
    if state == "acknowledged":
        state = f"acknowledged by {one.acknowledged_by}"
    if _snoozed(one, now) and one.snoozed_until is not None:
        state += f", snoozed for {span(one.snoozed_until - now)}"
    if one.state == "closed":
        when = f"over {span(now - (one.closed_at or now))} ago, after {_lasted(one)}"
    else:
        when = f"since {span(now - (one.opened_at or one.first_seen))}"
    return f"{one.severity}  {one.id}  {state}, {when}"


def _show(arguments: argparse.Namespace, episodes: list[Incident]) -> int:
    if arguments.json:
        say_json({"incidents": [as_dict(one) for one in episodes]})
        return 0
    zone = _zone()
    for one in episodes:
        say(f"{one.id}  ({one.severity}, {one.state}, watcher {one.watcher})")
        for name, value in (
            ("where", one.where),
            ("what", one.text),
            ("fix", one.fix),
            ("first seen", show(one.first_seen, zone)),
            ("opened", show(one.opened_at, zone)),
            ("last seen", f"{show(one.last_seen, zone)}, in {one.runs} runs"),
            ("over", f"{show(one.closed_at, zone)}, after {_lasted(one)}" if one.closed_at else ""),
            ("told", show(one.told_at, zone) if one.told_at else "not yet"),
            ("snoozed until", show(one.snoozed_until, zone) if one.snoozed_until else ""),
            ("acknowledged by", one.acknowledged_by or ""),
        ):
            if value:
                say(f"  {name + ':':<16} {value}")
        for name, lines in (
            ("evidence", list(one.evidence)),
            ("history", [f"{show(at, zone)}  {text}" for at, text in one.history]),
        ):
            if lines:
                say(f"  {name}:")
                for text in lines:
                    say(f"    {text}")
    return 0


def _changed(arguments: argparse.Namespace, one: Incident, now: float) -> int:
    if arguments.json:
        say_json({"incident": as_dict(one)})
    else:
        say(_line(one, now))
    return 0


def _snoozed(one: Incident, now: float) -> bool:
    return one.snoozed_until is not None and now < one.snoozed_until


def _lasted(one: Incident) -> str:
    if one.opened_at is None or one.closed_at is None:
        return "unknown"
    return span(one.closed_at - one.opened_at)


def _zone() -> tzinfo:
    from ..host.zone import zone

    return zone(hermes_home()).tz


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "somebody"
