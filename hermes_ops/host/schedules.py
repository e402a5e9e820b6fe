"""When a job is due: the host's schedules (cron, interval, once) in a zone, across changes of clocks too."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone, tzinfo

from .cron_fields import Fields, NotRead, read_fields
from .zone import SERVER, ServerZone, host_time

TICK = 60.0  # the host looks for due jobs once a minute
LIMIT = 10_000
MIN_GRACE, MAX_GRACE = 120.0, 7200.0

_DAY = 86_400
_QUIET = 7 * _DAY  # a stretch that begins and ends with the same offset is taken for one without a change
_BACK = (3600.0, _DAY, 8.0 * _DAY, 40.0 * _DAY, 400.0 * _DAY, 9 * 366.0 * _DAY)


@dataclass(frozen=True)
class Schedule:
    """A schedule of the host.

    kind     "cron" | "interval" | "once" | "invalid"
    expr     the five fields (six with seconds, seven with years), for cron
    minutes  the interval in minutes
    run_at   seconds since the epoch, for once
    display  for a person
    problem  why it is invalid ("a string, where the host writes a mapping"), or None. On a "cron" it says
             that the host can use it and this reader cannot: its due times are unknown
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

    @property
    def readable(self) -> bool:
        """Whether its due times can be told."""
        return self.kind != "invalid" and self.problem is None


def parse(raw: object) -> Schedule:
    """Read the `schedule` of a job record. Never raises: what the host could not use is "invalid"."""
    if not isinstance(raw, dict):
        found = (
            "nothing" if raw is None else "a string" if isinstance(raw, str) else f"a {type(raw).__name__}"
        )
        return _invalid(str(raw or "")[:80], f"{found}, where the host writes a mapping")
    kind = raw.get("kind")
    shown = next(
        (text for key in ("display", "value", "expr", "run_at") if (text := _text(raw.get(key)))),
        "",
    )
    if not raw or kind is None:
        return _invalid(shown, "empty, so that the host never runs it" if not raw else "without a kind")
    if kind == "cron":
        return _cron(raw.get("expr"), shown)
    if kind == "interval":
        minutes = raw.get("minutes")
        usable = isinstance(minutes, (int, float)) and not isinstance(minutes, bool)
        if not usable or not math.isfinite(minutes) or not 0 <= minutes < 1e7:
            return _invalid(shown, f"an interval of {str(minutes)[:40]!r} minutes")
        return Schedule("interval", minutes=float(minutes), display=shown or f"every {minutes:g}m")
    if kind == "once":
        run_at = host_time(raw.get("run_at"))
        if run_at is None:
            return _invalid(shown, f"once, at {str(raw.get('run_at'))[:40]!r}, which is no time")
        return Schedule("once", run_at=run_at, display=shown)
    return _invalid(shown, f"of the unknown kind {str(kind)[:40]!r}")


def written(text: str, zone: tzinfo, now: float) -> Schedule:
    """Read a schedule as a person gives it to the host ("every 2h", "30m", "0 9 * * 1-5", an ISO time).

    "invalid" is what the host's `cron create` refuses; its rules for text are narrower than for a stored job:
    names of days and months are refused.
    """
    text = text.strip()
    if text.lower().startswith("every "):
        minutes = _duration(text[6:])
        if minutes is None:
            return _invalid(text, f"no length of time: {text[6:].strip()[:40]!r}; write 30m, 2h or 1d")
        return Schedule("interval", minutes=float(minutes), display=f"every {minutes}m")
    parts = text.split()
    if len(parts) >= 5 and all(re.fullmatch(r"[\d*\-,/]+", part) for part in parts[:5]):
        return _cron(text, text)
    if "T" in text or re.match(r"\d{4}-\d{2}-\d{2}", text):
        try:
            at = datetime.fromisoformat(text.replace("Z", "+00:00"))
            at = at if at.tzinfo else at.replace(tzinfo=zone)
            return Schedule("once", run_at=at.timestamp(), display=f"once at {at.strftime('%Y-%m-%d %H:%M')}")
        except (ValueError, OverflowError):
            return _invalid(text, f"no time: {text[:40]!r}")
    minutes = _duration(text)
    if minutes is not None:
        return Schedule("once", run_at=now + minutes * 60.0, display=f"once in {text}")
    return _invalid(text, "none of the host's forms: 30m (once), every 30m, 0 9 * * *, 2026-02-03T14:00")


