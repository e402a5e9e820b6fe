"""The fields of a cron expression and the days and times they name, by the rules of the host's croniter."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import lru_cache

MINUTE, HOUR, DAY, MONTH, WEEKDAY, SECOND, YEAR = range(7)
NAMES = ("minute", "hour", "day of month", "month", "day of week", "second", "year")
RANGES = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 6), (0, 59), (1970, 2099))
SIZES = (60, 24, 31, 12, 7, 60, 130)
MAX_YEARS = 50  # the host gives up looking after this many

_MONTHS = {
    name: number
    for number, name in enumerate(
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), 1
    )
}
_WEEKDAYS = {name: number for number, name in enumerate(("sun", "mon", "tue", "wed", "thu", "fri", "sat"))}
_WORDS: dict[int, dict[str, int]] = {MONTH: _MONTHS, WEEKDAY: _WEEKDAYS}
_ALIASES = {
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
# Last day (L), nth weekday (5#2), hashed and random fields: croniter has them, the host's `cron create`
# refuses them, and they are not read here.
_BEYOND = re.compile(r"(?:^|,)(?:l\b|l\d)|#|(?:^|,)[hr](?:$|[(/])|-l(?:$|[,/])")


class NotRead(ValueError):
    """A form that the host can use and this reader cannot."""


@dataclass(frozen=True)
class Fields:
    """What each field allows; None where it allows everything.

    ``times`` are the seconds since midnight at which a day's runs begin. Days of month and of week together
    mean either, as in cron.
    """

    days: tuple[int, ...] | None
    months: tuple[int, ...] | None
    weekdays: tuple[int, ...] | None
    years: tuple[int, ...] | None
    times: tuple[int, ...]
    resolution: int  # seconds: 60, or 1 with a field of seconds

    def next_day(self, start: date) -> date | None:
        """The first day from `start` on that has runs; None when there is none.

        With days of month and of week both named, the host finds nothing when one of the two never comes.
        """
        found = [self._walk(start, *ways) for ways in self._ways()]
        days = [day for day in found if day is not None]
        return min(days) if len(days) == len(found) else None

    def day_after(self, day: date) -> date | None:
        """The first day with runs after the last run of `day`; the host looks on from that run's minute."""
        if self.times[-1] + self.resolution >= 86_400:
            return self.next_day(day + timedelta(days=1))
        found = []
        for ways in self._ways():
            walked = self._walk(day, *ways)
            found.append(self._walk(day + timedelta(days=1), *ways) if walked == day else walked)
        days = [day for day in found if day is not None]
        return min(days) if len(days) == len(found) else None

    def next_walls(self, wall: datetime) -> list[datetime] | None:
        """The first time at or after `wall` (naive) by days of month and by days of week, each on its own.

        None when there is none, by the same rule.
        """
        found = [self._next_wall(wall, *ways) for ways in self._ways()]
        walls = [match for match in found if match is not None]
        return walls if len(walls) == len(found) else None

    def _ways(self) -> list[tuple[tuple[int, ...] | None, tuple[int, ...] | None]]:
        if self.days is not None and self.weekdays is not None:
            return [(self.days, None), (None, self.weekdays)]
        return [(self.days, self.weekdays)]

    def _next_wall(
        self, wall: datetime, days: tuple[int, ...] | None, weekdays: tuple[int, ...] | None
    ) -> datetime | None:
        day = self._walk(wall.date(), days, weekdays)
        if day is None:
            return None
        second = 0
        if day == wall.date():
            second = (wall.hour * 60 + wall.minute) * 60 + (wall.second if self.resolution == 1 else 0)
        place = bisect_left(self.times, second)
        if place == len(self.times):
            day = self._walk(day + timedelta(days=1), days, weekdays)
            place = 0
            if day is None:
                return None
        return datetime.combine(day, time()) + timedelta(seconds=self.times[place])

    def _walk(self, day: date, days: tuple[int, ...] | None, weekdays: tuple[int, ...] | None) -> date | None:
        """The host's walk from day to day. Of a list of days it takes the next number, even one that this
        month does not have, and goes as far on from there: `1,31` misses the first of March."""
        last_year = min(day.year + MAX_YEARS, 9990)
        while day.year <= last_year:
            if self.years is not None and day.year not in self.years:
                later = [year for year in self.years if year > day.year]
                if not later:
                    return None
                day = date(later[0], 1, 1)
                continue
            if self.months is not None and day.month not in self.months:
                day = _month_start(day, _ahead(day.month, self.months, 12))
                continue
            if days is not None and day.day not in days:
                day += timedelta(days=_ahead(day.day, days, _month_length(day)))
                continue
            if weekdays is not None and day.isoweekday() % 7 not in weekdays:
                day += timedelta(days=_ahead(day.isoweekday() % 7, weekdays, 7))
                continue
            return day
        return None


