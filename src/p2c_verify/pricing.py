"""Exact costs: one integer for each change, and lower bounds for changes into a set of values.

A measure is a pair (number of direct actions, cost) where actions are minimized first, else (0, cost). All costs are
multiplied by one common denominator. Under `l2` the cost is the sum of squares; under `linf` the largest term.
"""

from __future__ import annotations

import math
from fractions import Fraction

from p2c_verify.problem import FAR, Feature, Problem, Spans, ValueSet, intersect, union

Measure = tuple[int, int]
INFINITE: Measure = (FAR, FAR)


class Pricing:
    """The costs of one problem in integers."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.norm, self.fewest = problem.norm, problem.fewest
        power = 2 if self.norm == "l2" else 1
        units = [
            each.weight * (Fraction(1, each.scale) / each.divisor) ** power
            for each in problem.features
        ]
        weights = [each.weight for each in problem.features]
        self.common = math.lcm(1, *(each.denominator for each in [*units, *weights]))
        self.steps = [int(each * self.common) for each in units]
        self.flat = [int(each * self.common) for each in weights]
        self.count = 1 if self.fewest else 0
        self.causes = frozenset(each.feature for each in problem.causes)
        self.hops = {each.index: _hops(each) for each in problem.features if each.moves is not None}

    def price(self, feature: int, length: int | None) -> int:
        """Return what a feature adds to the cost by the total length of its changes."""
        if length is None or self.norm == "l0":
            return self.flat[feature]
        return self.steps[feature] * (length * length if self.norm == "l2" else length)

    def combine(self, one: Measure, other: Measure) -> Measure:
        """Return the measure of two features together."""
        cost = max(one[1], other[1]) if self.norm == "linf" else one[1] + other[1]
        return one[0] + other[0], cost

    def change(self, feature: Feature, actions: int, length: int | None) -> Measure:
        """Return the measure of a feature's direct actions, from their number and total length."""
        cost = self.price(feature.index, length)
        return actions * self.count, cost * actions if self.norm == "l0" else cost

    def least(self, feature: Feature, origin: ValueSet | None, targets: Spans) -> Measure:
        """Return a lower bound on the measure of changing a feature into a set of values.

        Args:
            feature: The feature.
            origin: Values that it may have before the change; None if unknown.
            targets: Values that the last change may set.
        """
        if feature.moves is not None:
            return self._least_by_moves(feature, origin, targets)
        if self.norm == "l0" or feature.kind == "category":
            return self.change(feature, 1, 1)
        if origin is None:
            return self.change(feature, 1, 0)
        found = []
        if origin.missing:
            found.append(self.change(feature, 1, length(feature, None, 0)))
        for low, high in origin.spans:
            for first, last in targets:
                gap = max(first - high, low - last, 0)
                if gap == 0 and low == high:
                    gap = _step_beside(feature, low, (first, last))
                found.append(self.change(feature, 1, gap))
        return min(found, default=INFINITE)

    def _least_by_moves(self, feature: Feature, origin: ValueSet | None, targets: Spans) -> Measure:
        if origin is None or origin.missing or feature.index in self.causes:
            return self.change(feature, 1, 0)
        ends = [end for low, high in targets for end in range(low, high + 1)]
        starts = [value for low, high in origin.spans for value in range(low, high + 1)]
        ways = [self.hops[feature.index][start][end] for start in starts for end in ends]
        found = [way for way in ways if way is not None and way[0]]
        if not found:
            return INFINITE
        return self.change(feature, min(way[0] for way in found), min(way[1] for way in found))

    def affordable(
        self,
        feature: Feature,
        origin: ValueSet | None,
        targets: Spans,
        rest: Measure,
        claim: Measure,
    ) -> Spans:
        """Return the targets that leave a plan below the claim.

        Args:
            feature: The feature.
            origin: Values that it may have before the change; None if unknown.
            targets: Values that are still open.
            rest: Lower bound on the measure of all other features.
            claim: The measure that a cheaper plan must stay below.
        """
        least = self.least(feature, origin, targets)
        if self.combine(rest, least) >= claim:
            return ()
        flat = self.norm == "l0" or feature.kind == "category" or feature.moves is not None
        if claim == INFINITE or origin is None or flat or origin.missing:
            return targets
        if self.fewest and rest[0] + least[0] < claim[0]:
            return targets
        if not self.steps[feature.index]:
            return targets
        budget = claim[1] - 1 - (0 if self.norm == "linf" else rest[1])
        reach = budget // self.steps[feature.index]
        if self.norm == "l2":
            reach = math.isqrt(reach)
        near: Spans = ()
        for low, high in origin.spans:
            near = union(near, ((low - reach, high + reach),))
        return feature.snap(intersect(targets, near))


def length(feature: Feature, start: int | None, end: int | None) -> int | None:
    """Return the length of a change in steps of the scale; None stands for a distance of 1 of a number."""
    if start is None or end is None:
        return int(feature.divisor) if feature.listed else None
    return 1 if feature.kind == "category" else abs(end - start)


def _step_beside(feature: Feature, value: int, span: tuple[int, int]) -> int:
    """Return the distance to the nearest other value of a span around a value."""
    above, below = feature.least(value + 1), feature.greatest(value - 1)
    gaps = [FAR]
    if above is not None and above <= span[1]:
        gaps.append(above - value)
    if below is not None and below >= span[0]:
        gaps.append(value - below)
    return min(gaps)


def _hops(feature: Feature) -> list[list[tuple[int, int] | None]]:
    """Return, between each two values, the fewest moves and the least total length."""
    assert feature.moves is not None
    size = len(feature.moves)
    table: list[list[tuple[int, int] | None]] = [[None] * size for _ in range(size)]
    for start, ends in enumerate(feature.moves):
        table[start][start] = (0, 0)
        for end in ends:
            up_only, down_only = feature.action == "up", feature.action == "down"
            if start != end and not (up_only and end < start) and not (down_only and end > start):
                table[start][end] = (1, length(feature, start, end) or 0)
    for middle in range(size):
        for start in range(size):
            for end in range(size):
                first, second = table[start][middle], table[middle][end]
                if first is None or second is None:
                    continue
                count, far = first[0] + second[0], first[1] + second[1]
                known = table[start][end] or (count, far)
                table[start][end] = min(count, known[0]), min(far, known[1])
    return table
