"""What is kept of one incident, and of one watcher: plain data, read from and written to JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import Any

from .finding import DAY, SEVERITIES

STATES = ("suspect", "open", "acknowledged", "closed")
MAX_HISTORY, KEEP_FIRST = 60, 10
MAX_SAYINGS = 8
MAX_OPENINGS = 50
MAX_EVENTS_SEEN, MAX_EVENTS_WAITING = 1000, 100


@dataclass
class Saying:
    """One thing said of an incident, by the watcher's ``clock``; not ``sure``: perhaps it has not arrived."""

    kind: str
    severity: str
    at: float
    clock: float
    episode: int
    sure: bool


@dataclass
class Record:
    """One incident. An episode lasts from an opening to its end; ``openings`` are clocks of the watcher."""

    id: str
    kind: str  # "finding" or "blind"
    severity: str
    where: str
    text: str
    first_seen: float
    last_seen: float
    evidence: list[str] = field(default_factory=list)
    fix: str = ""
    holds: int = 1
    clears: int = 1
    remind: float | None = DAY
    state: str = "suspect"
    opened_at: float | None = None
    closed_at: float | None = None
    runs: int = 0
    streak: int = 0  # runs in a row that saw it, while it is not open
    misses: int = 0  # runs in a row that did not, while it is
    episode: int = 1
    openings: list[float] = field(default_factory=list)
    said: list[Saying] = field(default_factory=list)
    snoozed_until: float | None = None
    snoozed_at: float | None = None
    acknowledged_by: str | None = None
    history: list[list[Any]] = field(default_factory=list)

    @property
    def is_open(self) -> bool:
        return self.state in ("open", "acknowledged")

    def told(self) -> Saying | None:
        """The last thing said of this episode while it lasted."""
        return next((one for one in reversed(self._episode()) if one.kind not in OVER), None)

    def told_over(self) -> Saying | None:
        """What was said of the end of this episode."""
        return next((one for one in reversed(self._episode()) if one.kind in OVER), None)

    def say(self, saying: Saying) -> None:
        self.said = [*self.said, saying][-MAX_SAYINGS:]

    def note(self, at: float, text: str) -> None:
        """Add a line to the history; of a long one the beginning and the newest stay."""
        self.history.append([at, text])
        if len(self.history) > MAX_HISTORY:
            self.history = self.history[:KEEP_FIRST] + self.history[KEEP_FIRST - MAX_HISTORY :]

    def _episode(self) -> list[Saying]:
        return [one for one in self.said if one.episode == self.episode]


OVER = ("over", "sees_again")


@dataclass
class Waiting:
    """An event that has not arrived yet; ``said_at`` (and the clock then) is set while nobody knows."""

    id: str
    text: str
    severity: str
    said_at: float | None = None
    said_clock: float = 0.0


@dataclass
class Recent:
    """What is remembered of a closed incident, to know it when it comes back."""

    clock: float
    episode: int
    openings: list[float]
    snoozed_until: float | None = None
    snoozed_at: float | None = None


@dataclass
class Watched:
    """All of one watcher. ``clock`` counts the seconds between its runs, each step bounded against jumps.

    ``lines`` are the clocks of the lines said lately, for the budget.
    """

    last_run: float | None = None
    clock: float = 0.0
    incidents: dict[str, Record] = field(default_factory=dict)
    recent: dict[str, Recent] = field(default_factory=dict)
    seen_events: list[str] = field(default_factory=list)
    waiting: list[Waiting] = field(default_factory=list)
    lines: list[float] = field(default_factory=list)
    held_back_at: float | None = None


def read_record(data: Any) -> Record:
    """A Record of JSON data; ValueError or TypeError when it is none."""
    record = _build(Record, data)
    record.said = [_build(Saying, one) for one in record.said]
    numbers = (record.first_seen, record.last_seen, record.runs, record.streak, record.misses, record.episode)
    optional = (record.remind, record.opened_at, record.closed_at, record.snoozed_until, record.snoozed_at)
    texts = (record.id, record.where, record.text, record.fix, *record.evidence)
    good = (
        record.state in STATES
        and record.severity in SEVERITIES
        and all(isinstance(value, str) for value in texts)
        and all(_number(value) for value in (*numbers, *record.openings))
        and all(value is None or _number(value) for value in optional)
        and all(_number(one.at) and _number(one.clock) for one in record.said)
        and all(_number(at) and isinstance(text, str) for at, text in record.history)
        and (not record.is_open or record.opened_at is not None)
    )
    if not good:
        raise ValueError(f"incident {str(record.id)[:80]!r} is not complete")
    return record


def read_watched(data: Any) -> Watched:
    """A Watched of JSON data; ValueError or TypeError when it is none."""
    watched = _build(Watched, data)
    watched.incidents = {id: read_record(one) for id, one in watched.incidents.items()}
    watched.recent = {id: _build(Recent, one) for id, one in watched.recent.items()}
    watched.waiting = [_build(Waiting, one) for one in watched.waiting]
    numbers = [watched.clock, *watched.lines, *(one.clock for one in watched.recent.values())]
    if watched.last_run is not None:
        numbers.append(watched.last_run)
    if not all(_number(value) for value in numbers):
        raise ValueError("a time is no number")
    return watched


def as_data(kept: Record | Watched) -> dict[str, Any]:
    """What goes into JSON."""
    return asdict(kept)


def _build(kind: type, data: Any) -> Any:
    known = {one.name for one in fields(kind)}
    if not isinstance(data, dict) or not known.issuperset(data):
        raise ValueError(f"not a {kind.__name__}")
    return kind(**data)


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
