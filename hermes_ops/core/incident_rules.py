"""The rules of incidents, on plain values: what a reading changes, and what is then to be said.

Nothing here reads a clock, a file or a setting. Lengths of time are counted on the watcher's own clock (the
steps between its runs, each bounded), so that a jump of the system's clock neither mutes nor repeats.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from .finding import DAY, SEVERITIES, Blind, Event, Finding, Reading
from .incident_record import (
    MAX_EVENTS_SEEN,
    MAX_EVENTS_WAITING,
    MAX_OPENINGS,
    Recent,
    Record,
    Saying,
    Waiting,
    Watched,
)

LEAST_STEP = 6 * 3600.0  # one step of a watcher's clock is at most this, or three of its periods
CAME_BACK = DAY
SETTLED_AFTER = 3 * DAY  # what nobody said anything about for so long is taken to have arrived
MAX_LINES = 10
FORGET_RECENT = 2000
ORDER = ("open", "came_back", "worse", "blind", "remind", "over", "sees_again", "event", "held_back", "more")

Clean = Callable[[str, int], str]
MAX_TEXT, MAX_WHERE, MAX_FIX, MAX_EVIDENCE, MAX_EVIDENCE_LINES = 400, 160, 240, 240, 20


@dataclass(frozen=True)
class Draft:
    """One thing that is to be said, before it is put into words."""

    kind: str
    severity: str
    record: Record | None = None
    event: Waiting | None = None
    count: int = 0

    @property
    def incident(self) -> str:
        return self.record.id if self.record else self.event.id if self.event else ""


def advance(watched: Watched, now: float, period: float) -> None:
    """Move the watcher's clock to this run; stamps of a time that is still to come are brought back."""
    if watched.last_run is not None:
        watched.clock += min(max(0.0, now - watched.last_run), max(LEAST_STEP, 3 * period))
    watched.last_run = now
    for record in watched.incidents.values():
        _snooze_within(record, now)
    for recent in watched.recent.values():
        _snooze_within(recent, now)


def take_in(
    watched: Watched, reading: Reading, now: float, accepted: Mapping[str, str], clean: Clean
) -> list[Record]:
    """Apply one reading; returns the records that ended here without a word, for the archive.

    ``accepted`` are ids that are suppressed, with the reason. ``clean`` redacts and cuts a text.
    """
    seen = _by_id(reading, clean)
    ended: list[Record] = []
    for id, fresh in seen.items():
        record = watched.incidents.get(id)
        if id in accepted:
            if record is not None:
                _accept(watched, record, accepted[id], now, ended)
            continue
        if record is None:
            record = watched.incidents[id] = _known_again(fresh, watched.recent.get(id))
            record.first_seen = now
        _see(record, fresh, watched.clock, now)
    prefixes = tuple(blind.covers for blind in reading.blind)
    for id, record in list(watched.incidents.items()):
        if id not in seen and not id.startswith(prefixes):
            _miss(watched, record, now, ended)
    _take_events(watched, reading.events, clean)
    return ended


def due(watched: Watched, now: float, period: float) -> list[Draft]:
    """What is to be said now, the most important first. Changes nothing but what a snooze's end undoes."""
    drafts = [
        Draft("event", event.severity, event=event) for event in watched.waiting if event.said_at is None
    ]
    for record in watched.incidents.values():
        kind = _due(record, watched.clock, now, period)
        if kind is not None:
            last = record.told()
            severity = last.severity if kind in ("over", "sees_again") and last else record.severity
            drafts.append(Draft(kind, severity, record=record))
    return sorted(drafts, key=lambda one: (_group(one), -SEVERITIES.index(one.severity), one.incident))


def choose(
    watched: Watched, drafts: Sequence[Draft], quiet: bool, per_day: int
) -> tuple[list[Draft], list[Draft]]:
    """Part what is due into what is said now and what waits: for the end of quiet hours, or for the budget.

    Critical ones pass quiet hours, and have a second budget of the same size. More than MAX_LINES become that
    many and one "more". One "held_back" a day says that the budget holds something.
    """
    watched.lines = [at for at in watched.lines if watched.clock - at < DAY]
    said: list[Draft] = []
    held: list[Draft] = []
    waits = False
    for draft in drafts:
        critical = draft.severity == "critical"
        left = per_day * (2 if critical else 1) - len(watched.lines)
        if quiet and not critical:
            held.append(draft)
        elif min(len(said) + 1, MAX_LINES + 1) > left:
            held.append(draft)
            waits = True
        else:
            said.append(draft)
    if waits and not quiet:
        told = watched.held_back_at
        if told is None or watched.clock - told >= DAY:
            said.append(Draft("held_back", "warning", count=len(held)))
    return said, held


