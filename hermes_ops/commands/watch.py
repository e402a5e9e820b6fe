"""`hermes ops watch NAME`: what a watcher sees now; with --scheduled, its run as a job."""

from __future__ import annotations

import time
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
    outcome = runner.look(watcher(arguments.name), home, time.time())
    reading = outcome.reading
    if arguments.json:
        say_json(
            {
                "watcher": arguments.name,
                "error": outcome.error,
                "findings": [finding.as_dict() for finding in reading.findings],
                "blind": [{"key": blind.key, "text": blind.text} for blind in reading.blind],
                "events": [{"id": event.id, "text": event.text} for event in reading.events],
            }
        )
        return 1 if reading.findings or reading.blind else 0
    for event in reading.events:
        say(event.text)
    for blind in reading.blind:
        say(_with_fix(f"unknown: {blind.text}", blind.fix))
    for finding in reading.findings:
        say(_with_fix(f"{finding.severity}: {finding.where}: {finding.text}", finding.fix))
        for line in finding.evidence:
            say(f"  {line}")
    if not reading.findings and not reading.blind:
        say("All is well.")
    return 1 if reading.findings or reading.blind else 0


def _with_fix(text: str, fix: str) -> str:
    return f"{text}. Fix: {fix}" if fix else text


def _list(as_json: bool) -> int:
    if as_json:
        rows = [{"name": one.name, "schedule": one.schedule, "summary": one.summary} for one in WATCHERS]
        say_json({"watchers": rows})
        return 0
    for one in WATCHERS:
        say(f"{one.name:<12}{one.schedule:<14}{one.summary}")
    return 0