def due_times(
    schedule: Schedule, after: float, until: float, zone: tzinfo, anchor: float | None = None
) -> list[float]:
    """The times in (after, until] at which the host would start the job, at most 10,000, ascending.

    Same as the host's croniter in `zone`, started anew from each due time as the host does, on days of 23 and
    25 hours too: after a change of clocks it is an hour off once (a daily job runs an hour early and again at
    its time in spring, an hour late in autumn).
    An interval counts from `anchor` (the last run, or the creation); without one it has no known times.
    """
    if not schedule.readable or not math.isfinite(after) or until <= after:
        return []
    if schedule.kind == "once":
        return [schedule.run_at] if schedule.run_at is not None and after < schedule.run_at <= until else []
    if schedule.kind == "interval":
        return _interval_times(schedule, after, until, anchor)
    found: list[float] = []
    for at in _cron_times(read_fields(schedule.expr), after, until, zone):
        found.append(at)
        if len(found) == LIMIT:
            break
    return found


def next_due(schedule: Schedule, after: float, zone: tzinfo, anchor: float | None = None) -> float | None:
    """The first due time after `after`; None when there is none (within the fifty years the host looks)."""
    if not schedule.readable or not math.isfinite(after):
        return None
    if schedule.kind == "once":
        return schedule.run_at if schedule.run_at is not None and schedule.run_at > after else None
    if schedule.kind == "interval":
        if anchor is None:
            return None
        step = _step(schedule)
        return anchor + step * max(1, math.floor((after - anchor) / step) + 1)
    return _next(read_fields(schedule.expr), after, zone)


def previous_due(
    schedule: Schedule, before: float, zone: tzinfo, anchor: float | None = None
) -> float | None:
    """The last due time at or before `before`; None when there is none (within nine years)."""
    if not schedule.readable or not math.isfinite(before):
        return None
    if schedule.kind == "once":
        return schedule.run_at if schedule.run_at is not None and schedule.run_at <= before else None
    if schedule.kind == "interval":
        step = _step(schedule)
        passed = 0 if anchor is None else math.floor((before - anchor) / step)
        return anchor + step * passed if anchor is not None and passed > 0 else None
    fields = read_fields(schedule.expr)
    last = None
    for back in _BACK:
        # One alone will not do: whether it is an hour off depends on the one before it.
        dues = list(_cron_times(fields, before - back, before, zone))
        last = dues[-1] if dues else None
        if len(dues) > 1:
            return last
    return last


def period(schedule: Schedule, at: float, zone: tzinfo) -> float | None:
    """Seconds between two runs around `at` (the longest gap of the next few); None when it does not recur.

    The next few are those of eight days, and at least five.
    """
    if schedule.kind == "interval" and schedule.readable:
        return _step(schedule)
    if schedule.kind != "cron" or not schedule.readable:
        return None
    longest, last, seen = 0.0, None, 0
    for due in _cron_times(read_fields(schedule.expr), at, math.inf, zone):
        longest = max(longest, due - last) if last is not None else 0.0
        last, seen = due, seen + 1
        if seen >= LIMIT or (seen >= 5 and due > at + 8 * _DAY):
            break
    return longest or None


def grace(schedule: Schedule, at: float, zone: tzinfo) -> float:
    """How late the host itself still counts a run as on time: half a period, within 120 s and 2 h."""
    half = 0.0
    if schedule.kind == "interval" and schedule.readable:
        half = schedule.minutes * 60 // 2
    elif schedule.kind == "cron" and schedule.readable:
        fields = read_fields(schedule.expr)
        first = _next(fields, at, zone)
        second = None if first is None else _next(fields, first, zone)
        half = 0.0 if first is None or second is None else int(second - first) // 2
    return float(max(MIN_GRACE, min(half, MAX_GRACE)))


def _cron(expr: object, shown: str) -> Schedule:
    if not isinstance(expr, str) or not expr.strip():
        return _invalid(shown, "cron, without an expression")
    try:
        read_fields(expr)
    except NotRead as error:
        return Schedule("cron", expr, display=shown or expr, problem=str(error))
    except ValueError as error:
        return _invalid(shown or expr, str(error))
    return Schedule("cron", expr, display=shown or expr)


def _invalid(shown: str, problem: str) -> Schedule:
    return Schedule("invalid", display=shown, problem=problem)


def _text(value: object) -> str:
    return "" if value is None else str(value).strip()


def _duration(text: str) -> int | None:
    found = re.fullmatch(r"(\d+)\s*(m|mins?|minutes?|h|hrs?|hours?|d|days?)", text.strip().lower(), re.ASCII)
    return int(found[1]) * {"m": 1, "h": 60, "d": 1440}[found[2][0]] if found else None


