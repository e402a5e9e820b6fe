import random
from datetime import datetime, timedelta, timezone
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from hermes_ops.core.finding import DAY, HOUR
from hermes_ops.core.moment import day_start
from hermes_ops.spend.burn import UNKNOWN, Seen, burn, fallen, ordered_times, steps

UTC = timezone.utc
BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 11, 29, 18, 0, tzinfo=UTC).timestamp()
HALF_HOUR = 1800.0


def every_half_hour(amounts, until=NOW):
    begin = until - HALF_HOUR * (len(amounts) - 1)
    return [Seen(begin + HALF_HOUR * number, amount) for number, amount in enumerate(amounts)]


def summed(readings, awake=(), now=NOW, zone=UTC):
    return burn(readings, awake, now, zone)


def test_burn_is_the_sum_of_the_falls_and_a_top_up_hides_none_of_them():
    found = summed(every_half_hour([10.0, 7.5, 5.0, 9.0, 8.5]))
    assert found.day == found.today == pytest.approx(5.5)
    assert [-step.fell for step in found.rises] == [4.0]
    assert found.left == 8.5
    over = summed(every_half_hour([10.0, 5.0, 60.0, 59.0]))
    assert over.day == pytest.approx(6.0) and [-step.fell for step in over.rises] == [55.0]


def test_a_small_rise_is_no_smaller_an_event():
    found = summed(every_half_hour([5.0, 4.0, 4.25, 4.0]))
    assert found.day == pytest.approx(1.25)
    assert [-step.fell for step in found.rises] == [0.25]


def test_without_readings_nothing_is_known_and_with_one_no_pace():
    assert summed([]) is None
    found = summed([Seen(NOW, 5.0)])
    assert (found.day, found.pace, found.empty_in) == (0.0, None, None)


def test_today_begins_at_midnight_of_the_zone_and_24_hours_do_not():
    readings = every_half_hour([20.0 - 0.1 * n for n in range(97)])  # two days, 0.2 an hour
    found = summed(readings, zone=BERLIN)
    hours = (NOW - day_start(NOW, BERLIN)) / HOUR
    assert hours == 19
    assert found.today == pytest.approx(0.2 * 19) and found.day == pytest.approx(4.8)


@pytest.mark.parametrize(("date", "hours"), [((2026, 3, 29), 23), ((2026, 10, 25), 25), ((2026, 6, 1), 24)])
def test_a_day_of_23_or_25_hours_is_counted_whole(date, hours):
    end = datetime(*date, tzinfo=BERLIN) + timedelta(days=1)
    now = end.timestamp() - 1.0
    readings = every_half_hour([50.0 - 0.5 * n for n in range(97)], until=end.timestamp())
    found = burn([one for one in readings if one.at <= now], [], now, BERLIN)
    # The last half hour has no reading yet.
    assert found.today == pytest.approx(hours - 0.5) and found.day == pytest.approx(23.5, abs=0.01)


def test_what_fell_over_midnight_is_shared_out():
    midnight = day_start(NOW, UTC)
    found = summed([Seen(midnight - HOUR, 5.0), Seen(midnight + HOUR, 4.0), Seen(NOW, 4.0)])
    assert found.today == pytest.approx(0.5) and found.day == pytest.approx(1.0)


def test_the_pace_is_the_faster_of_the_day_and_the_last_three_hours():
    slow = [10.0] * 49
    found = summed(every_half_hour([*slow, 9.5, 9.0, 8.5, 8.0, 7.5, 7.0]))
    assert found.pace * HOUR == pytest.approx(1.0)
    assert found.empty_in == pytest.approx(7 * HOUR)
    calm = summed(every_half_hour([10.0 - n for n in range(6)] + [5.0] * 60))
    assert calm.day == 0.0 and calm.pace == 0.0 and calm.empty_in is None


# --- sleep


def awake_but_for(begin, end, since=NOW - 5 * DAY, until=NOW):
    times, at = [], since
    while at <= until:
        if not begin < at < end:
            times.append(at)
        at += HALF_HOUR
    return times


