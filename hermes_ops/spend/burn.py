"""What readings of a balance tell: how fast it falls, when it rose, when it is empty. Pure arithmetic.

Burn is the sum of the falls; a rise (top-up, refund, credit) is an event of its own and never makes up for a
fall. What fell between two readings lies evenly between them, unless this machine was asleep in between: then
it lies at the waking, when the jobs that were missed start all at once.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import tzinfo
from itertools import pairwise
from typing import NamedTuple

from ..core.finding import DAY, HOUR
from ..core.moment import FUTURE_SLACK, day_start

ASLEEP = 3 * HOUR  # nothing of ours ran for so long: the machine slept, or was off
CATCH_UP = 2 * HOUR  # after waking
BURST_SHARE = 0.6  # of a day's burn, from which on it is a catch-up burst and no trend
RECENT = 3 * HOUR
KEPT_DAYS = 28
KEPT_READINGS = 2000  # more than four weeks of a reading every half hour
WEEK = 7
SLOW_RATIO = 2.0
SLOW_DAYS = 5  # of the last seven that must lie above the average of the weeks before
LEAST_BEFORE = 7  # days of history before the last seven
NOISE = 0.005
EARLIEST = 1_735_689_600.0  # 2025: no reading is older; a clock that says so has lost its time
UNKNOWN = float("-inf")  # a time of which nothing is known; what fell then lies in no window


class Seen(NamedTuple):
    """One reading: when it was made by the clock of that moment, and what was left."""

    at: float
    amount: float


class Step(NamedTuple):
    """What happened between two readings: ``fell`` is negative when the balance rose.

    ``since`` and ``until`` bound when, as far as is known. ``slept`` is how long the machine did before that.
    ``id`` is the time of the first reading as it was recorded, the same in every later run.
    """

    since: float
    until: float
    fell: float
    slept: float = 0.0
    id: float = 0.0


@dataclass(frozen=True)
class Burst:
    """The falls right after waking: since when, how much, after how long a sleep."""

    woke: float
    amount: float
    slept: float


@dataclass(frozen=True)
class Slow:
    """The last seven days against the weeks before: amounts a day, and how many days those were."""

    now: float
    before: float
    days: int


@dataclass(frozen=True)
class Burn:
    """What is known of one account's spending.

    today       since midnight in the zone; ``day`` in the last 24 hours; ``week`` in the last seven days
    since       the first reading; the sums above hold from then on
    rises       steps of the last 24 hours in which it rose; what was spent meanwhile does not show
    pace        currency a second, the faster of the last 24 h and 3 h without a burst; None: not known yet
    empty_in    seconds at that pace; None: not known, or it does not fall
    burst       set when most of the last 24 hours was spent right after waking
    """

    left: float
    since: float
    today: float
    day: float
    week: float
    rises: tuple[Step, ...]
    pace: float | None
    empty_in: float | None
    burst: Burst | None
    slow: Slow | None


def burn(readings: Sequence[Seen], awake: Sequence[float], now: float, zone: tzinfo) -> Burn | None:
    """Sum up the readings, given in the order in which they were made; None without any.

    ``awake`` are times at which something of ours ran on this machine.
    """
    if not readings:
        return None
    times, now = ordered_times([reading.at for reading in readings], now)
    done = steps(readings, times, awake)
    first = next((at for at in times if at > UNKNOWN), now)
    day = fallen(done, now - DAY, now)
    burst = _burst(done, now, day)
    pace = _pace(done, first, now, burst)
    left = readings[-1].amount
    return Burn(
        left=left,
        since=first,
        today=fallen(done, day_start(now, zone), now),
        day=day,
        week=fallen(done, now - WEEK * DAY, now),
        rises=tuple(step for step in done if step.fell <= -NOISE and now - step.until < DAY),
        pace=pace,
        empty_in=left / pace if pace else None,
        burst=burst,
        slow=_slow(done, first, now),
    )


def steps(readings: Sequence[Seen], times: Sequence[float], awake: Sequence[float]) -> list[Step]:
    """The steps between readings in the order they were made, at `times` that ascend."""
    found, signs = [], sorted(awake)
    for (first, second), (since, until) in zip(pairwise(readings), pairwise(times), strict=True):
        slept = 0.0
        if until - since >= ASLEEP and since > UNKNOWN:
            woke, silence = _longest_silence(since, until, signs)
            if silence >= ASLEEP:
                since, slept = woke, silence
        found.append(Step(since, until, first.amount - second.amount, slept, first.at))
    return found


def ordered_times(times: Sequence[float], now: float) -> tuple[list[float], float]:
    """The times made to ascend, and the time it really is.

    A clock that was wrong for a while leaves times that do not agree with the order of the readings: the
    longest ascending part of them stands, the others are moved back to the one before them. Those before all
    that stand are of an UNKNOWN time. Where by far the most readings lie ahead of the clock, it is the clock
    that is wrong now, and it is taken to be as late as the last of them. A time before EARLIEST (a machine
    that starts in 1970) never stands beside sound ones, however few these are.
    """
    sound = [index for index, at in enumerate(times) if at >= EARLIEST]
    if sound and now < EARLIEST:
        standing = _longest_ascending(sound, times)
        return _moved_back(times, standing, times[max(standing)])
    usable = sound or range(len(times))
    ascend = all(earlier <= later for earlier, later in pairwise(times))
    if ascend and len(usable) == len(times) and (not times or times[-1] <= now):
        return list(times), now
    standing = _longest_ascending([index for index in usable if times[index] <= now + FUTURE_SLACK], times)
    if len(usable) > 2 * len(standing):
        whatever = _longest_ascending(usable, times)
        if len(whatever) > 2 * len(standing):
            standing, now = whatever, times[max(whatever)]
    return _moved_back(times, standing, now)


def _moved_back(times: Sequence[float], standing: set[int], now: float) -> tuple[list[float], float]:
    """The times, those that do not stand moved back to the last one before them that does."""
    result: list[float] = []
    last = UNKNOWN
    for index, at in enumerate(times):
        if index in standing:
            last = at
        result.append(min(last, now))
    return result, now


def fallen(done: Sequence[Step], since: float, until: float) -> float:
    """The sum of the falls in (since, until]; a step that lies across a bound counts in its part."""
    total = 0.0
    for index in range(bisect_right(done, since, key=_until), len(done)):
        step = done[index]
        if step.since > until:
            break
        if step.fell <= 0:
            continue
        length = step.until - step.since
        inside = min(step.until, until) - max(step.since, since)
        if length <= 0:
            total += step.fell
        elif inside > 0:
            total += step.fell * inside / length
    return total


def _until(step: Step) -> float:
    return step.until


def _longest_ascending(indexes: Sequence[int], times: Sequence[float]) -> set[int]:
    """The longest subsequence of `indexes` whose times do not descend."""
    tails: list[float] = []
    at_tail: list[int] = []
    before: dict[int, int | None] = {}
    for index in indexes:
        place = bisect_right(tails, times[index])
        before[index] = at_tail[place - 1] if place else None
        if place == len(tails):
            tails.append(times[index])
            at_tail.append(index)
        else:
            tails[place], at_tail[place] = times[index], index
    chain: set[int] = set()
    step: int | None = at_tail[-1] if at_tail else None
    while step is not None:
        chain.add(step)
        step = before[step]
    return chain


def _longest_silence(since: float, until: float, signs: Sequence[float]) -> tuple[float, float]:
    """The end and the length of the longest time without a sign of life within a step; signs ascend."""
    points = [since, *signs[bisect_right(signs, since) : bisect_left(signs, until)], until]
    length, end = max((later - earlier, later) for earlier, later in pairwise(points))
    return end, length


def _burst(done: Sequence[Step], now: float, day: float) -> Burst | None:
    if day <= NOISE:
        return None
    # A step of no length at the waking itself belongs to it.
    bursts = [
        Burst(step.since, fallen(done, step.since - 1.0, min(now, step.since + CATCH_UP)), step.slept)
        for step in done
        if step.slept and now - step.since < DAY
    ]
    largest = max(bursts, key=lambda one: one.amount, default=None)
    return largest if largest is not None and largest.amount >= BURST_SHARE * day else None


def _pace(done: Sequence[Step], first: float, now: float, burst: Burst | None) -> float | None:
    found = []
    for length in (DAY, RECENT):
        begin = max(first, now - length)
        span, amount = now - begin, fallen(done, begin, now)
        if burst is not None:
            end = min(now, burst.woke + CATCH_UP)
            # Asleep it could not spend: only the time after the catching up tells a pace.
            span -= max(0.0, end - max(begin, burst.woke - burst.slept))
            amount -= fallen(done, max(begin, burst.woke - 1.0), end) if end > begin else 0.0
        if span >= min(length, HOUR):
            found.append(max(0.0, amount) / span)
    return max(found, default=None)


def _slow(done: Sequence[Step], first: float, now: float) -> Slow | None:
    days = [
        fallen(done, now - (number + 1) * DAY, now - number * DAY)
        for number in range(KEPT_DAYS)
        if first <= now - (number + 1) * DAY
    ]
    week, before = days[:WEEK], days[WEEK:]
    if len(before) < LEAST_BEFORE:
        return None
    usual = sum(before) / len(before)
    lately = sum(week) / WEEK
    above = sum(1 for amount in week if amount > usual)
    if lately < SLOW_RATIO * usual or above < SLOW_DAYS or lately <= NOISE:
        return None
    return Slow(lately, usual, len(before))