def _step(schedule: Schedule) -> float:
    return max(schedule.minutes * 60.0, TICK)


def _interval_times(schedule: Schedule, after: float, until: float, anchor: float | None) -> list[float]:
    if anchor is None:
        return []
    step = _step(schedule)
    first = max(1, math.floor((after - anchor) / step) + 1)
    last = min(math.floor((until - anchor) / step), first + LIMIT - 1)
    return [anchor + step * count for count in range(first, last + 1)]


def _cron_times(fields: Fields, after: float, until: float, zone: tzinfo) -> Iterator[float]:
    """Due times one by one; days without a change of clocks go by counting, the rest step by step."""
    at = after
    while at < until:
        quiet = _quiet_until(at, until, zone)
        for due in _counted(fields, at, quiet, zone) if quiet is not None else ():
            yield due
            at = due
        if quiet == until:
            return
        following = _next(fields, at, zone)
        if following is None or following > until:
            return
        yield following
        at = following


def _quiet_until(at: float, until: float, zone: tzinfo) -> float | None:
    """The end of a stretch from `at` on, at most to `until`, with one offset; None when the clocks change."""
    end = min(until, at + _QUIET)
    looked_at = (at, end) if end - at <= _DAY else (at, at + _DAY, (at + end) / 2, end)
    try:
        return end if len({_offset(moment, zone) for moment in looked_at}) == 1 else None
    except (ValueError, OverflowError, OSError):
        return None


def _counted(fields: Fields, after: float, until: float, zone: tzinfo) -> Iterator[float]:
    offset = _offset(after, zone)
    first = math.floor(after)
    start = datetime(1970, 1, 1) + timedelta(seconds=first + fields.resolution + offset)
    day = fields.next_day(start.date())
    while day is not None:
        midnight = (day - date(1970, 1, 1)).days * _DAY - offset
        if midnight > until:
            return
        for second in fields.times:
            due = midnight + second
            if due > until:
                return
            if due > first:
                yield float(due)
        day = fields.day_after(day)


def _next(fields: Fields, after: float, zone: tzinfo) -> float | None:
    """What the host's croniter answers when it is asked anew at `after`, as the host uses the answer."""
    try:
        if isinstance(zone, ServerZone):
            return _next_in_server_zone(fields, after)
        due = _croniter(fields, after, zone)
        if due is not None and due <= after:
            # In the second pass of a repeated hour it answers with the first; the host waits for the clock.
            local = datetime.fromtimestamp(due, zone)
            due = local.replace(fold=1).timestamp()
        return due if due is None or due > after else _next(fields, after + 3600.0, zone)
    except (ValueError, OverflowError, OSError):
        return None


def _next_in_server_zone(fields: Fields, after: float) -> float | None:
    """Without a configured zone the host plans with the offset of the moment, blind to a coming change.

    When the clocks have gone back meanwhile, it sees a wall clock that is not there yet and plans again.
    """
    offset = _offset(after, SERVER)
    due = _croniter(fields, after, timezone(timedelta(seconds=offset)))
    if due is not None and _offset(due, SERVER) < offset:
        due = _croniter(fields, due, timezone(timedelta(seconds=_offset(due, SERVER))))
    return due


def _croniter(fields: Fields, after: float, zone: tzinfo) -> float | None:
    """The next match of croniter 6 from `after` on, its correction across a change of clocks included.

    It walks on the wall clock, reads what it found as the first of two equal times, and, when the offset has
    changed since a day that is not the same, takes the change off once more.
    """
    base = math.floor(after)
    wall = datetime.fromtimestamp(base + fields.resolution, zone).replace(tzinfo=None, fold=0)
    found = fields.next_walls(wall)
    if found is None:
        return None
    due = min(match.replace(tzinfo=zone).timestamp() for match in found)
    start, result = datetime.fromtimestamp(after, zone), datetime.fromtimestamp(due, zone)
    lag = _seconds(result.utcoffset()) - _seconds(start.utcoffset())
    if lag:
        hours = (result.replace(tzinfo=None) - start.replace(tzinfo=None)).total_seconds() / 3600
        left = 24 - start.hour
        if (lag > 0 and abs(hours) >= left) or (lag < 0 and 3600 * abs(hours) - lag >= left * 3600):
            due = (result - timedelta(seconds=lag)).timestamp()
    return due


def _offset(at: float, zone: tzinfo) -> int:
    return _seconds(datetime.fromtimestamp(at, zone).utcoffset())


def _seconds(offset: timedelta | None) -> int:
    return 0 if offset is None else int(offset.total_seconds())
