"""The scheduler's own signs of life: `cron/ticker_heartbeat` and `cron/ticker_last_success`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

STALLED = 200.0  # seconds; the host's own limit: three periods of 60 s and some slack


@dataclass(frozen=True)
class Ticker:
    """Times of the last loop and of the last one without an error, seconds since the epoch; None: never."""

    heartbeat_at: float | None
    success_at: float | None


def read_ticker(home: Path) -> Ticker:
    """Read both files; content that is no time raises Unreadable."""
    raise NotImplementedError
