"""The kernels of a home as any process sees them: their registrations on disk, and what the system says."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import catalog
from ._common import files
from ._common.terminal import printable
from .display import duration, size

LIVE, ORPHAN, STALE = "live", "orphan", "stale"


@dataclass(frozen=True)
class KernelRow:
    """One registered kernel.

    ``state`` is live, orphan (it runs, but its host is gone) or stale (it has ended without being taken
    out; the next kernel that starts in this home sweeps it). Seconds and bytes are None where unknown.
    """

    kernel: str
    session: str
    state: str
    pid: int
    host: int
    age: float | None
    idle: float | None
    memory: int | None
    python: str
    depth: Any

    def as_dict(self) -> dict[str, Any]:
        return {
            "kernel": self.kernel,
            "session": self.session,
            "state": self.state,
            "pid": self.pid,
            "host_pid": self.host,
            "age_seconds": self.age,
            "idle_seconds": self.idle,
            "memory_bytes": self.memory,
            "python": self.python,
            "depth": self.depth,
        }

    def line(self) -> str:
        """Return the row for people."""
        if self.state == STALE:
            return printable(f"{self.session}  stale: pid {self.pid} has ended; swept at the next start")
        said = [
            f"pid {self.pid}",
            f"{duration(_or_none(self.age))} old",
            f"last used {duration(_or_none(self.idle))} ago",
            f"memory {size(self.memory)} with children",
            self.python or "unknown interpreter",
            f"depth {self.depth}",
        ]
        if self.state == ORPHAN:
            said.append(f"its host (pid {self.host}) is gone")
        return printable(f"{self.session}  {self.state}: {', '.join(said)}")


def rows(home: Path, now: float | None = None) -> list[KernelRow]:
    """Return the kernels registered in a home, by session."""
    now = time.time() if now is None else now
    found = [_row(path, record, now) for path, record in catalog.kernels(home)]
    return sorted(found, key=lambda row: (row.session, row.kernel))


def _row(path: Path, record: dict[str, Any], now: float) -> KernelRow:
    from .kernel import process

    runs = files.is_alive(record["pid"], record.get("start_time")) is not False
    has_host = files.is_alive(record["parent"], record.get("parent_start")) is not False
    try:
        used: float | None = path.stat().st_mtime
    except OSError:
        used = None
    depth = record.get("depth")
    return KernelRow(
        kernel=record["id"],
        session=str(record.get("session", "")),
        state=(LIVE if has_host else ORPHAN) if runs else STALE,
        pid=record["pid"],
        host=record["parent"],
        age=_since(record.get("started_at"), now),
        idle=_since(used, now),
        memory=process.memory(record["pid"]) if runs else None,
        python=str(record.get("python") or ""),
        depth=depth if isinstance(depth, int) else None,
    )


def _since(at: Any, now: float) -> float | None:
    if isinstance(at, bool) or not isinstance(at, (int, float)) or not 0 <= at < float("inf"):
        return None
    return round(max(0.0, now - at), 1)


def _or_none(seconds: float | None) -> float:
    return -1.0 if seconds is None else seconds
