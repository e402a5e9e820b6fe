"""Incidents: what turns the findings of run after run into few, true messages.

Per finding id: ok -> suspect -> open (-> acknowledged) -> closed. A message is said when one opens, once in a
while as it lasts, when it is over, and when it comes back soon after (came back, not new).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from .._common.files import FileLock
from ..errors import OpsError, Unreadable
from ..settings import Option, load, number
from . import incident_rules as rules
from .finding import DAY, SEVERITIES, Finding, Reading, Suppression
from .incident_record import Record, Waiting, Watched, as_data, read_closed, read_watched
from .incident_rules import Draft
from .incident_text import clean, line
from .state import Opened, StateFile
from .watch import watcher as registered

MAX_CLOSED = 500
WAIT_FOR_RUN = 60.0  # seconds that a second run of one watcher waits for the first
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,40}")
_HOURS = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)\s*-\s*([01]?\d|2[0-3]):([0-5]\d)")


def quiet_hours(value: Any) -> tuple[int, int] | None:
    """A check: "23:00-07:00" as minutes of the day; "" and "off" are none."""
    text = str(value).strip().lower()
    if value is False or text in ("", "off", "none"):
        return None
    found = _HOURS.fullmatch(text)
    if found is None or found.group(1, 2) == found.group(3, 4):
        raise ValueError('expected two times like "23:00-07:00", or "off"')
    return int(found[1]) * 60 + int(found[2]), int(found[3]) * 60 + int(found[4])


OPTIONS = (
    Option(
        "quiet_hours", None, quiet_hours, 'when only critical messages are said: "23:00-07:00", in the zone'
    ),
    Option("messages_per_day", 20.0, number(1, 1000), "lines that one watcher may say in 24 hours"),
)


@dataclass(frozen=True)
class Message:
    """One line to be said.

    ``kind``: open, remind, worse, over, came_back, blind, sees_again, event, held_back (the budget is used
    up), more (one line for all beyond the first ten).
    """

    incident: str
    kind: str
    severity: str
    text: str


@dataclass(frozen=True)
class Incident:
    """One incident as it stands; times are seconds since the epoch.

    ``state``: suspect (seen, and not yet often enough to be told), open, acknowledged, closed.
    """

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
    """The incidents of one home, in `<home>/ops/incidents.json`, under a lock while they change.

    The last 500 that are closed lie in `incidents-closed.json`. All of it is redacted before it is written.
    """

    def __init__(self, home: Path) -> None:
        self.home = home
        self._state = home / "ops"
        self._live = StateFile(self._state / "incidents.json", 1, lambda: {"watchers": {}}, _check_live)
        self._closed = StateFile(
            self._state / "incidents-closed.json", 1, lambda: {"closed": []}, _check_closed
        )

    def update(
        self,
        watcher: str,
        reading: Reading,
        now: float,
        deliver: Callable[[list[Message]], bool | None],
    ) -> list[Message]:
        """Take in one run of `watcher`; call `deliver` with what is to be said; returns what was said.

        `deliver` gives True (arrived), False (did not: all of it is said again in the next run), or None
        (not known yet: see `settle`). The state is written before `deliver` and after it; a run killed
        between says it again rather than never. Suppressions, quiet hours (ops.quiet_hours; critical ones
        are said all the same) and the message budget (ops.messages_per_day per watcher; then one "held back"
        line a day) apply. A clock that jumped back or ahead neither mutes nor repeats everything.

        What opened and ended before it could be said is said in one line. The state is unlocked during
        `deliver`: no other watcher waits for it, only a second run of the same one.
        Raises Unreadable when the state cannot be read or written, OpsError when a newer version wrote it.
        """
        if not _NAME.fullmatch(watcher):
            raise OpsError(f"{watcher[:60]!r} is no name of a watcher")
        known = registered(watcher)
        period = known.period if known else DAY
        with self._one_run(watcher):
            with self._changing(watcher) as (opened, watched):
                opened.durable = False
                rules.advance(watched, now, period)
                done = rules.give_up_waiting(watched)
                reading, accepted = self._accepted(opened.data, watcher, reading, now)
                if opened.damaged:
                    watched.waiting.append(_set_aside(opened.damaged, "the list of incidents"))
                before = _shape(watched)
                done += rules.take_in(watched, reading, now, accepted, clean)
                said, _ = self._choose(watched, now, period)
                opened.durable = before != _shape(watched)
                self._archive(watcher, watched, done)
            if not said:
                return []
            messages = _worded(said, watched.clock, now)
            arrived = deliver(messages)
            if arrived is False:
                return []
            with self._changing(watcher) as (_, watched):
                self._archive(watcher, watched, rules.commit(watched, said, now, sure=arrived is True))
            return messages

    def settle(self, watcher: str, arrived: bool, said_at: float) -> None:
        """Say whether what was printed at `said_at` under cron has arrived, once the host knows."""
        with self._changing(watcher) as (_, watched):
            self._archive(watcher, watched, rules.settle(watched, arrived, said_at))

    def unsettled(self, watcher: str) -> float | None:
        """When something was said of which it is not known whether it arrived; None: nothing.

        The earliest, when it is several times: settle that and ask again.
        """
        data = self._live.read()["watchers"].get(watcher)
        return rules.unsettled(read_watched(data)) if data else None

    def all(self, *, closed: bool = False) -> list[Incident]:
        """What is there, the worst and newest first; with `closed` also what is over, after it."""
        live = [
            _incident(name, record)
            for name, watched in self._watched().items()
            for record in watched.incidents.values()
        ]
        current = [one for one in live if one.state != "closed"]
        current.sort(
            key=lambda one: (one.state == "suspect", -_rank(one), -(one.opened_at or one.first_seen))
        )
        if not closed:
            return current
        over = [one for one in live if one.state == "closed"]
        over += [_incident(name, record) for name, record in read_closed(self._closed.read()["closed"])]
        return current + sorted(over, key=lambda one: -(one.closed_at or 0.0))

    def find(self, named: str) -> list[Incident]:
        """The episodes of an incident, by its id or unique beginning, newest first; OpsError for none."""
        known = self.all(closed=True)
        id = _named(named, [one.id for one in known])
        return [one for one in known if one.id == id]

    def acknowledge(self, named: str, by: str, now: float) -> Incident:
        """Acknowledge an open incident by id or unique beginning: no reminders; its end is told."""

        def change(record: Record) -> None:
            record.state, record.acknowledged_by = "acknowledged", clean(by, 80) or "somebody"
            record.note(now, f"acknowledged by {record.acknowledged_by}")

        return self._by_hand(named, now, change)

    def snooze(self, named: str, until: float, now: float) -> Incident:
        """Say nothing of an incident until then, its end excepted."""
        if not now < until <= now + 366 * DAY:
            raise OpsError("snooze: expected a time to come, at most a year ahead")

        def change(record: Record) -> None:
            record.snoozed_until, record.snoozed_at = until, now
            at = datetime.fromtimestamp(until, timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
            record.note(now, f"snoozed until {at}")

        return self._by_hand(named, now, change)

    def retire(self, watcher: str, now: float) -> int:
        """Close all incidents of a watcher that runs no more, without a message; returns how many."""
        with self._changing(watcher) as (opened, watched):
            ended = [record for record in watched.incidents.values() if record.state != "suspect"]
            for record in ended:
                record.state, record.closed_at = "closed", record.closed_at or now
                record.note(now, "its watcher was removed")
            self._archive(watcher, watched, ended)
            opened.data["watchers"].pop(watcher, None)
            watched.incidents.clear()
            watched.waiting.clear()
        return len(ended)

    def _by_hand(self, named: str, now: float, change: Callable[[Record], None]) -> Incident:
        """Apply a person's word to an open incident, which thereby counts as told."""
        open_now = [one for one in self.all() if one.state in ("open", "acknowledged")]
        if not _fitting(named, [one.id for one in open_now]):
            id = _named(named, [one.id for one in self.all(closed=True)])
            raise OpsError(f"{id} is not open now: see hermes ops incidents show {id}")
        id = _named(named, [one.id for one in open_now])
        changed: Incident | None = None
        for watcher in [one.watcher for one in open_now if one.id == id]:
            with self._changing(watcher) as (_, watched):
                record = watched.incidents.get(id)
                if record is None or not record.is_open:
                    continue
                change(record)
                if record.told() is None:
                    record.say(
                        rules.Saying("open", record.severity, now, watched.clock, record.episode, True)
                    )
                changed = _incident(watcher, record)
        if changed is None:
            raise OpsError(f"{id}: it ended meanwhile")
        return changed

    def _choose(self, watched: Watched, now: float, period: float) -> tuple[list[Draft], list[Draft]]:
        drafts = rules.due(watched, now, period)
        if not drafts:
            return [], []
        settings = load(self.home, OPTIONS)
        quiet = self._quiet(settings["quiet_hours"], now)
        return rules.choose(watched, drafts, quiet, int(settings["messages_per_day"]))

    def _quiet(self, hours: tuple[int, int] | None, now: float) -> bool:
        if hours is None:
            return False
        from ..host.zone import zone

        local = datetime.fromtimestamp(now, zone(self.home).tz)
        minute, (begin, end) = local.hour * 60 + local.minute, hours
        return begin <= minute < end if begin < end else minute >= begin or minute < end

    def _accepted(
        self, data: dict[str, Any], watcher: str, reading: Reading, now: float
    ) -> tuple[Reading, dict[str, str]]:
        """The reading, and the ids in it that are suppressed; a bad suppress.toml is a finding itself."""
        from . import suppress

        rule, key = "ops.suppress", suppress.FILE_NAME
        mine = f"{rule}:{key}" in data["watchers"].get(watcher, {}).get("incidents", {})
        told_elsewhere = any(
            f"{rule}:{key}" in one.get("incidents", {})
            for name, one in data["watchers"].items()
            if name != watcher
        )
        try:
            suppressions = self._suppressions(reading)
        except OpsError as error:
            if mine or not told_elsewhere:
                text = f"no suppression holds: {error}"
                reading += Reading.of([Finding(rule, "warning", key, text, key, fix=f"correct {key}")])
            return reading, {}
        ids = [*reading.findings, *(_as_finding(blind.key) for blind in reading.blind)]
        return reading, {
            clean(one.id, rules.MAX_TEXT): clean(found.reason, rules.MAX_TEXT)
            for one in ids
            if (found := next((each for each in suppressions if each.covers(one, now)), None))
        }

    def _suppressions(self, reading: Reading) -> list[Suppression]:
        from . import suppress

        if not (self._state / suppress.FILE_NAME).exists():
            return []
        from ..host.zone import zone

        return suppress.load(self._state, zone(self.home).tz)

    @contextmanager
    def _one_run(self, watcher: str) -> Iterator[None]:
        lock = FileLock(self._state / f"incidents-{watcher}.lock")
        try:
            if not lock.acquire(WAIT_FOR_RUN):
                raise OpsError(
                    f"watcher {watcher}: another run (process {lock.holder()}) is still saying what it saw"
                )
        except OSError as error:
            raise Unreadable(lock.path, error.strerror or str(error)) from None
        try:
            yield
        finally:
            lock.release()

    @contextmanager
    def _changing(self, watcher: str) -> Iterator[tuple[Opened, Watched]]:
        with self._live.changing() as opened:
            watched = read_watched(opened.data["watchers"].get(watcher, {}))
            yield opened, watched
            if watcher in opened.data["watchers"] or watched != Watched():
                opened.data["watchers"][watcher] = as_data(watched)

    def _watched(self) -> dict[str, Watched]:
        return {name: read_watched(data) for name, data in self._live.read()["watchers"].items()}

    def _archive(self, watcher: str, watched: Watched, records: list[Record]) -> None:
        """Add to the closed ones; before the live state loses them, so that a crash between keeps both."""
        if not records:
            return
        with self._closed.changing() as opened:
            if opened.damaged:
                watched.waiting.append(_set_aside(opened.damaged, "the list of closed incidents"))
            there = {
                (name, one["id"], one["episode"], one["opened_at"]) for name, one in opened.data["closed"]
            }
            for record in records:
                if (watcher, record.id, record.episode, record.opened_at) not in there:
                    opened.data["closed"].append([watcher, as_data(record)])
            opened.data["closed"] = opened.data["closed"][-MAX_CLOSED:]


