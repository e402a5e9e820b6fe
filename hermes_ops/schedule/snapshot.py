"""The acknowledged schedule, `<home>/ops/schedule.json`: what somebody accepted, when and why."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..core.state import StateFile
from ..core.typed import typed
from .declared import Declared, Schedules

FORMAT = 1
KEPT_ACCEPTANCES = 50


@dataclass(frozen=True)
class Snapshot:
    """The jobs by profile/id and the zones by profile, as they were accepted.

    ``history`` are the newest acceptances, oldest first: {at, by, reason, jobs}.
    """

    at: float
    by: str
    reason: str
    zones: dict[str, str]
    jobs: dict[str, Declared]
    history: tuple[dict[str, Any], ...] = field(default=())

    def of(self, profile: str) -> dict[str, Declared]:
        """The jobs of one profile."""
        return {key: job for key, job in self.jobs.items() if job.profile == profile}


@dataclass(frozen=True)
class _Acceptance:
    at: float
    by: str
    reason: str
    jobs: int


@dataclass(frozen=True)
class _Kept:
    """The file as it is written."""

    at: float
    by: str
    reason: str
    zones: dict[str, str]
    jobs: tuple[Declared, ...]
    history: tuple[_Acceptance, ...]


@dataclass(frozen=True)
class Accepted:
    """The new snapshot, and where a damaged one went that stood in its place."""

    snapshot: Snapshot
    damaged: Path | None = None


def load(home: Path) -> Snapshot | None:
    """The acknowledged schedule; None: nobody has accepted one yet. Raises Unreadable."""
    data = _file(home).read()
    return _read(data) if data else None


def accept(home: Path, found: list[Schedules], by: str, reason: str, now: float) -> Accepted:
    """Make what stands now the acknowledged schedule. Raises Unreadable while a profile cannot be read."""
    for schedules in found:
        if schedules.problem is not None:
            raise schedules.problem
    jobs = {job.key: job for schedules in found for job in schedules.declared}
    zones = {schedules.profile.name: schedules.zone.name for schedules in found}
    entry = {"at": now, "by": by, "reason": reason, "jobs": len(jobs)}
    with _file(home).changing() as opened:
        history = (*opened.data.get("history", ()), entry)[-KEPT_ACCEPTANCES:]
        snapshot = Snapshot(now, by, reason, zones, jobs, history)
        opened.data = _written(snapshot)
    return Accepted(snapshot, opened.damaged)


def _file(home: Path) -> StateFile:
    return StateFile(home / "ops" / "schedule.json", FORMAT, dict, _read)


def _read(data: dict[str, Any]) -> Snapshot:
    kept: _Kept = typed(_Kept, data)
    by_key = {job.key: job for job in kept.jobs}
    history = tuple(asdict(entry) for entry in kept.history)
    return Snapshot(kept.at, kept.by, kept.reason, kept.zones, by_key, history)


def _written(snapshot: Snapshot) -> dict[str, Any]:
    return {
        "at": snapshot.at,
        "by": snapshot.by,
        "reason": snapshot.reason,
        "zones": snapshot.zones,
        "jobs": [snapshot.jobs[key].as_dict() for key in sorted(snapshot.jobs)],
        "history": list(snapshot.history),
    }
