"""MACE (Karimi, Barthe, Balle, Valera 2020): decision logic, domains and actionability as one SMT formula.

The distance is bounded and bisected. It is the contract's, so that its answers can be compared with ours. The method has
no causal knowledge: every feature that is not fixed may be set, effects too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.peers.protocol import Aim, Compliance, Finder, Peer

if TYPE_CHECKING:
    from benchmarks.world import World


def prepare(world: World) -> Finder:
    """Return the search on a world's decision rules."""
    from benchmarks.peers import logic

    return logic.nearest(world.problem.theory)


PEER = Peer("MACE", Aim.RULES, Compliance.NO, prepare, needs=("pysmt", "z3"))
