"""A person's question for clingo: generated facts and rules beside `path.lp`.

It speaks of one person and of values, so that it can be read. The engine, the k nearest ends and the export share it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from itertools import pairwise
from typing import TYPE_CHECKING

from p2c._engines.instance import Instance, Names, first_actions, price_changes
from p2c._engines.places import most_actions, routes
from p2c._rules.evaluate import in_head
from p2c._rules.render import render_rule
from p2c._rules.theory import Call, Test
from p2c._spec.feature import Law, exact
from p2c._spec.spec import Effects

if TYPE_CHECKING:
    from collections.abc import Iterator

    from p2c._engines.instance import Tariff
    from p2c._rules.theory import Condition, Decision
    from p2c._spec.feature import Value


@dataclass(frozen=True)
class Encoding:
    """The facts and rules of one person."""

    instance: Instance
    by_steps: bool = False
    """Whether each direct action has a time step, so that each state is visible."""

    @cached_property
    def names(self) -> dict[Decision, str]:
        """Return a predicate for each decision."""
        # A decision may be called as one of the contract's own predicates is.
        names = Names(re.findall(r"[a-z_]+(?=\()", contract()))
        return {
            decision: names.name("_".join(map(str, (decision.predicate, *decision.arguments))))
            for decision, _ in self.instance.theory.decisions
        }

    @cached_property
    def tariff(self) -> Tariff:
        """Return the costs of changes."""
        return price_changes(self.instance, self.instance.changes)

    @cached_property
    def late(self) -> frozenset[str]:
        """Return the effect-free features, which are set at the end."""
        return (
            frozenset()
            if self.by_steps
            else frozenset(self.instance.features) - self.instance.heard
        )

    @cached_property
    def enough(self) -> int:
        """Return how many time steps no path passes, unless effects may go `astray`.

        Between two direct actions each governed feature then acts once at most.
        """
        timed = [reach for name, reach in self.instance.reaches.items() if name not in self.late]
        return most_actions(timed) * (1 + len(self.instance.governed))

    @cached_property
    def astray(self) -> bool:
        """Tell whether effects may cycle or undo moves."""
        theory = self.instance.theory
        return theory.effects is Effects.SUPPORTED or any(
            name in theory.upstream[name]
            or (theory.feature[name].moves is not None and self.instance.reaches[name].settable)
            for name in self.instance.governed
        )

    def lines(self) -> Iterator[str]:
        """Yield all that is generated."""
        for name in self.instance.features:
            yield from self._feature(name)
        yield "\n% Decision rules."
        for decision, clauses in self.instance.decisions:
            for clause in clauses:
                yield f"% {render_rule(clause.rule)}"
                yield f"{self.names[decision]}(T) :- {self._body(clause.body)}."
        yield "\n% Causal rules and constraints, and what each law asks for."
        yield " ".join(f"asks({law.value},silence)." for law in Law if law.asks_for_silence)
        yield " ".join(f"asks({law.value},unheaded)." for law in Law if law.asks_for_unheaded)
        for name in self.instance.governed:
            yield from self._law(name)
        for number, clause in enumerate(self.instance.constraints, start=1):
            yield f"% {render_rule(clause.rule)}"
            yield f"breaks({number},T) :- {self._body(clause.body)}."
            reads = self.instance.theory.reads(clause.body)
            yield " ".join(f"reads({number},{token(each)})." for each in sorted(reads))
        yield f"\n% The goal: {self.instance.theory.goal_text}"
        yield f"goal(T) :- {self._body(self.instance.theory.goal)}."
        yield from self._tests()
        yield "\n% Options."
        if self.instance.theory.effects is Effects.SUPPORTED:
            yield "supported."
        if first_actions(self.instance):
            yield "fewest_actions."

    def _feature(self, name: str) -> Iterator[str]:
        shown, reach = token(name), self.instance.reaches[name]
        yield f"\n% {name}"
        yield f"start({shown},{self._value(name, reach.places[0])})."
        yield " ".join(f"value({shown},{self._value(name, place)})." for place in reach.places)
        moves = self.instance.theory.feature[name].moves is not None
        if moves and reach.settable:
            yield f"moves({shown})."
        if name in self.late:
            yield f"late({shown})."
        together = moves and not self.instance.adds_up
        for start in reach.places:
            for end, _ in reach.direct(start):
                way = f"{shown},{self._value(name, start)},{self._value(name, end)}"
                yield f"may({way},{0 if together else self.tariff.prices[name, start, end]})."
                if together:
                    yield f"length({way},{self._length(name, start, end)})."
            for rank, group in enumerate(reach.near(start), start=1):
                for end in group:
                    way = f"{shown},{self._value(name, start)},{self._value(name, end)}"
                    yield f"near({way},{rank})."
                    if not reach.ends(start, end):
                        yield f"barred({way})."
        if moves and reach.settable:
            yield from self._routes(name, together=together)
        if together and reach.settable:
            yield from self._powers(name)

    def _routes(self, name: str, *, together: bool) -> Iterator[str]:
        """Yield the routes of several moves with their costs and lengths."""
        reach = self.instance.reaches[name]
        for start in reach.places:
            for end, way in routes(self.instance.dynamics, reach.index, start).items():
                if way.actions > 1:
                    pairs = list(pairwise(way.places))
                    price = sum(self.tariff.prices[name, *pair] for pair in pairs)
                    ends = f"{token(name)},{self._value(name, start)},{self._value(name, end)}"
                    yield f"route({ends},{0 if together else price},{way.actions})."
                    if together:
                        yield f"length({ends},{sum(self._length(name, *pair) for pair in pairs)})."

    def _length(self, name: str, start: int, end: int) -> int:
        return self.instance.dynamics.person.length(self.instance.reaches[name].index, start, end)

    def _powers(self, name: str) -> Iterator[str]:
        """Yield the costs of lengths of moves, a power of their sum."""
        reach, person = self.instance.reaches[name], self.instance.dynamics.person
        lengths = [self._length(name, s, e) for s in reach.places for e, _ in reach.direct(s)]
        prices = person.prices
        flat = prices.flat[reach.index]
        unit = prices.per_change[reach.index] if flat else prices.per_unit[reach.index]
        factor = self.tariff.units / prices.denominator
        for length in range(max(lengths, default=0) * len(reach.places) + 1):
            price = unit * self.instance.theory.norm.share(length) * factor
            yield f"price({token(name)},{length},{int(price)})."

    def _law(self, name: str) -> Iterator[str]:
        shown, theory = token(name), self.instance.theory
        yield f"law({shown},{theory.feature[name].law.value})."
        yield from (f"above({shown},{token(other)})." for other in self.instance.above(name))
        for number, clause in enumerate(theory.rules_of[name], start=1):
            yield f"% {render_rule(clause.rule)}"
            yield f"fires({shown},{number},T) :- {self._body(clause.body)}."
            heads = [
                f"head({shown},{number},{self._value(name, place)})."
                for place in self.instance.reaches[name].places
                if in_head(theory, clause, self.instance.value(name, place))
            ]
            yield " ".join(heads)

    def _value(self, name: str, place: int) -> str:
        return term(self.instance.value(name, place))

    def _body(self, body: tuple[Condition, ...]) -> str:
        return ", ".join(["time(T)", *map(self._condition, body)])

    def _condition(self, condition: Condition) -> str:
        if isinstance(condition, Test):
            text = f"holds({test_token(condition)},T)"
        else:
            assert isinstance(condition, Call), "an instance has no arithmetic"
            text = f"{self.names[condition.decision]}(T)"
        return f"not {text}" if condition.negated else text

    def _tests(self) -> Iterator[str]:
        yield "\n% Which values pass which test."
        decided = [each.body for _, clauses in self.instance.decisions for each in clauses]
        bodies = [*decided, *self.instance.bodies]
        tests = [each for body in bodies for each in body if isinstance(each, Test)]
        for test in dict.fromkeys(Test(t.feature, t.comparator, t.constant) for t in tests):
            yield f"tests({test_token(test)},{token(test.feature)})."
            for place in self.instance.reaches[test.feature].places:
                if self.instance.passes(test, place):
                    yield f"passes({test_token(test)},{self._value(test.feature, place)})."


def contract() -> str:
    """Return the part of the program that is the same for every problem."""
    return resources.files(__package__).joinpath("path.lp").read_text(encoding="utf-8")


def token(name: str) -> str:
    """Write a name for clingo, quoted if it is not plain.

    >>> token("debt"), token("Credit Score")
    ('debt', '"Credit Score"')
    """
    return (
        name
        if name.isidentifier() and name.isascii() and name[0].islower() and name != "not"
        else quoted(name)
    )


def quoted(text: str) -> str:
    """Write a text for clingo."""
    inner = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{inner}"'


def term(value: Value) -> str:
    """Write a value for clingo: 32-bit integers as such, others as texts."""
    if value is None:
        return "missing"
    if isinstance(value, str):
        return quoted(value)
    number = exact(value)
    return str(number) if number.denominator == 1 and abs(number) < 2**31 else f'number("{number}")'


def test_token(test: Test) -> str:
    """Write a test for clingo, by its words; 5 and 5.0 are one constant."""
    constant = test.constant if isinstance(test.constant, str) else exact(test.constant)
    return quoted(f"{test.feature} {test.comparator.value} {constant}")
