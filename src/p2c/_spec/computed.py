"""Computed features: equations, their values in a state, and residuals.

The raw equation is its exact value, neither clipped nor rounded. The value of the feature in a state is the raw equation
there plus the person's residual, clipped to the limits and then rounded to the grid. While the raw equation has its
initial value, the feature keeps the value of the row.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from p2c._spec.expression import LARGEST_INT, Expression, evaluate, names
from p2c._spec.feature import exact

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from p2c._spec.feature import Feature, Number, Value

TOLERANCE = Fraction(1, 10**9)
"""Tolerance of a row without residual, relative to its size and at least 1."""
ROUNDING = Fraction(1, 10**12)
"""Relative size of a residual that counts as the rounding of doubles."""


@dataclass(frozen=True)
class Equation:
    """An expression, and the way in which its value becomes the feature's."""

    text: str
    expression: Expression
    keeps_residual: bool
    low: Fraction | None
    high: Fraction | None
    step: Fraction | None
    whole: bool

    @cached_property
    def reads(self) -> frozenset[str]:
        """Return the names that the expression reads."""
        return frozenset(names(self.expression))

    def raw(self, state: Mapping[str, Value]) -> Fraction | None:
        """Return the exact value of the expression; None where it is undefined."""
        return evaluate(self.expression, state)

    def value(self, raw: Fraction) -> Number | None:
        """Return a number clipped and rounded; None if no value can hold it."""
        low, high, step = self.low, self.high, self.step
        number = raw if low is None else max(raw, low)
        number = number if high is None else min(number, high)
        if step is not None:
            base = Fraction(0) if low is None else low
            steps = round((number - base) / step)
            if high is not None:
                steps = min(steps, math.floor((high - base) / step))
            number = base + steps * step
        if self.whole:
            return int(number) if abs(number) <= LARGEST_INT else None
        try:
            return float(number)
        except OverflowError:
            return None


class Mismatch(NamedTuple):
    """A row whose value contradicts an equation without residual."""

    feature: str
    equation: str
    stated: Number
    computed: Number | None


@dataclass(frozen=True)
class Origin:
    """One person's start: initial state, raw equations and residuals there."""

    initial: Mapping[str, Value]
    features: tuple[Feature, ...]
    """The computed features in the order of dependency."""
    raw: Mapping[str, Fraction | None]
    residual: Mapping[str, Fraction]

    def value(self, feature: Feature, raw: Fraction | None) -> Value:
        """Return the value of a computed feature where its raw equation has a value."""
        name, equation = feature.name, feature.equation
        assert equation is not None
        if raw == self.raw[name]:
            return self.initial[name]
        return None if raw is None else equation.value(raw + self.residual[name])

    def recomputed(self, state: Mapping[str, Value]) -> dict[str, Value]:
        """Return a state with every computed feature at its computed value."""
        values = dict(state)
        for feature in self.features:
            assert feature.equation is not None
            values[feature.name] = self.value(feature, feature.equation.raw(values))
        return values

    def lost(self, state: Mapping[str, Value]) -> Iterator[str]:
        """Yield the computed features that became undefined."""
        for feature in self.features:
            name, equation = feature.name, feature.equation
            assert equation is not None
            first = self.raw[name]
            if first is None:
                continue
            raw = equation.raw(state)
            if raw is None or (raw != first and state[name] is None):
                yield name

    @cached_property
    def mismatches(self) -> tuple[Mismatch, ...]:
        """Return where the row contradicts an equation without residual."""
        return tuple(self._mismatches())

    def _mismatches(self) -> Iterator[Mismatch]:
        for feature in self.features:
            equation, stated = feature.equation, self.initial[feature.name]
            assert equation is not None
            if equation.keeps_residual or stated is None or isinstance(stated, str):
                continue
            raw = self.raw[feature.name]
            due = None if raw is None else equation.value(raw)
            if due is None or not _agree(exact(stated), exact(due)):
                yield Mismatch(feature.name, equation.text, stated, due)


def _agree(one: Fraction, other: Fraction) -> bool:
    return abs(one - other) <= TOLERANCE * max(Fraction(1), abs(one), abs(other))


def origin_of(
    features: Iterable[Feature], state: Mapping[str, Value], omitted: Iterable[str] = ()
) -> Origin:
    """Return the start of a person.

    Args:
        features: All features of the problem.
        state: The person's value of every feature; those of omitted features are not read.
        omitted: Computed features that the row does not give: they start at their computed values, without residual.
    """
    ordered = in_order_of_equations(features)
    initial, absent = dict(state), frozenset(omitted)
    for feature in ordered:
        assert feature.equation is not None
        for name in feature.equation.reads:
            initial.setdefault(name, 0)  # a resource, of which nothing is used yet
    raw: dict[str, Fraction | None] = {}
    residual: dict[str, Fraction] = {}
    for feature in ordered:
        name, equation = feature.name, feature.equation
        assert equation is not None
        number = raw[name] = equation.raw(initial)
        residual[name] = Fraction(0)
        if name in absent:
            initial[name] = None if number is None else equation.value(number)
        elif equation.keeps_residual and number is not None:
            residual[name] = _residual(initial[name], number)
    return Origin(initial, ordered, raw, residual)


def _residual(stated: Value, raw: Fraction) -> Fraction:
    if stated is None or isinstance(stated, str):
        return Fraction(0)
    own = exact(stated)
    difference = own - raw
    if abs(difference) <= ROUNDING * max(abs(own), abs(raw)):
        return Fraction(0)
    return difference


def in_order_of_equations(features: Iterable[Feature]) -> tuple[Feature, ...]:
    """Return the computed features in the order of dependency."""
    waiting = [each for each in features if each.equation is not None]
    ordered: list[Feature] = []
    while waiting:
        later = {each.name for each in waiting}
        ready = (e for e in waiting if e.equation is not None and not e.equation.reads & later)
        feature = next(ready, waiting[0])
        waiting.remove(feature)
        ordered.append(feature)
    return tuple(ordered)


def cycle_of(arrows: Mapping[str, Iterable[str]], equations: Iterable[str]) -> list[str] | None:
    """Return a cycle in which an equation takes part; None if there is none.

    Args:
        arrows: For each endogenous feature, the features that it reads.
        equations: The computed features.
    """
    for name in equations:
        path = _path_back(arrows, name)
        if path is not None:
            return path
    return None


def _path_back(arrows: Mapping[str, Iterable[str]], name: str) -> list[str] | None:
    """Return a shortest path of arrows from a feature back to itself."""
    before: dict[str, str] = {}
    waiting = [name]
    for here in waiting:
        for other in arrows.get(here, ()):
            if other == name:
                path = [here]
                while path[-1] != name:
                    path.append(before[path[-1]])
                return [*reversed(path), name]
            if other not in before:
                before[other] = here
                waiting.append(other)
    return None
