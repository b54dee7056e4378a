"""The direct actions of each feature, as positions on an axis.

Positions are targets in the order of the domain, or ways along moves. A named action has an axis of its own, with its
repetitions as positions.

Where effects may change a feature as well, its moves are sequences of targets: what is permitted is known only on a path.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import permutations
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from p2c._spec.cost import Norm
from p2c._spec.feature import permits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from p2c._plan.boxes.person import Person, Totals
    from p2c._rules.theory import Theory
    from p2c._spec.feature import Feature, Value
    from p2c._spec.resources import NamedAction

MOST_TRAILS = 200_000
"""Maximum number of ways along the moves of one feature."""


class Open(NamedTuple):
    """The open part of an axis: whether to stay, and the positions that are left."""

    stays: bool
    low: int
    high: int

    @property
    def acts(self) -> bool:
        """Tell whether an action is open."""
        return self.low <= self.high

    @property
    def is_single(self) -> bool:
        """Tell whether one choice is left."""
        return not self.acts if self.stays else self.low == self.high


@dataclass(frozen=True)
class Axis:
    """The direct actions of one feature.

    Attributes:
        person: Whose feature it is.
        place: The feature's place in the problem.
        targets: The places of the targets in the domain; for a feature with moves empty.
        trails: The ways along its moves, each as the places of its targets.
        free: Whether effects or named actions may change the feature as well, so that no distance is known beforehand.
    """

    person: Person
    place: int
    targets: Sequence[int]
    trails: tuple[tuple[int, ...], ...]
    free: bool
    _shares: dict[int, tuple[int, int, int]] = field(default_factory=dict, compare=False)
    _least: dict[tuple[int, int], tuple[int, int, int] | None] = field(
        default_factory=dict, compare=False
    )

    @property
    def feature(self) -> Feature:
        """Return the feature."""
        return self.person.features[self.place]

    @property
    def size(self) -> int:
        """Return the number of positions."""
        return len(self.trails) or len(self.targets)

    def trail(self, position: int) -> tuple[int, ...]:
        """Return the places of the targets of a position."""
        return self.trails[position] if self.trails else (self.targets[position],)

    def value(self, place: int) -> Value:
        """Return the value at a place of the domain."""
        return self.feature.domain.value(place)

    def ends(self, position: int) -> Value:
        """Return the last target of a position."""
        return self.value(self.trail(position)[-1])

    def share(self, position: int) -> tuple[int, int, int]:
        """Return the least cost share, distance and number of actions of a position."""
        if position not in self._shares:
            self._shares[position] = self._share(position)
        return self._shares[position]

    def _share(self, position: int) -> tuple[int, int, int]:
        person, start = self.person, self.person.initial[self.place]
        trail = self.trail(position)
        if self.free:
            zero = person.theory.norm is not Norm.L0
            return 0 if zero else len(trail), 0, len(trail)
        far = 0
        for place in trail:
            value = self.value(place)
            far += person.length(self.place, start, value)
            start = value
        match person.theory.norm:
            case Norm.L0:
                share = len(trail)
            case Norm.L2:
                share = far**2
            case _:
                share = far
        return share, far, len(trail)

    def repeats(self, position: int) -> int:
        """Return the number of repetitions of a named action: none."""
        return 0

    def rest(self, position: int, done: int) -> Totals:
        """Return the least amounts that the later actions of a position use."""
        trail, start = self.trail(position), self.person.initial[self.place]
        if self.free:
            return self._amounts(len(trail) - done, 0)
        total = self._amounts(0, 0)
        for number, place in enumerate(trail):
            value = self.value(place)
            if number >= done:
                total = _sum(total, self.person.used(self.place, start, value))
            start = value
        return total

    def least_used(self, low: int, high: int) -> Totals:
        """Return amounts that no position of a range uses less than."""
        least = self.least(low, high)
        if least is None:
            return self._amounts(0, 0)
        return self._amounts(least[2], Fraction(least[1], self.person.measure.lengths))

    def most_used(self, low: int, high: int) -> Totals:
        """Return amounts that no position of a range uses more than.

        Sound because a distance on a line is largest at an end of a range, and a change from a value that effects have
        set goes no further than the range of all values.
        """
        if self.trails or self.free:
            count = max(len(self.trail(each)) for each in (range(low, high + 1)))
            return self._amounts(count, count * self._farthest)
        ends = (low, high) if isinstance(self.targets, range) else range(low, high + 1)
        far = max(self.share(each)[1] for each in ends)
        return self._amounts(1, Fraction(far, self.person.measure.lengths))

    @cached_property
    def _farthest(self) -> Fraction:
        feature, start = self.feature, self.person.initial[self.place]
        if not feature.has_order:
            return Fraction(1)
        ends = [feature.domain.value(0), feature.domain.value(feature.domain.size - 1)]
        ends += [] if feature.is_listed else [feature.minimum, feature.maximum]
        orders = [feature.order(each) for each in (*ends, *([] if start is None else [start]))]
        return max(Fraction(1), (max(orders) - min(orders)) / feature.divisor)

    def _amounts(self, count: int, far: Fraction | int) -> Totals:
        feature = self.feature
        used = {
            each.resource: count * each.fixed + far * feature.divisor * each.per_unit
            for each in feature.uses
        }
        return self.person.amounts(used)

    @property
    def name(self) -> str:
        """Return the name of the feature."""
        return self.feature.name

    @property
    def moving(self) -> tuple[str, ...]:
        """Return the features and resources that the actions change."""
        return (self.name, *self.feature.spends)

    def nearest(self, low: int, high: int) -> int | None:
        """Return the cheapest position in a range; None if none changes the value."""
        start = self.person.initial[self.place]
        feature = self.feature
        if not isinstance(self.targets, range) or self.trails:
            return min(range(low, high + 1), key=lambda each: self.share(each)[:2])
        if self.free or start is None:
            return low
        own = feature.order(start)
        above = feature.domain.first_place_from(own) - self.targets.start
        around = [each for each in (above - 1, above, above + 1) if low <= each <= high]
        near = around or [low if above < low else high]
        moved = [each for each in near if self.value(self.targets[each]) != start]
        return min(moved, key=lambda each: self.share(each)[:2], default=None)

    def least(self, low: int, high: int) -> tuple[int, int, int] | None:
        """Return the least share, distance and number of actions in a range."""
        key = low, high
        if key not in self._least:
            self._least[key] = self._find_least(low, high)
        return self._least[key]

    def _find_least(self, low: int, high: int) -> tuple[int, int, int] | None:
        if self.trails:
            shares = [self.share(each) for each in range(low, high + 1)]
            return (
                min(each[0] for each in shares),
                min(each[1] for each in shares),
                min(each[2] for each in shares),
            )
        near = self.nearest(low, high)
        return None if near is None else self.share(near)


@dataclass(frozen=True)
class NamedAxis:
    """The repetitions of a named action; position 0 is taking it once.

    Attributes:
        person: The person who acts.
        action: The action.
        place: Its place in the order of actions, after all features.
    """

    person: Person
    action: NamedAction
    place: int
    free: ClassVar[bool] = False

    @property
    def name(self) -> str:
        """Return the name of the action."""
        return self.action.name

    @property
    def moving(self) -> tuple[str, ...]:
        """Return the features and resources that the action changes."""
        return (*self.action.lists, *(name for name, _ in self.action.uses))

    @property
    def size(self) -> int:
        """Return the number of positions."""
        return self.action.repeat

    def trail(self, position: int) -> range:
        """Return the repetitions of a position."""
        return range(position + 1)

    def share(self, position: int) -> tuple[Fraction, Fraction, int]:
        """Return the cost share, distance and number of actions of a position."""
        length = (position + 1) * self.action.cost
        return self.person.share(length), length * self.person.measure.lengths, 1

    def repeats(self, position: int) -> int:
        """Return the number of repetitions of a position."""
        return position + 1

    def least(self, low: int, high: int) -> tuple[Fraction, Fraction, int]:
        """Return the least share, distance and number of actions in a range."""
        return self.share(low)

    def rest(self, position: int, done: int) -> Totals:
        """Return the amounts that the later repetitions of a position use."""
        used = {name: (position + 1 - done) * amount for name, amount in self.action.uses}
        return self.person.amounts(used)

    def least_used(self, low: int, high: int) -> Totals:
        """Return the amounts that the least position of a range uses."""
        return self.rest(low, 0)

    def most_used(self, low: int, high: int) -> Totals:
        """Return the amounts that the greatest position of a range uses."""
        return self.rest(high, 0)


def _sum(one: Totals, other: Totals) -> Totals:
    return tuple(a + b for a, b in zip(one, other, strict=True))


def named_axes_of(person: Person) -> tuple[NamedAxis, ...]:
    """Return the axis of every named action."""
    first = len(person.features)
    actions = enumerate(person.theory.named_actions, start=first)
    return tuple(NamedAxis(person, action, place) for place, action in actions)


def shifted(theory: Theory) -> frozenset[str]:
    """Return the features that named actions change beside direct actions.

    An action that is taken once takes the one direct change of a feature without moves.
    """
    return frozenset(
        name
        for action in theory.named_actions
        for name in action.lists
        if action.repeat > 1 or theory.feature[name].moves is not None
    )


def axes_of(person: Person) -> tuple[Axis, ...]:
    """Return the axis of every feature that a person may set, in the problem's order."""
    axes = []
    for place, feature in enumerate(person.features):
        if feature.action.is_direct and feature.equation is None:
            axis = _axis(person, place, feature)
            if axis.size:
                axes.append(axis)
    return tuple(axes)


