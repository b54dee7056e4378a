"""Formulas over the values of features, without negation.

Each feature has exactly one value.

That a test fails is the same as that the feature has one of the other values, so `not` can always be pushed down to the
values, and what is left is `and`, `or` and atoms. PDDL needs nothing more.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from p2c._rules.evaluate import in_head
from p2c._rules.meaning import ConstraintException, FeatureException
from p2c._rules.theory import Call, Test

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from p2c._engines.instance import Instance
    from p2c._rules.theory import Clause, Condition


class Is(NamedTuple):
    """A feature has the value at a place."""

    feature: str
    place: int


@dataclass(frozen=True)
class And:
    """All parts hold; without parts it is true."""

    parts: tuple[Formula, ...] = ()


@dataclass(frozen=True)
class Or:
    """A disjunction; without parts it is false."""

    parts: tuple[Formula, ...] = ()


Formula = Is | And | Or


def both(*given: Formula) -> Formula:
    """Return the conjunction of formulas in short form."""
    return _joined(And, Or(), given)


def either(*given: Formula) -> Formula:
    """Return the disjunction of formulas in short form."""
    return _joined(Or, And(), given)


def _joined(kind: type[And | Or], settling: Formula, given: Iterable[Formula]) -> Formula:
    """Join formulas in one flat formula; `settling` is the absorbing element."""
    parts: list[Formula] = []
    for each in given:
        if each == settling:
            return settling
        parts += each.parts if isinstance(each, kind) else (each,)
    kept = tuple(dict.fromkeys(parts))
    return kept[0] if len(kept) == 1 else kind(kept)


@dataclass(frozen=True)
class Formulas:
    """Rules, laws and the goal as formulas over the reachable values of features."""

    instance: Instance
    places: Mapping[str, tuple[int, ...]]

    def among(self, name: str, places: Iterable[int]) -> Formula:
        """Return that the value of a feature is among the given ones."""
        wanted = set(places)
        if wanted >= set(self.places[name]):
            return And()
        return either(*(Is(name, place) for place in self.places[name] if place in wanted))

    def negation(self, formula: Formula) -> Formula:
        """Return that a formula does not hold."""
        match formula:
            case Is(name, place):
                return self.among(name, [each for each in self.places[name] if each != place])
            case And(parts):
                return either(*map(self.negation, parts))
            case Or(parts):
                return both(*map(self.negation, parts))

    def body(self, body: tuple[Condition, ...]) -> Formula:
        """Return that every condition of a body holds."""
        return both(*map(self._condition, body))

    def _condition(self, condition: Condition) -> Formula:
        if isinstance(condition, Test):
            name = condition.feature
            plain = self.among(
                name, [p for p in self.places[name] if self.instance.passes(condition, p)]
            )
        else:
            assert isinstance(condition, Call), "an instance has no arithmetic"
            clauses = self.instance.theory.rules_for[condition.decision]
            plain = either(*(self.body(clause.body) for clause in clauses))
        return self.negation(plain) if condition.negated else plain

    @cached_property
    def goal(self) -> Formula:
        """Return that the goal query succeeds."""
        return self.body(self.instance.theory.goal)

    def in_head(self, clause: Clause, name: str, place: int) -> bool:
        """Tell whether the value at a place is in the head of a rule."""
        return in_head(self.instance.theory, clause, self.instance.value(name, place))

    def allows(self, name: str, place: int) -> Formula:
        """Return when the law of a feature allows the value at a place."""
        rules = self.instance.theory.rules_of[name]
        granted = [self.body(each.body) for each in rules if self.in_head(each, name, place)]
        none_fires = self.negation(either(*(self.body(each.body) for each in rules)))
        law = self.instance.theory.feature[name].law
        if law.asks_for_unheaded and granted:
            return either(*granted)
        return either(*granted, none_fires if law.asks_for_silence else And())

    def lawful(self, name: str, place: int) -> Formula:
        """Return when a feature at a place is not violated: allowed, or excused."""
        allowed = self.allows(name, place)
        for each in self.instance.exceptions:
            if isinstance(each, FeatureException) and each.feature == name:
                if place != self.places[name][0]:
                    continue
                same = [
                    self.body(clause.body)
                    if clause in each.fired
                    else self.negation(self.body(clause.body))
                    for clause in self.instance.theory.rules_of[name]
                ]
                return either(allowed, both(*same))
        return allowed

    def by_value(self, name: str, when: Callable[[int], Formula]) -> Formula:
        """Return a formula from one for each value of a feature."""
        cases = {place: when(place) for place in self.places[name]}
        if all(each == And() for each in cases.values()):
            return And()
        return either(*(both(Is(name, place), each) for place, each in cases.items()))

    def obeys(self, name: str) -> Formula:
        """Return when a governed feature is not violated, wherever it is."""
        return self.by_value(name, lambda place: self.lawful(name, place))

    def violates(self, name: str) -> Formula:
        """Return when a governed feature is violated, wherever it is."""
        return self.by_value(name, lambda place: self.negation(self.lawful(name, place)))

    @cached_property
    def consistent(self) -> Formula:
        """Return when a state obeys every law and constraint."""
        kept = [self.obeys(name) for name in self.instance.governed]
        return both(*kept, *map(self._kept, self.instance.constraints))

    @cached_property
    def inconsistent(self) -> Formula:
        """Return the formula of states that break a law or constraint."""
        broken = [self.violates(name) for name in self.instance.governed]
        return either(
            *broken, *(self.negation(self._kept(each)) for each in self.instance.constraints)
        )

    def _kept(self, clause: Clause) -> Formula:
        unbroken = self.negation(self.body(clause.body))
        excused = [e for e in self.instance.exceptions if isinstance(e, ConstraintException)]
        if all(each.constraint != clause for each in excused):
            return unbroken
        reads = [n for n in self.instance.features if n in self.instance.theory.reads(clause.body)]
        return either(unbroken, both(*(Is(name, self.places[name][0]) for name in reads)))
