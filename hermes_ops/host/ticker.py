"""The scheduler's own signs of life: `cron/ticker_heartbeat` and `cron/ticker_last_success`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from .._common.files import open_regular
from ..errors import Unreadable

STALLED = 200.0  # seconds; the host's own limit: three periods of 60 s and some slack


@dataclass(frozen=True)
class Ticker:
    """Times of the last loop and of the last one without an error, seconds since the epoch; None: never."""

    heartbeat_at: float | None
    success_at: float | None


def read_ticker(home: Path) -> Ticker:
    """Read both files; content that is no time raises Unreadable."""
    cron = home / "cron"
    return Ticker(_time(cron / "ticker_heartbeat"), _time(cron / "ticker_last_success"))


def _time(path: Path) -> float | None:
    try:
        with open_regular(path) as file:
            text = file.read(100).decode("ascii")
        found = float(text)
        if not math.isfinite(found) or found < 0:
            raise ValueError(text)
        return found
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Unreadable(path, error.strerror or type(error).__name__) from error
    except ValueError as error:
        raise Unreadable(path, "no time; the host writes seconds since the epoch") from error
