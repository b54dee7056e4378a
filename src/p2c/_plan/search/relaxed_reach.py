"""What may and what must come of a set of direct actions, whatever their order: a cheap look ahead on bit masks.

For every governed feature it keeps the regions that the feature may ever stand in, found by a fixpoint that forgets in
which order things happen. A rule may fire when all its tests may pass, and must fire when they pass in every region that
is possible. More is possible here than in truth, so "never" and "always" are proved, "perhaps" is not.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from operator import and_, getitem, or_
from typing import TYPE_CHECKING, NamedTuple

from p2c._plan.compiled.axis import OFF
from p2c._plan.compiled.bitsets import bits, mask_of, numbers, subsets
from p2c._plan.compiled.causal_moves import Memory, causal_moves, common_memory
from p2c._spec.feature import Action
from p2c._spec.spec import Effects

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from p2c._plan.compiled.causal_moves import Case, CausalMoves
    from p2c._plan.compiled.person import Places
    from p2c._plan.compiled.space import Space
    from p2c._plan.compiled.transitions import Transitions
    from p2c._plan.search.options import Option


FEW_RULES = 4
"""Up to how many rules of a feature that may fire or not are taken one way and the other."""


class Extent(NamedTuple):
    """The reach of changes of endogenous features."""

    regions: tuple[int, ...] = ()
    """For each feature the regions that changes may end in; empty if any may."""
    relaxed: int = -1
    """The features whose restrictions may be relaxed, as a mask."""


EVERYWHERE = Extent()


@dataclass(frozen=True, slots=True)
class Prospect:
    """What may and must fire, and why: for each feature, what some of its possible values let fire, and what all do."""

    may: int
    must: int
    may_of: list[int]
    must_of: list[int]
    regions: list[int]
    """Where each governed feature may stand, as bits."""
    known: dict[tuple[int, int], int] = field(default_factory=dict)
    """What was found out about resting elsewhere."""


def settle(space: Space, may_of: Sequence[int], must_of: Sequence[int]) -> tuple[int, int]:
    """Return which rules may and which must fire, by what each feature may and must let fire."""
    # What a model decides is seen in a state only.
    return space.settle(reduce(and_, may_of), reduce(and_, must_of) & ~space.model_bit)


@dataclass(frozen=True)
class RelaxedReach:
    """What one person's options may bring about."""

    transitions: Transitions
    options: Sequence[Option]
    on_axis: Mapping[int, int]
    """The options on each feature, as a mask."""

    @cached_property
    def causal_moves(self) -> tuple[CausalMoves, ...]:
        """Return how governed features move by themselves."""
        return causal_moves(self.transitions.person.space)

    @cached_property
    def moves_of(self) -> dict[int, CausalMoves]:
        """Return how governed features move by themselves, by their place in the problem."""
        return {each.index: each for each in self.causal_moves}

    @cached_property
    def position(self) -> dict[int, int]:
        """Return the place of each governed feature among all governed ones."""
        return {each.index: position for position, each in enumerate(self.causal_moves)}

    @cached_property
    def governed(self) -> tuple[tuple[int, int, int], ...]:
        """Return each governed feature: its place among them and in the problem, and its rules."""
        return tuple(
            (n, each.index, each.governed.rules) for n, each in enumerate(self.causal_moves)
        )

    @cached_property
    def causes(self) -> int:
        """Return all causal rules."""
        return sum(rules for _, _, rules in self.governed)

    @cached_property
    def are_supported(self) -> bool:
        """Tell whether a rule that fires may carry a feature off from where its law allows it."""
        return self.transitions.person.space.theory.effects is Effects.SUPPORTED

    @cached_property
    def own(self) -> tuple[int, ...]:
        """Return, for each feature, the rules whose tests on it pass at the person's own value."""
        return tuple(map(getitem, self.transitions.bodies, self.transitions.person.places))

    @cached_property
    def ends(self) -> tuple[int, ...]:
        """Return, for each option, the rules whose tests pass where it leads; none where that may be anywhere."""
        bodies, moves_of = self.transitions.bodies, self.moves_of
        return tuple(
            [0 if each.axis in moves_of else bodies[each.axis][each.end] for each in self.options]
        )

    @cached_property
    def passed(self) -> tuple[tuple[int, int], ...]:
        """Return, for each option, the rules whose tests pass at some and at all of the places that it comes to."""
        bodies = self.transitions.bodies
        found = [*zip(self.ends, self.ends, strict=True)]
        for number, option in enumerate(self.options):
            if option.via:
                met = [self.ends[number], *map(bodies[option.axis].__getitem__, option.via)]
                found[number] = reduce(or_, met), reduce(and_, met)
        return tuple(found)

    @cached_property
    def ways(self) -> dict[int, list[tuple[int, int]]]:
        """Return the options on each feature as bits, each with the rules whose tests pass where it leads."""
        found: dict[int, list[tuple[int, int]]] = {axis: [] for axis in self.on_axis}
        for number, option in enumerate(self.options):
            found[option.axis].append((1 << number, self.ends[number]))
        return found

    @cached_property
    def start(self) -> tuple[int, ...]:
        """Return the own region of each governed feature, as a bit."""
        places = self.transitions.person.places
        return tuple(self.region(n, places[each.index]) for n, each in enumerate(self.causal_moves))

    @cached_property
    def permitted(self) -> tuple[int, ...]:
        """Return, for each governed feature, the regions that its action permits from the own value, whoever changes it.

        With `up` and `down` a path never comes back to what it has left behind.
        """
        return tuple(map(self._permitted, self.causal_moves))

    def _permitted(self, moves: CausalMoves) -> int:
        index, transitions = moves.index, self.transitions
        axis, own = transitions.person.space.axes[index], transitions.person.places[index]
        if axis.feature.action not in (Action.UP, Action.DOWN):
            return moves.grid
        return mask_of(
            number
            for number, region in enumerate(axis.regions)
            if own in region
            or any(transitions.chooses(index, own, edge) for edge in (region[0], region[-1]))
        )

    @cached_property
    def _regions(self) -> dict[tuple[int, int], int]:
        return {}

    def region(self, position: int, place: int) -> int:
        """Return the region of a place of a governed feature, as a bit."""
        known = self._regions.get((position, place))
        if known is None:
            moves = self.causal_moves[position]
            regions = self.transitions.person.space.axes[moves.index].regions
            own = moves.grid + 1
            found = (1 << number for number, region in enumerate(regions) if place in region)
            known = self._regions[position, place] = own if place == OFF else next(found)
        return known

    @cached_property
    def stirring_options(self) -> tuple[int, ...]:
        """Return all options on features that effects or constraints depend on."""
        stirring = self.transitions.person.space.stirring
        return tuple(n for n, each in enumerate(self.options) if each.axis in stirring)

    @cached_property
    def _known(self) -> dict[tuple[Extent, tuple[int, ...]], Prospect]:
        return {}

    def on_the_way(self, stirring: tuple[int, ...], extent: Extent = EVERYWHERE) -> Prospect:
        """Return the regions that features may stand in, and the rules that may fire.

        Args:
            stirring: The options that may be done.
            extent: The reach of changes of endogenous features.
        """
        key = extent, stirring
        prospect = self._known.get(key)
        if prospect is None:
            prospect = self._known[key] = self._look(stirring, extent)
        return prospect

    def unset(self, axis: int) -> RelaxedReach:
        """Return what options bring about while a governed feature is not set, so that its own value keeps its exception."""
        if axis not in self.transitions.excused:
            return self
        known = self._unset.get(axis)
        if known is None:
            others = {each: mask for each, mask in self.on_axis.items() if each != axis}
            known = self._unset[axis] = replace(self, on_axis=others)
        return known

    @cached_property
    def _unset(self) -> dict[int, RelaxedReach]:
        return {}

    def stirring(
        self, chosen: tuple[int, ...], still: frozenset[int] = frozenset()
    ) -> tuple[int, ...]:
        """Return those of some options that can set off effects or break constraints while all of them are done.

        The others are noticed only by rules that never fire meanwhile, so they commute with everything. What moves only
        features that keep still does not count.
        """
        space = self.transitions.person.space
        stirring = tuple(n for n in chosen if self.options[n].axis in space.stirring)
        noticing = space.noticing & self.on_the_way(stirring).may & ~self._rules_of(still)
        apart = space.governed_axes | self.transitions.own_matters
        if noticing & space.model_bit:
            apart = apart.union(space.model_axes)
        return tuple(
            number
            for number in stirring
            if (axis := self.options[number].axis) not in still
            and (axis in apart or self.shown[number] & noticing)
        )

    @cached_property
    def shown(self) -> tuple[int, ...]:
        """Return, for each option, the rules whose tests come out otherwise than at first at some place that it comes to."""
        own = [self.own[option.axis] for option in self.options]
        return tuple(
            [
                mine ^ some | mine ^ every
                for mine, (some, every) in zip(own, self.passed, strict=True)
            ]
        )

    def _rules_of(self, axes: frozenset[int]) -> int:
        return sum(rules for _, axis, rules in self.governed if axis in axes)

    def _look(self, stirring: tuple[int, ...], extent: Extent) -> Prospect:
        may_of, must_of, regions = self._before(stirring, extent)
        for number in stirring:
            self.let(number, may_of, must_of, regions)
        for position, mask in enumerate(extent.regions):
            kept = regions[position] & (mask | self.start[position])
            if kept != regions[position]:
                moves, regions[position] = self.causal_moves[position], kept
                may_of[moves.index], must_of[moves.index] = self.bodies(moves, kept)
        return self.look(may_of, must_of, regions, extent)

    def may_come(self, places: Places, left: tuple[int, ...], rests: Sequence[int]) -> bool:
        """Tell whether governed features may come from a state to some regions each, by doing some options."""
        if not self.governed or any(number >= len(self.options) for number in left):
            # What an option that came later, for one place of another, lets fire is not looked at.
            return True
        own = self.transitions.person.places
        if any(places[n] != own[n] for n in self.transitions.excused if n not in self.on_axis):
            # Within its own region, but beside its own value, a feature has no exception.
            return True
        regions = [self.region(n, places[axis]) for n, axis, _ in self.governed]
        may_of = list(map(getitem, self.transitions.bodies, places))
        must_of = may_of[:]
        for number in left:
            self.let(number, may_of, must_of, regions)
        return all(map(and_, self.look(may_of, must_of, regions).regions, rests))

    def let(self, number: int, may_of: list[int], must_of: list[int], regions: list[int]) -> None:
        """Note what an option may let fire, besides what is noted: a governed feature may be set wherever its action permits."""
        axis = self.options[number].axis
        moves = self.moves_of.get(axis)
        if moves is None:
            some, every = self.passed[number]
            may_of[axis] |= some
            must_of[axis] &= every
            return
        position = self.position[axis]
        regions[position] |= self.permitted[position]
        may_of[axis], must_of[axis] = self.bodies(moves, regions[position])

    def look(
        self, may_of: list[int], must_of: list[int], regions: list[int], extent: Extent = EVERYWHERE
    ) -> Prospect:
        """Return how far governed features may come from some regions, by what all features may and must let fire."""
        return self._settled(
            may_of,
            must_of,
            regions,
            self.memory.reached,
            self._grown,
            within=extent.regions,
        )

    def at_rest(self, before: Prospect) -> Prospect:
        """Return what is left of a prospect once every governed feature must stand where its law allows it."""
        may_of, must_of, regions = before.may_of[:], before.must_of[:], before.regions[:]
        return self._settled(may_of, must_of, regions, self.memory.kept, self.allowed)

    def _settled(
        self,
        may_of: list[int],
        must_of: list[int],
        regions: list[int],
        known: dict[Case, int],
        follow: Callable[[int, int, int, int], int],
        *,
        within: tuple[int, ...] = (),
    ) -> Prospect:
        """Return what is possible when the regions of each governed feature follow from what may and must fire."""
        space = self.transitions.person.space
        changed = True
        while changed:
            may, must = settle(space, may_of, must_of)
            changed = False
            for position, axis, rules in self.governed:
                key = position, regions[position], may & rules, must & rules
                now = known.get(key)
                if now is None:
                    now = known[key] = follow(*key)
                if within:
                    now &= within[position] | regions[position]
                if now != regions[position]:
                    changed, regions[position] = True, now
                    if not now:
                        return Prospect(may, must, may_of, must_of, regions)
                    may_of[axis], must_of[axis] = self.bodies(self.causal_moves[position], now)
        return Prospect(may, must, may_of, must_of, regions)

    def _grown(self, position: int, regions: int, fired: int, sure: int) -> int:
        return regions | self.moved(position, regions, fired, sure)

    def _before(
        self, stirring: tuple[int, ...], extent: Extent
    ) -> tuple[list[int], list[int], list[int]]:
        """Return what is possible with one option less, where that is known: more only makes more possible."""
        for place in range(len(stirring)):
            known = self._known.get((extent, stirring[:place] + stirring[place + 1 :]))
            if known is not None:
                return known.may_of[:], known.must_of[:], known.regions[:]
        return list(self.own), list(self.own), list(self.start)

    def allowed(self, position: int, regions: int, fired: int, sure: int) -> int:
        """Return the regions in which a feature may be at rest, by its rules that may and that must fire."""
        kept = self.lawful(position, regions, fired, sure)
        if self.may_excuse(self.causal_moves[position].index, fired, sure):
            kept |= regions & self.start[position]
        return kept

    def lawful(self, position: int, regions: int, fired: int, sure: int) -> int:
        """Return the regions in which a feature may be at rest without an exception."""
        moves, kept = self.causal_moves[position], 0
        for bit in bits(regions):
            headed = self.heading(moves, bit.bit_length() - 1)
            if moves.governed.may_allow(fired, sure, headed):
                kept |= bit
        return kept

    def may_excuse(self, index: int, fired: int, sure: int) -> bool:
        """Tell whether an exception may hold: just those rules of the feature fire that did at first."""
        excused = self.transitions.excused.get(index)
        return excused is not None and not (excused & ~fired or sure & ~excused)

    @cached_property
    def calling(self) -> int:
        """Return the rules that call decisions."""
        return reduce(or_, (1 << rule for rule in self.transitions.person.space.called), 0)

    def heading(self, moves: CausalMoves, region: int) -> int:
        """Return the rules of a feature whose heads hold a region, or the person's own value where it has no place."""
        if region < len(moves.heads):
            return moves.heads[region]
        return self.transitions.headed(moves.index, OFF)

    def bodies(self, moves: CausalMoves, regions: int) -> tuple[int, int]:
        """Return the rules whose tests on a feature pass in some of these regions, and those that do in all."""
        key = moves.index, regions
        known = self.memory.bodies.get(key)
        if known is None:
            some, every = 0, -1
            for number in numbers(regions):
                listed = number < len(moves.bodies)
                body = moves.bodies[number] if listed else self.own[moves.index]
                some |= body
                every &= body
            known = self.memory.bodies[key] = some, every
        return known

    @cached_property
    def memory(self) -> Memory:
        """Return what is remembered about governed features: with everyone else's where nothing is odd."""
        places = self.transitions.person.places
        if self.transitions.excused or any(places[each.index] == OFF for each in self.causal_moves):
            return Memory()
        return common_memory(self.transitions.person.space)

    def moved(self, position: int, regions: int, fired: int, sure: int) -> int:
        """Return the regions that a feature may be carried to, by its rules that may and that must fire."""
        moves = self.causal_moves[position]
        found = self._forced(position, self.restless(position, regions, fired, sure), fired, sure)
        if self.are_supported:
            for rule, landing in moves.by_rule:
                starts = self._outside(moves, regions, rule) if fired & rule else 0
                if starts:
                    found |= landing.reached_from(starts, moves.grid) & moves.may_follow(starts)
        return found

    def _forced(self, position: int, restless: int, fired: int, sure: int) -> int:
        """Return the regions that a feature may be carried to from where its law may not let it stay."""
        if not restless:
            return 0
        moves, unsure = self.causal_moves[position], fired & ~sure
        found = 0
        if not restless & ~moves.grid and moves.nearest and unsure.bit_count() <= FEW_RULES:
            for bit in bits(restless):
                for some in subsets(unsure):
                    found |= self._carried(position, bit, sure | some)
            return found
        for rule, landing in moves.by_rule:
            if fired & rule:
                found |= landing.reached_from(restless, moves.grid)
        if moves.governed.may_allow(fired, sure, headed=0):
            found |= moves.released.reached_from(restless, moves.grid)
        return found & moves.may_follow(restless)

    def _outside(self, moves: CausalMoves, regions: int, rule: int) -> int:
        """Return those of some regions of a feature that the head of a rule does not hold."""
        return sum(
            bit for bit in bits(regions) if not rule & self.heading(moves, bit.bit_length() - 1)
        )

    def _carried(self, position: int, region: int, fired: int) -> int:
        """Return the regions that a feature is carried to from one of them, by its rules that fire."""
        key = position, region, fired
        known = self.memory.carried.get(key)
        if known is None:
            moves, number = self.causal_moves[position], region.bit_length() - 1
            known = 0
            if not moves.governed.allows(fired, moves.heads[number]):
                axis = self.transitions.person.space.axes[moves.index]
                start = axis.regions[number][0]
                for effect in self.transitions.outcomes(moves.governed, start, fired):
                    known |= 1 << axis.region(effect.place)
            self.memory.carried[key] = known
        return known

    def leading_to(self, position: int, regions: int, fired: int, sure: int) -> int:
        """Return the regions from which a feature may be carried to some regions, one after the other, and these."""
        grid, found = self.causal_moves[position].grid, 0
        while found != regions:
            found = regions
            for bit in bits(grid & ~found):
                if self.moved(position, bit, fired, sure) & found:
                    regions |= bit
        return found

    def restless(self, position: int, regions: int, fired: int, sure: int) -> int:
        """Return the regions in which the law of a feature may not let it stay, by its rules that may and that must fire."""
        moves, start, found = self.causal_moves[position], self.start[position], 0
        for bit in bits(regions):
            if not self._rests(moves, bit, start, fired, sure):
                found |= bit
        return found

    def _rests(self, moves: CausalMoves, region: int, start: int, fired: int, sure: int) -> bool:
        """Tell whether the law of a feature surely lets it stay in a region."""
        headed = self.heading(moves, region.bit_length() - 1)
        if moves.governed.surely_allows(fired, sure, headed):
            return True
        # Where it can be set, or be carried off and back, it may stand beside its own value and have no exception.
        excused = self.transitions.excused.get(moves.index)
        if (
            excused is None
            or region != start
            or moves.index in self.on_axis
            or (self.are_supported and fired)
        ):
            return False
        unsure = fired & ~sure
        if unsure.bit_count() > FEW_RULES:
            return False
        return all(
            each == excused or moves.governed.allows(each, headed)
            for each in (sure | some for some in subsets(unsure))
        )

    def model_regions(self, position: int, regions: int) -> int | None:
        """Return the model's cells of some regions of a governed feature, as bits; None where one has none."""
        key = ~position, regions
        if key not in self._model_cells:
            index = self.governed[position][1]
            places = self.transitions.person.space.axes[index].regions
            self._model_cells[key] = self._cells(
                index,
                [places[number][0] if number < len(places) else OFF for number in numbers(regions)],
            )
        return self._model_cells[key]

    def model_options(self, index: int, options: int, *, own: bool) -> int | None:
        """Return the model's cells that options on a feature lead to, and perhaps that of its own value."""
        key = index, options << 1 | own
        if key not in self._model_cells:
            places = [self.options[number].end for number in numbers(options)]
            start = [self.transitions.person.places[index]] if own else []
            self._model_cells[key] = self._cells(index, [*start, *places])
        return self._model_cells[key]

    def _cells(self, index: int, places: list[int]) -> int | None:
        cells = {self.transitions.model_cell(index, place) for place in places}
        return None if -1 in cells else mask_of(cells)

    @cached_property
    def _model_cells(self) -> dict[tuple[int, int], int | None]:
        return {}

    @cached_property
    def _passing(self) -> dict[tuple[int, int], tuple[int, int]]:
        return {}

    def mending(self, rule: int, axis: int) -> tuple[int, int]:
        """Return the options on a feature that make a rule's tests on it pass, and those that make them fail."""
        known = self._passing.get((rule, axis))
        if known is None:
            passing = 0
            for bit, body in self.ways.get(axis, ()):
                if body >> rule & 1:
                    passing |= bit
            known = self._passing[rule, axis] = passing, self.on_axis.get(axis, 0) ^ passing
        return known
