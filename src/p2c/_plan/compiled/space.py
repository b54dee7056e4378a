"""The rules compiled to bit masks over cells: what fires, what is allowed and whether the goal holds, in a few ANDs.

Every rule is one bit. For each cell of a feature there is the mask of rules whose tests on that feature pass there; the
rules that fire in a state are the AND of the masks of its cells. Decisions are then settled in the order in which they
call one another.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from p2c._plan.compiled.axis import Axis
from p2c._plan.compiled.bitsets import Remembered, mask_of
from p2c._rules.render import render_rule
from p2c._rules.syntax import Comparator, Rule
from p2c._rules.theory import ACCEPTED, Call, Clause, Test
from p2c._spec.spec import Effects

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from p2c._rules.theory import Condition, Decision, Theory
    from p2c._spec.feature import Feature, Law, Value


SMALL = 20_000
"""How many combinations of regions are few."""
MOST_PLACES = 5_000
"""How many places of a number are followed one by one."""
MOST_TRAILS = 64
"""How many ways along the `moves` of a feature, from one of its values, are few."""

Kept = TypeVar("Kept")


class Truth(NamedTuple):
    """What the rules say of a state: the bits that fire, and whether the goal query succeeds."""

    fired: int
    goal: bool


class Cut(NamedTuple):
    """A feature cut into cells, and for each cell the rules whose tests on it pass there, and whose heads hold it."""

    axis: Axis
    bodies: tuple[int, ...]
    heads: tuple[int, ...]


@dataclass(frozen=True)
class Governed:
    """A feature with causal rules: its index, the bits of its rules, and its law."""

    index: int
    rules: int
    law: Law
    above: frozenset[int]
    """The governed features upstream of it that are not in a cycle with it."""

    def allows(self, fired: int, headed: int) -> bool:
        """Tell whether a value is allowed, from the rules that fire and those whose heads hold the value."""
        return bool(fired & headed) or self._allows_uncaused(fired, headed)

    def may_allow(self, fired: int, sure: int, headed: int) -> bool:
        """Tell whether a value may be allowed, from the rules that may and that must fire."""
        return bool(fired & headed) or self._allows_uncaused(sure, headed)

    def surely_allows(self, fired: int, sure: int, headed: int) -> bool:
        """Tell whether a value is allowed whichever rules fire of those that may, besides those that must."""
        return bool(sure & headed) or self._allows_uncaused(fired & ~headed, headed)

    def _allows_uncaused(self, fired: int, headed: int) -> bool:
        """Tell whether a value is allowed that is in the head of no rule that fires."""
        silent = not fired or not self.law.asks_for_silence
        return silent and (not headed or not self.law.asks_for_unheaded)


@dataclass(frozen=True)
class Space:
    """A theory compiled for search; the same for every person."""

    theory: Theory
    loose: frozenset[str] = frozenset()
    """Governed features that may land anywhere in a head, not only at its nearest value: what a look ahead may suppose."""
    _cut: dict[Feature, Cut] = field(default_factory=dict, repr=False, compare=False)

    def with_features(
        self, features: Iterable[Feature], loose: frozenset[str] = frozenset()
    ) -> Space:
        """Return the space with some features replaced; what it shares with this one is not worked out again."""
        named = {feature.name: feature for feature in features}
        replaced = tuple(named.get(each.name, each) for each in self.theory.features)
        return Space(replace(self.theory, features=replaced), loose, self._cut)

    @cached_property
    def clauses(self) -> tuple[Clause, ...]:
        """Return all rules, one bit each: decisions before what calls them, causes, constraints, the goal last."""
        return (*self.theory.clauses, Clause(Rule(None, ()), self.theory.goal))

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """Return the text of every rule but the goal, by bit."""
        return tuple(render_rule(clause.rule) for clause in self.clauses[:-1])

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        """Return one axis a feature."""
        return tuple(each.axis for each in self._cuts)

    @cached_property
    def _cuts(self) -> tuple[Cut, ...]:
        for feature in self.theory.features:
            if feature not in self._cut:
                self._cut[feature] = self._cut_up(feature)
        return tuple(self._cut[feature] for feature in self.theory.features)

    def _cut_up(self, feature: Feature) -> Cut:
        name = feature.name
        heads = [test for _, tests in self._head_tests.get(name, ()) for test in tests]
        tests = [test for _, tests in self._body_tests[name] for test in tests]
        model = self.theory.parsed
        marks: tuple[int, ...] = ()
        if model is not None and feature.kind.is_number:
            tests += [Test(name, Comparator.LE, upper) for upper in model.cuts(feature)]
        elif model is not None:
            marks = model.marks(feature)
        seen = tuple(dict.fromkeys(tests + heads))
        axis = Axis(feature, seen, tuple(dict.fromkeys(heads)), marks)
        firsts = [cell[0] for cell in axis.cells]
        bodies = axis.masks(self._body_tests[name], firsts)
        silent = self._untested(name)
        return Cut(
            axis,
            tuple(mask | silent for mask in bodies),
            axis.masks(self._head_tests.get(name, ()), firsts),
        )

    def _untested(self, name: str) -> int:
        """Return the rules that do not test a feature."""
        tested = mask_of(bit.bit_length() - 1 for bit, _ in self._body_tests[name])
        return (1 << len(self.clauses)) - 1 & ~tested

    @cached_property
    def index(self) -> dict[str, int]:
        """Return the place of each feature in the problem."""
        return {feature.name: index for index, feature in enumerate(self.theory.features)}

    @cached_property
    def body_masks(self) -> tuple[tuple[int, ...], ...]:
        """Return, for each feature and cell, the rules whose tests on the feature pass there."""
        return tuple(each.bodies for each in self._cuts)

    @cached_property
    def head_masks(self) -> tuple[tuple[int, ...], ...]:
        """Return, for each feature and cell, the feature's causal rules whose heads hold its values."""
        return tuple(each.heads for each in self._cuts)

    @cached_property
    def bodies(self) -> tuple[Remembered, ...]:
        """Return, for each feature, the body mask of a place."""
        return tuple(map(_by_place, self.axes, self.body_masks))

    @cached_property
    def heads(self) -> tuple[Remembered, ...]:
        """Return, for each feature, the head mask of a place."""
        return tuple(map(_by_place, self.axes, self.head_masks))

    def off_masks(self, index: int, value: Value) -> tuple[int, int]:
        """Return the body mask and the head mask of a value that has no place."""
        axis = self.axes[index]

        def passes(test: Test) -> bool:
            return axis.off_passes(test, value)

        return self._body_mask(axis, passes), 0 if value is None else self._head_mask(axis, passes)

    def _body_mask(self, axis: Axis, passes: Callable[[Test], bool]) -> int:
        mask = (1 << len(self.clauses)) - 1
        for bit, tests in self._body_tests[axis.feature.name]:
            if not all(passes(test) for test in tests):
                mask &= ~bit
        return mask

    def _head_mask(self, axis: Axis, passes: Callable[[Test], bool]) -> int:
        mask = 0
        for bit, tests in self._head_tests.get(axis.feature.name, ()):
            if all(passes(test) for test in tests):
                mask |= bit
        return mask

    @cached_property
    def _body_tests(self) -> dict[str, list[tuple[int, list[Test]]]]:
        """Return, for each feature, the bits of the rules that test it, with their tests."""
        found: dict[str, list[tuple[int, list[Test]]]] = {name: [] for name in self.index}
        for bit, clause in enumerate(self.clauses):
            own: dict[str, list[Test]] = {}
            for each in clause.body:
                if isinstance(each, Test):
                    own.setdefault(each.feature, []).append(each)
            for name, tests in own.items():
                found[name].append((1 << bit, tests))
        return found

    @cached_property
    def _head_tests(self) -> dict[str, list[tuple[int, tuple[Test, ...]]]]:
        """Return, for each governed feature, the bits of its causal rules, with the tests of their heads."""
        first = sum(len(clauses) for _, clauses in self.theory.decisions)
        found: dict[str, list[tuple[int, tuple[Test, ...]]]] = {}
        for name, clauses in self.theory.causes:
            found[name] = [(1 << (first + i), clause.head) for i, clause in enumerate(clauses)]
            first += len(clauses)
        return found

    @cached_property
    def governed(self) -> tuple[Governed, ...]:
        """Return the features with causal rules, in the problem's order."""
        found = []
        for name, _ in self.theory.causes:
            upstream = self.theory.upstream
            above = {
                self.index[other]
                for other in upstream[name]
                if other in self.theory.rules_of and name not in upstream[other]
            }
            rules = sum(bit for bit, _ in self._head_tests[name])
            law = self.theory.feature[name].law
            found.append(
                Governed(self.index[name], rules, law, frozenset(above - {self.index[name]}))
            )
        return tuple(found)

    @cached_property
    def tested(self) -> tuple[tuple[int, ...], ...]:
        """Return, for each rule, the features that its body tests."""
        return tuple(
            tuple(sorted({self.index[c.feature] for c in clause.body if isinstance(c, Test)}))
            for clause in self.clauses
        )

    @cached_property
    def called(self) -> dict[int, tuple[tuple[int, ...], tuple[int, ...]]]:
        """Return, for each rule that calls decisions, the places of those it needs to hold and to fail."""
        places = {decision: place for place, (decision, _) in enumerate(self.theory.decisions)}
        found = {}
        for rule, clause in enumerate(self.clauses):
            calls = [each for each in clause.body if isinstance(each, Call)]
            if calls:
                needs = tuple(places[each.decision] for each in calls if not each.negated)
                bars = tuple(places[each.decision] for each in calls if each.negated)
                found[rule] = needs, bars
        return found

    @cached_property
    def constraint_bits(self) -> tuple[tuple[int, frozenset[int]], ...]:
        """Return the bit of each constraint and the features that it reads, also through decisions."""
        first = len(self.clauses) - 1 - len(self.theory.constraints)
        return tuple(
            (
                1 << (first + offset),
                frozenset(self.index[n] for n in self.theory.reads(clause.body)),
            )
            for offset, clause in enumerate(self.theory.constraints)
        )

    @cached_property
    def constraints(self) -> int:
        """Return the bits of all constraints."""
        return sum(bit for bit, _ in self.constraint_bits)

    @cached_property
    def bits_for(self) -> dict[Decision, tuple[tuple[int, Clause], ...]]:
        """Return the rules of each decision with their bits."""
        first = 0
        found = {}
        for decision, clauses in self.theory.decisions:
            found[decision] = tuple(
                (1 << bit, clause) for bit, clause in enumerate(clauses, start=first)
            )
            first += len(clauses)
        return found

    @cached_property
    def decision_bits(self) -> int:
        """Return the bits of all rules of decisions that some causal rule calls, directly or not."""
        causes = [clause.body for _, clauses in self.theory.causes for clause in clauses]
        return self._called_by(causes)

    @cached_property
    def noticing(self) -> int:
        """Return the rules on which it rests what happens by itself and what is consistent."""
        causes = sum(each.rules for each in self.governed)
        called = self._called_by(clause.body for clause in self.theory.constraints)
        return causes | self.constraints | self.decision_bits | called

    def _called_by(self, bodies: Iterable[tuple[Condition, ...]]) -> int:
        return self._rules_for(decision for decision, _ in self.theory.called(bodies))

    def _rules_for(self, decisions: Iterable[Decision]) -> int:
        return sum(bit for decision in decisions for bit, _ in self.bits_for[decision])

    @cached_property
    def _calling(self) -> tuple[tuple[int, int, int], ...]:
        """Return the bit of each rule that calls decisions, and masks of those it needs to hold and to fail."""
        return tuple(
            (1 << rule, mask_of(set(needs)), mask_of(set(bars)))
            for rule, (needs, bars) in self.called.items()
        )

    @cached_property
    def settling(self) -> tuple[tuple[int, tuple[tuple[int, int, int], ...]], ...]:
        """Return, for each decision in call order, its rules' bits and those of its rules that call others."""
        rules = [self._rules_for([decision]) for decision, _ in self.theory.decisions]
        return tuple((own, tuple(each for each in self._calling if each[0] & own)) for own in rules)

    @cached_property
    def calling_others(self) -> tuple[tuple[int, int, int], ...]:
        """Return the calling rules of causes, constraints and the goal."""
        decisions = sum(rules for rules, _ in self.settling)
        return tuple(each for each in self._calling if not each[0] & decisions)

    @cached_property
    def model_bit(self) -> int:
        """Return the bit of what the model decides; 0 where there is none."""
        decides = self.theory.model is not None and ACCEPTED in self.bits_for
        return self._rules_for([ACCEPTED]) if decides else 0

    @cached_property
    def wants_accepted(self) -> bool:
        """Tell whether the goal itself asks for the model's yes."""
        return bool(self.model_bit) and ACCEPTED in _called(self.theory.goal, negated=False)

    @cached_property
    def has_compiled_model(self) -> bool:
        """Tell whether a model decides about ends by cells, and tells the cheapest of them itself; it is compiled for that now."""
        model = self.theory.parsed
        alone = self.wants_accepted and len(self.theory.goal) == 1 and self.selects
        weighed = self.weighed_axes or self.model_bit & self.noticing
        return model is not None and alone and not weighed and model.is_compiled

    @cached_property
    def model_axes(self) -> tuple[int, ...]:
        """Return the features that the model reads, in the model's order."""
        model = self.theory.model
        return () if model is None else tuple(self.index[name] for name in model.reads)

    @cached_property
    def model_places(self) -> dict[int, int]:
        """Return the place of each feature that the model reads in the model's order."""
        return {index: place for place, index in enumerate(self.model_axes)}

    @cached_property
    def weighed_axes(self) -> frozenset[int]:
        """Return the features whose numbers the model weighs, those that are categories here among them."""
        model = self.theory.parsed
        return frozenset() if model is None else frozenset(self.index[name] for name in model.lined)

    @cached_property
    def lined_axes(self) -> frozenset[int]:
        """Return the features of which two numbers in one region may differ, as the model weighs them; each category has its own."""
        numbers = {index for index, each in enumerate(self.axes) if each.feature.kind.is_number}
        return self.weighed_axes & numbers

    @cached_property
    def _model_cells(self) -> dict[tuple[int, int], int]:
        return {}

    def model_cell(self, index: int, place: int) -> int:
        """Return the model's cell of a place on the grid."""
        region = self.axes[index].region(place)
        known = self._model_cells.get((index, region))
        if known is None:
            feature, model = self.axes[index].feature, self.theory.parsed
            assert model is not None
            known = model.cell(feature.name, feature.domain.value(place))
            self._model_cells[index, region] = known
        return known

    @cached_property
    def _truths(self) -> dict[int, Truth]:
        return {}

    def truth(self, base: int) -> Truth:
        """Return what fires when these rules' tests pass, decisions settled; remembered for the next time."""
        known = self._truths.get(base)
        if known is None:
            known = self._truths[base] = self._settle(base)
            if len(self._truths) > 200_000:
                self._truths.clear()
        return known

    def _settle(self, base: int) -> Truth:
        fired, _ = self.settle(base, base)
        return Truth(fired, bool(fired >> len(self.clauses) - 1 & 1))

    def settle(self, may: int, must: int) -> tuple[int, int]:
        """Return which rules may and which must fire once calls of decisions count, from what their tests allow."""
        may_hold = must_hold = 0
        for position, (rules, calling) in enumerate(self.settling):
            if calling:
                may, must = _call(calling, may, must, may_hold, must_hold)
            if may & rules:
                may_hold |= 1 << position
                if must & rules:
                    must_hold |= 1 << position
        return _call(self.calling_others, may, must, may_hold, must_hold)

    @cached_property
    def concerned(self) -> frozenset[str]:
        """Return the features that matter to the goal, or to consistency on the way to it."""
        theory = self.theory
        names = set(theory.reads(theory.goal))
        reading = [theory.reads(clause.body) for clause in theory.constraints]
        reading += theory.kept_defined
        for action in theory.named_actions:
            names |= {*theory.reads(action.when), *action.lists}
        size = -1
        while size != len(names):
            size = len(names)
            for name in tuple(names):
                names |= theory.upstream[name]
            names |= {name for name, _ in theory.causes if theory.upstream[name] & names}
            names |= {f.name for f in theory.features if names.intersection(f.spends)}
            for reads in reading:
                if reads & names:
                    names |= reads
        return frozenset(names)

    @cached_property
    def stirring(self) -> frozenset[int]:
        """Return the features that can set off effects or break constraints; all others commute with everything."""
        theory = self.theory
        names: set[str] = set().union(*(theory.upstream[name] for name, _ in theory.causes))
        for clause in theory.constraints:
            for name in theory.reads(clause.body):
                names |= {name, *theory.upstream[name]}
        return frozenset(self.index[name] for name in names) | self.governed_axes

    @cached_property
    def governed_axes(self) -> frozenset[int]:
        """Return the features with causal rules."""
        return frozenset(each.index for each in self.governed)

    @cached_property
    def denied(self) -> int:
        """Return the rules of the decisions that the goal denies."""
        return self._with_bodies(_called(self.theory.goal, negated=True))

    @cached_property
    def blamed(self) -> int:
        """Return the rules that can do nothing but harm: the goal denies their decisions, and no other rule calls them."""
        needed = _called(self.theory.goal, negated=False)
        for clause in self.clauses[:-1]:
            needed |= _called(clause.body, negated=True) | _called(clause.body, negated=False)
        return self._with_bodies(_called(self.theory.goal, negated=True) - needed)

    def _with_bodies(self, decisions: set[Decision]) -> int:
        """Return the rules of decisions; what a model decides has no body that could be kept from firing."""
        return self._rules_for(decisions) & ~self.model_bit

    @cached_property
    def _kept(self) -> dict[Callable[[Space], Any], Any]:
        return {}

    def kept(self, work_out: Callable[[Space], Kept]) -> Kept:
        """Return what others work out about the space, kept in it for everyone who is planned for."""
        if work_out not in self._kept:
            self._kept[work_out] = work_out(self)
        known: Kept = self._kept[work_out]
        return known

    @cached_property
    def is_small(self) -> bool:
        """Tell whether routes of classes pay: the classes are few enough to be met again, and their routes to be listed."""
        few = math.prod(len(axis.regions) for axis in self.axes) <= SMALL
        return few and not self.theory.norm.largest and not self.weighed_axes

    @cached_property
    def selects(self) -> bool:
        """Tell whether sets of direct actions can be chosen before their orders.

        Each feature is set once, or along few trails; one that rules change too, as often as its moves allow.
        """
        ruled = self.theory.model is None
        return (ruled or self.theory.effects is Effects.TRIGGERED) and all(
            ruled and (feature.governed or has_few_trails(feature))
            for feature in self.theory.features
            if feature.moves_from is not None and feature.action.is_direct
        )

    @cached_property
    def selects_best(self) -> bool:
        """Tell whether the actions of the best plan can be chosen before their order.

        Of the ways along the moves of a feature that no effect notices, the best to each value is enough.
        """
        return self.theory.model is None and all(
            feature.governed
            or has_few_trails(feature)
            or (index not in self.stirring and not self.theory.norm.largest)
            for index, feature in enumerate(self.theory.features)
            if feature.moves_from is not None and feature.action.is_direct
        )

    @cached_property
    def has_too_many_places(self) -> bool:
        """Tell whether a search is hopeless: it follows a number that a model weighs place by place, and those are many."""
        by_courses = self.selects and self.wants_accepted
        return any(
            axis.feature.action.is_direct and axis.size > MOST_PLACES
            for index, axis in enumerate(self.axes)
            if index in self.lined_axes and not (by_courses and index not in self.governed_axes)
        )

    @cached_property
    def settable(self) -> tuple[int, ...]:
        """Return the features that may be set."""
        return tuple(index for index, axis in enumerate(self.axes) if axis.feature.action.is_direct)

    @cached_property
    def relevant(self) -> tuple[int, ...]:
        """Return the features that may be set and matter to the goal."""
        return tuple(
            index for index in self.settable if self.axes[index].feature.name in self.concerned
        )


def _call(
    calling: tuple[tuple[int, int, int], ...], may: int, must: int, may_hold: int, must_hold: int
) -> tuple[int, int]:
    for bit, needs, bars in calling:
        if may & bit and (may_hold & needs != needs or must_hold & bars):
            may &= ~bit
            must &= ~bit
        elif must & bit and (must_hold & needs != needs or may_hold & bars):
            must &= ~bit
    return may, must


def has_few_trails(feature: Feature) -> bool:
    """Tell whether the moves of a feature make few ways from each value that come to none twice."""
    moves = feature.moves_from or {}
    for start in moves:
        trails: list[tuple[str | int | float, ...]] = [(start,)]
        for trail in trails:
            onward = moves.get(trail[-1], ())
            trails += [(*trail, end) for end in onward if end not in trail]
            if len(trails) > MOST_TRAILS + 1:
                return False
    return True


def _called(body: tuple[Condition, ...], *, negated: bool) -> set[Decision]:
    return {each.decision for each in body if isinstance(each, Call) and each.negated is negated}


def _by_place(axis: Axis, masks: tuple[int, ...]) -> Remembered:
    return Remembered(lambda place: masks[axis.cell(place)], {})
