"""Enumerate sets of restrictions whose relaxation may open a plan, best first.

These are the *correction sets* of a maximum satisfiability problem. Its clauses are the completion of the end (`completion.py`) in the problem
without any restriction. Each restriction has a literal that it is relaxed. An option, or a final region of an
endogenous feature, needs the literals of the restrictions that exclude it. The objective is the number of relaxed restrictions, then
a lower bound of the cost of a plan.

Each optimum is tested by delete-relaxed reachability, in which changes end only where the relaxed restrictions permit it. If a final
region is not reachable, one of the options and restrictions outside a maximal set that does not reach it either is needed: a disjunctive
landmark over actions and restrictions, since a relaxed restriction changes effects, too.

Sound because every plan that exists when some restrictions are relaxed is a model whose cost is no more than the plan's. A change to a
value that a set of restrictions permits is permitted by every larger set here, and effects of a feature with
relaxed restrictions may take any value of a head. This would break if a restriction could be relaxed only together with
a larger cost of a change.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, NewType

from p2c._plan.compiled.axis import OFF
from p2c._plan.compiled.bitsets import grown, mask_of, numbers
from p2c._plan.search.completion import Completion
from p2c._plan.search.objective import Objective
from p2c._plan.search.options import Options
from p2c._plan.search.relaxed_reach import EVERYWHERE, Extent, RelaxedReach
from p2c._plan.search.solver import opposite
from p2c._spec.feature import Action, Grid, permits

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from p2c._plan.compiled.causal_moves import Case
    from p2c._plan.compiled.transitions import Transitions
    from p2c._plan.search.best_first import Limits
    from p2c._plan.search.cdcl import Literal
    from p2c._plan.search.options import Option, Target
    from p2c._plan.search.relaxed_reach import Prospect
    from p2c._spec.feature import Feature, Value

Restriction = NewType("Restriction", int)
"""A restriction, by its place in the list of the person."""
Restrictions = frozenset[Restriction]
Price = NewType("Price", int)
"""A cost in the whole numbers of a person."""

ALWAYS: tuple[Restrictions, ...] = (frozenset(),)


class Variant(NamedTuple):
    """A feature without a set of its restrictions."""

    relaxed: Restrictions
    feature: Feature


class Candidate(NamedTuple):
    """A set of restrictions that may open a plan.

    The cost is a lower bound of the plan's.
    """

    relaxed: tuple[Restriction, ...]
    cost: float


@dataclass(frozen=True)
class PartlyRelaxedReach(RelaxedReach):
    """Reachability if only certain features have a relaxed restriction.

    Sound because the effects of a feature without a relaxed restriction are those of the original problem. They are compared only if the
    regions of the feature are the same in both problems.
    """

    strict: RelaxedReach
    """Reachability in the original problem."""

    @cached_property
    def comparable(self) -> int:
        """Return the features with the same regions in both problems, as a mask."""
        axes, others = (each.transitions.person.space.axes for each in (self, self.strict))
        return mask_of(
            position
            for position, moves in enumerate(self.causal_moves)
            if axes[moves.index].regions == others[moves.index].regions
            and self.strict.transitions.person.places[moves.index]
            == self.transitions.person.places[moves.index]
        )

    @cached_property
    def _strictly(self) -> dict[Case, int]:
        return {}

    def look(
        self,
        may_of: list[int],
        must_of: list[int],
        regions: list[int],
        extent: Extent = EVERYWHERE,
    ) -> Prospect:
        """Return how far features may come, each by the effects that it has."""
        strict = self.comparable & ~extent.relaxed
        memory = self.memory.reached

        def follow(position: int, before: int, fired: int, sure: int) -> int:
            key = position, before, fired, sure
            is_strict = strict >> position & 1
            remembered = self._strictly if is_strict else memory
            if key not in remembered:
                reach: RelaxedReach = self.strict if is_strict else self
                remembered[key] = before | reach.moved(position, before, fired, sure)
            return remembered[key]

        return self._settled(may_of, must_of, regions, {}, follow, within=extent.regions)


@dataclass(frozen=True)
class CorrectionSets:
    """The correction sets of one person, best first."""

    transitions: Transitions
    """The person in the problem without any restriction."""
    strict: Transitions
    """The person in the original problem."""
    variants: Mapping[int, Sequence[Variant]]
    """For each feature with restrictions its variants, smaller sets first."""
    count: int
    """Number of restrictions."""
    limits: Limits

    @property
    def restrictions(self) -> tuple[Restriction, ...]:
        """Return all restrictions."""
        return tuple(map(Restriction, range(self.count)))

    # Permitted ends.

    @cached_property
    def options(self) -> Options:
        """Return the options of the person.

        A number that a model weighs has options at the ends of pieces that rules and restrictions do not divide. Sound
        because the cheapest place of a piece on one side of the own value is an end of it, and the clauses do not
        distinguish the others.
        """
        return Options(
            self.transitions, self.transitions.person.space.relevant, pieces=self._pieces
        )

    def _pieces(self, index: int) -> Iterator[Target]:
        """Yield the ends of the pieces of a number, each with the places of its piece."""
        person = self.transitions.person
        axis, home, own = person.space.axes[index], person.homes[index], person.places[index]
        cuts = {0, *axis.cuts, home, home + 1, axis.size}
        for relaxed, _ in self.variants.get(index, ()):
            permitted = self._ends[index, relaxed, True]
            ends = (permitted.start, permitted.stop) if isinstance(permitted, range) else permitted
            cuts |= {cut for each in ends for cut in (each, each + 1)}
        for low, high in pairwise(sorted(cut for cut in cuts if 0 <= cut <= axis.size)):
            for end in {low, high - 1} - {own}:
                yield end, range(low, high)

    @cached_property
    def reach(self) -> RelaxedReach:
        """Return delete-relaxed reachability.

        An option along moves may pass all values that moves lead to.
        """
        passed = {axis: self._moved(axis) for axis in self.variants}
        options = [each._replace(via=passed.get(each.axis, ())) for each in self.options.listed]
        strict = Options(self.strict, self.strict.person.space.relevant)
        return PartlyRelaxedReach(
            self.transitions,
            tuple(options),
            self.options.by_axis,
            RelaxedReach(self.strict, tuple(strict.listed), strict.by_axis),
        )

    def _moved(self, index: int) -> tuple[int, ...]:
        """Return the values that the moves of a feature lead to; none without moves."""
        ends = (
            self._permitted(index, each.feature, direct=True)
            for each in self.variants[index]
            if each.feature.moves is not None
        )
        return tuple(sorted({place for some in ends for place in some}))

    def _permitted(self, index: int, feature: Feature, *, direct: bool) -> Collection[int]:
        """Return the places that changes of a variant of a feature may end in."""
        person = self.transitions.person
        own, wide = person.values[index], person.space.axes[index].feature
        if feature.action is Action.FIXED or (direct and not feature.action.is_direct):
            return ()
        if feature == wide:
            return range(wide.domain.size)
        if feature.moves is not None and own is not None:
            return frozenset(_places(wide, _along_moves(feature, own, direct=direct)))
        domain = feature.targets or feature.domain
        if not isinstance(domain, Grid):
            fit = (each for each in domain.values if permits(feature, own, each, direct=direct))
            return frozenset(_places(wide, fit))
        first, last = _places(wide, (domain.value(each) for each in (0, domain.size - 1)))
        if own is not None and feature.action is Action.UP:
            first = max(first, wide.domain.first_place_past(feature.order(own)))
        if own is not None and feature.action is Action.DOWN:
            last = min(last, wide.domain.first_place_from(feature.order(own)) - 1)
        return range(first, last + 1)

    def _needs(self, index: int, some: Sequence[int], *, direct: bool) -> tuple[Restrictions, ...]:
        """Return the minimal sets that permit a change to one of the places."""
        needs: list[Restrictions] = []
        for relaxed, _ in self.variants.get(index, ()):
            if any(each <= relaxed for each in needs):
                continue
            if _meets(some, self._ends[index, relaxed, direct], self._own(index)):
                needs.append(relaxed)
        return tuple(needs) if index in self.variants else ALWAYS

    def _own(self, index: int) -> int:
        """Return the place that a change does not end in."""
        governed = index in self.transitions.person.space.governed_axes
        return OFF if governed else self.transitions.person.places[index]

    @cached_property
    def _ends(self) -> dict[tuple[int, Restrictions, bool], Collection[int]]:
        return {
            (index, relaxed, direct): self._permitted(index, feature, direct=direct)
            for index, some in self.variants.items()
            for relaxed, feature in some
            for direct in (True, False)
        }

    @cached_property
    def _region_needs(self) -> list[dict[int, tuple[Restrictions, ...]]]:
        """Return the needs of each final region of each endogenous feature.

        The initial region needs none.
        """
        all_needs = []
        for position, moves in enumerate(self.reach.causal_moves):
            regions = self.transitions.person.space.axes[moves.index].regions
            all_needs.append(
                {
                    number: self._needs(moves.index, region, direct=False)
                    for number, region in enumerate(regions)
                    if not self.reach.start[position] >> number & 1
                }
            )
        return all_needs

    def _extent(self, relaxed: Restrictions) -> Extent:
        """Return the extent of changes under relaxed restrictions."""
        within = tuple(
            mask_of(
                number
                for number, needs in regions.items()
                if any(each <= relaxed for each in needs)
            )
            for regions in self._region_needs
        )
        return Extent(within, mask_of({self._position[each] for each in relaxed} - {OFF}))

    @cached_property
    def _position(self) -> dict[Restriction, int]:
        """Return the endogenous feature of each restriction, else OFF."""
        return {
            each: self.reach.position.get(index, OFF)
            for index, some in self.variants.items()
            for each in some[-1].relaxed
        }

    # The master problem.

    @cached_property
    def master(self) -> Completion:
        """Return the clauses."""
        clauses = Completion(self.options, self.reach)
        clauses.state()
        return clauses

    @cached_property
    def relaxed(self) -> tuple[Literal, ...]:
        """Return the literals of relaxed restrictions, with their clauses."""
        solver = self.master.solver
        literals = tuple(solver.literal() for _ in range(self.count))
        solver.add(literals)
        for number, literal in self.master.chosen.items():
            option = self.options.listed[number]
            if option.axis in self.reach.position:
                needs = self._direct_needs(option.axis)
            else:
                needs = self._needs(option.axis, option.among, direct=True)
            self._state_needs(literals, literal, needs)
        for position, regions in enumerate(self._region_needs):
            for number, needs in regions.items():
                if number in self.master.regions[position]:
                    self._state_needs(literals, self.master.regions[position][number], needs)
        return literals

    def _direct_needs(self, index: int) -> tuple[Restrictions, ...]:
        """Return the minimal sets without which an endogenous feature may be set."""
        needs: list[Restrictions] = []
        for relaxed, feature in self.variants.get(index, ()):
            if feature.action.is_direct and not any(each <= relaxed for each in needs):
                needs.append(relaxed)
        return tuple(needs) if index in self.variants else ALWAYS

    def _state_needs(
        self, relaxed: Sequence[Literal], literal: Literal, needs: Iterable[Restrictions]
    ) -> None:
        """State that a literal holds only if one of the sets is relaxed."""
        sets = [[relaxed[each] for each in sorted(some)] for some in needs]
        if all(sets):
            permitted = [self.master.all_of(each) for each in sets]
            self.master.solver.add([opposite(literal), *permitted])

    @cached_property
    def _prices(self) -> dict[int, dict[int, list[Literal]]]:
        """Return literals by the price that they stand for, for each part of the cost.

        The parts of a sum are features; the largest cost is one part.
        """
        norm = self.transitions.person.space.theory.norm
        parts: dict[int, dict[int, list[Literal]]] = defaultdict(lambda: defaultdict(list))
        for number, literal in self.master.chosen.items():
            option = self.options.listed[number]
            part = 0 if norm.largest else option.axis
            parts[part][self._price(option)].append(literal)
        return parts

    def _price(self, option: Option) -> Price:
        prices = self.transitions.person.prices
        return Price((option.effort - prices.per_action) // prices.per_cost)

    @cached_property
    def _objective(self) -> Objective:
        objective = Objective(self.master.solver)
        for by_price in self._prices.values():
            self._weigh(objective, by_price)
        for literal in self.relaxed:
            objective.add(literal, self._scale)
        return objective

    @cached_property
    def _scale(self) -> int:
        """Return a weight above every cost."""
        return 1 + sum(max(by_price) for by_price in self._prices.values())

    def _weigh(self, objective: Objective, by_price: Mapping[int, Iterable[Literal]]) -> None:
        """Let a price weigh level by level (order encoding)."""
        solver, below = self.master.solver, 0
        level: Literal | None = None
        for price, literals in sorted(by_price.items()):
            if not price:
                continue
            before, level = level, solver.literal()
            if before is not None:
                solver.add([opposite(level), before])
            for literal in literals:
                solver.add([opposite(literal), level])
            objective.add(level, price - below, before)
            below = price

    # Optima, and what excludes them.

    def _check(self) -> None:
        self.limits.check()
        self.limits.expanded += 1

    def candidates(self) -> Iterator[Candidate]:
        """Yield correction sets, best first.

        The caller adds a clause against each before it asks for the next.
        """
        _ = self.relaxed
        while self._objective.minimize(self._check):
            self._check()
            if not self._is_reachable():
                continue
            first = self._objective.best_with((), self.relaxed, self._check)
            assert first
            if self._is_reachable():
                cost = self._objective.bound % self._scale
                prices = self.transitions.person.prices
                bound = self.transitions.person.cost(cost * prices.per_cost, actions=0)
                yield Candidate(tuple(sorted(self._last)), bound)

    @property
    def _last(self) -> Restrictions:
        """Return the relaxed restrictions of the last model."""
        holds = self.master.solver.holds
        return frozenset(
            Restriction(number) for number, literal in enumerate(self.relaxed) if holds(literal)
        )

    def exclude(self, present: Iterable[Restriction], absent: Iterable[Restriction]) -> None:
        """State that one `present` restriction is not relaxed or one `absent` is."""
        literals = [opposite(self.relaxed[each]) for each in present]
        self.master.solver.add([*literals, *(self.relaxed[each] for each in absent)])

    def _is_reachable(self) -> bool:
        """Tell whether the last model is delete-relaxed reachable, or add a landmark."""
        reach, master, holds = self.reach, self.master, self.master.solver.holds
        if not reach.causal_moves:
            return True
        stirring = self.options.stirring_mask
        chosen = mask_of(n for n, literal in master.chosen.items() if holds(literal)) & stirring
        relaxed = self._last
        prospect = reach.on_the_way(tuple(numbers(chosen)), self._extent(relaxed))
        for position, literals in enumerate(master.regions):
            region = next(number for number, literal in literals.items() if holds(literal))
            if not prospect.regions[position] >> region & 1:
                self._add_landmark(position, region, chosen, relaxed)
                return False
        return True

    def _add_landmark(self, position: int, region: int, chosen: int, relaxed: Restrictions) -> None:
        """State that a final region needs a missing option or relaxed restriction."""
        shift = len(self.options.listed)
        options = (1 << shift) - 1

        def reached(mask: int) -> int:
            some = frozenset(Restriction(each) for each in numbers(mask >> shift))
            way = self.reach.on_the_way(tuple(numbers(mask & options)), self._extent(some))
            return way.regions[position]

        def misses(mask: int) -> bool:
            return not reached(mask) >> region & 1

        present = chosen | mask_of(relaxed) << shift
        every = self.options.stirring_mask | ((1 << self.count) - 1) << shift
        missing = grown(present, every & ~present, misses)
        needed = [self.master.chosen[n] for n in numbers(every & ~missing & options)]
        needed += [self.relaxed[n] for n in numbers((every & ~missing) >> shift)]
        regions = reached(missing)
        for number, literal in self.master.regions[position].items():
            if not regions >> number & 1:
                self.master.solver.add([opposite(literal), *needed])


def _along_moves(feature: Feature, own: Value, *, direct: bool) -> set[Value]:
    """Return the values that successive changes along moves lead to."""
    assert feature.moves_from is not None
    seen: set[Value] = set()
    waiting = [own]
    while waiting:
        start = waiting.pop()
        for end in feature.moves_from.get(start, ()):  # type: ignore[arg-type]
            if end not in seen and permits(feature, start, end, direct=direct):
                seen.add(end)
                waiting.append(end)
    return seen


def _places(wide: Feature, values: Iterable[Value]) -> Iterator[int]:
    """Yield the places of values in the domain without limits."""
    for value in values:
        assert value is not None
        place = wide.place(value)
        assert place is not None
        yield place


def _meets(some: Sequence[int], ends: Collection[int], own: int) -> bool:
    """Tell whether a change may end in one of the places, other than `own`.

    >>> _meets(range(5, 9), range(8, 12), 8), _meets((3, 5), frozenset({5}), 0)
    (False, True)
    """
    if isinstance(some, range) and isinstance(ends, range):
        both = range(max(some.start, ends.start), min(some.stop, ends.stop))
        return len(both) > 1 or (len(both) == 1 and both[0] != own)
    fewer, others = (ends, some) if isinstance(some, range) else (some, ends)
    return any(place in others and place != own for place in fewer)


__all__ = ["Candidate", "CorrectionSets", "Restriction", "Restrictions", "Variant"]
