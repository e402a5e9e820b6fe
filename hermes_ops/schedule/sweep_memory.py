"""What a sweep remembers of the jobs: since when each has its schedule, and which one-shots there were.

The host keeps neither: a job that was paused and resumed, or given another time, looks as if it had always
been so, and a one-shot that is over is gone from its list. `<home>/ops/sweep.json`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.incident_text import clean
from ..core.state import StateFile
from ..core.typed import typed
from ..host.jobs import Job

if TYPE_CHECKING:
    from ..host.profiles import Profile

FORMAT = 1


@dataclass(frozen=True)
class Known:
    """What is remembered of one job; times are seconds since the epoch.

    name     of a one-shot, redacted; "" of others
    since    from when on its schedule of now holds; None: as long as we know of it
    idle     since when it is paused or switched off, None when it is not
    one_shot its time, when it is one
    """

    name: str
    signature: str
    since: float | None
    idle: float | None
    one_shot: float | None

    def as_data(self) -> dict[str, Any]:
        return dict(vars(self))


def state_file(home: Path) -> StateFile:
    """The memory of the sweeps of a home."""
    return StateFile(home / "ops" / "sweep.json", FORMAT, lambda: {"jobs": {}, "at": None}, _check)


def key_of(profile: Profile, job: Job) -> str:
    return f"{profile.name}/{job.id}"


def read(data: dict[str, Any]) -> dict[str, Known]:
    """What is remembered, by "<profile>/<job>"."""
    known: dict[str, Known] = typed(dict[str, Known], data["jobs"])
    return known


def observed(known: dict[str, Known], profile: Profile, jobs: Iterable[Job], now: float) -> dict[str, Known]:
    """What is known of a profile's jobs once they have been seen now; those that are gone are left out."""
    found = {}
    for job in jobs:
        key = key_of(profile, job)
        before, signature = known.get(key), _signature(job)
        changed = before is not None and before.signature != signature
        since = now if changed else before.since if before else None
        idle = None if job.enabled else job.paused_at or (before.idle if before else None) or now
        one_shot = job.schedule.run_at if job.schedule.kind == "once" else None
        # Only of a one-shot is the name needed once the host has forgotten it.
        name = clean(job.name, 200) if one_shot is not None else ""
        found[key] = Known(name, signature, since, idle, one_shot)
    return found


def gone(known: dict[str, Known], profile: Profile, jobs: Iterable[Job]) -> dict[str, Known]:
    """The jobs of a profile that were there and are not on the list any more."""
    there = {key_of(profile, job) for job in jobs}
    return {key: one for key, one in known.items() if key.startswith(f"{profile.name}/") and key not in there}


def _signature(job: Job) -> str:
    schedule = job.schedule
    return json.dumps([schedule.kind, schedule.expr, schedule.minutes, schedule.run_at, job.enabled])


def _check(data: dict[str, Any]) -> object:
    return read(data), typed(float | None, data["at"])
