"""Cron expressions in words: right for every form, or no words."""

from datetime import date, timedelta
from itertools import product
from zoneinfo import ZoneInfo

import pytest

from hermes_ops.host.cron_fields import read_fields
from hermes_ops.host.schedules import Schedule, parse
from hermes_ops.schedule.wording import cron_in_words, every, in_words

BERLIN = ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize(
    "expression, words",
    [
        ("0 6 * * *", "every day at 06:00"),
        ("0 6 * * 1-5", "at 06:00, Monday to Friday"),
        ("*/30 9-17 * * 1-5", "every 30 minutes from 09:00 to 17:30, Monday to Friday"),
        ("0 */6 * * 1", "every 6 hours, on Monday"),
        ("15 */2 * * *", "every 2 hours, first at 00:15"),
        ("*/7 * * * *", "at minutes 0, 7, 14, 21, 28, 35, 42, 49 and 56 of every hour"),
        ("15 * * * *", "every hour, first at 00:15"),
        ("0 * * * *", "every hour"),
        ("* * * * *", "every minute"),
        ("* 9 * * *", "every minute from 09:00 to 09:59"),
        ("0 6 * * 0,6", "at 06:00, on Saturday and Sunday"),
        ("0 6 * * 7", "at 06:00, on Sunday"),
        ("0 6 * * 5-7", "at 06:00, on Friday, Saturday and Sunday"),
        ("0 6 * 1,3-5 *", "at 06:00, in January and March to May"),
        ("0 6 1 * 1", "at 06:00, on day 1 of the month and also on Monday"),
        ("0 6 1 1 1", "at 06:00, in January on day 1 of the month and also on Monday"),
        ("0 0,12 1,15 * *", "at 00:00 and 12:00, on days 1 and 15 of the month"),
        ("5,10 1,2,3,7,8 * * *", "at minutes 5 and 10 of the hours 1 to 3, 7 and 8"),
        ("0 9-17 * * *", "every hour from 09:00 to 17:00"),
        ("0 5 30 2 *", "never: no day 30 in February"),
        ("0 6 5-5 * *", "every day at 06:00"),
        ("0 6 3/10 * *", "at 06:00, on days 3, 13 and 23 of the month"),
    ],
)
def test_words_say_what_the_host_does(expression, words):
    assert cron_in_words(expression) == words


@pytest.mark.parametrize(
    "expression",
    [
        "0 6 */2 * 1",
        "0 6 1-31 * 1",
        "0 6 1,31 * *",
        "0 0 * * * 5",
        "0 6 * * mon#2",
        "0 6 L * *",
        "61 * * * *",
        "",
    ],
)
def test_what_is_not_certain_has_no_words(expression):
    assert cron_in_words(expression) is None
    assert expression in in_words(Schedule("cron", expr=expression), BERLIN)


def test_the_same_words_mean_the_same_times():
    minutes = ("0", "15", "*/30", "*/7", "0,30", "*", "5-10")
    hours = ("*", "6", "9-17", "*/6", "*/5", "8,20")
    days = ("*", "1", "1,15", "*/2", "31", "1-7", "1-31")
    weekdays = ("*", "1", "1-5", "0,6", "7", "1-7", "5-7")
    months = ("*", "1", "2", "1-12", "3-5")
    meaning: dict[str, tuple] = {}
    for day, month, weekday in product(days, months, weekdays):
        runs = _days_of_runs(f"0 6 {day} {month} {weekday}")
        for minute, hour in product(minutes, hours):
            expression = f"{minute} {hour} {day} {month} {weekday}"
            words = cron_in_words(expression)
            if words is not None:
                means = (read_fields(expression).times if runs else None, runs)
                assert meaning.setdefault(words, means) == means, expression


DAYS = [(day, day.isoweekday() % 7) for day in (date(2028, 1, 1) + timedelta(n) for n in range(731))]


def _days_of_runs(expression: str) -> frozenset[date]:
    """The days of a leap year and the next on which an expression runs, by the rule of cron."""
    fields = read_fields(expression)
    found = set()
    for day, weekday in DAYS:
        in_days = fields.days is None or day.day in fields.days
        in_week = fields.weekdays is None or weekday in fields.weekdays
        both = fields.days is not None and fields.weekdays is not None
        if (fields.months is None or day.month in fields.months) and (
            in_days or in_week if both else in_days and in_week
        ):
            found.add(day)
    return frozenset(found)


@pytest.mark.parametrize(
    "minutes, words",
    [
        (1, "every minute"),
        (30, "every 30 minutes"),
        (60, "every hour"),
        (90, "every 90 minutes"),
        (120, "every 2 hours"),
    ]
    + [(1440, "every day"), (2880, "every 2 days"), (0.5, "every 0.5 minutes")],
)
def test_intervals_are_said_in_the_largest_whole_unit(minutes, words):
    assert every(minutes) == words


def test_a_one_shot_is_said_in_its_zone_and_a_broken_schedule_with_its_fault():
    at = parse({"kind": "once", "run_at": "2026-12-01T16:30:00+00:00"})
    assert in_words(at, BERLIN) == "once at 2026-12-01 17:30 CET"
    assert in_words(parse("0 4 * * 6"), BERLIN) == "invalid: a string, where the host writes a mapping"
