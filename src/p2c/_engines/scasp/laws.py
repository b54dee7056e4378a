"""Laws and constraints for s(CASP): fired rules, allowed values, exceptions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from p2c._engines.scasp.terms import call, rule, value
from p2c._rules.meaning import ConstraintException, FeatureException
from p2c._rules.render import render_rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from p2c._engines.instance import Instance
    from p2c._engines.scasp.rules import Rules
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
