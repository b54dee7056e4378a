"""What the slow planner knows of single values: which there are, their order, and how far apart they stand, in exact fractions."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING

from p2c._rules.syntax import Comparator
from p2c._spec.feature import Action, Feature, Grid, Kind, Points, Value

if TYPE_CHECKING:
    from p2c._rules.theory import Test


@cache
def number(value: int | float | Fraction) -> Fraction:
    """Return what the decimal text of a number denotes."""
    return value if isinstance(value, Fraction) else Fraction(repr(value))


def same(one: str | int | float, other: str | int | float) -> bool:
    """Tell whether two values are one; 2 and 2.0 are."""
    if isinstance(one, str) or isinstance(other, str):
        return one == other
    return number(one) == number(other)


def domain_values(feature: Feature) -> list[str | int | float]:
    """Return every admissible value in its order."""
    match feature.domain:
        case Points(values=values):
            return list(values)
        case Grid(start=start, stop=stop, step=step):
            found: list[str | int | float] = []
            each = number(start)
            while each <= number(stop):
                found.append(int(each) if feature.kind is Kind.INT else float(each))
                each += number(step)
            return found


def rank(feature: Feature, value: str | int | float) -> Fraction:
    """Return where a value stands: a number by itself, an ordinal by its place among the values."""
    if feature.kind in (Kind.INT, Kind.FLOAT):
        assert not isinstance(value, str)
        return number(value)
    return Fraction(next(i for i, each in enumerate(domain_values(feature)) if same(each, value)))


def compares(feature: Feature, value: Value, test: Test) -> bool:
    """Tell whether a comparison holds, its negation aside; never with a missing value."""
    if value is None:
        return False
    if test.comparator is Comparator.EQ:
        return same(value, test.constant)
    if test.comparator is Comparator.NE:
        return not same(value, test.constant)
    one, other = rank(feature, value), rank(feature, test.constant)
    match test.comparator:
        case Comparator.LT:
            return one < other
        case Comparator.LE:
            return one <= other
        case Comparator.GT:
            return one > other
        case _:
            return one >= other


def goes(feature: Feature, start: Value, end: str | int | float) -> bool:
    """Tell whether a feature may go from start to end without restrictions."""
    if feature.moves is not None and start is not None:
        ends = [end for begin, ends in feature.moves if same(begin, start) for end in ends]
        if not any(same(end, each) for each in ends):
            return False
    return _acts(feature, feature.effect_action or feature.action, start, end)


def _acts(feature: Feature, action: Action, start: Value, end: str | int | float) -> bool:
    if action is Action.FIXED:
        return False
    if start is None:
        return True
    if action is Action.UP:
        return rank(feature, end) > rank(feature, start)
    if action is Action.DOWN:
        return rank(feature, end) < rank(feature, start)
    return True


def may_end(feature: Feature, start: Value, end: str | int | float) -> bool:
    """Tell whether one person lets a change of value be."""
    if not _acts(feature, feature.action, start, end):
        return False
    if feature.targets is None:
        return True
    return any(same(end, each) for each in domain_values(replace(feature, domain=feature.targets)))


def distance(feature: Feature, start: Value, end: str | int | float) -> Fraction:
    """Return how far a change goes."""
    if start is None:
        return Fraction(1)
    if feature.kind is Kind.CATEGORY:
        return Fraction(0 if same(start, end) else 1)
    apart = abs(rank(feature, end) - rank(feature, start))
    if feature.kind is Kind.ORDINAL:
        return apart / (max(len(domain_values(feature)) - 1, 1))
    if feature.scale is not None:
        return apart / number(feature.scale)
    return apart / ((number(feature.maximum) - number(feature.minimum)) or 1)
