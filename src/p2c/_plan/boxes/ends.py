"""End states of a box: ranges of all features, and the verdict of the rules.

Sound because the range of each feature contains its value at the end of every path whose action set lies in the box: a
feature without open actions that no open action reaches through rules or equations keeps its value, a computed one lies
in its interval, and a governed one takes its initial value, a target, or a value of its domain that its law may allow.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import floor
from typing import TYPE_CHECKING

from p2c._plan.boxes.ranges import (
    INFINITE,
    NOTHING,
    Among,
    Fixed,
    Interval,
    added,
    around,
    compared,
    down,
    evaluate,
    hull,
    interval_of,
    number_range,
    up,
)
from p2c._rules.evaluate import passes
from p2c._rules.meaning import ConstraintException
from p2c._rules.theory import ACCEPTED, Relation, Test
from p2c._spec.expression import evaluate as exact_value
from p2c._spec.feature import Kind, Law, exact
from p2c._spec.spec import Effects

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from p2c._plan.boxes.axis import Axis, NamedAxis, Open
    from p2c._plan.boxes.person import Person
    from p2c._plan.boxes.ranges import Range
    from p2c._rules.theory import Clause, Condition, Decision
    from p2c._spec.expression import Expression
    from p2c._spec.feature import Feature, Value

    Box = tuple[Open, ...]

PASSES = 3
"""How often laws narrow the ranges of governed features."""


@dataclass
class Facts:
    """Three-valued verdicts of the rules on the ranges of a box."""

    ends: Ends
    ranges: dict[str, Range]
    model: bool | None = None
    """Whether the model accepts all end states, or none."""
    _decided: dict[Decision, bool | None] = field(default_factory=dict)

    def body(self, conditions: Iterable[Condition]) -> bool | None:
        """Tell whether every condition holds."""
        unsure = False
        for each in conditions:
            truth = self.condition(each)
            if truth is False:
                return False
            unsure = unsure or truth is None
        return None if unsure else True

    def condition(self, condition: Condition) -> bool | None:
        """Tell whether one condition holds."""
        match condition:
            case Test(name):
                plain = self._test(self.ranges[name], condition)
            case Relation(left, comparator, right):
                features = self.ends.person.theory.feature
                one = evaluate(left, self.ranges, features)
                other = evaluate(right, self.ranges, features)
                plain = compared(one, comparator.value, other)
            case _:
                plain = self._decision(condition.decision)
        return None if plain is None else plain is not condition.negated

    def _test(self, range_: Range, test: Test) -> bool | None:
        feature = self.ends.person.theory.feature[test.feature]
        match range_:
            case Fixed(value):
                return passes(feature, value, test)
            case Among(places, missing):
                passing = self.ends.passing(feature, test)
                if places <= passing:
                    return True if places and not missing else (None if places else False)
                return None if places & passing else False
            case Interval():
                assert not isinstance(test.constant, str)
                constant = Interval(*around(exact(test.constant)))
                return compared(range_, test.comparator.value, constant)

    def _decision(self, decision: Decision) -> bool | None:
        if decision not in self._decided:
            theory = self.ends.person.theory
            if decision == ACCEPTED and theory.model is not None:
                return self.model
            verdict: bool | None = False
            for clause in theory.rules_for[decision]:
                truth = self.body(clause.body)
                if truth:
                    verdict = True
                    break
                if truth is None:
                    verdict = None
            self._decided[decision] = verdict
        return self._decided[decision]


@dataclass
class Ends:
    """The end states of one person's boxes.

    Attributes:
        person: The person.
        axes: The axes of features.
        named: The axes of named actions, which stand after those of features in a box.
    """

    person: Person
    axes: tuple[Axis, ...]
    named: tuple[NamedAxis, ...] = ()
    _passing: dict[tuple[str, int], frozenset[int]] = field(default_factory=dict)
    _owns: dict[tuple[int, Open], Range] = field(default_factory=dict)

    @cached_property
    def axis_of(self) -> dict[int, int]:
        """Return the place of the axis of each feature that has one."""
        return {axis.place: number for number, axis in enumerate(self.axes)}

    @cached_property
    def reads(self) -> dict[str, frozenset[str]]:
        """Return the features upstream of each endogenous feature."""
        theory = self.person.theory
        endogenous = {name for name, _ in theory.causes} | {e.name for e in theory.computed}
        return {name: theory.upstream[name] for name in endogenous}

    def passing(self, feature: Feature, test: Test) -> frozenset[int]:
        """Return the places whose values pass a test, before negation."""
        key = feature.name, id(test)
        if key not in self._passing:
            values = enumerate(feature.places)
            self._passing[key] = frozenset(p for p, v in values if passes(feature, v, test))
        return self._passing[key]

    def ranges(self, box: Box) -> dict[str, Range] | None:
        """Return the range of every feature at the end of the paths of a box.

        Returns:
            None if no end state is consistent.
        """
        theory = self.person.theory
        moving = {
            name for axis, o in zip(self._every, box, strict=True) if o.acts for name in axis.moving
        }
        ranges = self._amounts(box) | self._fixed
        for number, open_ in enumerate(box[: len(self.axes)]):
            if open_.acts:
                ranges[self._names[number]] = self._own(number, open_)
        for name in self._listed & moving:
            ranges[name] = self._shifted(name, ranges[name], box)
        wide = [name for name, _ in theory.causes if self._is_affected(name, moving)]
        for name in wide:
            ranges[name] = self._wide(theory.feature[name])
        if not self.recompute(ranges, moving):
            return None
        for _ in range(PASSES if wide else 0):
            before = dict(ranges)
            if not self._narrow_by_laws(ranges, wide) or not self.recompute(ranges, moving):
                return None
            if ranges == before:
                break
        return ranges

    @cached_property
    def _fixed(self) -> dict[str, Range]:
        """Return the ranges of all features without any action."""
        return {name: Fixed(value) for name, value in self.person.row.items()}

    @cached_property
    def _names(self) -> tuple[str, ...]:
        """Return the feature of each axis."""
        return tuple(axis.feature.name for axis in self.axes)

    def _own(self, number: int, open_: Open) -> Range:
        """Return the range of a feature as its direct actions leave it."""
        key = number, open_
        if key not in self._owns:
            self._owns[key] = self._acted(number, open_)
        return self._owns[key]

    def _acted(self, number: int, open_: Open) -> Range:
        """Return the range of a feature that may have direct actions."""
        axis = self.axes[number]
        start, feature = self.person.initial[axis.place], axis.feature
        if open_.low == open_.high and not open_.stays:
            return Fixed(axis.ends(open_.low))
        if feature.is_listed:
            places = {axis.trail(each)[-1] for each in range(open_.low, open_.high + 1)}
            if open_.stays and start is not None:
                own = feature.place(start)
                if own is not None:
                    places.add(own)
            return Among(frozenset(places), open_.stays and start is None)
        low, high = axis.ends(open_.low), axis.ends(open_.high)
        found = Interval(interval_of(low).low, interval_of(high).high)
        return hull(found, interval_of(start)) if open_.stays else found

    @cached_property
    def _every(self) -> tuple[Axis | NamedAxis, ...]:
        return (*self.axes, *self.named)

    @cached_property
    def _listed(self) -> frozenset[str]:
        """Return the features that named actions may change."""
        return frozenset(name for axis in self.named for name in axis.action.lists)

    def _amounts(self, box: Box) -> dict[str, Range]:
        """Return the ranges of the totals of resources."""
        resources = self.person.theory.resources
        if not resources:
            return {}
        low = high = self.person.amounts({})
        for axis, open_ in zip(self._every, box, strict=True):
            if open_.acts:
                if not open_.stays:
                    least = axis.least_used(open_.low, open_.high)
                    low = tuple(map(Fraction.__add__, low, least))
                most = axis.most_used(open_.low, open_.high)
                high = tuple(map(Fraction.__add__, high, most))
        return {
            each.name: Interval(
                around(least)[0],
                around(most if each.limit is None else min(each.limit, most))[1],
            )
            for each, least, most in zip(resources, low, high, strict=True)
        }

    def _shifted(self, name: str, own: Range, box: Box) -> Range:
        """Return the range of a feature that named actions may change as well.

        Sound because its last value is the initial one, a target, or a value that an action sets, plus numbers that later
        actions add, each as often as the box permits; a sum lies within the limits of the feature.
        """
        person = self.person
        start, feature = person.initial[person.index[name]], person.theory.feature[name]
        sets: list[str | int | float] = []
        below = above = Fraction(0)
        for axis, open_ in zip(self.named, box[len(self.axes) :], strict=True):
            if not open_.acts:
                continue
            sets += [value for each, value in axis.action.sets if each == name]
            for each, number in axis.action.adds:
                if each == name:
                    far = (open_.high + 1) * number
                    below, above = below + min(far, Fraction(0)), above + max(far, Fraction(0))
        if feature.is_listed:
            values = [*sets, *([] if start is None else [start])]
            places = {place for each in values if (place := feature.place(each)) is not None}
            if isinstance(own, Among):
                return Among(own.places | places, own.missing or start is None)
            assert isinstance(own, Fixed)
            places |= set() if own.value is None else {feature.places[own.value]}
            return Among(frozenset(places), start is None)
        base = hull(number_range(own), interval_of(start))
        for value in sets:
            base = hull(base, interval_of(value))
        span = added(base, Interval(around(below)[0], around(above)[1]))
        limits = hull(base, hull(interval_of(feature.minimum), interval_of(feature.maximum)))
        return Interval(max(span.low, limits.low), min(span.high, limits.high), start is None)

    def _is_affected(self, name: str, moving: set[str]) -> bool:
        """Tell whether effects may change a governed feature."""
        if self.person.theory.effects is Effects.SUPPORTED:
            return True
        return name in moving or bool(self.reads[name] & self._reaching(moving))

    def _reaching(self, moving: set[str]) -> set[str]:
        reached = set(moving)
        for name, above in self.reads.items():
            if above & moving:
                reached.add(name)
        return reached

    def _wide(self, feature: Feature) -> Range:
        start = self.person.initial[self.person.index[feature.name]]
        if feature.is_listed:
            return Among(frozenset(range(feature.domain.size)), start is None)
        first, last = feature.domain.value(0), feature.domain.value(feature.domain.size - 1)
        if feature.name in self._listed:  # a sum need not lie on the grid
            last = max(last, feature.maximum)
        return hull(Interval(interval_of(first).low, interval_of(last).high), interval_of(start))

    def recompute(self, ranges: dict[str, Range], moving: set[str]) -> bool:
        """Add the ranges of computed features; return False if one is lost.

        Args:
            ranges: The ranges of the other features.
            moving: The features that direct actions change.
        """
        person, theory = self.person, self.person.theory
        origin = person.origin
        reached = self._reaching(moving) if moving or theory.effects is Effects.SUPPORTED else set()
        if theory.effects is Effects.SUPPORTED:
            governed = {name for name, _ in theory.causes}
            reached |= governed | {n for n, above in self.reads.items() if above & governed}
        for feature in theory.computed:
            name, equation = feature.name, feature.equation
            assert equation is not None
            start = origin.initial[name]
            if not self.reads[name] & reached:
                ranges[name] = Fixed(start)
                continue
            raw, first = evaluate(equation.expression, ranges, theory.feature), origin.raw[name]
            if first is not None and not raw.has_numbers:
                return False
            values = self._value(feature, raw)
            same = (
                raw.missing
                if first is None
                else raw.low <= around(first)[1] and raw.high >= around(first)[0]
            )
            if same:
                values = hull(values, interval_of(start))
            if first is not None and start is not None:
                values = values._replace(missing=False)
            elif first is None:
                values = values._replace(missing=values.missing or start is None)
            ranges[name] = values
        return True

    def _value(self, feature: Feature, raw: Interval) -> Interval:
        """Return the values of a computed feature whose raw equation lies in an interval."""
        equation, origin = feature.equation, self.person.origin
        assert equation is not None
        if not raw.has_numbers:
            return NOTHING
        low, high = raw.low, raw.high
        residual = origin.residual[feature.name]
        if residual:
            low, high = down(low + around(residual)[0]), up(high + around(residual)[1])
        if equation.low is not None:
            least = around(equation.low)[0]
            low, high = max(low, least), max(high, least)
        if equation.high is not None:
            most = around(equation.high)[1]
            low, high = min(low, most), min(high, most)
        if equation.step is not None:
            low, high = self._rounded(feature, low, high)
        elif low > -INFINITE and high < INFINITE:
            low, high = down(low), up(high)
        return Interval(low, high, raw.missing)

    def _rounded(self, feature: Feature, low: float, high: float) -> tuple[float, float]:
        """Return an interval that contains all rounded numbers of another.

        Sound because equal ends round alike, and any number is rounded by at most half a step, or by less than a step
        where the grid ends below the limit.
        """
        equation = feature.equation
        assert equation is not None
        ends = []
        for number in (low, high):
            if number in (INFINITE, -INFINITE):
                ends.append(number)
                continue
            value = equation.value(Fraction(number))
            if value is None:
                ends.append(number)
            else:
                ends.append(float(value))
        low, high = min(ends), max(ends)
        return down(low), up(high)

    def _narrow_by_laws(self, ranges: dict[str, Range], wide: Sequence[str]) -> bool:
        """Narrow governed features by their laws; return False if one is empty."""
        theory = self.person.theory
        facts = Facts(self, ranges)
        for name in wide:
            truths = [facts.body(each.body) for each in theory.rules_of[name]]
            may = [c for c, t in zip(theory.rules_of[name], truths, strict=True) if t is not False]
            fires = any(truths)
            kept = self._allowed(theory.feature[name], may, ranges[name], fires=fires)
            match kept:
                case Among(places, missing) if not places and not missing:
                    return False
                case Interval() if not kept.has_numbers and not kept.missing:
                    return False
            ranges[name] = kept
        return True

    def _allowed(
        self, feature: Feature, may: Sequence[Clause], own: Range, *, fires: bool
    ) -> Range:
        """Return the values of a range that a law or an exception may allow."""
        law = feature.law
        uncaused = law is Law.ONLY_IF or not fires
        if uncaused and law is Law.IF:
            return own
        start = self.person.initial[self.person.index[feature.name]]
        excused = self.person.index[feature.name] in self.person.excused
        match own:
            case Among(places, missing):
                heads = {p for clause in may for p in self._head(feature, clause)}
                every = {
                    p
                    for c in self.person.theory.rules_of[feature.name]
                    for p in self._head(feature, c)
                }
                kept = set(places) & heads
                if uncaused:
                    kept |= places - every
                if excused and start is not None:
                    place = feature.place(start)
                    kept |= {place} & places if place is not None else set()
                return Among(frozenset(kept), missing and (uncaused or (excused and start is None)))
            case Interval():
                if uncaused and may:
                    return own
                if uncaused:
                    unheaded = self._unheaded(feature, own)
                    return hull(unheaded, interval_of(start)) if excused else unheaded
                spans = [self._head_span(clause) for clause in may]
                low = min((each.low for each in spans), default=INFINITE)
                high = max((each.high for each in spans), default=-INFINITE)
                found = Interval(max(low, own.low), min(high, own.high), own.missing and excused)
                return hull(found, interval_of(start)) if excused else found
            case Fixed():
                return own

    def _head(self, feature: Feature, clause: Clause) -> frozenset[int]:
        places = frozenset(range(feature.domain.size))
        for test in clause.head:
            passing = self.passing(feature, test)
            places = places - passing if test.negated else places & passing
        return places

    def _unheaded(self, feature: Feature, own: Interval) -> Interval:
        """Return the values of an interval that may be in no head.

        Sound because a value in no head fails the only test of each head that has one, and a value below a constant is at
        most the number just below it: a whole number, or the double before the constant's own.
        """
        low, high = own.low, own.high
        for clause in self.person.theory.rules_of[feature.name]:
            if len(clause.head) != 1:
                continue
            test = clause.head[0]
            assert not isinstance(test.constant, str)
            constant = exact(test.constant)
            match (test.comparator.opposite if test.negated else test.comparator).value:
                case ">=":
                    high = min(high, -_above(feature, -constant))
                case ">":
                    high = min(high, around(constant)[1])
                case "=<":
                    low = max(low, _above(feature, constant))
                case "<":
                    low = max(low, around(constant)[0])
        return Interval(low, high, own.missing)

    def _head_span(self, clause: Clause) -> Interval:
        """Return an interval that contains the numbers of a head."""
        low, high = -INFINITE, INFINITE
        for test in clause.head:
            assert not isinstance(test.constant, str)
            under, over = around(exact(test.constant))
            sign = (test.comparator.opposite if test.negated else test.comparator).value
            if sign in ("=", "=<", "<"):
                high = min(high, over)
            if sign in ("=", ">=", ">"):
                low = max(low, under)
        return Interval(low, high)

    # Verdicts.

    def closes(self, box: Box, ranges: dict[str, Range], model: bool | None = None) -> bool:
        """Tell whether no end state of a box is consistent and meets the goal."""
        facts = Facts(self, ranges, model)
        theory = self.person.theory
        if facts.body(theory.goal) is False:
            return True
        if any(self._surely_broken(facts, clause) for clause in theory.constraints):
            return True
        return any(self._surely_lost(ranges, side) for side in self._sides)

    @cached_property
    def _sides(self) -> list[Expression]:
        origin = self.person.origin
        sides = dict.fromkeys(
            side for each in self.person.theory.relations for side in (each.left, each.right)
        )
        return [side for side in sides if exact_value(side, origin.initial) is not None]

    def _surely_lost(self, ranges: dict[str, Range], side: Expression) -> bool:
        found = evaluate(side, ranges, self.person.theory.feature)
        return not found.has_numbers

    def _surely_broken(self, facts: Facts, clause: Clause) -> bool:
        """Tell whether a constraint is broken in every end state, unexcused."""
        if facts.body(clause.body) is not True:
            return False
        for each in self.person.exceptions:
            if isinstance(each, ConstraintException) and each.constraint == clause:
                return not all(_may_be(facts.ranges[name], value) for name, value in each.values)
        return True


def _above(feature: Feature, constant: Fraction) -> float:
    """Return a lower bound on the values of a feature above a constant."""
    if feature.kind is Kind.INT:
        return around(Fraction(floor(constant) + 1))[0]
    near = around(constant)[0]
    return up(near) if exact(near) == constant else near


def _may_be(range_: Range, value: Value) -> bool:
    match range_:
        case Fixed(own):
            return own == value
        case Interval() if value is None:
            return range_.missing
        case Interval() if not isinstance(value, str):
            exactly = interval_of(value)
            return range_.low <= exactly.high and exactly.low <= range_.high
        case _:
            return True
