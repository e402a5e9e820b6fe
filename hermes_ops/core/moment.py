"""Times as people read them. Inside, a time is seconds since the epoch (UTC), a float."""

from __future__ import annotations

from datetime import datetime, tzinfo

FUTURE_SLACK = 120.0  # a stamp this far ahead of the clock is still taken for now


def parse(text: object, zone: tzinfo) -> float | None:
    """Seconds since the epoch of an ISO time; one without an offset is read in `zone`. None: not a time.

    In the hour that a change of clocks repeats, a time without offset is the first of the two.
    """
    if not isinstance(text, str):
        return None
    try:
        found = datetime.fromisoformat(text.strip().replace("Z", "+00:00"))
        return (found if found.tzinfo else found.replace(tzinfo=zone)).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def show(at: float | None, zone: tzinfo) -> str:
    """A time in `zone` with its name: "2026-11-29 06:00 CET"; "unknown" for None or what is none."""
    if at is None:
        return "unknown"
    try:
        return datetime.fromtimestamp(at, zone).strftime("%Y-%m-%d %H:%M %Z").strip()
    except (ValueError, OverflowError, OSError):
        return "unknown"


def day(at: float, zone: tzinfo) -> str:
    """The date of a time in `zone`, "2026-11-29"."""
    return datetime.fromtimestamp(at, zone).strftime("%Y-%m-%d")


def day_start(at: float, zone: tzinfo) -> float:
    """Midnight of the day of `at` in `zone`, as seconds since the epoch; right on days of 23 and 25 hours."""
    local = datetime.fromtimestamp(at, zone)
    return local.replace(hour=0, minute=0, second=0, microsecond=0, fold=0).timestamp()


def span(seconds: float) -> str:
    """A length of time, rounded: "45 s", "12 min", "3 h", "20 days"; "unknown" for what is none."""
    if not 0 <= seconds < float("inf"):
        return "unknown"
    for limit, unit, name in ((120, 1, "s"), (7200, 60, "min"), (172_800, 3600, "h")):
        if seconds < limit:
            return f"{seconds / unit:.0f} {name}"
    return f"{seconds / 86_400:.0f} days"
