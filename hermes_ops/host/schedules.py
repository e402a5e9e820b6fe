"""When a job is due: the host's schedules (cron, interval, once) in a zone, right across changes of clocks."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import tzinfo


@dataclass(frozen=True)
class Schedule:
    """A schedule of the host.

    kind     "cron" | "interval" | "once" | "invalid"
    expr     the five fields, for cron
    minutes  the interval in minutes
    run_at   seconds since the epoch, for once
    display  for a person
    problem  why it is invalid ("a string, where the host writes a mapping"), or None
    """

    kind: str
    expr: str = ""
    minutes: float = 0.0
    run_at: float | None = None
    display: str = ""
    problem: str | None = None

    @property
    def recurring(self) -> bool:
        return self.kind in ("cron", "interval")


def parse(raw: object, zone: tzinfo) -> Schedule:
    """Read the `schedule` of a job record. Never raises: what the host could not use is "invalid"."""
    raise NotImplementedError


def due_times(
    schedule: Schedule, after: float, until: float, zone: tzinfo, anchor: float | None = None
) -> list[float]:
    """The times in (after, until] at which the host would start the job, at most 10,000, ascending.

    Same as the host's croniter in `zone`, on days of 23 and 25 hours too. An interval counts from `anchor`
    (the last run, or the creation); without one it has no known times.
    """
    raise NotImplementedError


def next_due(schedule: Schedule, after: float, zone: tzinfo, anchor: float | None = None) -> float | None:
    """The first due time after `after`; None when there is none within five years."""
    raise NotImplementedError


def previous_due(
    schedule: Schedule, before: float, zone: tzinfo, anchor: float | None = None
) -> float | None:
    """The last due time at or before `before`; None when there is none."""
    raise NotImplementedError


def period(schedule: Schedule, at: float, zone: tzinfo) -> float | None:
    """Seconds between two runs around `at` (the longest gap of the next few); None when it does not recur."""
    raise NotImplementedError


def grace(schedule: Schedule, at: float, zone: tzinfo) -> float:
    """How late the host itself still counts a run as on time: half a period, within 120 s and 2 h."""
    raise NotImplementedError
