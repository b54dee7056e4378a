"""The s(CASP) program of one person: rules, laws, actions, algorithms."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from typing import TYPE_CHECKING

from p2c._engines.scasp.rules import Rules, atom, call, rule, value
from p2c._rules.meaning import ConstraintException, FeatureException
from p2c._rules.render import render_rule
from p2c._spec.feature import exact
from p2c._spec.spec import Effects

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from fractions import Fraction

    from p2c._engines.instance import Instance
    from p2c._rules.theory import Clause


@dataclass(frozen=True)
class Laws:
    """The laws of a problem for one person."""

    rules: Rules
    instance: Instance

    @cached_property
    def constraints(self) -> dict[str, Clause]:
        """Return the constraints that can matter, by the name of their predicate."""
        return {
            self.rules.names.name(f"constraint_{place}"): clause
            for place, clause in enumerate(self.rules.theory.constraints, start=1)
            if clause in self.instance.constraints
        }

    @cached_property
    def causes(self) -> dict[str, list[tuple[Clause, str, str]]]:
        """Return the rules of each endogenous feature with names of bodies and heads."""
        names = self.rules.names.name
        return {
            name: [
                (clause, names(f"{name}_cause_{place}"), names(f"{name}_head_{place}"))
                for place, clause in enumerate(self.rules.theory.rules_of[name], start=1)
            ]
            for name in self.instance.governed
        }

    @cached_property
    def predicates(self) -> dict[tuple[str, str], str]:
        """Return the names of the predicates about an endogenous feature."""
        names = self.rules.names.name
        kinds = ("allows", "lawful", "excused", "free")
        return {
            (kind, name): names(f"{kind}_{name}")
            for name in self.instance.governed
            for kind in kinds
        }

    @cached_property
    def _excused(self) -> dict[str, tuple[Clause, ...]]:
        """Return the features that break their law at the start, with fired rules."""
        exceptions = self.instance.exceptions
        return {e.feature: e.fired for e in exceptions if isinstance(e, FeatureException)}

    @cached_property
    def _pardoned(self) -> list[Clause]:
        """Return the constraints that are broken at the start."""
        exceptions = self.instance.exceptions
        return [e.constraint for e in exceptions if isinstance(e, ConstraintException)]

    def state(self, changed: Mapping[str, str] | None = None) -> str:
        """Write a state as a list of variables and replacements."""
        names = self.rules.variable | dict(changed or {})
        return f"[{', '.join(names[name] for name in self.instance.features)}]"

    def fires(self, clause: Clause, name: str) -> str:
        """Write that the body of a causal rule holds."""
        return call(name, self.rules.given(self.rules.theory.reads(clause.body)))

    def ask(self, kind: str, name: str, own: str | None = None) -> str:
        """Write a call about an endogenous feature: its value, then its parents' values."""
        variable = own or self.rules.variable[name]
        parents = self.rules.given(self.rules.theory.parents[name])
        return call(self.predicates[kind, name], [variable, *parents])

    def lines(self) -> Iterator[str]:
        """Yield the rules of every law."""
        for name in self.instance.governed:
            yield from self._law(name)
        for name, clause in self.constraints.items():
            yield from self._constraint(name, clause)

    def _law(self, name: str) -> Iterator[str]:
        rules, variable = self.rules, self.rules.variable[name]
        for clause, cause, head in self.causes[name]:
            yield f"% {render_rule(clause.rule)}"
            yield rule(self.fires(clause, cause), rules.body(clause.body))
            yield rule(call(head, [variable]), rules.head(clause, variable))
        yield f"% what the law of {name} allows: {rules.theory.feature[name].law.value}"
        yield from self._allows(name)
        allows, lawful = self.ask("allows", name), self.ask("lawful", name)
        yield rule(lawful, [allows])
        if name in self._excused:
            yield "% an exception lasts while the value and the rules that fire are those of the start"
            yield rule(lawful, [f"not {allows}", self.ask("excused", name)])
            yield rule(self.ask("excused", name), list(self._as_at_the_start(name)))

    def _allows(self, name: str) -> Iterator[str]:
        """Yield the allowed values in disjoint rules, so that nothing is tried twice."""
        allows, variable = self.ask("allows", name), self.rules.variable[name]
        barred: list[str] = []
        fired, headed = [], []
        for clause, cause, head in self.causes[name]:
            fires, holds = self.fires(clause, cause), call(head, [variable])
            names = {*self.rules.theory.reads(clause.body), name}
            granted = call(self.rules.names.name(f"{cause}_grants"), self.rules.given(names))
            yield rule(granted, [fires, holds])
            yield rule(allows, [*barred, granted])
            barred.append(f"not {granted}")
            fired.append(f"not {fires}")
            headed.append(f"not {holds}")
        law = self.rules.theory.feature[name].law
        silent = fired if law.asks_for_silence else []
        yield rule(allows, [*silent, *(headed if law.asks_for_unheaded else [])])

    def _as_at_the_start(self, name: str) -> Iterator[str]:
        yield self._kept(name)
        for clause, cause, _ in self.causes[name]:
            fires = self.fires(clause, cause)
            yield fires if clause in self._excused[name] else f"not {fires}"

    def _kept(self, name: str) -> str:
        return f"{self.rules.variable[name]} = {value(self.instance.own[name])}"

    def _constraint(self, name: str, clause: Clause) -> Iterator[str]:
        rules = self.rules
        reads = rules.ordered(rules.theory.reads(clause.body))
        breaks = call(name, rules.given(reads))
        yield f"% {render_rule(clause.rule)}"
        if clause not in self._pardoned:
            yield rule(breaks, rules.body(clause.body))
            return
        yield "% broken at the start, and tolerated while all that it reads stays as it was"
        same = call(rules.names.name(f"{name}_as_at_the_start"), rules.given(reads))
        yield rule(breaks, [*rules.body(clause.body), f"not {same}"])
        yield rule(same, [self._kept(each) for each in reads])

    def consistency(self) -> Iterator[str]:
        """Yield which states obey every law and constraint, and which do not."""
        rules, state = self.rules, self.state()
        sound = call("sound", rules.given(self.instance.features))
        body = [self.ask("lawful", name) for name in self.instance.governed]
        for name, clause in self.constraints.items():
            body.append(f"not {call(name, rules.given(rules.theory.reads(clause.body)))}")
        yield rule(sound, body)
        yield rule(f"consistent({state})", [sound])
        yield rule(f"inconsistent({state})", [f"not {sound}" if body else "false"])


