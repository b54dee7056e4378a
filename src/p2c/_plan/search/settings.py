"""Bound from below the effort of setting endogenous features.

An endogenous feature is set once, from the region in which it stands by then to a region from which effects may lead to its final one.
Both regions are variables of the master problem. They are tested by delete-relaxed reachability: if the chosen options
do not bring the feature to the first region while it is not set, or from the second to the final one, an
option outside a maximal set that does not either is needed.

Sound because delete-relaxed reachability contains every region that effects lead to. This would break for a feature that is set several
times (`again`), so it has no such bound.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from p2c._plan.compiled.axis import OFF
from p2c._plan.compiled.bitsets import grown, numbers
from p2c._plan.compiled.transitions import Variety
from p2c._plan.search.solver import opposite
from p2c._spec.feature import Action

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from p2c._plan.compiled.transitions import Transitions
    from p2c._plan.search.cdcl import Literal
    from p2c._plan.search.completion import Completion


class Setting(NamedTuple):
    """Literals of the regions that a feature is set from and set to."""

    number: int
    starts: dict[int, Literal]
    targets: dict[int, Literal]


Efforts = dict[int, dict[int, int]]
"""The least effort of setting a feature, by first and second region."""


@dataclass(frozen=True)
class Settings:
    """How endogenous features are set, as literals of the master problem."""

    master: Completion
    _settings: dict[int, Setting] = field(default_factory=dict)
    """By the place of the feature among the endogenous ones."""
    _efforts: dict[int, Efforts] = field(default_factory=dict)

    def state(self, position: int, number: int) -> dict[int, list[list[Literal]]]:
        """Add the clauses of an option that sets a feature.

        Returns:
            Clauses by effort; each says that the feature is set otherwise, so that the effort is not necessary. It is empty
            if no bound is known.
        """
        reach, master, solver = self.master.reach, self.master, self.master.solver
        option, chosen = reach.options[number], master.chosen[number]
        person = reach.transitions.person
        clauses: dict[int, list[list[Literal]]] = {}
        prices_alike = person.prices.flat[option.axis]
        if person.places[option.axis] == OFF or option.again or prices_alike:
            return clauses
        efforts = self._efforts[position] = self._find_efforts(position, number)
        starts = {start: solver.literal() for start in efforts}
        ends = sorted({end for by_end in efforts.values() for end in by_end})
        targets = {end: solver.literal() for end in ends}
        self._settings[position] = Setting(number, starts, targets)
        solver.add([opposite(chosen), *starts.values()])
        solver.add([opposite(chosen), *targets.values()])
        for start, literal in starts.items():
            for end, target in targets.items():
                clause = [opposite(chosen), opposite(literal), opposite(target)]
                effort = efforts[start].get(end)
                if effort is None:
                    solver.add(clause)
                else:
                    clauses.setdefault(effort, []).append(clause)
        everything = reach.stirring_options
        for region, final in master.regions[position].items():
            leading = self._leading_to(position, region, everything)
            for end, target in targets.items():
                if not leading >> end & 1:
                    solver.add([opposite(chosen), opposite(target), opposite(final)])
        return clauses

    def _find_efforts(self, position: int, number: int) -> Efforts:
        reach, axis = self.master.reach, self.master.reach.options[number].axis
        everything = reach.stirring_options
        way = reach.on_the_way(everything)
        rules = reach.moves_of[axis].governed.rules
        starts = self._standing(position, everything)
        back = reach.moved(position, starts, way.may & rules, way.must & rules)
        stays = not back & reach.start[position]
        efforts: Efforts = {}
        for start in numbers(starts):
            efforts[start] = {}
            for end in numbers(reach.causal_moves[position].grid):
                known = _efforts_between(reach.transitions, axis, start, end, stays=stays)
                effort = min(known, default=None)
                if effort is not None:
                    efforts[start][end] = effort
        return efforts

    def _standing(self, position: int, chosen: Iterable[int]) -> int:
        """Return the regions in which a feature may stand before it is set."""
        reach = self.master.reach
        axis = reach.causal_moves[position].index
        others = tuple(n for n in chosen if reach.options[n].axis != axis)
        return reach.unset(axis).on_the_way(others).regions[position]

    def _leading_to(self, position: int, region: int, chosen: Iterable[int]) -> int:
        """Return the regions from which effects may lead to a region, and the region.

        Sound with `lasting`, too: a feature that breaks its law at the start has to rest where it is set, and at its own value it
        has an exception only if it was carried away before.
        """
        reach, options = self.master.reach, tuple(chosen)
        moves = reach.causal_moves[position]
        way = reach.on_the_way(options)
        may, must = way.may & moves.governed.rules, way.must & moves.governed.rules
        regions = reach.leading_to(position, 1 << region, may, must)
        if reach.transitions.lasting and moves.index in reach.transitions.excused:
            is_own = self._standing(position, options) == reach.start[position]
            resting = reach.lawful if is_own else reach.allowed
            regions &= resting(position, regions, may, must)
        return regions

    def least_efforts(self, chosen: Sequence[int], regions: Sequence[int]) -> dict[int, int]:
        """Return the least effort of each option that sets a feature."""
        stirring = [n for n in self.master.reach.stirring_options if n in chosen]
        least = {}
        for position, setting in self._settings.items():
            if setting.number in chosen:
                standing = self._standing(position, stirring)
                leading = self._leading_to(position, regions[position], stirring)
                least[setting.number] = min(
                    (
                        effort
                        for start, by_end in self._efforts[position].items()
                        if standing >> start & 1
                        for end, effort in by_end.items()
                        if leading >> end & 1
                    ),
                    default=self.master.reach.options[setting.number].effort,
                )
        return least

    def are_reachable(self, chosen: int, noticed: int, regions: Sequence[int]) -> bool:
        """Tell whether features may be set as in the model, or add a landmark.

        Args:
            chosen: The chosen options that effects depend on, as a mask.
            noticed: All options that effects depend on, as a mask.
            regions: The final region of each endogenous feature.
        """
        for position, (number, starts, targets) in self._settings.items():
            if not chosen >> number & 1:
                continue

            def standing(mask: int, position: int = position) -> int:
                return self._standing(position, numbers(mask))

            def leading(mask: int, position: int = position) -> int:
                return self._leading_to(position, regions[position], numbers(mask))

            final = self.master.regions[position][regions[position]]
            if not (
                self._admits(starts, standing, chosen, noticed, [])
                and self._admits(targets, leading, chosen, noticed, [opposite(final)])
            ):
                return False
        return True

    def _admits(
        self,
        literals: Mapping[int, Literal],
        reached: Callable[[int], int],
        chosen: int,
        noticed: int,
        unless: list[Literal],
    ) -> bool:
        """Tell whether options reach a region of the last model, or add a landmark."""
        master = self.master
        regions = reached(chosen)
        held = [n for n, literal in literals.items() if master.solver.holds(literal)]
        if any(regions >> region & 1 for region in held):
            return True
        bit = 1 << held[0]
        missing = grown(chosen, noticed & ~chosen, lambda mask: not reached(mask) & bit)
        regions = reached(missing)
        needed = [master.chosen[n] for n in numbers(noticed & ~missing)]
        for region, literal in literals.items():
            if not regions >> region & 1:
                master.solver.add([opposite(literal), *unless, *needed])
        return False


def _efforts_between(
    transitions: Transitions, axis: int, start: int, end: int, *, stays: bool
) -> Iterator[int]:
    """Yield lower bounds of the effort of setting a feature from a region to a region; none if no action leads there.

    With `stays`, effects never carry the feature back to its initial region, so that it has its initial value there.
    """
    person = transitions.person
    regions, action = person.space.axes[axis].regions, person.space.axes[axis].feature.action
    own = person.places[axis]
    places = (own, own) if stays and own in regions[start] else regions[start]
    if end == start:
        if transitions.variety is Variety.POINTS:
            yield person.prices.per_action
        elif axis in transitions.own_matters:
            yield from _steps(transitions, axis, places, regions[end])
    elif end > start and action is not Action.DOWN:
        yield person.effort(axis, places[-1], regions[end][0])
    elif end < start and action is not Action.UP:
        yield person.effort(axis, places[0], regions[end][-1])


def _steps(
    transitions: Transitions, axis: int, places: Sequence[int], region: Sequence[int]
) -> Iterator[int]:
    """Yield the efforts of setting a feature to another value of its region.

    It stands at its own value if `places` names no other one.
    """
    person = transitions.person
    if places[0] != places[-1] or places[0] not in region:
        yield person.prices.per_action
        return
    own = places[0]
    for place in (own - 1, own + 1) if isinstance(region, range) else region:
        if place != own and place in region and transitions.leads(axis, own, place):
            yield person.effort(axis, own, place)
