"""`hermes ops watch NAME`: one run of a watcher, now."""

from __future__ import annotations

from typing import Any

from .._common.command_line import UsageError
from .._common.home import hermes_home
from ..core import run as runner
from ..core.watch import WATCHERS, watcher
from ..speak import say, say_json


def add_arguments(parser: Any) -> None:
    parser.add_argument("name", nargs="?", metavar="NAME", help="the watcher; without one they are listed")
    parser.add_argument("--scheduled", action="store_true", help="as its job runs it: silence, exit code 0")
    parser.add_argument("--json", action="store_true", help="print what it saw as one JSON object")


def run(arguments: Any) -> int:
    if arguments.name is None:
        if arguments.scheduled:
            raise UsageError("name the watcher to run")
        return _list(arguments.json)
    if watcher(arguments.name) is None:
        known = ", ".join(one.name for one in WATCHERS)
        raise UsageError(f"no watcher is called {arguments.name!r}; there are: {known}")
    home = hermes_home()
    if arguments.scheduled:
        runner.as_job(arguments.name, home)
        return 0
    outcome = runner.main(arguments.name, home, scheduled=False, quiet=arguments.json)
    reading = outcome.reading
    if arguments.json:
        say_json(
            {
                "watcher": arguments.name,
                "ran": outcome.ran,
                "error": outcome.error,
                "findings": [finding.as_dict() for finding in reading.findings],
                "blind": [{"key": blind.key, "text": blind.text} for blind in reading.blind],
                "events": [{"id": event.id, "text": event.text} for event in reading.events],
                "said": [{"kind": message.kind, "text": message.text} for message in outcome.messages],
            }
        )
    elif not outcome.ran:
        say(f"{arguments.name} is running already; nothing was done.")
    elif not outcome.messages:
        open_now = len(reading.findings) + len(reading.blind)
        say(f"Nothing new to say; {open_now} known." if open_now else "All is well.")
    return 1 if reading.findings or reading.blind or not outcome.ran else 0


def _list(as_json: bool) -> int:
    if as_json:
        rows = [{"name": one.name, "schedule": one.schedule, "summary": one.summary} for one in WATCHERS]
        say_json({"watchers": rows})
        return 0
    for one in WATCHERS:
        say(f"{one.name:<12}{one.schedule:<14}{one.summary}")
    return 0
