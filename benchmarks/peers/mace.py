"""MACE (Karimi, Barthe, Balle, Valera 2020): decision logic, domains and actionability as one SMT formula.

The distance is bounded and bisected. It is the contract's, so that its answers can be compared with ours. The method has
no causal knowledge: every feature that is not fixed may be set, effects too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.peers.protocol import Aim, Answer, Compliance, Finder, Peer

if TYPE_CHECKING:
    from benchmarks.world import State, World


def prepare(world: World) -> Finder:
    """Return the search on a world's decision rules."""
    from pysmt.shortcuts import And, Plus

    from benchmarks.peers import logic

    theory = world.problem.theory
    terms = logic.symbols(theory)
    fixed = And(
        logic.holds(theory, theory.goal, terms),
        *(logic.in_domain(feature, terms[feature.name]) for feature in theory.features),
    )

    def find(person: State) -> Answer:
        pairs = [
            (feature, terms[feature.name], person[feature.name]) for feature in theory.features
        ]
        formula = And(fixed, *(logic.permitted(*pair) for pair in pairs))
        found = logic.cheapest(formula, Plus([logic.distance(*pair) for pair in pairs]), terms)
        return Answer(None if found is None else logic.state(theory, found), proved=True)

    return find


PEER = Peer("MACE", Aim.RULES, Compliance.NO, prepare, needs=("pysmt", "z3"))
