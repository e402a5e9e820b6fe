"""Rates and sums with their uncertainty. "Cannot tell" is a normal answer: None, never a number.

Sources: Wilson (1927); Newcombe (1998) for differences; Holm (1979); Mantel and Haenszel (1959);
percentile bootstrap (Efron 1979) with a fixed seed, so that the same data gives the same interval.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence


def wilson(successes: int, trials: int, level: float = 0.95) -> tuple[float, float] | None:
    """The Wilson interval of a share; None without trials."""
    raise NotImplementedError


def two_proportions(a: int, n_a: int, b: int, n_b: int) -> float | None:
    """Two-sided p value that two shares differ (Fisher's exact test); None when a side is empty."""
    raise NotImplementedError


def mantel_haenszel(strata: Sequence[tuple[int, int, int, int]]) -> tuple[float, float] | None:
    """Common odds ratio and p value over strata (a successes, a failures, b successes, b failures)."""
    raise NotImplementedError


def holm(p_values: Sequence[float], level: float = 0.05) -> list[bool]:
    """Which of several tests hold at `level` together."""
    raise NotImplementedError


def bootstrap(
    samples: Sequence[object],
    statistic: Callable[[Sequence[object]], float],
    level: float = 0.95,
    rounds: int = 2000,
    seed: int = 0,
) -> tuple[float, float] | None:
    """Percentile interval of a statistic over resampled runs; None for fewer than five samples."""
    raise NotImplementedError
