"""How ids, times and sizes are shown to people: one line, no characters that a terminal would obey."""

from __future__ import annotations

import time
from collections.abc import Iterable

MEGABYTE = 1024 * 1024
NAMES_SHOWN = 12


def duration(seconds: float) -> str:
    """Return a length of time, rounded: "45 s", "12 min", "3 h", "20 days"; "unknown" for what is none."""
    if not 0 <= seconds < float("inf"):
        return "unknown"
    for limit, unit, name in ((120, 1, "s"), (7200, 60, "min"), (172_800, 3600, "h")):
        if seconds < limit:
            return f"{seconds / unit:.0f} {name}"
    return f"{seconds / 86_400:.0f} days"


def moment(at: float) -> str:
    """Return a time (seconds since the epoch) as ISO 8601 in UTC; "unknown" for what is none."""
    try:
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))
    except (ValueError, OverflowError, OSError, TypeError):
        return "unknown"


def size(count: int | None) -> str:
    """Return a number of bytes, in MB from one on; "unknown" for None."""
    if count is None:
        return "unknown"
    return f"{count / MEGABYTE:,.1f} MB" if count >= MEGABYTE else f"{count:,} bytes"


def listed(names: Iterable[str]) -> str:
    """Return names in brackets, the first ones by name and the others by number."""
    every = list(names)
    shown = ", ".join(every[:NAMES_SHOWN])
    more = len(every) - NAMES_SHOWN
    return f"[{shown}, and {more} more]" if more > 0 else f"[{shown}]"
