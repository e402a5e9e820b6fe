"""What is kept of one incident, and of one watcher: plain data, read from and written to JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from .finding import DAY, SEVERITIES
from .typed import typed

KINDS = ("finding", "blind")
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
    history: list[tuple[float, str]] = field(default_factory=list)

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
        self.history.append((at, text))
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


def read_closed(data: Any) -> list[tuple[str, Record]]:
    """Pairs of a watcher's name and a Record; ValueError when it is none."""
    found: list[tuple[str, Record]] = typed(list[tuple[str, Record]], data)
    for _, record in found:
        _sound(record)
    return found


def read_watched(data: Any) -> Watched:
    """A Watched of JSON data; ValueError when it is none."""
    watched: Watched = typed(Watched, data)
    for record in watched.incidents.values():
        _sound(record)
    for waiting in watched.waiting:
        _one_of(SEVERITIES, waiting.severity)
    return watched


def as_data(kept: Record | Watched) -> dict[str, Any]:
    """What goes into JSON."""
    return asdict(kept)


def _sound(record: Record) -> Record:
    """Checks what no type says."""
    _one_of(STATES, record.state)
    _one_of(KINDS, record.kind)
    for severity in (record.severity, *(one.severity for one in record.said)):
        _one_of(SEVERITIES, severity)
    if record.is_open and record.opened_at is None:
        raise ValueError(f"incident {record.id[:80]!r} is not complete")
    return record


def _one_of(known: tuple[str, ...], word: str) -> None:
    if word not in known:
        raise ValueError(f"expected one of {', '.join(known)}, found {word[:40]!r}")
