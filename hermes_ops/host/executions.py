"""Runs of jobs as the host keeps them: `cron/executions.db`, the newest 1,000 over all jobs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

FINISHED = ("completed", "failed", "unknown")


@dataclass(frozen=True)
class Execution:
    """One run; times are seconds since the epoch. ``status``: claimed, running, completed, failed, unknown."""

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


def read_executions(home: Path, since: float = 0.0) -> list[Execution]:
    """The runs claimed at or after `since`, oldest first. No database is no runs; a locked one is Unreadable."""
    raise NotImplementedError
