"""Cut every feature's values into cells that no test of the rules tells apart.

A number is cut at the constants that the rules mention, so a range of a billion is a handful of cells. A set of cells
is an int whose bits stand for them; the last cell is the missing value.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

from p2c._rules.theory import Test
from p2c._spec.feature import Kind, exact

if TYPE_CHECKING:
    from collections.abc import Iterator
    from fractions import Fraction

    from p2c._rules.theory import Theory
    from p2c._spec.feature import Feature, Number, Value


@dataclass(frozen=True)
class Cells:
    """The cells of one feature, each by one of its values, in order; the missing value comes last."""

    feature: Feature
    samples: tuple[Value, ...]

    @cached_property
    def _orders(self) -> list[Fraction]:
        return [self.feature.order(value) for value in self.samples if value is not None]

    @property
    def all(self) -> int:
        """Return the set of all cells."""
        return (1 << len(self.samples)) - 1

    @property
    def present(self) -> int:
        """Return the set of all cells but the missing value."""
        return self.all >> 1

    def passing(self, test: Test) -> int:
        """Return the cells whose values pass a test."""
        constant = self.feature.order(test.constant)
        below = (1 << bisect_left(self._orders, constant)) - 1
        up_to = (1 << bisect_right(self._orders, constant)) - 1
        sides = {-1: below, 0: up_to & ~below, 1: self.present & ~up_to}
        cells = sum(some for side, some in sides.items() if test.comparator.passes(side))
        return self.all & ~cells if test.negated else cells


def cut(theory: Theory) -> dict[str, Cells]:
    """Return the cells of every feature."""
    constants: dict[str, set[str | int | float]] = {name: set() for name in theory.feature}
    for test in every_test(theory):
        constants[test.feature].add(test.constant)
    return {
        feature.name: Cells(feature, (*_samples(feature, constants[feature.name]), None))
        for feature in theory.features
    }


def every_test(theory: Theory) -> Iterator[Test]:
    """Return the tests of all bodies, of the heads of causal rules, and of the goal."""
    for clause in theory.clauses:
        yield from clause.head
        yield from (each for each in clause.body if isinstance(each, Test))
    yield from (each for each in theory.goal if isinstance(each, Test))


def weighed_features(theory: Theory) -> frozenset[str]:
    """Return the features read by a rule, by the goal, or by the deciding model."""
    bodies = (theory.goal, *(clause.body for clause in theory.clauses))
    tested = frozenset(test.feature for test in every_test(theory))
    return tested.union(*map(theory.reads, bodies))


def _samples(feature: Feature, constants: set[str | int | float]) -> Iterator[Value]:
    if not feature.kind.is_number:
        yield from (feature.domain.value(place) for place in range(feature.domain.size))
        return
    low, high = exact(feature.minimum), exact(feature.maximum)
    numbers = {exact(each) for each in constants if not isinstance(each, str)}
    points = sorted({low, high, *(each for each in numbers if low <= each <= high)})
    for left, right in pairwise(points):
        yield from _at(feature, left)
        yield from _between(feature, left, right)
    yield from _at(feature, points[-1])


def _at(feature: Feature, point: Fraction) -> Iterator[Number]:
    value = math.floor(point) if feature.kind is Kind.INT else float(point)
    if exact(value) == point:
        yield value


def _between(feature: Feature, left: Fraction, right: Fraction) -> Iterator[Number]:
    """Return one value strictly between two points, if there is one."""
    if feature.kind is Kind.INT:
        candidates: list[Number] = [math.floor(left) + 1]
    else:
        middle = float((left + right) / 2)
        candidates = [
            middle,
            math.nextafter(float(left), math.inf),
            math.nextafter(float(right), -math.inf),
        ]
    yield from [each for each in candidates if left < exact(each) < right][:1]
