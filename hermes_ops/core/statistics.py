"""Rates and sums with their uncertainty. "Cannot tell" is a normal answer: None, never a number.

Sources: Wilson (1927); Newcombe (1998) for differences; Fisher (1935); Holm (1979); Mantel and Haenszel
(1959) with the continuity correction; percentile bootstrap (Efron 1979) with a fixed seed, so that the same
data gives the same interval.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeVar

LEAST_SAMPLES = 5
Sample = TypeVar("Sample")


def wilson(successes: int, trials: int, level: float = 0.95) -> tuple[float, float] | None:
    """The Wilson interval of a share; None without trials. ValueError for counts that are none."""
    _counts(successes, trials)
    if trials == 0:
        return None
    z = _z(level)
    share = successes / trials
    spread = z * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    middle, scale = share + z * z / (2 * trials), 1 + z * z / trials
    low = 0.0 if successes == 0 else max(0.0, (middle - spread) / scale)
    high = 1.0 if successes == trials else min(1.0, (middle + spread) / scale)
    return low, high


def difference(a: int, n_a: int, b: int, n_b: int, level: float = 0.95) -> tuple[float, float] | None:
    """Newcombe's interval (his method 10) of a/n_a - b/n_b; None when a side is empty."""
    first, second = wilson(a, n_a, level), wilson(b, n_b, level)
    if first is None or second is None:
        return None
    p, q = a / n_a, b / n_b
    low = p - q - math.hypot(p - first[0], second[1] - q)
    high = p - q + math.hypot(first[1] - p, q - second[0])
    return max(-1.0, low), min(1.0, high)


def two_proportions(a: int, n_a: int, b: int, n_b: int) -> float | None:
    """Two-sided p value that two shares differ (Fisher's exact test); None when a side is empty.

    The sum of all tables with the same margins that are no likelier than this one.
    """
    _counts(a, n_a)
    _counts(b, n_b)
    if n_a == 0 or n_b == 0:
        return None
    hits = a + b
    low, high = max(0, hits - n_b), min(hits, n_a)
    total = _log_choose(n_a + n_b, hits)

    def log_p(x: int) -> float:
        return _log_choose(n_a, x) + _log_choose(n_b, hits - x) - total

    mode = min(high, max(low, (hits + 1) * (n_a + 1) // (n_a + n_b + 2)))
    limit = log_p(a) + 1e-7  # equal probabilities differ in the last digits
    if limit >= log_p(mode):
        return 1.0
    left = _last_at_most(log_p, limit, low, mode)
    right = _last_at_most(lambda x: log_p(-x), limit, -high, -mode)
    p = 0.0
    if left is not None:
        p += _tail(log_p, left, low, -1)
    if right is not None:
        p += _tail(log_p, -right, high, 1)
    return min(1.0, p)


def mantel_haenszel(strata: Sequence[tuple[int, int, int, int]]) -> tuple[float, float] | None:
    """Common odds ratio and p value over strata (a successes, a failures, b successes, b failures).

    Above 1: a has the better odds. None when no stratum can tell (one side or one outcome is empty in each);
    the ratio is infinite when only b ever failed where a could have.
    """
    over = under = seen = expected = variance = 0.0
    for good_a, bad_a, good_b, bad_b in strata:
        cells = (good_a, bad_a, good_b, bad_b)
        if any(not isinstance(cell, int) or cell < 0 for cell in cells):
            raise ValueError(f"a stratum is four counts, not {cells}")
        n_a, n_b, good, bad = good_a + bad_a, good_b + bad_b, good_a + good_b, bad_a + bad_b
        n = n_a + n_b
        if n < 2:
            continue
        over += good_a * bad_b / n
        under += bad_a * good_b / n
        seen += good_a
        expected += n_a * good / n
        variance += n_a * n_b * good * bad / (n * n * (n - 1))
    if variance == 0:
        return None
    distance = max(0.0, abs(seen - expected) - 0.5)
    return (over / under if under else math.inf), math.erfc(distance / math.sqrt(2 * variance))


def holm(p_values: Sequence[float], level: float = 0.05) -> list[bool]:
    """Which of several tests hold at `level` together, in the order given."""
    if any(not 0 <= p <= 1 for p in p_values):
        raise ValueError("a p value lies between 0 and 1")
    held = [False] * len(p_values)
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        if p_values[index] > level / (len(p_values) - rank):
            break
        held[index] = True
    return held


def bootstrap(
    samples: Sequence[Sample],
    statistic: Callable[[Sequence[Sample]], float],
    level: float = 0.95,
    rounds: int = 2000,
    seed: int = 0,
) -> tuple[float, float] | None:
    """Percentile interval of a statistic over resampled runs; None for fewer than five samples.

    Also None when more resamples than lie outside the interval on one side have no value (a division by zero,
    not finite): a cost per success of runs that hardly ever succeed. Takes rounds x samples steps.
    """
    if len(samples) < LEAST_SAMPLES:
        return None
    from random import Random

    choices = Random(seed).choices
    values = []
    for _ in range(rounds):
        try:
            value = statistic(choices(samples, k=len(samples)))
        except ZeroDivisionError:
            continue
        if math.isfinite(value):
            values.append(value)
    outside = (1 - level) / 2
    if rounds - len(values) > outside * rounds:
        return None
    values.sort()
    return _quantile(values, outside), _quantile(values, 1 - outside)


def _quantile(ordered: Sequence[float], share: float) -> float:
    """Linear between the two nearest, as most programs do it by default."""
    at = share * (len(ordered) - 1)
    below = math.floor(at)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (at - below)


def _last_at_most(log_p: Callable[[int], float], limit: float, low: int, mode: int) -> int | None:
    """The largest x in [low, mode] with log_p(x) <= limit, where log_p rises; None when there is none."""
    if log_p(low) > limit:
        return None
    high = mode
    while low < high:
        middle = (low + high + 1) // 2
        if log_p(middle) <= limit:
            low = middle
        else:
            high = middle - 1
    return low


def _tail(log_p: Callable[[int], float], start: int, end: int, step: int) -> float:
    """The sum of p from `start` out to `end`, as far as it matters."""
    total = 0.0
    for x in range(start, end + step, step):
        term = math.exp(log_p(x))
        total += term
        if term < total * 1e-17 or term == 0.0:
            break
    return total


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def _counts(successes: int, trials: int) -> None:
    if not 0 <= successes <= trials:
        raise ValueError(f"{successes} of {trials} is no share")


def _z(level: float) -> float:
    if not 0 < level < 1:
        raise ValueError(f"a level lies between 0 and 1, not {level}")
    if level == 0.95:
        return 1.959963984540054
    from statistics import NormalDist

    return NormalDist().inv_cdf(0.5 + level / 2)
