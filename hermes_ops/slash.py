"""/ops in a chat: what is wrong now; acknowledge and snooze. Reads our own files alone, so it is quick."""

from __future__ import annotations

import time

from . import overview
from ._common.home import hermes_home
from ._common.terminal import printable
from .core.incident import Incidents
from .errors import OpsError

USAGE = (
    "/ops shows what is wrong; /ops watchers when each watcher ran; /ops ack ID acknowledges an incident; "
    "/ops snooze ID HOURS keeps it quiet for a time"
)
SHOWN = 20
LONGEST_SNOOZE = 24 * 30  # hours


def run(arguments: str) -> str:
    """Answer one /ops command in text."""
    words = arguments.split()
    command = words[0] if words else "status"
    try:
        if command in ("status", "watchers") and len(words) < 2:
            return _status(watchers_only=command == "watchers")
        if command == "ack" and len(words) == 2:
            incident = Incidents(hermes_home()).acknowledge(words[1], "chat", time.time())
            return printable(f"Acknowledged: {incident.text}. Its end will be told.")
        if command == "snooze" and len(words) == 3:
            return _snooze(words[1], words[2])
    except OpsError as error:
        return printable(str(error))
    return USAGE


def _status(*, watchers_only: bool) -> str:
    now = time.time()
    seen = overview.look(hermes_home(), now)
    if watchers_only:
        return "\n".join(printable(f"{row.name}: {row.state(now)}") for row in seen.watchers)
    lines = [printable(line) for line in seen.lines()]
    more = [f"and {len(lines) - SHOWN} more lines: hermes ops status"] if len(lines) > SHOWN else []
    return "\n".join(lines[:SHOWN] + more)


def _snooze(named: str, text: str) -> str:
    try:
        hours = float(text)
    except ValueError:
        return USAGE
    if not 0 < hours <= LONGEST_SNOOZE:
        return f"A snooze lasts more than 0 and at most {LONGEST_SNOOZE} hours."
    now = time.time()
    incident = Incidents(hermes_home()).snooze(named, now + hours * 3600, now)
    return printable(f"Quiet for {hours:g} h: {incident.text}.")
