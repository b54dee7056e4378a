"""What an option on a number that a model weighs comes to, place by place: how dear it is, and what it adds to the score.

Within a region rules cannot tell two places apart, but the model can, and each has its price. So an option on such a number is
a course: the places of one region on one side of the person's own, outward. Along it the price never falls, and what the
model adds goes one way. Any other option, and to stay, is a course of one place.

A price is the effort, and a small share of the way gone that tells equal efforts apart and never makes up for more effort.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from p2c._plan.compiled.axis import OFF
from p2c._plan.search.options import Option, Options
from p2c._plan.search.relaxation import STAY
from p2c._spec.feature import Action

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from p2c._plan.compiled.space import Space
    from p2c._plan.compiled.transitions import Transitions
    from p2c._plan.search.gain_tables import GainTable
    from p2c._rules.theory import ParsedModel

WAY_SHARE = 0.25
"""What the ways of all features add to a price at most."""
KEPT = 1_000_000
"""Of how many places it is remembered what they add."""
PIECE = 1.5
"""By what factor distance grows over a piece within which a bent price or gain is taken for straight."""
PIECES = 16
"""Number of equal pieces of a stretch along a curve of which a table is there."""
CREST = 1e-13
"""Share by which the gain of a crest is raised, since floats round."""
MOST_PLACES = 4_000_000
"""Greatest number of places for which the gains of a curve are tabled."""

Gains = tuple[float, ...]


@dataclass(frozen=True)
class SpanOptions(Options):
    """Options of which those on numbers that the model weighs are regions; each of their places is an option once it is met."""

    def on(self, index: int) -> Iterator[Option]:
        """Yield the options on a feature."""
        if index not in self.space.lined_axes or index in self.space.governed_axes:
            yield from super().on(index)
            return
        person, start = self.transitions.person, self.transitions.person.places[index]
        for side in sides(self.transitions, index):
            places = self._afforded(index, side)
            if not places:
                continue
            effort, way = (
                person.effort(index, start, places[0]),
                person.way(index, start, places[0]),
            )
            yield Option(effort, way, index, places[0], places)

    def _afforded(self, index: int, places: range) -> range:
        """Return the part of a course that stays below the ceiling, if there is one."""
        transitions, start = self.transitions, self.transitions.person.places[index]
        if transitions.ceiling is None or transitions.affords(index, start, places[-1]):
            return places
        return places[
            : first_where(
                0, len(places) - 1, lambda step: not transitions.affords(index, start, places[step])
            )
        ]

    @cached_property
    def _places(self) -> dict[tuple[int, int], int]:
        return {}

    def at(self, number: int, place: int) -> int:
        """Return the number of the option that takes a place of a region."""
        known = self._places.get((number, place))
        if known is None:
            person, axis = self.transitions.person, self.listed[number].axis
            start = person.places[axis]
            effort, way = person.effort(axis, start, place), person.way(axis, start, place)
            known = self._places[number, place] = self.add(
                Option(effort, way, axis, place, (place,))
            )
        return known


def sides(transitions: Transitions, index: int) -> Iterator[range]:
    """Yield the places of each region on each side of the person's own, outward; upward where all cost the same."""
    for region in transitions.person.space.axes[index].regions:
        assert isinstance(region, range)
        yield from sides_of(transitions, index, region)


def sides_of(transitions: Transitions, index: int, region: range) -> Iterator[range]:
    """Yield the places of one region on each side of the person's own."""
    person, action = transitions.person, transitions.person.space.axes[index].feature.action
    start = person.places[index]
    if person.missing(index, start):
        yield region
        return
    first = _first_from(transitions, index, region)
    below = range(region[0], first)
    above = range(first + (first == start), region[-1] + 1)
    if below and action is not Action.UP:
        yield below if person.prices.even[index] else below[::-1]
    if above and action is not Action.DOWN:
        yield above


def _first_from(transitions: Transitions, index: int, region: range) -> int:
    """Return the first place of a region that is the person's own or above it; the place after the region if there is none."""
    start = transitions.person.places[index]
    if start == OFF:
        return transitions.first_from(index, region, transitions.position(index, start))
    return min(max(start, region[0]), region[-1] + 1)


