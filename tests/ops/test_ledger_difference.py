"""What two looks at running totals say: growth, resets, lives within a day, clocks that jump."""

from __future__ import annotations

from datetime import timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_ops.core.ledger_difference import Days, Seen, difference
from tests.ops.made import at

UTC = timezone.utc
NOW = 1795906800.0  # 2026-11-28 23:00 UTC
SNAPSHOT = NOW - 86400
DAYS = Days(UTC)
COUNTS = st.tuples(*[st.integers(0, 10**6)] * 6)


def seen(
    calls=1, usd=0.0, first=SNAPSHOT - 3600, last=NOW - 3600, status="estimated", actual=0.0, residual=False
):
    return Seen((calls, calls * 10, calls, 0, 0, 0), usd, actual, first, last, status, residual)


def test_growth_is_the_difference_and_its_window_ends_with_the_last_call():
    found = difference(seen(5, 1.0, last=SNAPSHOT - 60), seen(8, 1.5), SNAPSHOT, NOW, DAYS)
    assert found.kind == "grown" and found.remember == seen(8, 1.5)
    assert found.grown == ((3, 30, 3, 0, 0, 0), 0.5, "estimated", SNAPSHOT, NOW - 3600)


def test_nothing_new_is_no_growth():
    assert difference(seen(5, 1.0), seen(5, 1.0), SNAPSHOT, NOW, DAYS).grown is None


def test_a_row_born_after_the_snapshot_is_new_as_a_whole():
    born = SNAPSHOT + 600
    grown = difference(None, seen(3, 0.3, first=born), SNAPSHOT, NOW, DAYS).grown
    assert (grown.counts[0], grown.usd, grown.since, grown.until) == (3, 0.3, born, NOW - 3600)


@pytest.mark.parametrize("field", ["calls", "usd", "actual"])
def test_totals_that_went_down_are_a_reset_and_never_negative(field):
    before = seen(5, 1.0, actual=1.0)
    after = seen(**{"calls": 5, "usd": 1.0, "actual": 1.0} | {field: 0})
    found = difference(before, after, SNAPSHOT, NOW, DAYS)
    assert (found.kind, found.grown, found.remember) == ("reset", None, after)


def test_a_row_deleted_and_made_again_counts_as_new():
    before = seen(50, 9.0, first=SNAPSHOT - 7200, last=SNAPSHOT - 3600)
    found = difference(before, seen(2, 0.1, first=NOW - 7200), SNAPSHOT, NOW, DAYS)
    assert found.grown.counts[0] == 2 and found.grown.usd == 0.1


def test_a_first_look_places_only_what_lived_within_one_day():
    within = seen(2, 0.2, first=at("2026-11-27 08:00", UTC), last=at("2026-11-27 21:00", UTC))
    across = seen(2, 0.2, first=at("2026-11-27 23:00", UTC), last=at("2026-11-28 01:00", UTC))
    assert difference(None, within, None, NOW, DAYS).grown.usd == 0.2
    assert difference(None, across, None, NOW, DAYS) == ("unplaced", None, across)
    berlin = Days(ZoneInfo("Europe/Berlin"))
    assert difference(None, across, None, NOW, berlin).kind == "grown"


def test_a_row_without_times_is_not_placed_at_first_and_bounded_by_the_snapshots_later():
    timeless = seen(2, 0.2, first=None, last=None)
    assert difference(None, timeless, None, NOW, DAYS).kind == "unplaced"
    grown = difference(None, timeless, SNAPSHOT, NOW, DAYS).grown
    assert (grown.since, grown.until) == (SNAPSHOT, NOW)


def test_an_old_row_that_turns_up_late_is_no_use_of_today():
    old = seen(9, 3.0, first=SNAPSHOT - 20 * 86400, last=SNAPSHOT - 3600)
    assert difference(None, old, SNAPSHOT, NOW, DAYS).kind == "unplaced"


def test_a_stamp_ahead_of_the_clock_waits_until_its_time_is_sound():
    ahead = seen(5, 1.0, last=NOW + 9000)
    assert difference(seen(1), ahead, SNAPSHOT, NOW, DAYS) == ("future", None, None)
    grown = difference(seen(1), ahead, NOW, NOW + 10_000, DAYS).grown
    assert grown.counts[0] == 4