def _axis(person: Person, place: int, feature: Feature) -> Axis:
    start = person.initial[place]
    free = place in person.governed or feature.name in shifted(person.theory)
    if feature.moves is not None:
        trails = _sequences(feature) if free else _trails(feature, start)
        kept = []
        for trail in trails:
            kept.append(trail)
            if len(kept) > MOST_TRAILS:
                break
        return Axis(person, place, (), tuple(sorted(kept)), free)
    places: Sequence[int] = range(feature.domain.size)
    if feature.is_listed:
        places = tuple(
            each
            for each in places
            if feature.is_target(feature.domain.value(each))
            and (free or permits(feature, start, feature.domain.value(each), direct=True))
        )
    elif not free:
        places = _permitted(feature, start)
    return Axis(person, place, places, (), free)


def _permitted(feature: Feature, start: Value) -> range:
    """Return the places that a number may be set to, as a range."""
    size = feature.domain.size
    low, past = 0, size
    if feature.targets is not None:
        first, last = feature.targets.value(0), feature.targets.value(feature.targets.size - 1)
        assert not isinstance(first, str)
        assert not isinstance(last, str)
        low = feature.domain.first_place_from(feature.order(first))
        past = feature.domain.first_place_past(feature.order(last))
    if start is None:
        return range(low, past)
    own = feature.order(start)
    if feature.action.value == "up":
        low = max(low, feature.domain.first_place_past(own))
    elif feature.action.value == "down":
        past = min(past, feature.domain.first_place_from(own))
    return range(low, max(low, past))


def _trails(feature: Feature, start: Value) -> Iterator[tuple[int, ...]]:
    """Yield the ways along the moves of a feature, without a repeated value."""
    values = [feature.domain.value(place) for place in range(feature.domain.size)]
    waiting: list[tuple[Value, tuple[int, ...]]] = [(start, ())]
    while waiting:
        here, trail = waiting.pop()
        for place, value in enumerate(values):
            if value == start or place in trail or not permits(feature, here, value, direct=True):
                continue
            longer = (*trail, place)
            yield longer
            waiting.append((value, longer))


def _sequences(feature: Feature) -> Iterator[tuple[int, ...]]:
    """Yield the sequences of targets of a feature that effects change as well."""
    places = [p for p in range(feature.domain.size) if feature.is_target(feature.domain.value(p))]
    for count in range(1, len(places) + 1):
        yield from permutations(places, count)