def commit(watched: Watched, said: Iterable[Draft], now: float, sure: bool) -> list[Record]:
    """Note what was said (and is known to have arrived, or not yet); returns the records that are done with.

    The drafts may come from an earlier reading of the same state: records are found by id and episode.
    """
    lines = 0
    for draft in said:
        lines += 1
        if draft.kind == "held_back":
            watched.held_back_at = watched.clock
        elif draft.event is not None:
            for event in watched.waiting:
                if event.id == draft.event.id:
                    event.said_at, event.said_clock = now, watched.clock
        elif draft.record is not None:
            record = watched.incidents.get(draft.record.id)
            if record is None or record.episode != draft.record.episode:
                continue
            record.say(Saying(draft.kind, draft.severity, now, watched.clock, record.episode, sure))
            record.note(now, f"said: {draft.kind.replace('_', ' ')}")
            if record.snoozed_until is not None and now >= record.snoozed_until:
                record.snoozed_until = record.snoozed_at = None
    if lines > MAX_LINES:
        lines = MAX_LINES + 1
    watched.lines += [watched.clock] * lines
    if sure:
        watched.waiting = [event for event in watched.waiting if event.said_at != now]
    return put_away(watched)


def settle(watched: Watched, arrived: bool, said_at: float) -> list[Record]:
    """Note whether what was said at `said_at` arrived; returns the records that are done with."""
    for record in watched.incidents.values():
        mine = [one for one in record.said if one.at == said_at and not one.sure]
        if arrived:
            for one in mine:
                one.sure = True
        elif mine:
            record.said = [one for one in record.said if one not in mine]
            record.note(said_at, "did not arrive: " + ", ".join(one.kind.replace("_", " ") for one in mine))
    if arrived:
        watched.waiting = [event for event in watched.waiting if event.said_at != said_at]
    else:
        for event in watched.waiting:
            if event.said_at == said_at:
                event.said_at = None
    return put_away(watched)


def unsettled(watched: Watched) -> float | None:
    """The earliest time at which something was said that may not have arrived."""
    times = [one.at for record in watched.incidents.values() for one in record.said if not one.sure]
    times += [event.said_at for event in watched.waiting if event.said_at is not None]
    return min(times, default=None)


def give_up_waiting(watched: Watched) -> list[Record]:
    """Take for arrived what was said long ago and never settled; returns the records that are done with."""
    for record in watched.incidents.values():
        for one in record.said:
            if watched.clock - one.clock >= SETTLED_AFTER:
                one.sure = True
    watched.waiting = [
        event
        for event in watched.waiting
        if event.said_at is None or watched.clock - event.said_clock < SETTLED_AFTER
    ]
    return put_away(watched)


def put_away(watched: Watched) -> list[Record]:
    """Take out the closed records of which everything is said and known to have arrived."""
    done = []
    for id, record in list(watched.incidents.items()):
        over = record.told_over()
        if record.state == "closed" and over is not None and all(one.sure for one in record.said):
            done.append(_archive(watched, watched.incidents.pop(id)))
    return done


def returns(record: Record, clock: float) -> int:
    """How often it opened within the last 24 hours of the watcher's clock, this time included."""
    return sum(1 for at in record.openings if clock - at < CAME_BACK)


def _by_id(reading: Reading, clean: Clean) -> dict[str, Record]:
    """The findings and blindnesses of a reading as fresh records; of two with one id the worse counts."""
    found: dict[str, Record] = {}
    for one in [_of_finding(finding, clean) for finding in reading.findings] + [
        _of_blind(blind, clean) for blind in reading.blind
    ]:
        other = found.get(one.id)
        if other is None or SEVERITIES.index(one.severity) > SEVERITIES.index(other.severity):
            found[one.id] = one
    return found


def _of_finding(finding: Finding, clean: Clean) -> Record:
    return Record(
        id=clean(finding.id, MAX_TEXT),
        kind="finding",
        severity=finding.severity if finding.severity in SEVERITIES else "error",
        where=clean(finding.where, MAX_WHERE),
        text=clean(finding.text, MAX_TEXT),
        first_seen=0.0,
        last_seen=0.0,
        evidence=[clean(line, MAX_EVIDENCE) for line in finding.evidence[:MAX_EVIDENCE_LINES]],
        fix=clean(finding.fix, MAX_FIX),
        holds=finding.holds,
        clears=finding.clears,
        remind=finding.remind,
    )


def _of_blind(blind: Blind, clean: Clean) -> Record:
    return Record(
        id=clean(f"blind:{blind.key}", MAX_TEXT),
        kind="blind",
        severity="error",
        where="",
        text=clean(blind.text, MAX_TEXT),
        first_seen=0.0,
        last_seen=0.0,
        fix=clean(blind.fix, MAX_FIX),
        holds=blind.holds,
    )


