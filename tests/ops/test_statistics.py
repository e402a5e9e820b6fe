"""Statistics against published values, and against slower ways of counting the same."""

from __future__ import annotations

import math
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_ops.core.statistics import (
    bootstrap,
    difference,
    holm,
    mantel_haenszel,
    two_proportions,
    wilson,
)

# Admissions to Berkeley in 1973, six departments: men admitted, men rejected, women admitted, women rejected.
BERKELEY = [
    (512, 313, 89, 19),
    (353, 207, 17, 8),
    (120, 205, 202, 391),
    (138, 279, 131, 244),
    (53, 138, 94, 299),
    (22, 351, 24, 317),
]
# Kidney stones (Charig 1986), small and large: open surgery healed, not; puncture healed, not.
STONES = [(81, 6, 234, 36), (192, 71, 55, 25)]


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [
        (34, 41, 0.687, 0.915),
        (0, 10, 0.0, 0.278),
        (10, 10, 0.722, 1.0),
        (81, 263, 0.2553, 0.3662),  # Newcombe 1998
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_gives_the_published_intervals(successes: int, trials: int, low: float, high: float) -> None:
    found = wilson(successes, trials)
    assert found is not None
    assert found == pytest.approx((low, high), abs=6e-4)


@settings(deadline=None)
@given(st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_holds_the_share_and_mirrors(counts: tuple[int, int]) -> None:
    successes, trials = counts
    low, high = wilson(successes, trials)
    assert 0 <= low <= successes / trials <= high <= 1
    other = wilson(trials - successes, trials)
    assert (1 - high, 1 - low) == pytest.approx(other, abs=1e-12)
    wider = wilson(successes, trials, 0.99)
    assert wider[0] <= low and wider[1] >= high


def test_without_trials_nothing_can_be_told() -> None:
    assert wilson(0, 0) is None
    assert difference(1, 2, 0, 0) is None
    assert two_proportions(0, 0, 3, 5) is None
    assert mantel_haenszel([]) is None
    assert mantel_haenszel([(5, 0, 7, 0), (0, 3, 0, 9), (4, 4, 0, 0)]) is None


@pytest.mark.parametrize(("a", "n"), [(-1, 3), (4, 3)])
def test_counts_that_are_none_are_refused(a: int, n: int) -> None:
    with pytest.raises(ValueError, match="no share"):
        wilson(a, n)
    with pytest.raises(ValueError, match="no share"):
        two_proportions(1, 2, a, n)
    with pytest.raises(ValueError, match="four counts"):
        mantel_haenszel([(a, 1, 1, -1)])


@pytest.mark.parametrize(
    ("table", "low", "high"),
    [  # Newcombe 1998, method 10
        ((56, 70, 48, 80), 0.0524, 0.3339),
        ((9, 10, 3, 10), 0.1705, 0.8090),
        ((5, 56, 0, 29), -0.0381, 0.1926),
        ((10, 10, 0, 20), 0.6791, 1.0),
    ],
)
def test_difference_gives_newcombes_intervals(table: tuple[int, ...], low: float, high: float) -> None:
    assert difference(*table) == pytest.approx((low, high), abs=1e-4)


def test_fisher_tastes_tea() -> None:
    assert two_proportions(3, 4, 1, 4) == pytest.approx(0.4857, abs=1e-4)
    assert two_proportions(4, 4, 0, 4) == pytest.approx(2 / 70)


def test_fisher_gives_published_values() -> None:
    # Agresti: twins of convicts, 10 of 13 identical against 2 of 17 (0.0005367 two-sided).
    assert two_proportions(10, 13, 2, 17) == pytest.approx(0.0005367, rel=1e-3)
    assert two_proportions(1, 10, 11, 14) == pytest.approx(0.002759, rel=1e-3)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 14), st.integers(1, 14), st.data())
def test_fisher_is_the_sum_over_all_tables(n_a: int, n_b: int, data: st.DataObject) -> None:
    a, b = data.draw(st.integers(0, n_a)), data.draw(st.integers(0, n_b))
    ways = {
        x: math.comb(n_a, x) * math.comb(n_b, y)
        for x, y in product(range(n_a + 1), range(n_b + 1))
        if x + y == a + b
    }
    expected = sum(way for way in ways.values() if way <= ways[a]) / sum(ways.values())
    assert two_proportions(a, n_a, b, n_b) == pytest.approx(expected, rel=1e-6)
    assert two_proportions(b, n_b, a, n_a) == pytest.approx(expected, rel=1e-6)


def test_fisher_of_millions_is_counted_from_the_tails() -> None:
    assert two_proportions(500_000, 1_000_000, 500_000, 1_000_000) == 1.0
    assert 0.04 < two_proportions(500_000, 1_000_000, 501_400, 1_000_000) < 0.06
    assert two_proportions(0, 1_000_000, 1_000_000, 1_000_000) == 0.0


def test_strata_give_the_published_odds_of_berkeley() -> None:
    ratio, p = mantel_haenszel(BERKELEY)
    assert ratio == pytest.approx(0.9047, abs=1e-4)
    assert p == pytest.approx(0.2323, abs=1e-4)


def test_strata_turn_simpsons_paradox_round() -> None:
    healed = [sum(one[0] for one in STONES), sum(one[2] for one in STONES)]
    assert healed == [273, 289]  # of 350 each: puncture looks better
    together, _ = mantel_haenszel([tuple(map(sum, zip(*STONES, strict=True)))])
    apart, _ = mantel_haenszel(STONES)
    assert together < 1 < apart


def test_odds_are_infinite_when_only_the_other_side_failed() -> None:
    ratio, p = mantel_haenszel([(10, 0, 5, 5)])
    assert ratio == math.inf
    assert p < 0.05


def test_holm_steps_down_and_stops() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == [True, False, False, True]
    assert holm([0.01, 0.02, 0.03]) == [True, True, True]
    assert holm([0.06, 0.01, 0.6]) == [False, True, False]
    assert holm([]) == []
    with pytest.raises(ValueError, match="between 0 and 1"):
        holm([0.1, float("nan")])


def test_bootstrap_of_a_ratio_covers_it_and_repeats() -> None:
    runs = [(0.04 + 0.01 * (n % 3), n % 6 != 0) for n in range(60)]  # 50 of 60 succeed

    def per_success(sample: list[tuple[float, bool]]) -> float:
        return sum(cost for cost, _ in sample) / sum(ok for _, ok in sample)

    found = bootstrap(runs, per_success, rounds=500)
    assert found == bootstrap(runs, per_success, rounds=500)
    assert found[0] < per_success(runs) < found[1]
    assert found == pytest.approx((0.0545, 0.0675), abs=0.004)
    assert bootstrap(runs, per_success, rounds=500, seed=1) != found


def test_bootstrap_of_a_mean_is_as_wide_as_its_standard_error() -> None:
    values = [float(n) for n in range(200)]
    low, high = bootstrap(values, lambda sample: sum(sample) / len(sample), rounds=1000)
    half = 1.96 * math.sqrt((200**2 - 1) / 12 / 200)
    assert (low, high) == pytest.approx((99.5 - half, 99.5 + half), abs=1.5)


def test_bootstrap_cannot_tell_from_too_little() -> None:
    assert bootstrap([1.0, 2.0, 3.0, 4.0], max) is None
    never = [(1.0, False)] * 19 + [(1.0, True)]
    assert bootstrap(never, lambda s: sum(c for c, _ in s) / sum(ok for _, ok in s), rounds=300) is None
