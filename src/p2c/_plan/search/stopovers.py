"""Where a governed feature is set only to be carried on: of places that nothing tells apart until then, one will do.

What happens by itself sees a feature through the causal rules that may ever fire, its own heads and the places that effects
carry it to. Regions that agree in all this are alike: set to one or the other, the same follows until an effect moves the
feature. So of those in which the feature cannot stay only the best is offered, and all ends of a set are known from one of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from p2c._plan.compiled.axis import OFF
from p2c._plan.compiled.bitsets import mask_of, subsets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from p2c._plan.compiled.causal_moves import CausalMoves
    from p2c._plan.search.options import Target
    from p2c._plan.search.relaxed_reach import RelaxedReach

FEW_RULES = 6
"""Up to how many rules of a feature its regions are compared by where each set of them carries it."""


class Alike(NamedTuple):
    """Regions of a governed feature that only the end tells apart: as bits, and a place of each."""

    regions: int
    places: tuple[int, ...]


@dataclass(frozen=True)
class Stopovers:
    """Which places of governed features are alike on the way, for one person, whatever they do."""

    reach: RelaxedReach

    @cached_property
    def _noticing(self) -> int:
        """Return the rules on which it rests what happens by itself and that may ever fire."""
        space = self.reach.transitions.person.space
        options = enumerate(self.reach.options)
        stirring = tuple(n for n, option in options if option.axis in space.stirring)
        return space.noticing & self.reach.on_the_way(stirring).may

    @cached_property
    def _firsts(self) -> tuple[int, ...]:
        """Return, for each option, the first on its feature that is seen alike on the way; -1 where it is not seen."""
        reach, apart = self.reach, self.reach.transitions.own_matters
        if self._noticing & reach.transitions.person.space.model_bit:
            apart = apart.union(reach.transitions.person.space.model_axes)
        firsts: dict[tuple[int, int], int] = {}
        found = []
        for number, option in enumerate(reach.options):
            seen = self._noticing & reach.ends[number]
            if option.axis in reach.moves_of or option.axis in apart:
                found.append(number)
            elif not self._noticing & reach.shown[number]:
                found.append(-1)
            elif option.via:
                found.append(number)
            else:
                found.append(firsts.setdefault((option.axis, seen), number))
        return tuple(found)

    def seen(self, chosen: tuple[int, ...]) -> tuple[int, ...]:
        """Return the first options that are seen on the way as some options are; one that was added stands for itself."""
        firsts = self._firsts
        known = [firsts[number] if number < len(firsts) else number for number in chosen]
        return tuple([number for number in known if number >= 0])

    @cached_property
    def _known(self) -> dict[int, dict[int, Alike]]:
        return {}

    def alike(self, axis: int, place: int) -> Alike:
        """Return what is alike to a place of a governed feature; a value that keeps an exception alive only to itself."""
        person = self.reach.transitions.person
        region = self.reach.region(self.reach.position[axis], place)
        feature = person.space.axes[axis].feature
        apart = (
            axis in person.space.lined_axes
            or feature.bars_effects
            or self.reach.moves_of[axis].onward
        )
        if apart or place == OFF or (place == person.places[axis] and self._own_matters(axis)):
            return Alike(region, (place,))
        known = self._known.get(axis)
        if known is None:
            known = self._known[axis] = self._compare(self.reach.moves_of[axis])
        return known[region]

    def _own_matters(self, axis: int) -> bool:
        return axis in self.reach.transitions.own_matters

    def _compare(self, moves: CausalMoves) -> dict[int, Alike]:
        person = self.reach.transitions.person
        own = person.places[moves.index] if self._own_matters(moves.index) else OFF
        groups: dict[object, list[tuple[int, int]]] = {}
        for number, region in enumerate(person.space.axes[moves.index].regions):
            place = next((each for each in region if each != own), None)
            if place is not None:
                groups.setdefault(self._seen(moves, number, place), []).append((number, place))
        found: dict[int, Alike] = {}
        for group in groups.values():
            alike = Alike(mask_of(n for n, _ in group), tuple(place for _, place in group))
            found |= {1 << number: alike for number, _ in group}
        return found

    def _seen(self, moves: CausalMoves, number: int, place: int) -> object:
        """Return all that is seen of a region on the way."""
        rules = moves.governed.rules & self._noticing
        by_model = moves.index in self.reach.transitions.person.space.model_axes
        if by_model or not moves.nearest or rules.bit_count() > FEW_RULES:
            return number
        heads = moves.heads[number]
        carried = [
            tuple([e.place for e in self.reach.transitions.outcomes(moves.governed, place, fired)])
            for fired in subsets(rules)
            if not moves.governed.allows(fired, heads)
        ]
        return moves.bodies[number] & self._noticing, heads & rules, *carried

    def targets(
        self, axis: int, start: int, targets: Sequence[Target], stays: Callable[[int], bool]
    ) -> Iterator[Target]:
        """Yield the targets from a place that a best plan may take: where the feature may stay, and the best stopovers.

        A stopover that is alike to where the feature stands already leads nowhere new.
        """
        person = self.reach.transitions.person
        met = {self.alike(axis, start)}
        ranked = [
            (person.effort(axis, start, end), person.way(axis, start, end), end)
            for end, _ in targets
        ]
        best = set()
        for _, _, end in sorted(ranked):
            alike = self.alike(axis, end)
            if alike not in met:
                met.add(alike)
                best.add(end)
        yield from (each for each in targets if each[0] in best or stays(each[0]))
