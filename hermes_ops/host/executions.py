"""Runs of jobs as the host keeps them: `cron/executions.db`, the newest 1,000 over all jobs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .database import columns, reading
from .zone import host_time

FINISHED = ("completed", "failed", "unknown")
KEPT = 1000  # finished rows the host keeps over all jobs

_COLUMNS = (
    "id",
    "job_id",
    "source",
    "status",
    "claimed_at",
    "started_at",
    "finished_at",
    "error",
    "pid",
    "process_started_at",
)


@dataclass(frozen=True)
class Execution:
    """One run; times are seconds since the epoch. ``status``: claimed, running, completed, failed, unknown.

    ``process_started_at`` is the kernel's start time of ``pid``, as text: only its equality means anything.
    """

    id: str
    job_id: str
    source: str
    status: str
    claimed_at: float | None
    started_at: float | None
    finished_at: float | None
    error: str | None
    pid: int | None = None
    process_started_at: str | None = None


def database(home: Path) -> Path:
    """Where the host keeps them."""
    return home / "cron" / "executions.db"


def read_executions(home: Path, since: float = 0.0) -> list[Execution]:
    """The runs claimed at or after `since`, oldest first. No database is no runs; a locked one is Unreadable.

    A run whose time of claim is unreadable is among them whatever `since` is.
    """
    path = database(home)
    if not path.exists():
        return []
    with reading(path) as connection:
        there = columns(connection, "executions")
        if not {"id", "job_id", "status"} <= there:
            return []
        chosen = [name if name in there else f"NULL AS {name}" for name in _COLUMNS]
        rows = connection.execute(f"SELECT {', '.join(chosen)} FROM executions").fetchall()
    found = [
        Execution(
            id=str(row["id"]),
            job_id=str(row["job_id"]),
            source=str(row["source"] or ""),
            status=str(row["status"]),
            claimed_at=host_time(row["claimed_at"]),
            started_at=host_time(row["started_at"]),
            finished_at=host_time(row["finished_at"]),
            error=None if row["error"] is None else str(row["error"]),
            pid=row["pid"] if isinstance(row["pid"], int) else None,
            process_started_at=None if row["process_started_at"] is None else str(row["process_started_at"]),
        )
        for row in rows
    ]
    kept = [run for run in found if run.claimed_at is None or run.claimed_at >= since]
    return sorted(kept, key=lambda run: (run.claimed_at or 0.0, run.id))
