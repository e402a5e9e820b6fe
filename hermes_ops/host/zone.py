"""The zone in which a home's schedules are read: HERMES_TIMEZONE, else `timezone:`, else the server's."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path


@dataclass(frozen=True)
class Zone:
    """``tz`` works always; ``name`` is for people; ``problem`` says why it may not be the right one."""

    tz: tzinfo
    name: str
    problem: str | None = None


def zone(home: Path) -> Zone:
    """The zone of `home` by the host's rule. Never raises; a name nobody knows is a problem."""
    raise NotImplementedError
