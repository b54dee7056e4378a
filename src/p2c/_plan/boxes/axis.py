"""The direct actions of each feature, as positions on an axis.

Positions are targets in the order of the domain, or ways along moves.

Where effects may change a feature as well, its moves are sequences of targets: what is permitted is known only on a path.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING, NamedTuple

from p2c._spec.cost import Norm
from p2c._spec.feature import permits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from p2c._plan.boxes.person import Person
    from p2c._spec.feature import Feature, Value

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
        free: Whether effects may change the feature as well, so that no distance is known beforehand.
    """

    person: Person
    place: int
    targets: Sequence[int]
    trails: tuple[tuple[int, ...], ...]
    free: bool

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
        if self.trails:
            shares = [self.share(each) for each in range(low, high + 1)]
            return (
                min(each[0] for each in shares),
                min(each[1] for each in shares),
                min(each[2] for each in shares),
            )
        near = self.nearest(low, high)
        return None if near is None else self.share(near)


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
    free = place in person.governed
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
