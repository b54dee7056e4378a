"""How sure a share, a median or a difference is: exact binomial intervals, exact tests, seeded bootstraps, Holm's correction."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    Numbers = np.ndarray[Any, np.dtype[np.float64]]

LEVEL = 0.95
DRAWS = 2_000
"""How often a bootstrap draws."""


class Interval(NamedTuple):
    """Where something lies with the confidence of `LEVEL`."""

    low: float
    high: float


def exact_interval(count: int, of: int) -> Interval:
    """Return the interval of Clopper and Pearson for a share.

    >>> [round(each, 4) for each in exact_interval(3, 10)]
    [0.0667, 0.6525]
    """
    tail = (1 - LEVEL) / 2
    low = 0.0 if count == 0 else beta_quantile(tail, count, of - count + 1)
    high = 1.0 if count == of else beta_quantile(1 - tail, count + 1, of - count)
    return Interval(low, high)


def beta_quantile(share: float, a: float, b: float) -> float:
    """Return the number below which a beta-distributed one lies with a probability, by bisection."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if beta_share(middle, a, b) < share else (low, middle)
    return (low + high) / 2


def beta_share(x: float, a: float, b: float) -> float:
    """Return the regularised incomplete beta function, by its continued fraction."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - beta_share(1 - x, b, a)
    ahead = a * math.log(x) + b * math.log1p(-x)
    ahead += math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) - math.log(a)
    return math.exp(ahead) * _fraction(x, a, b)


def _fraction(x: float, a: float, b: float) -> float:
    """Return the continued fraction of the incomplete beta function, evaluated forwards (Lentz's method)."""
    tiny = 1e-300
    value, above = 1.0, 1.0
    below = 1 / ((1 - (a + b) * x / (a + 1)) or tiny)
    value = below
    for m in range(1, 10_000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        step = 1.0
        for term in (even, odd):
            below = 1 / ((1 + term * below) or tiny)
            above = (1 + term / above) or tiny
            step = below * above
            value *= step
        if abs(step - 1) < 1e-14:
            return value
    return value


def share_difference(one: tuple[int, int], other: tuple[int, int]) -> Interval:
    """Return an interval for the difference of two shares, squared and added from their exact ones (Newcombe's way)."""
    share, rest = one[0] / one[1], other[0] / other[1]
    here, there = exact_interval(*one), exact_interval(*other)
    gap = share - rest
    return Interval(
        gap - math.hypot(share - here.low, there.high - rest),
        gap + math.hypot(here.high - share, rest - there.low),
    )


def fisher_test(one: tuple[int, int], other: tuple[int, int]) -> float:
    """Return how probable counts at least as far apart would be if both shares were the same (Fisher's exact test).

    >>> round(fisher_test((1, 10), (9, 10)), 6)
    0.001093
    """
    (count, size), (rest, others) = one, other
    total = count + rest
    first, last = max(0, total - others), min(size, total)
    if first == last:
        return 1.0
    k = np.arange(first, last, dtype=float)
    logs = np.log((total - k) * (size - k)) - np.log((k + 1) * (others - total + k + 1))
    weights = np.concatenate([[0.0], np.cumsum(logs)])
    chances = np.exp(weights - weights.max())
    chances /= chances.sum()
    return float(min(1.0, chances[chances <= chances[count - first] * (1 + 1e-7)].sum()))


def rank_test(strata: Sequence[tuple[Numbers, Numbers]]) -> float:
    """Return how probable ranks at least as far apart would be if both samples of each stratum were alike.

    It is the test of Mann and Whitney, and of van Elteren where there are several strata; ties are accounted for.
    """
    gap = spread = 0.0
    for one, other in strata:
        joined = np.concatenate([one, other])
        _, places, counts = np.unique(joined, return_inverse=True, return_counts=True)
        ranks = (np.cumsum(counts) - (counts - 1) / 2)[places]
        n, m, total = len(one), len(other), len(joined)
        gap += (float(ranks[:n].sum()) - n * (total + 1) / 2) / (total + 1)
        tied = float((counts**3 - counts).sum()) / (total * (total - 1))
        spread += n * m / 12 * (total + 1 - tied) / (total + 1) ** 2
    return math.erfc(abs(gap) / math.sqrt(2 * spread)) if spread > 0 else 1.0


def stratified_test(strata: Sequence[tuple[tuple[int, int], tuple[int, int]]]) -> float:
    """Return how probable shares at least as far apart would be if they were the same in each stratum (Mantel-Haenszel)."""
    gap = spread = 0.0
    for (count, size), (rest, others) in strata:
        total, both = count + rest, size + others
        gap += count - total * size / both
        if both > 1:
            spread += size * others * total * (both - total) / (both**2 * (both - 1))
    if spread <= 0:
        return 1.0
    return math.erfc(max(abs(gap) - 0.5, 0.0) / math.sqrt(2 * spread))


def median(values: Numbers) -> float:
    """Return the smallest value that at least half of some sorted ones do not exceed."""
    return float(values[(len(values) + 1) // 2 - 1])


def median_draws(values: Numbers, rng: np.random.Generator) -> Numbers:
    """Return the medians of samples drawn from sorted values with repetition.

    The k-th smallest of n numbers drawn evenly from 0 to 1 has a beta distribution, so one draw from it is one
    resample's median.
    """
    n = len(values)
    k = (n + 1) // 2
    places = np.ceil(n * rng.beta(k, n - k + 1, DRAWS)).astype(np.int64) - 1
    found: Numbers = values[np.clip(places, 0, n - 1)]
    return found


def middle_of(draws: Numbers) -> Interval:
    """Return the middle part of what a bootstrap drew."""
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(draws, [tail, 1 - tail])
    return Interval(float(low), float(high))


def holm(chances: Sequence[float]) -> list[float]:
    """Return probabilities corrected for their number, by Holm's step-down method.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(chances)), key=chances.__getitem__)
    found, worst = [1.0] * len(chances), 0.0
    for place, number in enumerate(order):
        worst = max(worst, min(1.0, chances[number] * (len(chances) - place)))
        found[number] = worst
    return found