class Course(NamedTuple):
    """The places of an option, outward: at distance d a place is priced `base + unit·d + square·d²`.

    `rise` is what each unit of distance adds to the gains of the first place; None where that bends.
    """

    number: int
    axis: int
    places: Sequence[int]
    first: int
    """The distance of the first place, in units of the person's line."""
    stride: int
    """The distance from a place to the next; 0 where they are not even."""
    base: float
    unit: float
    square: float
    gains: Gains
    rise: Gains | None
    survey: Survey
    curve: GainTable | None = None
    """The gains of each place, if a curve reads the feature."""

    @property
    def last(self) -> int:
        """Return the number of the last step, counted from 0."""
        return len(self.places) - 1

    def offset(self, step: int) -> int:
        """Return how far a place is from the first."""
        if self.stride:
            return step * self.stride
        return self.survey.apart(self.axis, self.places[0], self.places[step])

    def price(self, step: int) -> float:
        """Return what a place is priced."""
        return self.price_at(self.offset(step))

    def price_at(self, offset: float) -> float:
        """Return the price at a distance from the first place."""
        d = self.first + offset
        return self.base + (self.unit + self.square * d) * d

    def crest(self, one: int, other: int, margin: int) -> tuple[float, float]:
        """Return a price and a gain beyond the deals between two steps.

        No place between them is a better deal than a mix of all three.

        Sound because gains rise at most as the steepest difference of neighbours does from the first step, and are below
        the last one by at least the flattest; the price is a straight line. Where it bends, or no table is there, the
        price of the nearer step stands beside the better gain.
        """
        near, far = self.gain(one, margin), self.gain(other, margin)
        if self.curve is None or self.square or not self.stride or other <= one:
            return self.price(one), max(near, far)
        ends = self.places[one], self.places[other]
        low, high = self.curve.extremes(min(ends), max(ends), margin)
        if ends[0] > ends[1]:
            low, high = -high, -low
        count = other - one
        at = (far - near - low * count) / (high - low) if high > low else count / 2
        if not 0 <= at <= count:
            return self.price(one), max(near, far)
        gain = near + high * at
        return self.price_at((one + at) * self.stride), gain + CREST * (abs(gain) + abs(near))

    def gain(self, step: int, margin: int) -> float:
        """Return what a place adds to a margin."""
        if self.rise is not None:
            return self.gains[margin] + self.rise[margin] * self.offset(step)
        if self.curve is not None:
            return float(self.curve.values[self.places[step], margin])
        return self.survey.gain(self.axis, self.places[step])[margin]

    def first_step(self, wanted: float, margin: int, near: int, far: int) -> int:
        """Return the first step of a stretch that adds as much as is wanted; the last one where none does."""
        if self.gain(near, margin) >= wanted or self.gain(far, margin) <= self.gain(near, margin):
            return near
        return first_where(near, far, lambda step: self.gain(step, margin) >= wanted)

    def pieces(self, near: int, far: int) -> list[int]:
        """Return steps from one to another such that distance grows by little from each to the next."""
        if self.curve is not None:
            width = max(-(-(far - near) // PIECES), 1)
            return [*range(near, far, width), far]
        found = [near]
        while near < far:
            most = max(self.first + self.offset(near), 1) * PIECE
            low, high = near + 1, far
            while low < high:
                middle = (low + high + 1) // 2
                low, high = (
                    (middle, high)
                    if self.first + self.offset(middle) <= most
                    else (low, middle - 1)
                )
            near = low
            found.append(near)
        return found


def first_where(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """Return the first of some numbers from which on something holds; the last one, unasked, where it holds before none.

    >>> first_where(0, 9, lambda number: number * number >= 10)
    4
    """
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low


@dataclass(frozen=True)
class Survey:
    """What one person's options come to, in prices and gains."""

    options: SpanOptions
    _own: dict[int, Gains] = field(default_factory=dict)
    _courses: dict[tuple[int, int], Course] = field(default_factory=dict)

    @cached_property
    def margins(self) -> int:
        """Return how many margins must be reached."""
        return self.model.margins

    @property
    def model(self) -> ParsedModel:
        """Return the model."""
        model = self.options.space.theory.parsed
        assert model is not None
        return model

    def apart(self, axis: int, one: int, other: int) -> int:
        """Return how far apart two places are."""
        line = self.options.transitions.person.lines[axis]
        return abs(line.position(one) - line.position(other))

    def table(self, axis: int) -> GainTable | None:
        """Return the gains of each place along a curve.

        Returns:
            None if no curve reads the feature, or it has too many places.
        """
        tables = self.options.space.kept(_tables)
        if axis not in tables:
            tables[axis] = _table_of(self.options.space, axis, self.model)
        return tables[axis]

    def gain(self, axis: int, place: int) -> Gains:
        """Return what a place adds to each margin; without bound where the model was not read for it."""
        known = self._own.get(axis) if place == OFF else self._on_grid.get((axis, place))
        if known is None:
            person = self.options.transitions.person
            name, value = person.space.axes[axis].feature.name, person.value(axis, place)
            table = None if place == OFF else self.table(axis)
            if table is None:
                known = self.model.gain(name, value) or (math.inf,) * self.margins
            else:
                known = tuple(table.values[place].tolist())
                self.model.keep_gain(name, value, known)
            if place == OFF:
                self._own[axis] = known
            else:
                if len(self._on_grid) >= KEPT:
                    self._on_grid.clear()
                self._on_grid[axis, place] = known
        return known

    @cached_property
    def _on_grid(self) -> dict[tuple[int, int], Gains]:
        """Return what is known of places on the grid, which add the same for everybody."""
        return self.options.space.kept(_gains)

    @cached_property
    def nothing(self) -> Gains:
        """Return what a feature adds that the model does not read."""
        return (0.0,) * self.margins

    @cached_property
    def per_way(self) -> float:
        """Return the share of a way in a price."""
        person, space = self.options.transitions.person, self.options.space
        most = 1
        for index in self.options.by_axis:
            start, last = person.places[index], space.axes[index].size - 1
            most += sum(person.way(index, start, end) for end in (0, last))
        return 0.0 if space.theory.norm.tells_way else WAY_SHARE / most

    def course(self, axis: int, number: int) -> Course:
        """Return the course of an option on a feature, or of staying; what a governed feature adds is not counted here."""
        known = self._courses.get((axis, number))
        if known is None:
            known = self._courses[axis, number] = self._find_course(axis, number)
        return known

    def _find_course(self, axis: int, number: int) -> Course:
        space = self.options.space
        counts = axis in space.model_places and axis not in space.governed_axes
        base, place = 0.0, self.options.transitions.person.places[axis]
        if number != STAY:
            option = self.options.listed[number]
            if counts and axis in space.lined_axes:
                return self._weighed(number, option)
            base, place = option.effort + option.way * self.per_way, option.end
        gains = self.gain(axis, place) if counts else self.nothing
        return Course(number, axis, (place,), 0, 1, base, 0.0, 0.0, gains, self.nothing, self)

    def may_help(self, course: Course) -> bool:
        """Tell whether some place of a course adds more to some margin than to stay does."""
        own, told = self.course(course.axis, STAY).gains, [course.gains]
        if course.last:
            told.append(self.gain(course.axis, course.places[-1]))
        return any(more > gain for each in told for more, gain in zip(each, own, strict=True))

    def _weighed(self, number: int, option: Option) -> Course:
        person, axis, places = self.options.transitions.person, option.axis, option.among
        start, line = person.places[axis], person.lines[axis]
        base, unit, square, first = option.effort + option.way * self.per_way, 0.0, 0.0, 0
        if not (person.prices.even[axis] or person.missing(axis, start)):
            first = self.apart(axis, start, places[0])
            unit = person.prices.way[axis][0] * self.per_way
            base -= unit * first
            if not person.prices.flat[axis]:
                rate = float(person.prices.per_unit[axis] * person.prices.per_cost)
                base = float(person.prices.per_action)
                linear = person.space.theory.norm.power == 1
                unit, square = (unit + rate, 0.0) if linear else (unit, rate)
        near, far = self.gain(axis, places[0]), self.gain(axis, places[-1])
        apart = self.apart(axis, places[0], places[-1])
        rise: Gains | None = None
        known = all(map(math.isfinite, (*near, *far)))
        if known and self.model.is_straight(person.space.axes[axis].feature.name):
            rise = tuple((b - a) / max(apart, 1) for a, b in zip(near, far, strict=True))
        stride = 0 if line.listed else line.stride
        curve = None if rise is not None else self.table(axis)
        return Course(
            number, axis, places, first, stride, base, unit, square, near, rise, self, curve
        )


def _tables(_: Space) -> dict[int, GainTable | None]:
    return {}


def _table_of(space: Space, axis: int, model: ParsedModel) -> GainTable | None:
    feature = space.axes[axis].feature
    if axis not in space.lined_axes or model.is_straight(feature.name):
        return None
    domain = feature.domain
    if domain.size > MOST_PLACES:
        return None
    # It brings arrays along, which rules alone do without.
    from p2c._plan.search.gain_tables import GainTable

    return GainTable(model.gains(feature.name, domain.numbers()))


def _gains(_: Space) -> dict[tuple[int, int], Gains]:
    return {}