@lru_cache(maxsize=512)
def read_fields(expr: str) -> Fields:
    """Read an expression of five fields (six with seconds, seven with years), a name like "@daily" too.

    Raises ValueError saying what is wrong with which field, NotRead for what only croniter can read.
    """
    text = expr.strip().lower()
    parts = _ALIASES.get(text, text).split()
    if len(parts) not in (5, 6, 7):
        raise ValueError(f"{len(parts)} fields, where five are expected")
    values = [_field(index, part, parts) for index, part in enumerate(parts)]
    minutes, hours = (_listed(values[index], index) for index in (MINUTE, HOUR))
    seconds = _listed(values[SECOND], SECOND) if len(parts) > 5 else (0,)
    return Fields(
        days=values[DAY],
        months=values[MONTH],
        weekdays=values[WEEKDAY],
        years=values[YEAR] if len(parts) == 7 else None,
        times=tuple(
            (hour * 60 + minute) * 60 + second for hour in hours for minute in minutes for second in seconds
        ),
        resolution=1 if len(parts) > 5 else 60,
    )


def _listed(values: tuple[int, ...] | None, index: int) -> tuple[int, ...]:
    low, high = RANGES[index]
    return tuple(range(low, high + 1)) if values is None else values


def _field(index: int, text: str, parts: list[str]) -> tuple[int, ...] | None:
    """The values of one field, ascending; None for all of them."""
    if _BEYOND.search(text):
        raise NotRead(f"{NAMES[index]} {text[:40]!r}: L, #, H and R are not read here")
    if text == "?" and index in (DAY, WEEKDAY):
        text = "*"
    found: set[int] = set()
    for part in text.split(","):
        if part == "*":
            found.add(-1)
        else:
            found.update(_range(index, part, len(parts)))
    if -1 in found:
        return None
    # A full list counts as a star, but not for days beside other days that restrict: there it means all.
    other = {DAY: WEEKDAY, WEEKDAY: DAY}.get(index)
    if len(found) == SIZES[index] and (other is None or "*" in parts[other]):
        return None
    return tuple(sorted(found))


def _range(index: int, part: str, count: int) -> list[int]:
    low_limit, high_limit = RANGES[index]
    star = re.fullmatch(r"\*(/.+)", part)
    spread = f"{low_limit}-{high_limit}{star[1]}" if star else part
    found = re.fullmatch(r"([^-]+)-([^-/]+)(?:/(\d+))?", spread)
    if found is None:
        spread = re.sub(r"^(.+)/(.+)$", rf"\1-{high_limit}/\2", part)
        found = re.fullmatch(r"([^-]+)-([^-/]+)(?:/(\d+))?", spread)
    if found is None:
        value = _alias(_number(index, part), index, count)
        if not low_limit <= value <= high_limit:
            raise ValueError(f"{NAMES[index]} {part[:40]!r} is not from {low_limit} to {high_limit}")
        return [value]
    low, high = (_alias(_number(index, text), index, count) for text in (found[1], found[2]))
    step = int(found[3] or 1)
    if max(low, high) > high_limit:
        raise ValueError(f"{NAMES[index]} {part[:40]!r} is not from {low_limit} to {high_limit}")
    if step < 1:
        raise ValueError(f"{NAMES[index]} {part[:40]!r} has a step of 0")
    values = _stepped(low, high, step, low_limit, high_limit)
    if any(value < low_limit for value in values):
        raise ValueError(f"{NAMES[index]} {part[:40]!r} is not from {low_limit} to {high_limit}")
    return values


def _stepped(low: int, high: int, step: int, first: int, last: int) -> list[int]:
    """The values of a range; one that runs backwards goes over the end, equal ends mean all of it."""
    if low == high:
        return list(range(first, last + 1, step))
    if low < high:
        return list(range(low, high + 1, step))
    values = list(range(low, last + 1, step))
    skipped = 0
    if values:
        beyond, position = last - values[-1], values[-1] - first
        if position + step > last - first + 1 and beyond < step:
            skipped = step - beyond
    return values + list(range(first + skipped, high + 1, step))


def _number(index: int, text: str) -> int:
    if re.fullmatch(r"\d+", text, re.ASCII):
        return int(text)
    value = _WORDS.get(index, {}).get(text)
    if value is None:
        raise ValueError(f"{NAMES[index]} {text[:40]!r} is no number")
    return value


def _alias(value: int, index: int, count: int) -> int:
    """7 is Sunday with five fields; with more, croniter reads a day of 0 as 1 instead."""
    if index == WEEKDAY and value == 7 and count == 5:
        return 0
    if index == DAY and value == 0 and count == 6:
        return 1
    return value


def _ahead(value: int, allowed: tuple[int, ...], size: int) -> int:
    """How far it is to the next allowed number, going round after `size`."""
    place = bisect_left(allowed, value)
    return allowed[place] - value if place < len(allowed) else allowed[0] - value + size


def _month_start(day: date, months: int) -> date:
    month = day.month - 1 + months
    return date(day.year + month // 12, month % 12 + 1, 1)


def _month_length(day: date) -> int:
    return (_month_start(day, 1) - _month_start(day, 0)).days
