"""`hermes ops remind`: a reminder at a time, shown in both zones and verified; list and cancel."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from .. import settings
from .._common.command_line import UsageError, complain
from .._common.home import hermes_home
from .._common.redact import Redactor
from ..core.moment import show, span
from ..errors import OpsError, Unreadable
from ..host.zone import zone
from ..schedule import instants, remind
from ..speak import say, say_json

PROGRAM = "hermes ops remind"
HERE = "here"
BAD = ("lost", "failed", "undelivered")


def add_arguments(parser: Any) -> None:
    parser.add_argument(
        "words", nargs="*", metavar="TEXT", help='the text, "list", "cancel ID", or nothing: list'
    )
    parser.add_argument(
        "--at", metavar="TIME", help='"2026-12-01 17:30" in --zone, a time with an offset, or "17:30"'
    )
    parser.add_argument("--in", dest="after", metavar="LENGTH", help='"45m", "1h30m", "2d" from now')
    parser.add_argument("--zone", help="the zone of --at (default: ops.remind.zone, else the host's)")
    parser.add_argument("--fold", choices=("first", "second"), help="which one, where clocks repeat an hour")
    parser.add_argument(
        "--deliver",
        metavar="TARGET",
        help="where it goes; here: the chat this runs in (default: ops.remind.deliver, else here)",
    )
    parser.add_argument("--force-local", action="store_true", help="deliver to local, where nobody sees it")
    parser.add_argument("--dry-run", action="store_true", help="show the instant and check it, make nothing")
    parser.add_argument("--all", action="store_true", help="list: those that are over as well")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: Any) -> int:
    home, now = hermes_home(), time.time()
    words = arguments.words
    timed = arguments.at is not None or arguments.after is not None
    if not timed and words[:1] == ["cancel"]:
        if len(words) != 2:
            raise UsageError("cancel which? `hermes ops remind cancel ID`")
        return _cancel(home, words[1], arguments.json, now)
    if not timed and words in ([], ["list"]):
        return _list(home, arguments, now)
    if not timed:
        raise UsageError('when? --at "2026-12-01 17:30" or --in 45m')
    if len(words) != 1:
        raise UsageError("the text is one argument: put it in quotes")
    return _create(home, words[0], arguments, now)


def _create(home: Path, text: str, arguments: Any, now: float) -> int:
    if (arguments.at is None) == (arguments.after is None):
        raise UsageError("one of --at and --in, not both")
    known = settings.load(home, remind.OPTIONS)
    host = zone(home)
    name = arguments.zone or known["remind.zone"]
    yours = instants.named_zone(name) if name else host.tz
    name = name or host.name
    if arguments.after is not None:
        instant = instants.after(arguments.after, now)
    else:
        instant = instants.at(arguments.at, yours, name, now, arguments.fold)
    deliver = _target(arguments, known["remind.deliver"])
    why = remind.refusal(home, deliver, force_local=arguments.force_local)
    if why:
        raise OpsError(f"{deliver}: {why}; a lost reminder leaves no trace, so it is not made")
    made = remind.create(home, text, instant.at, name, deliver, now, dry_run=arguments.dry_run)
    masked = "the host masks what looks like a secret in the text" if Redactor().find(text) else None
    remarks = [remark for remark in (instant.remark, host.problem, masked, _asleep(home, now)) if remark]
    if arguments.json:
        shown = {"yours": show(made.at, yours), "host": show(made.at, host.tz)}
        reminder = None if arguments.dry_run else made.id
        say_json(
            {"reminder": reminder, "job": made.job_id or None, "at": made.at, **shown, "remarks": remarks}
        )
        return 0
    both = show(made.at, yours)
    if show(made.at, host.tz) != both:
        both += f" = {show(made.at, host.tz)} on the host"
    what = "would be made" if arguments.dry_run else f"reminder {made.id}, job {made.job_id}"
    say(f"{what}: {both}, in {span(made.at - now)}, to {deliver}")
    for remark in remarks:
        complain(PROGRAM, remark, 0)
    _clean(home, now)
    return 0


def _target(arguments: Any, usual: str) -> str:
    """Where it goes: what was asked for, the setting, the chat this runs in."""
    here = remind.this_chat()
    if arguments.deliver == HERE and not here:
        raise UsageError("--deliver here: this does not run in a chat; name the target")
    deliver = here if arguments.deliver == HERE else arguments.deliver
    deliver = deliver or ("local" if arguments.force_local else usual or here)
    if not deliver:
        raise UsageError("where to? --deliver telegram:CHAT, or set ops.remind.deliver in config.yaml")
    return deliver


def _cancel(home: Path, named: str, as_json: bool, now: float) -> int:
    gone = remind.cancel(home, named, now)
    if as_json:
        say_json({"cancelled": gone.id, "job": gone.job_id})
    else:
        say(f"reminder {gone.id} is cancelled; its job {gone.job_id} is removed")
    return 0


def _list(home: Path, arguments: Any, now: float) -> int:
    found = remind.listed(home, now)
    _clean(home, now)
    # What is lost is shown for two weeks, so that somebody sees it.
    shown = [
        one
        for one in found
        if arguments.all
        or one.state in ("pending", "late")
        or (one.state in BAD and now - one.reminder.at < 14 * 86_400)
    ]
    bad = any(one.state in ("late", *BAD) for one in shown)
    redact = Redactor()
    if arguments.json:
        say_json({"reminders": [redact.value(one.as_dict()) for one in shown]})
        return 1 if bad else 0
    tz = zone(home).tz
    for one in shown:
        detail = f" ({redact.text(one.detail)})" if one.detail else ""
        text = " ".join(redact.text(one.reminder.text).split())[:60]
        where = f"{show(one.reminder.at, tz)}  {one.reminder.deliver}"
        say(f"{one.reminder.id}  {one.state:<11} {where}  {text}{detail}")
    if not shown:
        say('no reminders; make one: hermes ops remind "text" --at "2026-12-01 17:30" --deliver TARGET')
    return 1 if bad else 0


def _asleep(home: Path, now: float) -> str | None:
    """Why it may not run: nothing fires without a gateway."""
    from ..host.ticker import STALLED, read_ticker

    try:
        beat = read_ticker(home).heartbeat_at
    except Unreadable:
        return None
    if beat is None:
        return "the scheduler has never run here: start the gateway, or nothing is delivered"
    if now - beat > STALLED:
        return f"the scheduler has not run for {span(now - beat)}: start the gateway, or nothing is delivered"
    return None


def _clean(home: Path, now: float) -> None:
    try:
        remind.clean(home, now)
    except OpsError as error:
        complain(PROGRAM, f"scripts of past reminders stay: {error}", 0)
