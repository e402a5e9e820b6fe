"""Token use and sessions, from state.db. The host's numbers are running totals of each row's whole life."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

CRON_SESSION = re.compile(r"cron_([0-9a-f]{12})_\d{8}_\d{6}")
COUNTERS = (
    "calls",
    "input",
    "output",
    "cache_read",
    "cache_write",
    "reasoning",
    "estimated_usd",
    "actual_usd",
)


@dataclass(frozen=True)
class UsageRow:
    """One row of session_model_usage: who used what, and the totals up to now.

    ``task`` is "" for the main loop, else "compression", "title_generation", ... `residual` rows (task
    "(unattributed)") are what a session's own totals hold beyond its rows.
    ``status``: "actual", "estimated", "included", "unknown"; "" when the host wrote none.
    """

    session_id: str
    model: str
    provider: str
    base_url: str
    mode: str
    task: str
    calls: int
    input: int
    output: int
    cache_read: int
    cache_write: int
    reasoning: int
    estimated_usd: float
    actual_usd: float
    status: str
    first_seen: float | None
    last_seen: float | None


@dataclass(frozen=True)
class Session:
    """One session; times are seconds since the epoch."""

    id: str
    source: str
    title: str | None
    model: str | None
    parent_id: str | None
    started_at: float | None
    ended_at: float | None
    end_reason: str | None
    session_key: str | None
    chat_id: str | None
    thread_id: str | None
    message_count: int


def usage_rows(home: Path, since: float | None = None) -> Iterator[UsageRow]:
    """The rows of `<home>/state.db` seen at or after `since` (None: all), residuals included.

    No database is no rows. An older, narrower table is read as far as it goes. Raises Unreadable.
    """
    raise NotImplementedError


def session(home: Path, session_id: str) -> Session | None:
    """One session. Raises Unreadable."""
    raise NotImplementedError


def root_of(home: Path, session_id: str) -> str:
    """The first session of its chain of parents (compression, sub-agents); itself without one."""
    raise NotImplementedError


def job_of(session_id: str) -> str | None:
    """The job whose run a (root) session id names, `cron_<12 hex>_<date>_<time>`."""
    found = CRON_SESSION.fullmatch(session_id)
    return found[1] if found else None
