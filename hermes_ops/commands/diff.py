"""`hermes ops diff`: what changed since the acknowledged schedule. Exit 0 same, 1 differs, 2 unreadable."""

from __future__ import annotations

import time
from typing import Any

from .._common.command_line import UsageError, complain
from .._common.home import hermes_home
from ..core.moment import show
from ..errors import Unreadable
from ..host.zone import zone
from ..schedule import snapshot
from ..schedule.declared import read_all
from ..schedule.diff import Difference, difference
from ..speak import say, say_json

PROGRAM = "hermes ops diff"


def add_arguments(parser: Any) -> None:
    parser.add_argument("--accept", action="store_true", help="acknowledge the schedule as it stands now")
    parser.add_argument("--reason", metavar="TEXT", help="why it is as it should be; needed with --accept")
    parser.add_argument("--by", metavar="NAME", help="who accepts it (default: the user of this process)")
    parser.add_argument("--history", action="store_true", help="list who accepted what, and when")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: Any) -> int:
    home, now = hermes_home(), time.time()
    if arguments.accept and not (arguments.reason or "").strip():
        raise UsageError('--accept needs --reason "...": whoever reads it later wants to know why')
    try:
        if arguments.history:
            return _history(home, arguments.json)
        if arguments.accept:
            return _accept(home, arguments, now)
        found = difference(home, now)
    except Unreadable as error:
        return complain(PROGRAM, error, 2)
    if arguments.json:
        say_json(_as_dict(found))
    else:
        for line in _lines(found, zone(home).tz):
            say(line)
    for name, error in found.unread:
        complain(PROGRAM, f"profile {name} is not compared: {error}", 2)
    if found.unread:
        return 2
    return 1 if found.surprises or found.snapshot is None else 0


def _accept(home: Any, arguments: Any, now: float) -> int:
    before = None
    try:
        before = difference(home, now)
    except Unreadable:
        pass  # a damaged snapshot is set aside below and said
    accepted = snapshot.accept(home, read_all(home), arguments.by or _user(), arguments.reason.strip(), now)
    made = accepted.snapshot
    if arguments.json:
        changes = [] if before is None else [change.as_dict() for change in before.changes]
        damaged = str(accepted.damaged) if accepted.damaged else None
        data = {"accepted": len(made.jobs), "by": made.by, "reason": made.reason, "changes": changes}
        say_json({**data, "damaged": damaged})
        return 0
    if accepted.damaged:
        say(f"the snapshot before was damaged and lies at {accepted.damaged}")
    counted = f"{len(made.jobs)} job" + ("" if len(made.jobs) == 1 else "s")
    if before is not None and before.snapshot is not None:
        counted += f", {len(before.changes)} changed"
    say(f"accepted by {made.by}: {counted} ({made.reason})")
    return 0


def _history(home: Any, as_json: bool) -> int:
    found = snapshot.load(home)
    history = [] if found is None else list(found.history)
    if as_json:
        say_json({"history": history})
        return 0
    for entry in history:
        say(f"{show(entry['at'], zone(home).tz)}  {entry['jobs']} jobs  {entry['by']}: {entry['reason']}")
    if not history:
        say("nobody has accepted a schedule yet")
    return 0


def _lines(found: Difference, tz: Any) -> list[str]:
    if found.snapshot is None:
        return ['no snapshot yet: look at `hermes ops table`, then `hermes ops diff --accept --reason "..."`']
    when = f"{show(found.snapshot.at, tz)} by {found.snapshot.by} ({found.snapshot.reason})"
    if not found.changes:
        return [] if found.unread else [f"nothing changed since {when}"]
    lines = [f"changed since {when}:"]
    for change in found.changes:
        expected = f" (expected: {change.expected})" if change.expected else ""
        lines.append(f"{change.where}{expected}")
        lines += [f"    {line}" for line in change.lines]
    return lines


def _as_dict(found: Difference) -> dict[str, Any]:
    accepted = found.snapshot
    return {
        "snapshot": None
        if accepted is None
        else {"at": accepted.at, "by": accepted.by, "reason": accepted.reason},
        "changes": [change.as_dict() for change in found.changes],
        "unread": [{"profile": name, "text": str(error)} for name, error in found.unread],
    }


def _user() -> str:
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return "unknown"
