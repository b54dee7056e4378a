"""MINT (Karimi, Schölkopf, Valera 2021): the least set of interventions on a structural causal model, all at once.

The causal rules are the model. Abduction: what the rules leave open is as it is with the person. Action: an intervened
feature has the value it is given. Prediction: every other governed feature keeps its value as long as the same rules fire,
or while these allow it, and else takes the nearest value that they allow. Only interventions cost. Effects are mutable,
not actionable, as the method has it. The answer is the predicted state, without an order; a cyclic model has none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.peers.c3g import subsets
from benchmarks.peers.protocol import Aim, Answer, Compliance, Finder, Peer
from p2c._rules.meaning import allows, candidate_values, fired, nearest_values
from p2c._spec.feature import Action

if TYPE_CHECKING:
    from benchmarks.world import State, World
    from p2c._rules.theory import Clause, Theory


def predicted(theory: Theory, name: str, rules: tuple[Clause, ...], person: State) -> list[Any]:
    """Return the values that a governed feature may take when just these of its rules fire."""
    own = person[name]
    if set(rules) == set(fired(theory, name, person)) or allows(theory, name, rules, own):
        return [own]
    feature = theory.feature[name]
    return nearest_values(
        feature,
        own,
        lambda value: allows(theory, name, rules, value),
        candidate_values(theory, feature),
    )


def prepare(world: World) -> Finder:
    """Return the search for interventions on a world's rules."""
    from pysmt.shortcuts import And, Equals, Implies, Int, Ite, Not, Or, Plus, Real, Symbol

    from benchmarks.peers import logic

    theory = world.problem.theory
    for name in theory.rules_of:
        if name in theory.upstream[name]:
            raise ValueError(f"{name} is its own cause: MINT takes acyclic models only")
    terms = logic.symbols(theory)
    chosen = {f.name: Symbol(f"set_{f.name}") for f in theory.features}
    fixed = And(
        logic.wanted(theory, terms),
        *(Not(logic.holds(theory, each.body, terms)) for each in theory.constraints),
    )

    def find(person: State) -> Answer:
        parts, costs = [fixed], []
        for feature in theory.features:
            name, term, own = feature.name, terms[feature.name], person[feature.name]
            acted = chosen[name]
            if feature.action in (Action.EFFECT, Action.FIXED):
                parts.append(Not(acted))
            parts.append(logic.permitted(feature, term, own))
            if name not in theory.rules_of:
                parts.append(Implies(Not(acted), Equals(term, Int(logic.code(feature, own)))))
            for rules in subsets(theory.rules_of[name]) if name in theory.rules_of else ():
                values = predicted(theory, name, rules, person)
                follows = [Equals(term, Int(logic.code(feature, value))) for value in values]
                given = logic.fires(theory, name, set(rules), terms)
                parts.append(Implies(And(Not(acted), given), Or(follows)))
            costs.append(Ite(acted, logic.distance(feature, term, own), Real(0)))
        return logic.answer(theory, And(parts), Plus(costs), terms)

    return find


PEER = Peer("MINT", Aim.RULES, Compliance.YES, prepare, needs=("pysmt", "z3"))
