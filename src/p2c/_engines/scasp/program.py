"""The s(CASP) program of one person: rules, laws, actions, algorithms."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from typing import TYPE_CHECKING

from p2c._engines.scasp.laws import Laws
from p2c._engines.scasp.rules import Rules
from p2c._engines.scasp.terms import atom, call, rule, value
from p2c._spec.feature import exact
from p2c._spec.spec import Effects

if TYPE_CHECKING:
    from collections.abc import Iterator
    from fractions import Fraction

    from p2c._engines.instance import Instance

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