IMPOSSIBLE = {
    "direct_action": "State, New, Feature, From, To, Price",
    "may": "Feature, From, To, Price",
    "bars": "Feature, Value, Mark",
    "marks": "Feature, Value, Mark",
    "causal_action": "State, New, Feature, From, To",
    "supported_action": "State, New, Feature, From, To",
    "still": "Feature, State",
    "near": "Feature, Value, Groups",
    "fits": "What, State, Value",
    "fits_not": "What, State, Value",
    "target": "Feature, From, To",
}
"""Predicates of the algorithms that a problem may lack."""


def impossible(lines: list[str]) -> Iterator[str]:
    """Yield a rule that never fires for each predicate without rules.

    s(CASP) reports a predicate without rules as a fault.
    """
    said = {line.partition("(")[0] for line in lines}
    for name, given in IMPOSSIBLE.items():
        if name not in said:
            yield f"{name}({given}) :- false."


@dataclass(frozen=True)
class ScaspProgram:
    """A person's question as text; its states hold the relevant features."""

    instance: Instance

    @cached_property
    def laws(self) -> Laws:
        """Return the laws of the problem for the person."""
        missing = frozenset(name for name, own in self.instance.own.items() if own is None)
        return Laws(Rules(self.instance.theory, missing), self.instance)

    @cached_property
    def values(self) -> dict[tuple[str, str | Fraction], int]:
        """Return the place of each value that an answer may name."""
        found: dict[tuple[str, str | Fraction], int] = {}
        for name, reach in self.instance.reaches.items():
            for place in reach.places:
                each = self.instance.value(name, place)
                if each is not None:
                    found[name, each if isinstance(each, str) else exact(each)] = place
        return found

    @cached_property
    def text(self) -> str:
        """Return the program, without a query."""
        laws, theory, features = self.laws, self.instance.theory, self.instance.features
        own = ", ".join(value(self.instance.own[name]) for name in features)
        goal = rule(f"goal({laws.state()})", laws.rules.body(theory.goal))
        sections = {
            "Decision rules, over the values of the features that they read.": list(
                laws.rules.decisions(self.instance.bodies)
            ),
            "Causal rules and constraints: which fire, and what they allow.": list(laws.lines()),
            "The goal.": [f"% {theory.goal_text}", goal],
            "States that obey every law, and those that do not.": list(laws.consistency()),
            "Direct actions: what the person may do, with the effort that it takes.": list(
                self._direct()
            ),
            "Causal actions: the effects that follow.": list(self._causal()),
            "The person.": [f"% {', '.join(features)}", f"start([{own}])."],
        }
        lines = [line for section in sections.values() for line in section]
        # Tests are named where they are first used, so only now are all of them known.
        sections["Tests that have a name of their own."] = list(laws.rules.test_rules())
        sections["What there is nothing of."] = list(impossible(lines))
        parts = ["\n".join([f"% {title}", *each]) for title, each in sections.items() if each]
        algorithms = resources.files(__package__).joinpath("path.pl").read_text(encoding="utf-8")
        return "\n\n".join([*parts, algorithms])

    def _direct(self) -> Iterator[str]:
        """Yield the direct actions with scaled costs and features that are used up."""
        settable = [name for name, reach in self.instance.reaches.items() if reach.settable]
        for name in settable:
            variable, shown = self.laws.rules.variable[name], atom(name)
            before, after = self.laws.state(), self.laws.state({name: "New"})
            yield rule(
                f"direct_action({before}, {after}, {shown}, {variable}, New, Price)",
                [f"may({shown}, {variable}, New, Price)"],
            )
        for name in settable:
            reach = self.instance.reaches[name]
            for place in reach.places:
                for end, effort in reach.direct(place):
                    way = f"{self._value(name, place)}, {self._value(name, end)}"
                    yield f"may({atom(name)}, {way}, {effort})."
        yield "% a feature is set once; one with moves may be set again, never back to a value it has left"
        for name in settable:
            shown = atom(name)
            moves = self.instance.theory.feature[name].moves is not None
            mark = f"left({shown}, Value)" if moves else shown
            yield f"bars({shown}, Value, {mark})."
            yield f"marks({shown}, Value, {mark})."

    def _causal(self) -> Iterator[str]:
        """Yield the effects on violated features, or on features that a rule supports."""
        supported = self.instance.theory.effects is Effects.SUPPORTED
        for name in self.instance.governed:
            yield from self._effect(name)
            if supported:
                yield from self._support(name)
        for name in self.instance.governed:
            for place in self.instance.reaches[name].places:
                groups = [
                    f"[{', '.join(self._value(name, end) for end in group)}]"
                    for group in self.instance.reaches[name].near(place)
                ]
                start = self._value(name, place)
                yield f"near({atom(name)}, {start}, [{', '.join(groups)}])."
                if self._target(name):
                    yield from self._targets(name, place)
        still = [f"still({atom(name)}, State)" for name in self.instance.governed]
        yield rule("nothing_follows(State)", still)

    def _value(self, name: str, place: int) -> str:
        return value(self.instance.value(name, place))

    def _effect(self, name: str) -> Iterator[str]:
        laws, shown, variable = self.laws, atom(name), self.laws.rules.variable[name]
        state, lawful = laws.state(), laws.ask("lawful", name)
        above = laws.instance.above(name)
        free = self._free(name, above)
        if above:
            yield f"% {name} waits while anything upstream of it is violated"
            yield rule(free, [laws.ask("lawful", other) for other in above])
        ready = [f"not {lawful}", *([free] if above else []), f"near({shown}, {variable}, Groups)"]
        yield rule(
            f"causal_action({state}, {laws.state({name: 'New'})}, {shown}, {variable}, New)",
            [*ready, f"first_fit(Groups, {shown}, {state}, New)", *self._target(name)],
        )
        yield from self._fit(shown, laws.ask("allows", name, "New"))
        still = f"still({shown}, {state})"
        yield rule(still, [lawful])
        if above:
            yield rule(still, [f"not {lawful}", f"not {free}"])
        yield rule(still, [*ready, f"none_fit_at_all(Groups, {shown}, {state})"])

    def _targets(self, name: str, place: int) -> Iterator[str]:
        reach, start = self.instance.reaches[name], self._value(name, place)
        for group in reach.near(place):
            for end in group:
                if reach.ends(place, end):
                    yield f"target({atom(name)}, {start}, {self._value(name, end)})."

    def _target(self, name: str) -> list[str]:
        """Return the goals for the end of an effect that one person restricts."""
        restricted = self.instance.theory.feature[name].bars_effects
        return (
            [f"target({atom(name)}, {self.laws.rules.variable[name]}, New)"] if restricted else []
        )

    def _free(self, name: str, above: list[str]) -> str:
        parents = self.instance.theory.parents
        names = {each for other in above for each in (other, *parents[other])}
        return call(self.laws.predicates["free", name], self.laws.rules.given(names))

    def _fit(self, what: str, claim: str) -> Iterator[str]:
        state = self.laws.state()
        yield rule(f"fits({what}, {state}, New)", [claim])
        yield rule(f"fits_not({what}, {state}, New)", [f"not {claim}"])

    def _support(self, name: str) -> Iterator[str]:
        laws, shown, variable = self.laws, atom(name), self.laws.rules.variable[name]
        state, after = laws.state(), laws.state({name: "New"})
        for place, (clause, cause, head) in enumerate(laws.causes[name], start=1):
            what = f"head({shown}, {place})"
            yield rule(
                f"supported_action({state}, {after}, {shown}, {variable}, New)",
                [
                    laws.fires(clause, cause),
                    f"not {call(head, [variable])}",
                    f"near({shown}, {variable}, Groups)",
                    f"first_fit(Groups, {what}, {state}, New)",
                    *self._target(name),
                ],
            )
            yield from self._fit(what, call(head, ["New"]))