def _known_again(fresh: Record, recent: Recent | None) -> Record:
    if recent is None:
        return fresh
    return replace(
        fresh,
        episode=recent.episode + 1,
        openings=list(recent.openings),
        snoozed_until=recent.snoozed_until,
        snoozed_at=recent.snoozed_at,
    )


def _see(record: Record, fresh: Record, clock: float, now: float) -> None:
    if record.is_open and SEVERITIES.index(fresh.severity) > SEVERITIES.index(record.severity):
        record.note(now, f"worse: {record.severity} -> {fresh.severity}")
    for name in ("severity", "where", "text", "evidence", "fix", "holds", "clears", "remind"):
        setattr(record, name, getattr(fresh, name))
    record.runs += 1
    record.misses = 0
    record.last_seen = now
    if record.is_open:
        return
    record.streak += 1
    if record.streak < record.holds:
        return
    record.streak = 0
    if record.state == "closed" and record.told_over() is None:
        # Its end was never said: for whoever reads the messages it has been open all the time.
        record.note(now, f"back: {record.severity}: {record.text}")
    else:
        if record.state == "closed":
            record.episode += 1
            record.acknowledged_by = None
        record.opened_at = now
        record.openings = [*record.openings, clock][-MAX_OPENINGS:]
        record.note(now, f"open: {record.severity}: {record.text}")
    record.state, record.closed_at = "acknowledged" if record.acknowledged_by else "open", None


def _miss(watched: Watched, record: Record, now: float, ended: list[Record]) -> None:
    if record.state == "suspect":
        del watched.incidents[record.id]
    elif record.state == "closed":
        record.streak = 0
    else:
        record.misses += 1
        if record.misses >= record.clears:
            record.state, record.closed_at, record.misses = "closed", now, 0
            record.note(now, "over")
            snoozed = record.snoozed_until is not None and now < record.snoozed_until
            if snoozed and record.told() is None:
                ended.append(_archive(watched, watched.incidents.pop(record.id)))


def _accept(watched: Watched, record: Record, reason: str, now: float, ended: list[Record]) -> None:
    if record.state == "suspect":
        del watched.incidents[record.id]
    elif record.is_open:
        record.state, record.closed_at = "closed", now
        record.note(now, f"accepted: {reason}")
        del watched.incidents[record.id]
        watched.recent.pop(record.id, None)
        ended.append(record)


def _archive(watched: Watched, record: Record) -> Record:
    watched.recent[record.id] = Recent(
        watched.clock, record.episode, record.openings, record.snoozed_until, record.snoozed_at
    )
    keep = {
        id: one
        for id, one in watched.recent.items()
        if watched.clock - one.clock < CAME_BACK or one.snoozed_until is not None
    }
    watched.recent = dict(list(keep.items())[-FORGET_RECENT:])
    return record


def _take_events(watched: Watched, events: Sequence[Event], clean: Clean) -> None:
    seen = dict.fromkeys(watched.seen_events)
    for event in events:
        id = clean(event.id, MAX_TEXT)
        if id not in seen:
            severity = event.severity if event.severity in SEVERITIES else "info"
            watched.waiting.append(Waiting(id, clean(event.text, MAX_TEXT), severity))
        seen.pop(id, None)
        seen[id] = None  # what still happens is remembered longest
    watched.seen_events = list(seen)[-max(MAX_EVENTS_SEEN, len(events)) :]
    watched.waiting = watched.waiting[-MAX_EVENTS_WAITING:]


def _due(record: Record, clock: float, now: float, period: float) -> str | None:
    last = record.told()
    finding = record.kind == "finding"
    if record.state == "closed":
        return None if record.told_over() else "over" if finding else "sees_again"
    if not record.is_open:
        return None
    woke = False
    if record.snoozed_until is not None:
        if now < record.snoozed_until:
            return None
        woke = True
    if last is None:
        if not finding:
            return "blind"
        return "came_back" if returns(record, clock) > 1 else "open"
    if SEVERITIES.index(record.severity) > SEVERITIES.index(last.severity):
        return "worse"
    if record.state == "acknowledged":
        return None
    if woke:
        return "remind"
    if record.remind is None:
        return None
    slack = min(0.1 * record.remind, period / 2)
    return "remind" if clock - last.clock >= record.remind - slack else None


def _group(draft: Draft) -> int:
    """Over and event lines come after what is wrong now; the order within is by severity."""
    return 0 if draft.kind in ("open", "came_back", "worse", "blind") else ORDER.index(draft.kind)


def _snooze_within(kept: Record | Recent, now: float) -> None:
    """A snooze lasts as long as it was set for, also when the clock has since gone back."""
    if kept.snoozed_until is None:
        return
    set_at = kept.snoozed_at if kept.snoozed_at is not None else now
    if set_at > now:
        kept.snoozed_until, kept.snoozed_at = now + (kept.snoozed_until - set_at), now
