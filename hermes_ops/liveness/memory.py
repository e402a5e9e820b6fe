"""What the supervisor remembers, on disk: its own restart gives it no new restarts of the gateway."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from .._common.files import write_atomic
from ..core.finding import DAY
from ..core.state import StateFile
from ..core.typed import typed
from ..errors import Unreadable
from .lease import Lease
from .verdict import Seen

FORMAT = 1
FILE_NAME = "supervisor.json"
MAX_RESTARTS = 100


@dataclass(frozen=True)
class Outage:
    """A time in which the gateway did not work; times are seconds since the epoch.

    rule           of its incident, fixed when it opened: one outage is one incident
    state, text    the last bad verdict
    restarts       how often it was restarted for it; failed: how many of these did not help
    helpless       nobody can be asked to restart it, and why
    handed_over_at when the cap was reached and a person was called
    healthy_since  when it was first seen to work again; relapses: how often it failed after that
    closed_at      when it was over
    """

    since: float
    rule: str
    state: str
    text: str
    evidence: tuple[str, ...] = ()
    fix: str = ""
    restarts: int = 0
    failed: int = 0
    helpless: str = ""
    person: bool = False
    handed_over_at: float | None = None
    healthy_since: float | None = None
    relapses: int = 0
    closed_at: float | None = None


@dataclass(frozen=True)
class Memory:
    """All that outlives one look.

    pid, started   of the supervisor itself, to tell whether it lives
    interval       its pause between two looks
    wanted_since   the first look of those in a row that wanted an action
    restarts       when we asked for restarts
    pending_at     when we asked for the one whose effect is awaited, and the process there was then
    lease          the last lease of ours that held
    last_outage    the one before; what fails again soon after it is the same trouble
    telling        how many more looks the incident engine is asked though nothing is wrong
    state, text    the last verdict, for `status`
    """

    pid: int | None = None
    started: int | str | None = None
    interval: float = 60.0
    last_pass_at: float | None = None
    woke_at: float | None = None
    beat: float | None = None
    beat_changed_at: float | None = None
    not_working_since: float | None = None
    wanted_since: float | None = None
    restarts: tuple[float, ...] = ()
    pending_at: float | None = None
    pending_pid: int | None = None
    outage: Outage | None = None
    lease: Lease | None = None
    telling: int = 0
    last_outage: Outage | None = None
    state: str = "unknown"
    text: str = ""
    evidence: tuple[str, ...] = ()
    manager: str = ""

    @property
    def seen(self) -> Seen:
        """What the verdict needs of it."""
        return Seen(self.last_pass_at, self.woke_at, self.beat, self.beat_changed_at, self.not_working_since)


@dataclass
class Opened:
    """The memory as it was read; ``damaged`` is where an unreadable one was put."""

    memory: Memory = field(default_factory=Memory)
    damaged: Path | None = None


class MemoryFile:
    """`<home>/ops/supervisor.json`. Raises Unreadable when it cannot be read or written."""

    def __init__(self, home: Path) -> None:
        self._path = home / "ops" / FILE_NAME
        self._file = StateFile(self._path, FORMAT, lambda: as_data(Memory()), from_data)
        self._last: tuple[tuple[int, ...] | None, Memory] | None = None

    def read(self) -> Memory:
        """For a report: changes nothing."""
        return from_data(self._file.read())

    def open(self, now: float) -> Opened:
        """Read it. A damaged one is set aside; how often we restarted is unknown then, and counts as once."""
        signature = self._signature()
        if self._last is not None and signature is not None and self._last[0] == signature:
            return Opened(self._last[1])
        with self._file.changing() as opened:
            memory = from_data(opened.data)
            if opened.damaged is not None:
                memory = replace(memory, restarts=(now,))
                opened.data.update(as_data(memory))
        return Opened(memory, opened.damaged)

    def write(self, memory: Memory, *, durable: bool) -> None:
        """Write it whole; `durable` waits for the disk. Only the holder of the supervisor's lock writes."""
        text = json.dumps({"format": FORMAT, **as_data(memory)}, sort_keys=True, allow_nan=False)
        try:
            write_atomic(self._path, text + "\n", durable=durable)
        except OSError as error:
            raise Unreadable(self._path, f"cannot be written: {error.strerror or error}") from None
        self._last = self._signature(), memory

    def _signature(self) -> tuple[int, ...] | None:
        try:
            found = os.stat(self._path)
        except OSError:
            return None
        return found.st_ino, found.st_size, found.st_mtime_ns


def as_data(memory: Memory) -> dict[str, Any]:
    """As JSON takes it."""
    data = dict(vars(memory))
    for name in ("outage", "last_outage", "lease"):
        data[name] = dict(vars(data[name])) if data[name] is not None else None
    return data


def from_data(data: Mapping[str, Any]) -> Memory:
    """From JSON; raises ValueError for what is no memory."""
    memory: Memory = typed(Memory, dict(data))
    for at in (memory.last_pass_at, memory.woke_at, memory.pending_at, memory.wanted_since, *memory.restarts):
        if at is not None and at < 0:
            raise ValueError(f"{at} is no time")
    for pid in (memory.pid, memory.pending_pid):
        if pid is not None and not 0 < pid < 2**31:
            raise ValueError(f"{pid} is no process")
    return replace(memory, restarts=memory.restarts[-MAX_RESTARTS:])


def not_after(memory: Memory, now: float) -> Memory:
    """The memory after the clock went back: nothing in it lies in the future, and no restart is forgotten."""

    def bound(at: float | None) -> float | None:
        return None if at is None else min(at, now)

    outage = memory.outage
    if outage is not None:
        outage = replace(
            outage,
            since=min(outage.since, now),
            handed_over_at=bound(outage.handed_over_at),
            healthy_since=bound(outage.healthy_since),
        )
    last = memory.last_outage
    return replace(
        memory,
        last_outage=replace(last, closed_at=bound(last.closed_at)) if last is not None else None,
        beat_changed_at=bound(memory.beat_changed_at),
        not_working_since=bound(memory.not_working_since),
        wanted_since=bound(memory.wanted_since),
        restarts=tuple(min(at, now) for at in memory.restarts if at > now - DAY),
        pending_at=bound(memory.pending_at),
        outage=outage,
    )