def test_what_is_spent_right_after_waking_is_a_burst_and_no_pace():
    slept, woke = NOW - 43 * HOUR, NOW - HOUR
    awake = [at for at in awake_but_for(slept, woke) if at < woke] + [woke, woke + HALF_HOUR, NOW]
    readings = [Seen(at, 10.0) for at in awake if at <= slept]
    readings += [Seen(woke, 9.0), Seen(woke + HALF_HOUR, 7.0), Seen(NOW, 6.9)]
    found = summed(readings, awake)
    assert found.day == pytest.approx(3.1)
    assert found.burst.amount == pytest.approx(3.1) and found.burst.slept == pytest.approx(42 * HOUR)
    assert not found.pace, "a burst tells nothing of the hours to come"

    later = [Seen(NOW + HALF_HOUR * n, 6.9 - 0.5 * n) for n in range(1, 25)]
    awake += [one.at for one in later]
    found = burn(readings + later, awake, later[-1].at, UTC)
    assert found.burst is None, "it went on: that is a trend"
    assert found.pace * HOUR == pytest.approx(1.0)


def test_a_provider_that_was_not_readable_is_no_sleep():
    begin, end = NOW - 30 * HOUR, NOW
    readings = [Seen(begin, 10.0), Seen(end, 7.0)]
    found = summed(readings, awake_but_for(NOW, NOW))
    assert found.burst is None
    assert found.day == pytest.approx(3.0 * 24 / 30), "shared out evenly over the time without readings"


# --- clocks that are wrong


def test_a_clock_that_was_ahead_for_a_while_takes_and_makes_nothing():
    right = [NOW - 10 * HOUR + HALF_HOUR * n for n in range(21)]
    times = [*right[:8], *[at + 3 * DAY for at in right[8:12]], *right[12:]]
    readings = [Seen(at, 20.0 - 0.1 * n) for n, at in enumerate(times)]
    found = summed(readings)
    assert found.day == pytest.approx(2.0) and found.rises == ()
    ahead = burn(readings[:12], [], times[11], UTC)
    assert ahead.rises == ()
    reached = NOW + 3 * DAY  # the true time at which the wrong stamps stood
    more = [Seen(NOW + HALF_HOUR * n, 18.0 - 0.01 * n) for n in range(1, 145)]
    found = burn(readings + more, [], reached, UTC)
    assert found.day == pytest.approx(0.48) and found.rises == ()


def test_a_clock_of_1970_alarms_nobody_and_hides_nothing_afterwards():
    readings = every_half_hour([20.0 - 0.02 * n for n in range(400)])
    lost = [*readings, Seen(100.0, 11.9), Seen(1900.0, 11.8)]
    found = burn(lost, [], 1900.0, UTC)
    assert found.day == pytest.approx(0.02 * 48 + 12.02 - 11.8) and found.rises == ()
    back = [*lost, Seen(NOW + 2 * HOUR, 11.7)]
    found = burn(back, [], NOW + 2 * HOUR, UTC)
    assert found.day == pytest.approx(0.02 * 44 + 12.02 - 11.7, abs=0.001)


@pytest.mark.parametrize("before", [1, 3])
@pytest.mark.parametrize("lost", [1, 3, 5, 40])
@pytest.mark.parametrize("clock", [100.0, 946_684_800.0], ids=["1970", "2000"])
def test_a_clock_that_is_lost_in_the_first_hours_hides_no_fall(before, lost, clock):
    """However few readings were right, and from the moment on at which the clock is right again."""
    times = [NOW - 3 * HOUR + HALF_HOUR * n for n in range(before)]
    times += [clock + HALF_HOUR * n for n in range(lost)]
    times += [NOW - HALF_HOUR, NOW]
    readings = [Seen(at, 20.0 - 0.4 * n) for n, at in enumerate(times)]
    found = burn(readings, [], NOW, UTC)
    assert found.day == pytest.approx(0.4 * (len(times) - 1)) and found.since == NOW - 3 * HOUR
    assert found.rises == ()
    during = burn(readings[: before + lost], [], clock + HALF_HOUR * lost, UTC)
    assert during.day == pytest.approx(0.4 * (before + lost - 1))


def test_readings_of_a_lost_clock_before_all_others_lie_in_no_window():
    readings = [Seen(100.0, 20.0), Seen(1900.0, 19.0), Seen(NOW - 2 * HOUR, 18.0), Seen(NOW, 17.0)]
    found = burn(readings, [], NOW, UTC)
    assert found.day == pytest.approx(1.0) and found.since == NOW - 2 * HOUR


