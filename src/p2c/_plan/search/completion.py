"""Encode the end of a plan as clauses (Clark's completion of the rules).

Each feature is in exactly one *case* at the end. The cases of an exogenous feature are its options and to stay unchanged;
those of an endogenous one are the regions that delete-relaxed reachability allows. Tests, rule bodies and decisions are
defined as literals over the cases. Every end of a plan satisfies the clauses; not every model is the end of a plan.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from operator import and_
from typing import TYPE_CHECKING, NamedTuple

from p2c._plan.compiled.axis import OFF
from p2c._plan.compiled.bitsets import bits, numbers
from p2c._plan.search.cdcl import Literal
from p2c._plan.search.relaxed_reach import settle
from p2c._plan.search.solver import Solver, opposite

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from p2c._plan.compiled.causal_moves import CausalMoves
    from p2c._plan.search.options import Options
    from p2c._plan.search.propagation import End
    from p2c._plan.search.relaxed_reach import RelaxedReach

FEW_CASES = 8
"""Maximum number of cases for which "at most one" is encoded by pairs.

Beyond it, order literals are used.
"""


class Case(NamedTuple):
    """A case of a feature, and the rules whose tests pass in it."""

    literal: Literal
    body: int


@dataclass
class Completion:
    """Clauses about one person's options and the end of a plan."""

    options: Options
    reach: RelaxedReach
    root: End | None = None
    """The ends that unit propagation leaves, if it was done."""
    solver: Solver = field(default_factory=Solver)
    chosen: dict[int, Literal] = field(default_factory=dict)
    """Literals of options, by number."""
    stays: dict[int, Literal] = field(default_factory=dict)
    """For each exogenous feature the literal that it keeps its initial value."""
    regions: list[dict[int, Literal]] = field(default_factory=list)
    """Literals of the final regions of each endogenous feature, by number."""
    _cases: dict[int, list[Case]] = field(default_factory=dict)
    _orders: dict[int, list[Literal]] = field(default_factory=dict)
    _tests: dict[tuple[int, int], Literal] = field(default_factory=dict)
    _rules: dict[int, Literal] = field(default_factory=dict)
    _decisions: dict[int, Literal] = field(default_factory=dict)

    @cached_property
    def true(self) -> Literal:
        """Return a literal that holds."""
        literal = self.solver.literal()
        self.solver.add([literal])
        return literal

    @property
    def false(self) -> Literal:
        """Return a literal that does not hold."""
        return opposite(self.true)

    @cached_property
    def accepted(self) -> Literal:
        """Return the literal that a model accepts the end; no clause defines it."""
        return self.solver.literal()

    def state(self) -> None:
        """Add all clauses."""
        for axis, mask in self.reach.on_axis.items():
            self._add_options(axis, mask)
        everything = self.reach.stirring_options
        prospect = self.reach.on_the_way(everything)
        regions = prospect.regions
        if self.root is not None:
            regions = list(map(and_, regions, self.root.regions))
        for position, moves in enumerate(self.reach.causal_moves):
            self._add_regions(position, moves, regions[position])
        for position in range(len(self.reach.causal_moves)):
            self._add_law(position)
        self._add_constraints()
        self._add_goal()

    @cached_property
    def _truth(self) -> tuple[int, int]:
        """Return the rules that may and the rules that must fire at the end, as masks."""
        if self.root is None:
            return -1, 0
        return settle(self.options.space, self.root.may_of, self.root.must_of)

    def _add_options(self, axis: int, mask: int) -> None:
        listed = self.reach.options
        own = [Literal(self.solver.literal()) for _ in range(mask.bit_count())]
        self.chosen.update(zip(numbers(mask), own, strict=True))
        if axis in self.reach.position:
            return
        stay = self.stays[axis] = self.solver.literal()
        if self.root is not None and axis in self.root.moved:
            self.solver.add([opposite(stay)])
        start = self.reach.transitions.person.places[axis]
        cases = [(start, Case(stay, self.reach.own[axis]))]
        for number, literal in zip(numbers(mask), own, strict=True):
            cases.append((listed[number].end, Case(literal, self.reach.ends[number])))
        cases.sort(key=lambda each: each[0])
        self._add_cases(axis, [case for _, case in cases])

    def _add_regions(self, position: int, moves: CausalMoves, reachable: int) -> None:
        literals = {number: self.solver.literal() for number in numbers(reachable)}
        self.regions.append(literals)
        cases = []
        for number, literal in literals.items():
            listed = number < len(moves.bodies)
            body = moves.bodies[number] if listed else self.reach.own[moves.index]
            cases.append(Case(literal, body))
        self._add_cases(moves.index, cases)

    def _add_cases(self, axis: int, cases: list[Case]) -> None:
        """State that exactly one case holds."""
        self._cases[axis] = cases
        add = self.solver.add
        literals = [each.literal for each in cases]
        add(literals)
        if len(cases) <= FEW_CASES:
            for place, one in enumerate(literals):
                for other in literals[:place]:
                    add([opposite(one), opposite(other)])
            return
        # order[i]: the case is number i or a later one.
        order = [self.true, *(self.solver.literal() for _ in cases[1:]), self.false]
        self._orders[axis] = order
        for place, (here, after) in enumerate(pairwise(order)):
            add([opposite(after), here])
            add([opposite(literals[place]), here])
            add([opposite(literals[place]), opposite(after)])
            add([literals[place], opposite(here), after])

    def passes(self, axis: int, rule: int) -> Literal:
        """Return the literal that a rule's tests on a feature pass at the end."""
        cases = self._cases.get(axis)
        if cases is None:
            return self.true if self.reach.own[axis] >> rule & 1 else self.false
        passing = sum((case.body >> rule & 1) << place for place, case in enumerate(cases))
        defined = self._tests.get((axis, passing))
        if defined is None:
            defined = self._tests[axis, passing] = self._case_in(axis, cases, passing)
        return defined

    def _case_in(self, axis: int, cases: list[Case], passing: int) -> Literal:
        """Return a literal that is true just in the cases of a mask."""
        every = (1 << len(cases)) - 1
        if passing in (0, every):
            return self.true if passing else self.false
        for mask, inside in ((passing, True), (every ^ passing, False)):
            if mask.bit_count() == 1:
                literal = cases[mask.bit_length() - 1].literal
                return literal if inside else opposite(literal)
        order = self._orders.get(axis)
        if order is not None:
            parts = [self._between(order, first, past) for first, past in _runs(passing)]
            return self.any_of(parts)
        literal = self.solver.literal()
        for place, case in enumerate(cases):
            said = literal if passing >> place & 1 else opposite(literal)
            self.solver.add([opposite(case.literal), said])
        return literal

    def _between(self, order: list[Literal], first: int, past: int) -> Literal:
        return self.all_of([order[first], opposite(order[past])])

    def all_of(self, literals: Sequence[Literal]) -> Literal:
        """Return a literal equivalent to a conjunction."""
        return opposite(self.any_of([opposite(each) for each in literals]))

    def any_of(self, literals: Iterable[Literal]) -> Literal:
        """Return a literal equivalent to a disjunction."""
        parts = [each for each in dict.fromkeys(literals) if each != self.false]
        if self.true in parts:
            return self.true
        if not parts:
            return self.false
        if len(parts) == 1:
            return parts[0]
        either = self.solver.literal()
        self.solver.add([opposite(either), *parts])
        for each in parts:
            self.solver.add([either, opposite(each)])
        return either

    def body(self, rule: int) -> list[Literal]:
        """Return literals that all hold at the end just if a rule fires there."""
        space = self.options.space
        if space.model_bit >> rule & 1:
            return [self.accepted]
        literals = [self.passes(axis, rule) for axis in space.tested[rule]]
        needs, bars = space.called.get(rule, ((), ()))
        literals += [self.decided(position) for position in needs]
        literals += [opposite(self.decided(position)) for position in bars]
        return literals

    def fires(self, rule: int) -> Literal:
        """Return the literal that a rule fires at the end."""
        if rule not in self._rules:
            may, must = self._truth
            if may >> rule & ~(must >> rule) & 1:
                self._rules[rule] = self.all_of(self.body(rule))
            else:
                self._rules[rule] = self.true if must >> rule & 1 else self.false
        return self._rules[rule]

    def decided(self, position: int) -> Literal:
        """Return the literal that a decision holds at the end."""
        if position not in self._decisions:
            rules, _ = self.options.space.settling[position]
            self._decisions[position] = self.any_of([self.fires(each) for each in numbers(rules)])
        return self._decisions[position]

    def forbid(self, rule: int, unless: Iterable[Literal] = ()) -> None:
        """State that a rule does not fire at the end, unless a literal holds."""
        if self._truth[0] >> rule & 1:
            self.solver.add([*(opposite(each) for each in self.body(rule)), *unless])

    def _add_goal(self) -> None:
        space = self.options.space
        goal = len(space.clauses) - 1
        for axis in space.tested[goal]:
            self.solver.add([self.passes(axis, goal)])
        needs, bars = space.called.get(goal, ((), ()))
        for position in needs:
            rules, _ = space.settling[position]
            self.solver.add([self.fires(each) for each in numbers(rules)])
        for position in bars:
            for rule in numbers(space.settling[position][0]):
                self.forbid(rule)

    def _add_constraints(self) -> None:
        excused = dict(self.reach.transitions.excused_constraints)
        for bit, _ in self.options.space.constraint_bits:
            rule = bit.bit_length() - 1
            if bit not in excused:
                self.forbid(rule)
                continue
            # The exception holds only as long as every feature that the constraint reads is at its initial value.
            for axis in excused[bit]:
                keeps = self.keeps(axis)
                if keeps != self.true:
                    self.forbid(rule, [keeps])

    def keeps(self, axis: int) -> Literal:
        """Return the literal that a feature ends with its initial value.

        For an endogenous feature it ends in the initial region, which is more.
        """
        position = self.reach.position.get(axis)
        if position is not None:
            return self.regions[position].get(self.start(position), self.false)
        return self.stays.get(axis, self.true)

    def start(self, position: int) -> int:
        """Return the number of the initial region of an endogenous feature."""
        return self.reach.start[position].bit_length() - 1

    def _add_law(self, position: int) -> None:
        """State that each final region is allowed by the law of the feature, or excused."""
        moves = self.reach.causal_moves[position]
        governed = moves.governed
        excused = self.reach.transitions.excused.get(moves.index)
        for region, literal in self.regions[position].items():
            headed = self.reach.heading(moves, region)
            caused = [self.fires(each) for each in numbers(headed)]
            if excused is not None and region == self.start(position):
                caused.append(self._fired_just(governed.rules, excused))
            if governed.law.asks_for_unheaded and headed:
                self.solver.add([opposite(literal), *caused])
            elif governed.law.asks_for_silence:
                for rule in numbers(governed.rules & ~headed):
                    fires = self.fires(rule)
                    self.solver.add([opposite(literal), opposite(fires), *caused])

    def _fired_just(self, rules: int, fired: int) -> Literal:
        """Return the literal that, among `rules`, just the rules of `fired` fire."""
        said = []
        for bit in bits(rules):
            fires = self.fires(bit.bit_length() - 1)
            said.append(fires if fired & bit else opposite(fires))
        return self.all_of(said)


def _runs(mask: int) -> list[tuple[int, int]]:
    """Return the runs of set bits, as first and past.

    >>> _runs(0b110010)
    [(1, 2), (4, 6)]
    """
    runs: list[tuple[int, int]] = []
    for number in numbers(mask):
        if runs and runs[-1][1] == number:
            runs[-1] = runs[-1][0], number + 1
        else:
            runs.append((number, number + 1))
    return runs


__all__ = ["OFF", "Completion"]
