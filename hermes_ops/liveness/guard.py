"""The watcher "supervisor": whether the supervisor runs; where there is no systemd, it starts it again.

It is a job inside the gateway. It cannot bring a dead gateway back, because it is dead then too; it only
sees to it that somebody outside is there who can.
"""

from __future__ import annotations

import os
from dataclasses import replace

from .._common.files import is_alive
from ..core.finding import DAY, Blind, Event, Finding, Reading
from ..core.moment import span
from ..core.watch import Context
from ..errors import OpsError
from ..host.gateway import process_facts
from . import units
from .memory import Memory, MemoryFile
from .supervise import profile_name

SILENT = 600.0  # seconds without a look of the supervisor
RESPAWNS_PER_HOUR = 3
LIMIT = "This job runs inside the gateway and cannot bring a dead gateway back; only the supervisor can."


def watch(context: Context) -> Reading:
    """Whether the supervisor of this home is alive and looks. Starts it again where nobody else would."""
    home, now = context.home, context.now
    name = profile_name(home)
    try:
        memory = MemoryFile(home).read()
    except OpsError as error:
        return Reading.of(blind=[Blind(f"supervisor.memory:{name}", str(error), "supervisor.")])
    installed = units.installed(home)
    looked = memory.last_pass_at
    silent = max(SILENT, 5 * memory.interval)
    fresh = looked is not None and now - looked <= silent
    if memory.pid is None and fresh:
        return Reading()  # somebody's own timer runs `supervise once`
    if installed is None and memory.pid is None:
        return Reading.of([_unwatched(name)])
    if memory.pid is None or is_alive(memory.pid, memory.started) is False:
        return _gone(context, memory, installed, name)
    if looked is not None and not fresh:
        text = f"its process {memory.pid} runs, and it has not looked at the gateway for {span(now - looked)}"
        return Reading.of([_finding("supervisor.hangs", "error", text, name, _start_again(installed))])
    return Reading()


def _unwatched(name: str) -> Finding:
    text = f"nobody outside the gateway watches it: when it dies, nothing here can say so. {LIMIT}"
    return replace(
        _finding("supervisor.missing", "warning", text, name, "hermes ops supervise install"), remind=7 * DAY
    )


def _gone(context: Context, memory: Memory, installed: units.Installed | None, name: str) -> Reading:
    last = (
        f"its last look was {span(max(0.0, context.now - memory.last_pass_at))} ago"
        if memory.last_pass_at
        else ""
    )
    text = f"the supervisor's process is gone{f'; {last}' if last else ''}. {LIMIT}"
    down = _finding("supervisor.down", "error", text, name, _start_again(installed))
    if installed is None or installed.mode != "detached":
        return Reading.of([down])
    if units.in_a_unit(process_facts(os.getpid())):
        # What this job starts stays in the gateway's unit and would die with the gateway.
        return Reading.of([down])
    recent = [at for at in installed.respawns if 0 <= context.now - at < 3600]
    if len(recent) >= RESPAWNS_PER_HOUR:
        again = (
            f"it was started {len(recent)} times within an hour and is gone each time: see ops/{units.LOG}"
        )
        return Reading.of([replace(down, text=f"{again}. {LIMIT}")])
    try:
        pid = units.spawn(context.home)
        units.record(context.home, replace(installed, respawns=(*recent, context.now)))
    except OSError as error:
        return Reading.of([replace(down, text=f"{text} It could not be started: {error.strerror or error}.")])
    since = f" ({last})" if last else ""
    told = f"the supervisor ({name}) was gone{since}; it was started again as process {pid}"
    return Reading.of(events=[Event(f"supervisor.respawned:{context.now:.0f}", told, "warning")])


def _finding(rule: str, severity: str, text: str, name: str, fix: str) -> Finding:
    return Finding(rule, severity, f"supervisor ({name})", text, name, fix=fix)


def _start_again(installed: units.Installed | None) -> str:
    if installed is not None and installed.mode == "systemd":
        return f"systemctl --user restart {installed.unit}"
    return "hermes ops supervise install"
