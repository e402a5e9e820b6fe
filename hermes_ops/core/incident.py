"""Incidents: what turns the findings of run after run into few, true messages.

Per finding id: ok -> suspect -> open (-> acknowledged) -> closed. A message is said when one opens, once in a
while as it lasts, when it is over, and when it comes back soon after (came back, not new).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .finding import Reading


@dataclass(frozen=True)
class Message:
    """One line to be said. ``kind``: open, remind, worse, over, came_back, blind, sees_again, event, held_back."""

    incident: str
    kind: str
    severity: str
    text: str


@dataclass(frozen=True)
class Incident:
    """One incident as it stands; ``state``: suspect, open, acknowledged, closed. Times: seconds since the epoch."""

    id: str
    watcher: str
    state: str
    severity: str
    where: str
    text: str
    evidence: tuple[str, ...]
    fix: str
    first_seen: float
    opened_at: float | None
    last_seen: float
    closed_at: float | None
    told_at: float | None
    runs: int
    snoozed_until: float | None = None
    acknowledged_by: str | None = None
    history: tuple[tuple[float, str], ...] = ()


class Incidents:
    """The incidents of one home, in `<home>/ops/incidents.json`, under a lock while they change."""

    def __init__(self, home: Path) -> None:
        self.home = home

    def update(
        self,
        watcher: str,
        reading: Reading,
        now: float,
        deliver: Callable[[list[Message]], bool | None],
    ) -> list[Message]:
        """Take in one run of `watcher`; call `deliver` with what is to be said; returns what was said.

        `deliver` gives True (arrived), False (did not: all of it is said again in the next run), or None (not
        known yet: see `settle`). The state is written before `deliver` and after it; a run killed between says
        it again rather than never. Suppressions, quiet hours (ops.quiet_hours; critical ones are said all the
        same) and the message budget (ops.messages_per_day per watcher; then one "held back" line a day)
        apply. A clock that jumped back or ahead neither mutes nor repeats everything.
        """
        raise NotImplementedError

    def settle(self, watcher: str, arrived: bool, said_at: float) -> None:
        """Say whether what was printed at `said_at` under cron has arrived, once the host knows."""
        raise NotImplementedError

    def unsettled(self, watcher: str) -> float | None:
        """When something was said of which it is not known whether it arrived; None: nothing."""
        raise NotImplementedError

    def all(self, *, closed: bool = False) -> list[Incident]:
        """What is there, the worst and newest first."""
        raise NotImplementedError

    def acknowledge(self, named: str, by: str, now: float) -> Incident:
        """Acknowledge an open incident by id or unique beginning: no reminders; its end is told."""
        raise NotImplementedError

    def snooze(self, named: str, until: float, now: float) -> Incident:
        """Say nothing of an incident until then, its end excepted."""
        raise NotImplementedError


def as_dict(incident: Incident) -> dict[str, Any]:
    """For --json; times as ISO in UTC."""
    raise NotImplementedError
