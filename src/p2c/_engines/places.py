"""Reachable values of a person's features by direct actions, moves and effects."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from p2c._plan.compiled.axis import OFF
from p2c._spec.feature import Action
from p2c._spec.spec import Minimize

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from p2c._plan.compiled.transitions import Transitions


class MoveRoute(NamedTuple):
    """A way from one place to another by direct actions."""

    length: int
    actions: int
    places: tuple[int, ...]


def routes(dynamics: Transitions, index: int, start: int) -> dict[int, MoveRoute]:
    """Return the best route of moves to each place.

    The shortest one is best, or the one with fewest actions if actions come first.
    """
    person = dynamics.person
    fewest = person.space.theory.minimize is Minimize.ACTIONS
    found: dict[int, MoveRoute] = {}
    queue: list[tuple[tuple[int, int], tuple[int, ...]]] = [((0, 0), (start,))]
    while queue:
        key, places = heapq.heappop(queue)
        here = places[-1]
        if here in found:
            continue
        length, actions = reversed(key) if fewest else key
        found[here] = MoveRoute(length, actions, places)
        for end, _ in dynamics.targets(index, here):
            further = length + person.length(index, here, end)
            following = (actions + 1, further) if fewest else (further, actions + 1)
            heapq.heappush(queue, (following, (*places, end)))
    return found


@dataclass(frozen=True)
class Reach:
    """One feature of one person: reachable places and the steps between them."""

    dynamics: Transitions
    index: int
    spread: int = 0
    """Number of distinct places of a region, cheapest first, if ends count as points."""

    @cached_property
    def places(self) -> tuple[int, ...]:
        """Return the places, the person's own first."""
        found = [self.dynamics.person.places[self.index]]
        for place in found:
            ahead = [end for end, _ in self.direct(place)]
            ahead += [end for group in self.near(place) for end in group]
            found += [end for end in dict.fromkeys(ahead) if end not in found]
        return tuple(found)

    @cached_property
    def settable(self) -> bool:
        """Tell whether direct actions on the feature can matter."""
        if self.spread:
            return self.dynamics.person.space.axes[self.index].feature.action.is_direct
        return self.index in self.dynamics.person.space.relevant

    @cached_property
    def _once(self) -> bool:
        """Tell whether nothing changes the feature but one direct action."""
        feature = self.dynamics.person.space.axes[self.index].feature
        return not feature.governed and feature.moves_from is None

    def direct(self, place: int) -> list[tuple[int, int]]:
        """Return the targets of a direct action with their scaled costs, least first."""
        own = place == self.dynamics.person.places[self.index]
        if not self.settable or (self._once and not own):
            return []
        ends = self._targets(place)
        efforts = [(self.dynamics.person.effort(self.index, place, end), end) for end in ends]
        return [(end, effort) for effort, end in sorted(efforts)]

    def _targets(self, place: int) -> list[int]:
        feature = self.dynamics.person.space.axes[self.index].feature
        if not self.spread or feature.moves_from is not None:
            return [end for end, _ in self.dynamics.targets(self.index, place)]
        ends = [end for region in self._regions for end in self._cheapest(region, place)]
        return [
            end
            for end in dict.fromkeys(ends)
            if end != place and self.dynamics.chooses(self.index, place, end)
        ]

    @property
    def _regions(self) -> Sequence[Sequence[int]]:
        return self.dynamics.person.space.axes[self.index].regions

    def _cheapest(self, region: Sequence[int], place: int) -> list[int]:
        """Return the nearest places of a region on both sides of a place."""
        own = self.dynamics.person.places[self.index]
        kept = [own] if own in region else []
        if not isinstance(region, range) or self.dynamics.person.missing(self.index, place):
            return [*kept, *region[: self.spread + 1]]
        here = self.dynamics.position(self.index, place)
        past = self.dynamics.first_from(self.index, region, here)
        low, high = max(past - self.spread - 1, region[0]), min(past + self.spread, region[-1])
        return [*kept, *range(low, high + 1)]

    def ends(self, place: int, end: int) -> bool:
        """Tell whether an effect from a place ends where one person lets a change end."""
        return self.dynamics.ends(self.index, place, end)

    def near(self, place: int) -> list[list[int]]:
        """Return the targets of effects in groups of equal distance, nearest first."""
        feature = self.dynamics.person.space.axes[self.index].feature
        if not feature.governed or (feature.effect_action or feature.action) is Action.FIXED:
            return []
        if self.dynamics.person.missing(self.index, place):
            ends = self._anywhere()
            return [ends] if ends else []
        far = {end: self._distance(place, end) for end in self._carried(place)}
        ordered = sorted(far, key=lambda end: (far[end], end))
        return [list(group) for _, group in groupby(ordered, key=far.__getitem__)]

    def _distance(self, place: int, end: int) -> int:
        if not self.dynamics.person.space.axes[self.index].ordered:
            return 1
        return abs(
            self.dynamics.position(self.index, end) - self.dynamics.position(self.index, place)
        )

    def _carried(self, place: int) -> list[int]:
        axis, dynamics = self.dynamics.person.space.axes[self.index], self.dynamics
        if axis.feature.moves_from is not None:
            ends = sorted(dynamics.moves(self.index, place))
            return [end for end in ends if dynamics.carries(self.index, place, end)]
        if not axis.ordered:
            return [end for end in self._anywhere() if end != place]
        here = dynamics.position(self.index, place)
        ends = []
        for region in axis.regions:
            # A value is never carried within its own region, where the same heads hold.
            if dynamics.position(self.index, region[0]) > here:
                ends.append(region[0])
            elif dynamics.position(self.index, region[-1]) < here:
                ends.append(region[-1])
        return [end for end in ends if dynamics.carries(self.index, place, end)]

    def _anywhere(self) -> list[int]:
        """Return one place of each region, and more where it can matter which."""
        found: list[int] = []
        own = self.dynamics.person.places[self.index]
        by_value = self.dynamics.person.space.axes[self.index].feature.moves_from is not None
        for region in self._regions:
            found += region if by_value else [*_ends(region), *region[: self.spread]]
            if self.index in self.dynamics.own_matters and own in region:
                found += [own, *[place for place in region[:2] if place != own]]
        return [place for place in dict.fromkeys(found) if place != OFF]


def _ends(region: Sequence[int]) -> list[int]:
    return [region[0], region[-1]] if isinstance(region, range) else [region[0]]


def most_actions(reaches: Iterable[Reach]) -> int:
    """Return how many direct actions no path passes.

    A feature is set once, one with moves once from each of its values, unless effects can take it back there: then
    all that bounds a path is that it never comes to the same state twice.
    """
    total, states, loose = 0, 1, False
    for reach in reaches:
        feature = reach.dynamics.person.space.axes[reach.index].feature
        states *= len(reach.places)
        if reach.settable:
            total += 1 if feature.moves is None else len(reach.places)
            loose = loose or (feature.moves is not None and feature.governed)
    return states if loose else total


def most_effort(reaches: Iterable[Reach]) -> int:
    """Return an effort that no path passes."""
    known = list(reaches)
    ways = [way for reach in known for place in reach.places for way in reach.direct(place)]
    return most_actions(known) * max((effort for _, effort in ways), default=0)
