"""C3G (Dasgupta, Shakerin, Arias, Salazar, Gupta 2025): the nearest consistent state, where every change costs.

States in which the decision goes the right way and the causal rules hold, priced by all changed features, causal ones
included. What is fixed or goes one way stays so. `as_constraints` says the same as a problem of ours without effects,
from which the k nearest of C3G come.
"""

from __future__ import annotations

from functools import partial
from itertools import chain, combinations
from typing import TYPE_CHECKING, Any

from benchmarks.peers.protocol import Aim, Compliance, Finder, Peer
from p2c import Problem
from p2c._rules.evaluate import in_head
from p2c._rules.meaning import FeatureException, abduce, allows, unheaded
from p2c._rules.render import render_rule
from p2c._spec.feature import Law

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.world import State, World
    from p2c._rules.theory import Clause, Theory


def subsets(clauses: tuple[Clause, ...]) -> Iterator[tuple[Clause, ...]]:
    """Return every set of rules that might be those that fire."""
    sizes = range(len(clauses) + 1)
    return chain.from_iterable(combinations(clauses, size) for size in sizes)


def consistent(theory: Theory, terms: Any, person: State) -> Any:
    """Say that a state obeys the causal rules and constraints, but for what the person breaks already."""
    from pysmt.shortcuts import And, Equals, Implies, Int, Not, Or

    from benchmarks.peers import logic

    broken = {e.feature: e for e in abduce(theory, person) if isinstance(e, FeatureException)}
    parts = [Not(logic.holds(theory, each.body, terms)) for each in theory.constraints]
    for name, clauses in theory.causes:
        feature, own = theory.feature[name], broken.get(name)
        for fired in subsets(clauses):
            values = [feature.domain.value(place) for place in range(feature.domain.size)]
            kept = [value for value in values if allows(theory, name, fired, value)]
            if own is not None and own.value is not None and set(own.fired) == set(fired):
                kept.append(own.value)
            wanted = [Equals(terms[name], Int(logic.code(feature, value))) for value in kept]
            given = logic.fires(theory, name, set(fired), terms)
            parts.append(Implies(given, Or(wanted)))
    return And(parts)


def prepare(world: World) -> Finder:
    """Return the search for the nearest consistent state of a world's rules."""
    from benchmarks.peers import logic

    theory = world.problem.theory
    return logic.nearest(theory, partial(consistent, theory))


def as_constraints(problem: Problem) -> Problem:
    """Return a problem of the same consistent states without effects: each feature is set directly, at its cost."""
    theory = problem.theory
    data = problem.to_dict()
    text = [
        render_rule(rule)
        for rule in theory.program.rules
        if rule.head is None or rule.head.predicate not in theory.rules_of
    ]
    for name, clauses in theory.causes:
        text += _constraints(theory, name, clauses)
        keys = data["features"][name] = dict(data["features"][name])
        if theory.feature[name].action.value == "effect":
            keys["action"] = "free"
        # A change of value is one change, however it comes about.
        keys.pop("moves", None)
        keys.pop("law", None)
    data.pop("rules_file", None)
    return Problem.from_dict({**data, "rules": "\n".join(text)})


def _constraints(theory: Theory, name: str, clauses: tuple[Clause, ...]) -> Iterator[str]:
    feature = theory.feature[name]
    assert feature.is_listed, f"{name}: only listed values are written out one by one"
    for place, clause in enumerate(clauses):
        body = _body_text(clause)
        yield f"fires_{name}(X) :- {body}."
        yield f"fires_{name}_{place}(X) :- {body}."
    for place in range(feature.domain.size):
        value = feature.domain.value(place)
        backers = [n for n, clause in enumerate(clauses) if in_head(theory, clause, value)]
        lacking = "".join(f", not fires_{name}_{number}(X)" for number in backers)
        fired = f", fires_{name}(X)"
        match feature.law:
            case Law.IFF:
                rest = lacking if backers else fired
            case Law.IF:
                rest = f"{fired}{lacking}"
            case Law.ONLY_IF:
                if unheaded(theory, name, value):
                    continue
                rest = lacking
        yield f":- {name}(X,'{value}'){rest}."


def _body_text(clause: Clause) -> str:
    """Return a causal rule's body without the comparisons of its head variable, as text."""
    from p2c._rules.syntax import Comparison, Not, Rule, Variable

    head = clause.rule.head
    assert head is not None
    own = head.arguments[-1]

    def speaks_of_head(literal: Any) -> bool:
        inner = literal.inner if isinstance(literal, Not) else literal
        return (
            isinstance(own, Variable)
            and isinstance(inner, Comparison)
            and own
            in (
                inner.left,
                inner.right,
            )
        )

    body = tuple(each for each in clause.rule.body if not speaks_of_head(each))
    return render_rule(Rule(None, body)).removeprefix(":-").strip().removesuffix(".")


PEER = Peer("C3G", Aim.RULES, Compliance.YES, prepare, needs=("pysmt", "z3"))
