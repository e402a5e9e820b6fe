"""The job list, `cron/jobs.json`, read by ourselves: the host's own loader rewrites the file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .schedules import Schedule


@dataclass(frozen=True)
class Job:
    """One job. Times are seconds since the epoch, None when absent or unreadable.

    ``name`` is never empty (falls back as the host's list does, then to the script, then to the id).
    ``deliver`` are the targets one by one ("telegram:-100:17"); none written means ("local",).
    ``raw`` is the record as it stands. ``problems`` are faults of the record, one line each.
    """

    id: str
    name: str
    prompt: str
    schedule: Schedule
    enabled: bool
    state: str
    no_agent: bool
    script: str | None
    deliver: tuple[str, ...]
    model: str | None = None
    provider: str | None = None
    model_snapshot: str | None = None
    provider_snapshot: str | None = None
    skills: tuple[str, ...] = ()
    context_from: tuple[str, ...] = ()
    toolsets: tuple[str, ...] | None = None
    workdir: str | None = None
    origin: Mapping[str, Any] | None = None
    repeat_times: int | None = None
    repeat_completed: int = 0
    created_at: float | None = None
    next_run_at: float | None = None
    last_run_at: float | None = None
    last_status: str | None = None
    last_error: str | None = None
    last_delivery_error: str | None = None
    paused_at: float | None = None
    paused_reason: str | None = None
    raw: Mapping[str, Any] = field(default_factory=dict)
    problems: tuple[str, ...] = ()

    @property
    def live(self) -> bool:
        """Whether the host would run it at its time."""
        return self.enabled and self.state not in ("paused", "completed", "error")

    @property
    def label(self) -> str:
        """For a person: "job 06c6883b7ddd (morning digest)"."""
        return f"job {self.id} ({self.name})"


@dataclass(frozen=True)
class Jobs:
    """The job list of one profile: the file it came from, the jobs in its order, when it was written."""

    path: Path
    jobs: tuple[Job, ...]
    updated_at: float | None = None
    problems: tuple[str, ...] = ()

    def by_id(self, job_id: str) -> Job | None:
        return next((job for job in self.jobs if job.id == job_id), None)


def read_jobs(home: Path) -> Jobs:
    """Read `<home>/cron/jobs.json`: envelope or bare list, BOM, raw control characters.

    No file is no jobs (a home that never had any). A file that cannot be read, or is torn even after a short
    wait for the host to finish replacing it, raises Unreadable naming it.
    """
    raise NotImplementedError


def find(jobs: Jobs, named: str) -> Job:
    """The job of that id, unique beginning of an id, or name; OpsError naming the candidates otherwise."""
    raise NotImplementedError