def as_dict(incident: Incident) -> dict[str, Any]:
    """For --json; times as ISO in UTC."""
    times = ("first_seen", "opened_at", "last_seen", "closed_at", "told_at", "snoozed_until")
    return {
        **{name: getattr(incident, name) for name in incident.__dataclass_fields__},
        **{name: _iso(getattr(incident, name)) for name in times},
        "evidence": list(incident.evidence),
        "history": [{"at": _iso(at), "what": text} for at, text in incident.history],
    }


def _worded(said: list[Draft], clock: float, now: float) -> list[Message]:
    shown = [draft for draft in said if draft.kind != "held_back"]
    tail = [draft for draft in said if draft.kind == "held_back"]
    rest = shown[rules.MAX_LINES :]
    if rest:
        worst = max((draft.severity for draft in rest), key=SEVERITIES.index)
        shown = [*shown[: rules.MAX_LINES], Draft("more", worst, count=len(rest))]
    return [Message(one.incident, one.kind, one.severity, line(one, clock, now)) for one in shown + tail]


def _set_aside(path: Path, what: str) -> Waiting:
    text = f"{what} was damaged and begins anew; it is kept as {path.name}"
    return Waiting(f"ops.damaged:{path.name}", text, "warning")


def _shape(watched: Watched) -> list[tuple[Any, ...]]:
    """What of the state must survive a loss of power: not the counts of a run that changed nothing."""
    return [(one.id, one.state, one.episode, one.severity) for one in watched.incidents.values()] + [
        (event.id,) for event in watched.waiting
    ]


