"""The gateway as its files show it: pid, heartbeat, state, markers. Facts only; the verdict is liveness/."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Gateway:
    """What the files of one home say about its gateway; times are seconds since the epoch, None: not there.

    pid               of gateway.pid, else of gateway_state.json; alive True/False/None (cannot be known)
    start_ticks       the kernel's start time written beside the pid
    lock_held         whether somebody holds gateway.lock; None: cannot be known
    heartbeat_at      `updated_at` of state/gateway.heartbeat, with its pid
    state             gateway_state of the file ("running" may be a lie), exit_reason, restart_requested
    platforms         name -> {state, error_code, error_message}
    starts            the newest starts (gateway-starts.log)
    exits             the newest records of gateway-exit-diag.log: (time, tag)
    markers           name -> content of the marker files that exist (planned stop, takeover, drain, update ...)
    """

    home: Path
    pid: int | None = None
    alive: bool | None = None
    start_ticks: int | None = None
    lock_held: bool | None = None
    heartbeat_at: float | None = None
    heartbeat_pid: int | None = None
    state: str | None = None
    state_at: float | None = None
    exit_reason: str | None = None
    restart_requested: bool = False
    active_agents: int | None = None
    platforms: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    starts: tuple[float, ...] = ()
    exits: tuple[tuple[float, str], ...] = ()
    markers: Mapping[str, Any] = field(default_factory=dict)
    problems: tuple[str, ...] = ()


def read_gateway(home: Path) -> Gateway:
    """Read every file; a torn one is read again, and what stays unreadable is in `problems`. Never raises."""
    raise NotImplementedError