def test_a_clock_that_went_back_leaves_no_window_that_ends_before_it_begins():
    later = NOW + 86400
    grown = difference(seen(1), seen(4, 0.5), later, NOW, DAYS).grown
    assert grown.since <= grown.until <= NOW


@pytest.mark.parametrize(
    ("status", "estimate", "actual", "usd", "price"),
    [
        ("estimated", 0.5, 0.0, 0.5, "estimated"),
        ("actual", 0.5, 0.4, 0.4, "actual"),
        ("actual", 0.5, 0.0, 0.5, "estimated"),
        ("actual", 0.0, 0.0, 0.0, "actual"),
        ("included", 0.5, 0.0, 0.0, "included"),
        ("unknown", 0.0, 0.0, 0.0, "unknown"),
        ("", 0.02, 0.0, 0.02, "unknown"),
        ("free?", 0.02, 0.0, 0.02, "unknown"),
    ],
)
def test_dollars_go_by_the_hosts_status(status, estimate, actual, usd, price):
    grown = difference(seen(1), seen(2, estimate, status=status, actual=actual), SNAPSHOT, NOW, DAYS).grown
    assert (grown.usd, grown.price) == (usd, price)


def test_a_residual_that_shrinks_and_grows_again_is_counted_once():
    def look(before, usd):
        return difference(before, seen(0, usd, last=None, residual=True), SNAPSHOT, NOW, DAYS)

    first = look(None, 0.5)
    assert first.grown.usd == 0.5
    shrunk = look(first.remember, 0.1)
    assert shrunk.kind == "same"
    held = shrunk.remember or first.remember
    assert look(held, 0.4).grown is None
    assert look(held, 0.7).grown.usd == pytest.approx(0.2)


@given(st.lists(st.tuples(COUNTS, st.integers(0, 10**6), st.floats(0, 86400)), min_size=2, max_size=12))
def test_the_sum_of_the_differences_is_last_minus_first(steps):
    totals, cents, clock, snapshot = [0] * 6, 0, SNAPSHOT, None
    before, booked, dollars = None, [0] * 6, 0.0
    start = None
    for counts, more_cents, seconds in steps:
        clock += seconds
        totals = [a + b for a, b in zip(totals, counts, strict=True)]
        cents += more_cents
        row = Seen(tuple(totals), cents / 100, 0.0, SNAPSHOT - 5 * 86400, clock, "estimated")
        found = difference(before, row, snapshot, clock, DAYS)
        assert found.kind in ("same", "grown", "unplaced")
        if start is None:
            start = (list(totals), cents)
        if found.grown is not None and before is not None:
            assert min(found.grown.counts) >= 0 and found.grown.usd >= 0
            assert snapshot <= found.grown.since <= found.grown.until <= clock
            booked = [a + b for a, b in zip(booked, found.grown.counts, strict=True)]
            dollars += found.grown.usd
        before, snapshot = found.remember or before, clock
    assert booked == [last - first for last, first in zip(totals, start[0], strict=True)]
    assert dollars == pytest.approx((cents - start[1]) / 100, abs=1e-6)


@given(COUNTS, COUNTS, st.floats(0, 100), st.floats(0, 100), st.floats(-10, 10), st.booleans())
def test_no_pair_of_totals_makes_negative_use(old, new, old_usd, new_usd, hours, residual):
    before = Seen(old, old_usd, 0.0, SNAPSHOT - 60, SNAPSHOT, "estimated", residual)
    row = Seen(new, new_usd, 0.0, SNAPSHOT - 60, SNAPSHOT + hours * 3600, "estimated", residual)
    grown = difference(before, row, SNAPSHOT, NOW, DAYS).grown
    if grown is not None:
        assert min(grown.counts) >= 0 and grown.usd >= 0 and grown.since <= grown.until


def test_days_are_those_of_the_zone_on_days_of_23_and_25_hours():
    berlin = ZoneInfo("Europe/Berlin")
    for date in ("2026-03-29", "2026-10-25"):
        days, first = Days(berlin), at(f"{date} 00:00", berlin)
        assert days.same(first, at(f"{date} 23:59", berlin))
        assert not days.same(first, first - 1)
    assert not Days(berlin).same(at("2026-10-25 00:00", berlin), at("2026-10-26 00:00", berlin))
