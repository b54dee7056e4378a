"""One person in the space: their own places, and what each change costs them.

Costs are whole numbers on a scale of the person's own, so that sums in any order compare exactly. One number, the
effort, orders paths as the contract does: the cost first and the number of direct actions second, or the other way
round when actions are minimised. Where equal efforts may go unequally far, the way gone breaks the tie.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from p2c._plan.compiled.axis import OFF
from p2c._spec.feature import Kind, exact
from p2c._spec.spec import Minimize
from p2c.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p2c._plan.compiled.axis import Axis
    from p2c._plan.compiled.space import Space
    from p2c._rules.theory import Theory
    from p2c._spec.cost import Norm
    from p2c._spec.feature import Feature, Value

Places = tuple[int, ...]


class Line(NamedTuple):
    """An ordered axis as whole numbers: listed positions or a stride, the own position, and what one unit measures."""

    listed: tuple[int, ...]
    stride: int
    own: int
    measure: Fraction

    def position(self, place: int) -> int:
        """Return where a place stands on the line."""
        if place == OFF:
            return self.own
        return self.listed[place] if self.listed else place * self.stride


class Prices(NamedTuple):
    """What changes cost a person, in whole numbers: a unit of length, one change where length does not count."""

    denominator: int
    per_unit: tuple[int, ...]
    per_change: tuple[int, ...]
    flat: tuple[bool, ...]
    """Whether all changes of a feature cost the same."""
    even: tuple[bool, ...]
    """Whether all changes of a feature also go as far, by weight and distance."""
    way: tuple[tuple[int, int], ...]
    """How far one unit of length goes, and one change where length does not count; zero where the cost says it all."""
    per_way: int
    """What makes the ways whole numbers."""
    shares: tuple[tuple[int, int], ...]
    """What part of a distance of 1 a unit of length is, as numerator and denominator."""
    per_cost: int
    per_action: int


@dataclass(frozen=True)
class Person:
    """A row placed in the space."""

    space: Space
    values: tuple[Value, ...]
    places: Places
    homes: Places
    """Where the person's values lie even when `places` leaves them open."""
    lines: tuple[Line, ...]
    prices: Prices

    @property
    def off_grid(self) -> bool:
        """Tell whether some value is neither missing nor on the grid."""
        return OFF in self.homes and any(
            home == OFF and value is not None
            for home, value in zip(self.homes, self.values, strict=True)
        )

    def value(self, index: int, place: int) -> Value:
        """Return the value at a place of a feature."""
        if place == OFF:
            return self.values[index]
        return self.space.axes[index].feature.domain.value(place)

    def missing(self, index: int, place: int) -> bool:
        """Tell whether the value at a place is the person's missing one."""
        return place == OFF and self.values[index] is None

    def state(self, places: Places) -> dict[str, Value]:
        """Return a state by feature name."""
        return {
            axis.feature.name: self.value(index, places[index])
            for index, axis in enumerate(self.space.axes)
        }

    def length(self, index: int, start: int, end: int) -> int:
        """Return how far a change goes: 1 where only the change counts, else the units of the feature's line."""
        if self.prices.flat[index]:
            return 1
        return self._units(index, start, end)

    def _units(self, index: int, start: int, end: int) -> int:
        if self.missing(index, start):
            whole = self.space.axes[index].feature.divisor / self.lines[index].measure
            return int(whole) if whole.denominator == 1 else 0
        line = self.lines[index]
        return abs(line.position(end) - line.position(start))

    def effort(self, index: int, start: int, end: int, *, gone: int = 0) -> int:
        """Return the effort of a direct action on a feature that direct actions have already taken some way."""
        prices = self.prices
        if prices.flat[index]:
            length, price = 1, prices.per_change[index]
        elif self.missing(index, start) and not gone:
            return prices.per_change[index] * prices.per_cost + prices.per_action
        else:
            length, price = self._units(index, start, end), prices.per_unit[index]
        return (
            price * self.space.theory.norm.share(length, gone) * prices.per_cost + prices.per_action
        )

    def price(self, index: int, start: int, end: int, *, gone: int = 0) -> int:
        """Return the part of the effort of a direct action that is its cost, in whole numbers."""
        effort = self.effort(index, start, end, gone=gone)
        return (effort - self.prices.per_action) // self.prices.per_cost

    def way(self, index: int, start: int, end: int) -> int:
        """Return how far a direct action goes, where that is more than the effort says."""
        per_unit, per_change = self.prices.way[index]
        if not per_unit or self.missing(index, start):
            return per_change
        return per_unit * self._units(index, start, end)

    def action_cost(self, index: int, start: int, end: int) -> float:
        """Return the cost of one direct action as plans show it: the weight times the distance."""
        prices = self.prices
        weight = prices.per_change[index]
        if prices.flat[index] or self.missing(index, start):
            return weight / prices.denominator
        line = self.lines[index]
        length = abs(line.position(end) - line.position(start))
        above, below = prices.shares[index]
        return weight * length * above / (prices.denominator * below)

    def cost(self, effort: int, *, actions: int) -> float:
        """Return the contract's cost of a path from its effort and its number of direct actions."""
        prices = self.prices
        total = (effort - prices.per_action * actions) // prices.per_cost
        share = total / prices.denominator if total else 0.0
        return self.space.theory.norm.root(share)


