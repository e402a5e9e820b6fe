"""The host's logs: the newest lines of a file and its rotated ones, by level and logger, bounded in size.

A line is `YYYY-MM-DD HH:MM:SS,mmm LEVEL [session] logger: message` in the server's local time without zone;
lines that do not begin so belong to the record before them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Record:
    """One record; ``message`` is its first line only."""

    at: float
    level: str
    session: str | None
    logger: str
    message: str


def recent(path: Path, since: float, max_bytes: int = 400_000) -> list[Record]:
    """The records of `path` (and of its `.1`, when the file is younger than `since`) from `since` on.

    Reads at most the last `max_bytes` of each, whatever their size. No file is no records.
    Raises Unreadable.
    """
    raise NotImplementedError
