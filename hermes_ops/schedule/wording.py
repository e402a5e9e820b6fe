"""Schedules in words: said only where the words are certainly right, else the expression itself.

The words come from the minutes of the day and the days that an expression means, never from its spelling,
so that two expressions with the same words start a job at the same times.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import tzinfo
from itertools import pairwise

from ..core.moment import show
from ..host.cron_fields import read_fields
from ..host.schedules import Schedule

_WEEKDAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_LONGEST = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_MOST = 12  # items of a list that a person still reads


def in_words(schedule: Schedule, zone: tzinfo) -> str:
    """A schedule for a person: "at 06:00, Monday to Friday", "every 30 minutes", "once at ..."."""
    if schedule.kind == "cron":
        return cron_in_words(schedule.expr) or f"cron {schedule.expr}"
    if schedule.kind == "interval":
        return every(schedule.minutes)
    if schedule.kind == "once":
        return f"once at {show(schedule.run_at, zone)}"
    return f"invalid: {schedule.problem or schedule.display or 'no schedule'}"


def every(minutes: float) -> str:
    """An interval: "every 30 minutes", "every 2 hours", "every day"."""
    whole = int(minutes) if minutes == int(minutes) else None
    if whole is None or whole <= 0:
        return f"every {minutes:g} minutes"
    if whole % 1440 == 0:
        return _count(whole // 1440, "day")
    return _count(whole // 60, "hour") if whole % 60 == 0 else _count(whole, "minute")


def cron_in_words(expression: str) -> str | None:
    """An expression in words; None where that would not be certain."""
    try:
        fields = read_fields(expression)
    except ValueError:
        return None
    if fields.resolution != 60 or fields.years is not None:
        return None
    days, weekdays, months = fields.days, fields.weekdays, fields.months
    # With a list of days the host loses days behind the end of a short month.
    if days is not None and len(days) > 1 and days[-1] > 28:
        return None
    # Beside days of the month a full week means every day, which the words would not say.
    if weekdays is not None and len(weekdays) == 7:
        return None
    times = _times([second // 60 for second in fields.times])
    on = _days(days, weekdays, months)
    if times is None or on is None:
        return None
    if on.startswith("never"):
        return on
    if on:
        return f"{times}, {on}"
    return f"every day {times}" if re.match(r"at \d\d:", times) else times


def _times(times: Sequence[int]) -> str | None:
    """Minutes of the day in words."""
    if len(times) == 1440:
        return "every minute"
    if len(times) == 1:
        return f"at {_clock(times[0])}"
    steps = {later - earlier for earlier, later in pairwise(times)}
    if len(times) >= 4 and len(steps) == 1:
        step = steps.pop()
        text = every(step)
        if times[0] < step and times[-1] + step >= 1440 and 1440 % step == 0:
            return text if times[0] == 0 else f"{text}, first at {_clock(times[0])}"
        return f"{text} from {_clock(times[0])} to {_clock(times[-1])}"
    if len(times) <= 6:
        return f"at {_listed([_clock(time) for time in times])}"
    minutes = sorted({time % 60 for time in times})
    hours = sorted({time // 60 for time in times})
    if len(minutes) > _MOST or len(_grouped(hours)) > _MOST:
        return None
    past = f"at minute{'s' if len(minutes) > 1 else ''} {_listed([str(minute) for minute in minutes])}"
    return f"{past} of every hour" if len(hours) == 24 else f"{past} of the hours {_runs(hours, str)}"


def _days(
    days: Sequence[int] | None, weekdays: Sequence[int] | None, months: Sequence[int] | None
) -> str | None:
    """Days and months in words; "" for every day, None where there are no certain words."""
    within = "" if months is None else _runs(months, lambda month: _MONTHS[month - 1])
    if days is not None and months is not None and min(days) > max(_LONGEST[month - 1] for month in months):
        return f"never: no day {min(days)} in {within}" if weekdays is None else None
    parts = []
    if days is not None:
        if len(_grouped(days)) > _MOST:
            return None
        parts.append(f"on day{'s' if len(days) > 1 else ''} {_runs(days, str)} of the month")
    if weekdays is not None:
        monday_first = sorted(weekdays, key=lambda day: (day - 1) % 7)
        parts.append(_week(monday_first))
    text = " and also ".join(parts)
    if not within:
        return text
    return f"{text} in {within}".lstrip() if len(parts) < 2 else f"in {within} {text}"


def _week(days: Sequence[int]) -> str:
    if list(days) == [1, 2, 3, 4, 5]:
        return "Monday to Friday"
    return f"on {_listed([_WEEKDAYS[day] for day in days])}"


def _runs(values: Sequence[int], name: Callable[[int], str]) -> str:
    """Ascending values with runs of three and more drawn together: "1, 3 to 5 and 9"."""
    groups = _grouped(values)
    return _listed(
        [name(first) if first == last else f"{name(first)} to {name(last)}" for first, last in groups]
    )


def _grouped(values: Sequence[int]) -> list[tuple[int, int]]:
    groups: list[tuple[int, int]] = []
    for value in values:
        if groups and groups[-1][1] == value - 1:
            groups[-1] = (groups[-1][0], value)
        else:
            groups.append((value, value))
    return [
        pair
        for first, last in groups
        for pair in ([(first, first), (last, last)] if last == first + 1 else [(first, last)])
    ]


def _listed(items: Sequence[str]) -> str:
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


def _count(number: int, unit: str) -> str:
    return f"every {unit}" if number == 1 else f"every {number} {unit}s"


def _clock(minute: int) -> str:
    return f"{minute // 60:02d}:{minute % 60:02d}"