def test_a_machine_that_always_starts_in_1970_burns_no_more_at_its_second_start():
    first = every_half_hour([900.0 - n for n in range(100)], until=NOW - 10 * DAY)
    readings = [*first, Seen(100.0, 800.0), *every_half_hour([500.0 - 0.01 * n for n in range(400)])]
    found = burn([*readings, Seen(160.0, 496.0)], [], 160.0, UTC)
    assert found.day == pytest.approx(0.01 * 48 + 0.01) and found.rises == ()


def test_a_clock_that_goes_astray_twice_to_the_same_time_makes_nothing_up():
    astray = NOW + 400 * DAY
    first = every_half_hour([900.0 - n for n in range(100)], until=NOW - 20 * DAY)
    then = every_half_hour([500.0 - 0.01 * n for n in range(400)])
    readings = [*first, Seen(astray - HOUR, 800.0), *then, Seen(astray, 496.0)]
    found = burn(readings, [], astray, UTC)
    assert found.day == pytest.approx(0.01) and found.rises == ()


def test_times_are_made_to_ascend_and_none_is_to_come():
    assert ordered_times([1.0, 2.0, 900.0, 3.0, 4.0], now=5.0) == ([1.0, 2.0, 2.0, 3.0, 4.0], 5.0)
    assert ordered_times([5000.0, 6000.0, 1.0, 2.0], now=10.0) == ([UNKNOWN, UNKNOWN, 1.0, 2.0], 10.0)
    assert ordered_times([10.0, 11.0, 1.0, 12.0], now=20.0) == ([10.0, 11.0, 11.0, 12.0], 20.0)
    assert ordered_times([100.0], now=50.0) == ([50.0], 50.0), "a little ahead of the clock is now"
    assert ordered_times([5000.0, 6000.0, 7000.0, 1.0], now=2.0) == ([5000.0, 6000.0, 7000.0, 7000.0], 7000.0)
    assert ordered_times([], now=1.0) == ([], 1.0)


def test_no_disorder_of_times_loses_or_makes_up_an_amount():
    chance = random.Random(7)
    for _ in range(200):
        size = chance.randint(2, 60)
        times = [NOW + chance.choice((-1, 1)) * chance.random() * 5 * DAY for _ in range(size)]
        readings = [Seen(at, chance.random() * 20) for at in times]
        ordered, now = ordered_times([one.at for one in readings], NOW)
        assert ordered == sorted(ordered) and all(at <= now for at in ordered)
        done = steps(readings, ordered, [])
        truth = [a.amount - b.amount for a, b in pairwise(readings)]
        assert [step.fell for step in done] == pytest.approx(truth)
        known = sum(max(0.0, step.fell) for step in done if step.since > UNKNOWN)
        assert fallen(done, now - 30 * DAY, now) == pytest.approx(known)


def test_windows_that_meet_share_a_fall_exactly():
    chance = random.Random(3)
    readings = [Seen(NOW - DAY + 977.0 * n, 50.0 - chance.random()) for n in range(80)]
    done = steps(readings, [one.at for one in readings], [])
    middle = NOW - 12.345 * HOUR
    whole = fallen(done, NOW - 2 * DAY, NOW)
    assert fallen(done, NOW - 2 * DAY, middle) + fallen(done, middle, NOW) == pytest.approx(whole)


# --- the slow burn


def days(amounts):
    """Readings ten times a day that fall by `amounts` a day, the last day ending now."""
    left, at, readings = 1000.0, NOW - len(amounts) * DAY, [Seen(NOW - len(amounts) * DAY, 1000.0)]
    for amount in amounts:
        for _ in range(10):
            left, at = left - amount / 10, at + DAY / 10
            readings.append(Seen(at, left))
    return readings


def test_a_week_that_costs_twice_the_weeks_before_is_slow_burn():
    found = summed(days([0.3] * 21 + [0.7] * 7)).slow
    assert (found.now, found.before, found.days) == (pytest.approx(0.7), pytest.approx(0.3), 21)
    assert summed(days([0.3] * 28)).slow is None
    assert summed(days([0.3] * 21 + [0.5] * 7)).slow is None


def test_one_dear_day_or_a_short_history_is_no_slow_burn():
    assert summed(days([0.3] * 21 + [0.3, 0.3, 5.0, 0.3, 0.3, 0.3, 0.3])).slow is None
    assert summed(days([0.1] * 6 + [2.0] * 7)).slow is None
    assert summed(days([0.1] * 7 + [2.0] * 7)).slow.days == 7