def refuse_arithmetic(theory: Theory) -> None:
    """Refuse a problem with equations or arithmetic comparisons."""
    if theory.is_arithmetic:
        raise EngineError(f"not available for a problem with {theory.arithmetic}")


def place_person(space: Space, state: Mapping[str, Value]) -> Person:
    """Return the person whose row this is.

    Raises:
        EngineError: The problem has equations, which the compiled form does not express.
    """
    refuse_arithmetic(space.theory)
    values = tuple([state[name] for name in space.index])
    places = tuple(map(_place, space.theory.features, values))
    on_grid = OFF not in places or all(
        place != OFF or value is None for place, value in zip(places, values, strict=True)
    )
    lines, prices = grid_measures(space) if on_grid else measure(space, values)
    return Person(space, values, places, places, lines, prices)


def grid_measures(space: Space) -> tuple[tuple[Line, ...], Prices]:
    """Return the lines and prices that hold for everyone whose values lie on the grid."""
    return space.kept(_grid_measures)


def _grid_measures(space: Space) -> tuple[tuple[Line, ...], Prices]:
    return measure(space, tuple(axis.feature.domain.value(0) for axis in space.axes))


def measure(space: Space, values: tuple[Value, ...]) -> tuple[tuple[Line, ...], Prices]:
    """Return the lines and prices for a person whose values may lie off the grid."""
    lines = tuple(map(_line, space.axes, values))
    norm = space.theory.norm
    weights = [exact(axis.feature.weight) for axis in space.axes]
    even = tuple(
        weight == 0 or not axis.ordered for axis, weight in zip(space.axes, weights, strict=True)
    )
    flat = tuple(not norm.by_distance or each for each in even)
    shares = [
        line.measure / axis.feature.divisor for axis, line in zip(space.axes, lines, strict=True)
    ]
    units = [weight * norm.share(share) for share, weight in zip(shares, weights, strict=True)]
    counted = [unit for unit, alike in zip(units, flat, strict=True) if not alike]
    denominator = math.lcm(*(each.denominator for each in (*counted, *weights)))
    per_unit = tuple(
        0 if alike else int(unit * denominator) for unit, alike in zip(units, flat, strict=True)
    )
    per_change = tuple(int(weight * denominator) for weight in weights)
    per_cost, per_action = _factors(space, lines, per_unit, per_change)
    ratios = tuple((share.numerator, share.denominator) for share in shares)
    way, per_way = _ways(norm, weights, shares, even)
    return lines, Prices(
        denominator, per_unit, per_change, flat, even, way, per_way, ratios, per_cost, per_action
    )


def _ways(
    norm: Norm, weights: list[Fraction], shares: list[Fraction], even: tuple[bool, ...]
) -> tuple[tuple[tuple[int, int], ...], int]:
    """Return, in whole numbers, how far a unit of length and a change of each feature go; `l1` has it in the cost."""
    if norm.tells_way:
        return ((0, 0),) * len(weights), 1
    units = [
        Fraction(0) if alike else weight * share
        for weight, share, alike in zip(weights, shares, even, strict=True)
    ]
    whole = math.lcm(*(each.denominator for each in (*units, *weights)))
    ways = [
        (int(unit * whole), int(each * whole)) for unit, each in zip(units, weights, strict=True)
    ]
    return tuple(ways), whole


def _factors(
    space: Space, lines: tuple[Line, ...], per_unit: tuple[int, ...], per_change: tuple[int, ...]
) -> tuple[int, int]:
    """Return what effort counts for one unit of cost and for one direct action, so that neither outweighs the other."""
    most_actions = most_cost = 1
    for axis, line, unit, change in zip(space.axes, lines, per_unit, per_change, strict=True):
        times = axis.size + 1 if axis.feature.moves_from is not None else 1
        far = times * (abs(line.position(axis.size - 1)) + abs(line.own) + 1)
        most_cost += unit * space.theory.norm.share(far) + change * times * times
        most_actions += times
    if space.theory.minimize is Minimize.ACTIONS:
        return 1, most_cost
    return most_actions, 1


def _place(feature: Feature, value: Value) -> int:
    place = None if value is None else feature.place(value)
    return OFF if place is None else place


def _line(axis: Axis, value: Value) -> Line:
    feature = axis.feature
    if feature.kind is Kind.CATEGORY:
        return Line((), 1, 0, Fraction(1))
    here = feature.order(value) if value is not None else axis.position(0)
    origin = axis.position(0)
    if feature.step is not None:
        offset = (here - origin) / feature.step
        return Line((), offset.denominator, offset.numerator, feature.step / offset.denominator)
    positions = [axis.position(place) - origin for place in range(axis.size)]
    scale = math.lcm(*(each.denominator for each in (*positions, here - origin)))
    listed = tuple(int(each * scale) for each in positions)
    return Line(listed, 1, int((here - origin) * scale), Fraction(1, scale))
