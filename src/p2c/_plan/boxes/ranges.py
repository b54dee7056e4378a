"""Ranges of values over a box: intervals, and sets of listed values.

Sound because every bound is rounded outwards by at least the error of its operation, so that an interval contains the
exact value of each state of the box.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from p2c._spec.expression import Apply, Choice, Compare, Junction, Member, Name, Number
from p2c._spec.feature import exact

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from p2c._spec.expression import Condition, Expression
    from p2c._spec.feature import Feature, Value

INFINITE = math.inf


class Interval(NamedTuple):
    """The numbers from `low` to `high`, and perhaps the missing value."""

    low: float
    high: float
    missing: bool = False

    @property
    def has_numbers(self) -> bool:
        """Tell whether there is a number."""
        return self.low <= self.high


class Among(NamedTuple):
    """Listed values by their places, and perhaps the missing value."""

    places: frozenset[int]
    missing: bool = False


class Fixed(NamedTuple):
    """One value."""

    value: Value


Range = Interval | Among | Fixed
NOTHING = Interval(INFINITE, -INFINITE, missing=True)


def down(number: float) -> float:
    """Return a number rounded down by one unit in the last place."""
    return math.nextafter(number, -INFINITE)


def up(number: float) -> float:
    """Return a number rounded up by one unit in the last place."""
    return math.nextafter(number, INFINITE)


@lru_cache(maxsize=1 << 16)
def around(number: Fraction) -> tuple[float, float]:
    """Return the floats next to an exact number, twice the same if it is one."""
    try:
        near = float(number)
    except OverflowError:
        return (1e308, INFINITE) if number > 0 else (-INFINITE, -1e308)
    if math.isinf(near) or Fraction(near) == number:
        return near, near
    return down(near), up(near)


def interval_of(value: Value) -> Interval:
    """Return a number or a missing value as an interval."""
    if value is None or isinstance(value, str):
        return NOTHING
    return Interval(*around(exact(value)))


def number_range(range_: Range) -> Interval:
    """Return the range of a numeric feature as an interval."""
    match range_:
        case Interval():
            return range_
        case Fixed(value):
            return interval_of(value)
        case Among():
            raise AssertionError("a number has no listed places")


def hull(one: Interval, other: Interval) -> Interval:
    """Return the smallest interval that contains two others."""
    return Interval(
        min(one.low, other.low), max(one.high, other.high), one.missing or other.missing
    )


def evaluate(
    expression: Expression, ranges: Mapping[str, Range], features: Mapping[str, Feature]
) -> Interval:
    """Return an interval with the value of an expression in all states."""
    match expression:
        case Number(value):
            return Interval(*around(value))
        case Name(name):
            return number_range(ranges[name])
        case Choice(condition, then, otherwise):
            truth = holds(condition, ranges, features)
            if truth is None:
                return hull(evaluate(then, ranges, features), evaluate(otherwise, ranges, features))
            return evaluate(then if truth else otherwise, ranges, features)
        case Apply(function, operands):
            parts = [evaluate(each, ranges, features) for each in operands]
            if not all(each.has_numbers for each in parts):
                return NOTHING
            missing = any(each.missing for each in parts)
            found = _applied(function, parts)
            return found._replace(missing=missing or found.missing)


def _applied(function: str, parts: Sequence[Interval]) -> Interval:
    if function in FUNCTIONS:
        return _by_doubles(function, parts[0])
    return OPERATIONS[function](parts)


def _sum(parts: Sequence[Interval]) -> Interval:
    low, high = parts[0].low, parts[0].high
    for each in parts[1:]:
        low, high = _plus(low, each.low, down), _plus(high, each.high, up)
    return Interval(low, high)


def _product(parts: Sequence[Interval]) -> Interval:
    product = parts[0]
    for each in parts[1:]:
        product = _times(product, each)
    return product


def _absolute(parts: Sequence[Interval]) -> Interval:
    low, high, _ = parts[0]
    if low >= 0:
        return Interval(low, high)
    return Interval(-high, -low) if high <= 0 else Interval(0.0, max(-low, high))


def _plus(one: float, other: float, outwards: Callable[[float], float]) -> float:
    total = one + other
    if math.isnan(total):
        return -INFINITE if outwards is down else INFINITE
    if max(abs(one), abs(other)) < 2**52 and one.is_integer() and other.is_integer():
        return total
    return outwards(total)


def _times(one: Interval, other: Interval) -> Interval:
    products = [
        0.0 if not (a and b) else a * b
        for a in (one.low, one.high)
        for b in (other.low, other.high)
    ]
    low, high = min(products), max(products)
    exactly = all(abs(each) < 2**26 and each.is_integer() for each in (*one[:2], *other[:2]))
    return Interval(low, high) if exactly else Interval(down(low), up(high))


def _over(one: Interval, other: Interval) -> Interval:
    if other.low == 0 == other.high:
        return NOTHING
    if other.low < 0 < other.high:
        return Interval(-INFINITE, INFINITE, missing=True)
    missing = other.low <= 0 <= other.high
    if other.low == 0:
        inverse = Interval(0.0 if other.high == INFINITE else down(1 / other.high), INFINITE)
    elif other.high == 0:
        inverse = Interval(-INFINITE, 0.0 if other.low == -INFINITE else up(1 / other.low))
    else:
        inverse = Interval(down(1 / other.high), up(1 / other.low))
        quotients = [_divide(a, b) for a in one[:2] for b in other[:2]]
        if not any(map(math.isnan, quotients)):
            return Interval(down(min(quotients)), up(max(quotients)))
    return _times(one, inverse)._replace(missing=missing)


def _divide(one: float, other: float) -> float:
    return one / other


def _wholes(function: Callable[[float], int]) -> Callable[[Sequence[Interval]], Interval]:
    """Return a monotone function to whole numbers as one of ranges."""

    def apply(number: float) -> float:
        return number if abs(number) >= 2**52 else float(function(number))

    return lambda parts: Interval(apply(parts[0].low), apply(parts[0].high))


OPERATIONS: dict[str, Callable[[Sequence[Interval]], Interval]] = {
    "+": _sum,
    "neg": lambda parts: Interval(-parts[0].high, -parts[0].low),
    "*": _product,
    "/": lambda parts: _over(parts[0], parts[1]),
    "min": lambda parts: Interval(min(p.low for p in parts), min(p.high for p in parts)),
    "max": lambda parts: Interval(max(p.low for p in parts), max(p.high for p in parts)),
    "abs": _absolute,
    "floor": _wholes(math.floor),
    "ceil": _wholes(math.ceil),
    "round": _wholes(round),
}
LEAST = {"log": 0.0, "log1p": -1.0, "sqrt": 0.0}
"""The ends of domains; the end itself belongs to that of `sqrt` alone."""
FUNCTIONS = {"log": math.log, "log1p": math.log1p, "exp": math.exp, "sqrt": math.sqrt}


def _by_doubles(function: str, operand: Interval) -> Interval:
    """Return the range of a function of doubles, with room for its errors."""
    least = LEAST.get(function, -INFINITE)
    open_ = function != "sqrt"
    if operand.high < least or (open_ and operand.high <= least):
        return NOTHING
    missing = operand.low < least or (open_ and operand.low <= least)
    low, high = max(operand.low, least), operand.high
    apply = FUNCTIONS[function]
    if function == "exp":
        missing = missing or high > 709
        lower = apply(low) if low < 709 else 1e307
        upper = apply(high) if high < 709 else INFINITE
    else:
        lower = -INFINITE if open_ and low <= least else apply(low)
        upper = INFINITE if high == INFINITE else apply(high)
    for _ in range(4):
        lower, upper = down(lower), up(upper)
    if function in ("exp", "sqrt"):
        lower = max(lower, 0.0)
    return Interval(lower, upper, missing)


# Conditions.


def holds(
    condition: Condition, ranges: Mapping[str, Range], features: Mapping[str, Feature]
) -> bool | None:
    """Tell whether a condition holds in every state; None if undecided."""
    match condition:
        case Junction("not", parts):
            truth = holds(parts[0], ranges, features)
            return None if truth is None else not truth
        case Junction(word, parts):
            truths = [holds(each, ranges, features) for each in parts]
            decisive = word == "or"
            if decisive in truths:
                return decisive
            return None if None in truths else not decisive
        case Member(name, values):
            return _member(ranges[name], values, features[name])
        case Compare(name, comparator, constant):
            assert isinstance(constant, Fraction)
            return compared(number_range(ranges[name]), comparator, Interval(*around(constant)))


def _member(range_: Range, values: frozenset[str | int | float], feature: Feature) -> bool | None:
    match range_:
        case Fixed(value):
            return value is not None and value in values
        case Among(places, missing):
            inside = [feature.domain.value(place) in values for place in places]
            if any(inside):
                return True if all(inside) and not missing else None
            return False
        case Interval():
            raise AssertionError("a listed feature has no interval")


def compared(left: Interval, comparator: str, right: Interval) -> bool | None:
    """Tell whether a comparison holds always or never; None if undecided."""
    if not (left.has_numbers and right.has_numbers):
        return False
    missing = left.missing or right.missing
    match comparator:
        case "<":
            never, always = left.low >= right.high, left.high < right.low
        case "<=" | "=<":
            never, always = left.low > right.high, left.high <= right.low
        case ">":
            never, always = left.high <= right.low, left.low > right.high
        case ">=":
            never, always = left.high < right.low, left.low >= right.high
        case "=":
            never = left.high < right.low or left.low > right.high
            always = left.low == left.high == right.low == right.high
        case _:
            never = left.low == left.high == right.low == right.high
            always = left.high < right.low or left.low > right.high
    if never:
        return False
    return True if always and not missing else None
