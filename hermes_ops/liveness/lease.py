"""Maintenance: somebody works on the gateway, and the supervisor keeps its hands off.

Ours is a lease with an owner, a reason and an end. What the host writes when it stops, replaces, drains or
updates its gateway counts as a lease too, for as long as the host itself would take.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from .._common.files import read_regular, write_atomic
from ..core.incident_text import clean
from ..core.typed import object_of
from ..errors import OpsError, Unreadable
from ..host.gateway import PID_MARKER_SECONDS, Gateway

FORMAT = 1
FILE_NAME = "maintenance.json"
LONGEST = 24 * 3600.0
SLACK = 120.0

# How long a marker of the host is honoured after it was written, seconds.
HOST_LEASES = {
    "planned_stop": ("the gateway is being stopped", PID_MARKER_SECONDS),
    "takeover": ("another gateway takes over", PID_MARKER_SECONDS),
    "drain": ("a drain was asked for", 1800.0),
    "update": ("an update runs", 1800.0),
    "update_claimed": ("an update runs", 1800.0),
}


@dataclass(frozen=True)
class Lease:
    """Who keeps the supervisor away, why, and until when (seconds since the epoch)."""

    owner: str
    reason: str
    since: float
    until: float

    def active(self, now: float) -> bool:
        """Whether it holds. After the clock went back it may begin in the future, by less than a day."""
        if now < self.since - SLACK:
            return self.since - now < LONGEST
        return now < self.until


def pause(home: Path, reason: str, seconds: float, owner: str, now: float) -> Lease:
    """Write a lease, replacing the one that is there. Raises OpsError for no reason, or more than a day."""
    reason = clean(reason, 200)
    if not reason:
        raise OpsError("a pause needs a reason: what is being done, for whoever finds the gateway down")
    if not 0 < seconds <= LONGEST:
        raise OpsError(f"a pause lasts at most {LONGEST / 3600:.0f} h; renew it when the work takes longer")
    lease = Lease(clean(owner, 80) or "somebody", reason, now, now + seconds)
    data = {
        "format": FORMAT,
        "owner": lease.owner,
        "reason": lease.reason,
        "since": lease.since,
        "until": lease.until,
    }
    write_atomic(_path(home), json.dumps(data, sort_keys=True) + "\n")
    return lease


def resume(home: Path) -> Lease | None:
    """Take the lease away; returns the one that was there. A damaged one goes too."""
    try:
        lease = read_lease(home)
    except Unreadable:
        lease = None
    _path(home).unlink(missing_ok=True)
    return lease


def read_lease(home: Path) -> Lease | None:
    """The lease as written, also when it is over; None without one. Raises Unreadable."""
    path = _path(home)
    try:
        lease: Lease = object_of(Lease, read_regular(path))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Unreadable(path, error.strerror or str(error)) from None
    except ValueError:
        raise Unreadable(path, "not a lease; hermes ops supervise resume removes it") from None
    if not 0 < lease.until - lease.since <= LONGEST:
        raise Unreadable(path, "not a lease of at most a day; hermes ops supervise resume removes it")
    return lease


def host_lease(gateway: Gateway, now: float) -> Lease | None:
    """What the host itself is doing to its gateway, by its markers that are still good."""
    for name, (reason, seconds) in HOST_LEASES.items():
        marker = gateway.markers.get(name)
        if marker is None or not marker.valid or not -SLACK <= now - marker.at < seconds:
            continue
        if name.startswith("update") and "update_exit_code" in gateway.markers:
            continue
        return Lease("hermes", reason, marker.at, marker.at + seconds)
    return None


def _path(home: Path) -> Path:
    return home / "ops" / FILE_NAME