def _as_finding(key: str) -> Finding:
    return Finding("blind", "error", "", "", key)


def _fitting(named: str, ids: list[str]) -> list[str]:
    """The ids that are `named`, else begin with it, else have a key or a last part that does."""
    known = list(dict.fromkeys(ids))
    if not named or named in known:
        return [named] if named else []
    found = [id for id in known if id.startswith(named)]
    parts = {id: (id.partition(":")[2], id.rpartition("/")[2]) for id in known}
    return found or [id for id in known if any(part.startswith(named) for part in parts[id])]


def _named(named: str, ids: list[str]) -> str:
    """The one id that fits; OpsError for none and for several."""
    found = _fitting(named, ids)
    if len(found) == 1:
        return found[0]
    if found:
        raise OpsError(f"{named[:120]!r} is the beginning of several: {', '.join(sorted(found)[:10])}")
    raise OpsError(f"no incident {named[:120]!r}: see hermes ops incidents")


def _incident(watcher: str, record: Record) -> Incident:
    said = [one.at for one in record.said if one.kind not in ("over", "sees_again")]
    return Incident(
        record.id,
        watcher,
        record.state,
        record.severity,
        record.where,
        record.text,
        tuple(record.evidence),
        record.fix,
        record.first_seen,
        record.opened_at,
        record.last_seen,
        record.closed_at,
        max(said, default=None),
        record.runs,
        record.snoozed_until,
        record.acknowledged_by,
        tuple(record.history),
    )


def _rank(incident: Incident) -> int:
    return SEVERITIES.index(incident.severity)


def _iso(at: float | None) -> str | None:
    if at is None:
        return None
    try:
        return datetime.fromtimestamp(at, timezone.utc).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):
        return None


def _check_live(data: dict[str, Any]) -> None:
    for name, watched in data["watchers"].items():
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name[:60]!r} is no name of a watcher")
        read_watched(watched)


def _check_closed(data: dict[str, Any]) -> None:
    for _, record in read_closed(data["closed"]):
        if record.opened_at is None:
            raise ValueError("not a closed incident")
