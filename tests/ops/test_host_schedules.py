"""Due times are the host's, minute for minute, on days of 23 and 25 hours too."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from datetime import datetime, tzinfo
from zoneinfo import ZoneInfo

import pytest

from hermes_ops.host.schedules import (
    Schedule,
    due_times,
    grace,
    next_due,
    parse,
    period,
    previous_due,
    written,
)
from hermes_ops.host.zone import SERVER

BERLIN = ZoneInfo("Europe/Berlin")
UTC = ZoneInfo("UTC")


def cron(expr: str) -> Schedule:
    return parse({"kind": "cron", "expr": expr})


def at(text: str, zone: tzinfo = BERLIN) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=zone).timestamp()


def shown(times: list[float], zone: tzinfo = BERLIN) -> list[str]:
    return [datetime.fromtimestamp(one, zone).strftime("%m-%d %H:%M%z") for one in times]


@pytest.fixture
def server_in_berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    if not hasattr(time, "tzset"):
        pytest.skip("the zone of the process cannot be set here")
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def test_a_daily_job_in_winter() -> None:
    times = due_times(cron("0 6 * * 1-5"), at("2026-11-26T06:00"), at("2026-12-01T06:00"), BERLIN)
    assert shown(times) == ["11-27 06:00+0100", "11-30 06:00+0100", "12-01 06:00+0100"]


def test_in_spring_the_host_runs_a_daily_job_an_hour_early_and_again_at_its_time() -> None:
    times = due_times(cron("0 6 * * *"), at("2026-03-27T12:00"), at("2026-03-30T12:00"), BERLIN)
    assert shown(times) == ["03-28 06:00+0100", "03-29 05:00+0200", "03-29 06:00+0200", "03-30 06:00+0200"]


def test_in_autumn_the_host_runs_a_daily_job_an_hour_late() -> None:
    times = due_times(cron("0 6 * * *"), at("2026-10-23T12:00"), at("2026-10-26T12:00"), BERLIN)
    assert shown(times) == ["10-24 06:00+0200", "10-25 07:00+0100", "10-26 06:00+0100"]


def test_a_time_that_a_day_does_not_have_falls_behind_the_gap() -> None:
    times = due_times(cron("30 2 * * *"), at("2026-03-28T12:00"), at("2026-03-30T12:00"), BERLIN)
    assert shown(times) == ["03-29 03:30+0200", "03-30 02:30+0200"]


def test_a_frequent_job_skips_the_hour_that_comes_twice() -> None:
    times = due_times(cron("*/30 * * * *"), at("2026-10-25T01:45"), at("2026-10-25T04:00"), BERLIN)
    assert shown(times) == [
        "10-25 02:00+0200",
        "10-25 02:30+0200",
        "10-25 03:00+0100",
        "10-25 03:30+0100",
        "10-25 04:00+0100",
    ]


def test_a_server_zone_is_planned_with_the_offset_of_the_moment(server_in_berlin: None) -> None:
    daily = cron("0 6 * * *")
    spring = due_times(daily, at("2026-03-27T12:00"), at("2026-03-30T12:00"), SERVER)
    assert shown(spring) == ["03-28 06:00+0100", "03-29 07:00+0200", "03-30 06:00+0200"]
    autumn = due_times(daily, at("2026-10-23T12:00"), at("2026-10-26T12:00"), SERVER)
    assert shown(autumn) == ["10-24 06:00+0200", "10-25 06:00+0100", "10-26 06:00+0100"]


@pytest.mark.parametrize(
    ("expr", "equal"),
    [
        ("0 4 * * 7", "0 4 * * 0"),
        ("0 4 * * 5-7", "0 4 * * 0,5,6"),
        ("0 4 * * sun", "0 4 * * 0"),
        ("0 4 * jan *", "0 4 * 1 *"),
        ("@daily", "0 0 * * *"),
        ("*/1 * * * *", "* * * * *"),
        ("0 22-2 * * *", "0 0,1,2,22,23 * * *"),
    ],
)
def test_fields_mean_what_the_host_takes_them_for(expr: str, equal: str) -> None:
    begin, end = at("2026-06-01T00:30"), at("2026-06-15T00:30")
    assert due_times(cron(expr), begin, end, BERLIN) == due_times(cron(equal), begin, end, BERLIN)


def test_days_of_month_and_of_week_mean_either() -> None:
    times = due_times(cron("0 0 13 * 5"), at("2026-11-01T00:00"), at("2026-11-20T12:00"), BERLIN)
    assert [text[:5] for text in shown(times)] == ["11-06", "11-13", "11-20"]


def test_a_first_of_the_month_that_the_host_walks_past_is_not_expected() -> None:
    # Behind the second of February it looks for the 31st, counts 29 days on, and is in March.
    times = due_times(cron("0 0 1,31 * *"), at("2027-02-02T12:00", UTC), at("2027-04-02T00:00", UTC), UTC)
    assert [text[:5] for text in shown(times, UTC)] == ["03-31", "04-01"]


@pytest.mark.parametrize(
    "raw",
    [
        None,
        {},
        [],
        "0 4 * * 6",
        {"expr": "0 4 * * *"},
        {"kind": "cron"},
        {"kind": "cron", "expr": ""},
        {"kind": "cron", "expr": None},
        {"kind": "cron", "expr": "61 * * * *"},
        {"kind": "cron", "expr": "* * * *"},
        {"kind": "cron", "expr": "*/0 * * * *"},
        {"kind": "cron", "expr": "a b c d e"},
        {"kind": "cron", "expr": "0 0 0 * *"},
        {"kind": "interval"},
        {"kind": "interval", "minutes": "5"},
        {"kind": "interval", "minutes": float("nan")},
        {"kind": "interval", "minutes": -5},
        {"kind": "once"},
        {"kind": "once", "run_at": "soon"},
        {"kind": "weekly"},
    ],
)
def test_what_the_host_cannot_use_is_invalid_with_a_reason(raw: object) -> None:
    schedule = parse(raw)
    assert schedule.kind == "invalid" and schedule.problem
    assert due_times(schedule, 0.0, 2e9, UTC) == []
    assert next_due(schedule, 0.0, UTC) is None and previous_due(schedule, 2e9, UTC) is None


@pytest.mark.parametrize("expr", ["0 0 l * *", "0 0 * * 5#2", "h h * * *", "0 0 * * l5"])
def test_what_only_the_host_can_read_has_unknown_times_and_is_not_called_invalid(expr: str) -> None:
    schedule = cron(expr)
    assert schedule.kind == "cron" and schedule.problem and not schedule.readable
    assert due_times(schedule, 0.0, 2e9, UTC) == []


def test_a_day_that_never_comes_is_none_and_is_found_out_quickly() -> None:
    begin = time.monotonic()
    for expr in ("0 0 31 2 *", "0 0 30 2 1", "0 0 31 4,6 *"):
        assert next_due(cron(expr), 1.79e9, BERLIN) is None
        assert previous_due(cron(expr), 1.79e9, BERLIN) is None
    assert time.monotonic() - begin < 5


def test_an_interval_counts_from_its_anchor() -> None:
    schedule = parse({"kind": "interval", "minutes": 30})
    assert due_times(schedule, 1000.0, 6000.0, UTC, 1000.0) == [2800.0, 4600.0]
    assert due_times(schedule, 1000.0, 6000.0, UTC) == []
    assert next_due(schedule, 2800.0, UTC, 1000.0) == 4600.0
    assert previous_due(schedule, 2799.0, UTC, 1000.0) is None
    assert period(schedule, 0.0, UTC) == 1800.0
    assert parse({"kind": "interval", "minutes": 0}).recurring


def test_an_interval_of_nothing_runs_at_every_look_of_the_host() -> None:
    assert due_times(parse({"kind": "interval", "minutes": 0}), 0.0, 180.0, UTC, 0.0) == [60.0, 120.0, 180.0]


def test_a_one_shot_is_due_once() -> None:
    schedule = parse({"kind": "once", "run_at": "2026-11-20T10:00:00+01:00"})
    moment = at("2026-11-20T10:00")
    assert due_times(schedule, moment - 1, moment, UTC) == [moment]
    assert due_times(schedule, moment, moment + 1, UTC) == []
    assert previous_due(schedule, moment, UTC) == moment and next_due(schedule, moment, UTC) is None


def test_grace_is_half_a_period_within_the_hosts_bounds() -> None:
    now = at("2026-11-29T12:00")
    assert grace(cron("*/2 * * * *"), now, BERLIN) == 120.0
    assert grace(cron("*/30 * * * *"), now, BERLIN) == 900.0
    assert grace(cron("0 6 * * *"), now, BERLIN) == 7200.0
    assert grace(parse({"kind": "interval", "minutes": 30}), now, BERLIN) == 900.0
    assert grace(parse({}), now, BERLIN) == 120.0


def test_the_period_is_the_longest_gap_of_a_week() -> None:
    now = at("2026-11-29T12:00")
    assert period(cron("0 6 * * *"), now, BERLIN) == 86_400.0
    assert period(cron("0 6 * * 1-5"), now, BERLIN) == 3 * 86_400.0
    assert period(cron("0 6 1 * *"), now, BERLIN) == 31 * 86_400.0
    assert period(parse({}), now, BERLIN) is None


def test_no_more_than_ten_thousand_times_are_listed() -> None:
    assert len(due_times(cron("* * * * *"), 1.79e9, 1.8e9, UTC)) == 10_000


def test_many_times_are_counted_not_searched() -> None:
    begin = time.process_time()
    for _ in range(20):
        assert len(due_times(cron("*/5 * * * *"), 1.79e9, 1.79e9 + 30 * 86_400, BERLIN)) == 8640
        assert previous_due(cron("0 0 1 1 *"), 1.79e9, BERLIN)
    assert time.process_time() - begin < 5


@pytest.mark.parametrize("moment", [float("nan"), float("inf"), float("-inf"), 1e18, -1e18])
def test_times_out_of_this_world_are_no_due_times(moment: float) -> None:
    assert due_times(cron("0 6 * * *"), moment, moment + 1e6, BERLIN) == []
    assert next_due(cron("0 6 * * *"), moment, BERLIN) is None
    assert previous_due(cron("0 6 * * *"), moment, BERLIN) is None


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("every 2h", "interval"),
        ("every 1 day", "interval"),
        ("30m", "once"),
        ("0 9 * * 1-5", "cron"),
        ("2026-12-01T17:30", "once"),
        ("2026-12-01", "once"),
        ("0 9 * * MON", "invalid"),
        ("0 9 * *", "invalid"),
        ("99 9 * * *", "invalid"),
        ("every now and then", "invalid"),
        ("tomorrow", "invalid"),
        ("", "invalid"),
    ],
)
def test_text_is_read_as_the_hosts_create_command_reads_it(text: str, kind: str) -> None:
    assert written(text, BERLIN, 1.79e9).kind == kind


def test_a_time_without_offset_is_in_the_configured_zone_when_it_is_given_as_text() -> None:
    assert written("2026-12-01T17:30", BERLIN, 0.0).run_at == at("2026-12-01T17:30")
    assert written("2026-12-01T17:30Z", BERLIN, 0.0).run_at == at("2026-12-01T17:30", UTC)


CHANGES = (
    ("Europe/Berlin", "2026-03-29"),
    ("Europe/Berlin", "2026-10-25"),
    ("America/New_York", "2026-03-08"),
    ("America/New_York", "2026-11-01"),
    ("Australia/Lord_Howe", "2026-04-05"),
    ("Australia/Lord_Howe", "2026-10-04"),
    ("Asia/Kolkata", "2026-06-01"),
    ("Africa/Casablanca", "2026-02-15"),
    ("Europe/Berlin", "2028-02-28"),
)
RANGES = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))


def random_field(chosen: random.Random, index: int) -> str:
    low, high = RANGES[index]
    if chosen.random() < 0.45:
        return chosen.choice(["*", "*", "*", f"*/{chosen.randint(1, 40)}"])
    parts = []
    for _ in range(chosen.choice([1, 1, 2, 3])):
        first, second = chosen.randint(low, high), chosen.randint(low, high)
        forms = (f"{first}", f"{first}-{second}", f"{first}-{second}/{second % 9 + 1}", f"{first}/3")
        parts.append(chosen.choice((forms[0], *forms)))
    return ",".join(parts)


@pytest.mark.once
@pytest.mark.parametrize("seed", range(3))
def test_due_times_are_those_of_croniter_asked_anew_after_each(seed: int) -> None:
    croniter = pytest.importorskip("croniter").croniter
    chosen = random.Random(seed)
    compared = 0
    for _ in range(130):
        expr = " ".join(random_field(chosen, index) for index in range(5))
        name, day = chosen.choice(CHANGES)
        zone = ZoneInfo(name)
        begin = at(day, zone) + chosen.uniform(-3 * 86_400, 3 * 86_400)
        begin = begin if chosen.random() < 0.5 else begin // 60 * 60
        schedule = cron(expr)
        try:
            following = expected_times(croniter, expr, begin, zone)
        except (ValueError, TypeError, KeyError):
            assert schedule.kind == "invalid" or next_due(schedule, begin, zone) is None, expr
            continue
        if not following:
            continue
        compared += 1
        where = f"{expr!r} in {name} from {datetime.fromtimestamp(begin, zone).isoformat()}"
        assert next_due(schedule, begin, zone) == following[0], where
        assert due_times(schedule, begin, following[-1], zone) == following, where
    assert compared > 70


def expected_times(croniter: type, expr: str, begin: float, zone: tzinfo) -> list[float]:
    found: list[float] = []
    for _ in range(10):
        local = datetime.fromtimestamp(begin, zone)
        due = croniter(expr, local).get_next(datetime).timestamp()
        if due <= begin:
            # In the second pass of a repeated hour it answers with the first; the host waits for the clock.
            due = datetime.fromtimestamp(due, zone).replace(fold=1).timestamp()
        if due <= begin:
            break
        found.append(due)
        begin = due
    return found
