"""How sure a share, a median or a difference is: exact binomial intervals, exact tests, seeded bootstraps, Holm's correction."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from p2c.errors import P2CError, words_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Numbers = np.ndarray[Any, np.dtype[np.float64]]
    Rows = np.ndarray[Any, np.dtype[np.bool_]]
    Codes = np.ndarray[Any, np.dtype[np.int64]]


MOST = 30
"""How many values a column may have that people are divided by without bands."""
NUMBER = r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?"
BAND = re.compile(rf"(?P<sign><=|>=|<|>)(?P<edge>{NUMBER})|(?P<low>{NUMBER})-(?P<high>{NUMBER})")
UNKNOWN, ELSEWHERE = "unknown", "elsewhere"


@dataclass(frozen=True, slots=True)
class Band:
    """Numbers between two ends, each of which belongs to it where it is closed."""

    text: str
    low: float
    high: float
    closed: tuple[bool, bool]

    def holds(self, numbers: Any) -> Rows:
        """Tell which numbers lie in the band."""
        above = numbers >= self.low if self.closed[0] else numbers > self.low
        below = numbers <= self.high if self.closed[1] else numbers < self.high
        found: Rows = above & below
        return found


@dataclass(frozen=True, slots=True)
class Division:
    """A column by which people are divided, in bands where there are any."""

    column: str
    bands: tuple[Band, ...] = ()

    @property
    def text(self) -> str:
        """Return the division as it is written."""
        return (
            f"{self.column}:{','.join(b.text for b in self.bands)}" if self.bands else self.column
        )


@dataclass(frozen=True, slots=True)
class Group:
    """Some of the people: the traits that they share, none for everybody, and which rows they are."""

    traits: tuple[tuple[str, str], ...]
    rows: Rows

    @property
    def name(self) -> str:
        """Return the traits as text."""
        return ", ".join(f"{column}: {value}" for column, value in self.traits)


def read_divisions(by: str | Sequence[str]) -> tuple[Division, ...]:
    """Return how people are to be divided: `sex`, or `age:<30,30-50,>50`.

    >>> [band.text for band in read_divisions("age:<30,30-50,>50")[0].bands]
    ['<30', '30-50', '>50']
    """
    texts = words_of(by, "by: expected columns such as 'sex' or 'age:<30,30-50,>50'")
    found = tuple(_division(text) for text in texts)
    names = [each.column for each in found]
    for name in names:
        if names.count(name) > 1:
            raise P2CError(f"by: '{name}' is given {names.count(name)} times; give it once")
    return found


def _division(text: str) -> Division:
    column, colon, rest = text.partition(":")
    if not colon:
        return Division(text)
    bands = tuple(_band(text, part.strip()) for part in rest.split(","))
    for one, other in combinations(bands, 2):
        low, high = max(one.low, other.low), min(one.high, other.high)
        shared = one.holds(np.array([low, high])) & other.holds(np.array([low, high]))
        if low < high or (low == high and shared.all()):
            raise P2CError(f"by: {column}: '{one.text}' and '{other.text}' overlap")
    return Division(column, bands)


def _band(text: str, part: str) -> Band:
    match = BAND.fullmatch(part)
    if match is None:
        raise P2CError(f"by: {text}: expected bands such as <30,30-50,>50, found '{part}'")
    if match["sign"]:
        edge, closed = float(match["edge"]), "=" in match["sign"]
        if match["sign"][0] == "<":
            return Band(part, -np.inf, edge, (False, closed))
        return Band(part, edge, np.inf, (closed, False))
    low, high = float(match["low"]), float(match["high"])
    if low > high:
        raise P2CError(f"by: {text}: '{part}' ends below its start")
    return Band(part, low, high, (True, True))


def divide(
    divisions: Sequence[Division], columns: Mapping[str, Sequence[Any]], size: int
) -> list[Group]:
    """Return everybody, the groups of each division, and those of each two divisions that have anybody in them."""
    everybody = Group((), np.ones(size, dtype=bool))
    parts = [list(_groups(each, columns[each.column])) for each in divisions]
    pairs = [
        Group((*one.traits, *other.traits), one.rows & other.rows)
        for first, second in combinations(parts, 2)
        for one in first
        for other in second
    ]
    return [
        everybody,
        *(each for part in parts for each in part),
        *(p for p in pairs if p.rows.any()),
    ]


def _groups(division: Division, column: Sequence[Any]) -> Iterator[Group]:
    if division.bands:
        yield from _banded(division, column)
        return
    names = np.array([_name(each) for each in column], dtype=object)
    values, codes = np.unique(names.astype(str), return_inverse=True)
    if len(values) > MOST:
        raise P2CError(
            f"by: {division.column} has {len(values)} different values, at most {MOST} make groups;"
            f" numbers can be put into bands, such as {division.column}:<30,30-50,>50"
        )
    for number, value in enumerate(values.tolist()):
        yield Group(((division.column, value),), codes == number)


def _banded(division: Division, column: Sequence[Any]) -> Iterator[Group]:
    told = [_number(division, row, each) for row, each in enumerate(column, start=1)]
    numbers = np.array(told, dtype=float)
    rest = ~np.isnan(numbers)
    for band in division.bands:
        rows = band.holds(numbers)
        rest &= ~rows
        yield Group(((division.column, band.text),), rows)
    for name, rows in ((ELSEWHERE, rest), (UNKNOWN, np.isnan(numbers))):
        if rows.any():
            yield Group(((division.column, name),), rows)


def _name(value: Any) -> str:
    return UNKNOWN if is_missing(value) else str(value).strip() or UNKNOWN


def is_missing(value: Any) -> bool:
    """Tell whether a value of any library stands for none."""
    if isinstance(value, float):
        return bool(np.isnan(value))
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def _number(division: Division, row: int, value: Any) -> float:
    try:
        return np.nan if _name(value) == UNKNOWN else float(value)
    except (TypeError, ValueError):
        raise P2CError(
            f"by: {division.column}: bands need numbers, found {str(value)[:60]!r} in row {row}"
        ) from None


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
