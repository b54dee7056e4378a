"""What is recorded of an answer: whether it is consistent, who accepts it, and where its path leads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.paths.standard import PLANNERS, standard_path
from benchmarks.paths.walk import walk
from benchmarks.peers.protocol import Aim
from p2c._rules.evaluate import goal_holds
from p2c._rules.meaning import abduce, consistent
from p2c._spec.feature import distance

if TYPE_CHECKING:
    from benchmarks.peers.protocol import Answer, Peer
    from benchmarks.world import State, World


def judge(world: World, peer: Peer, person: State, answer: Answer) -> dict[str, Any]:
    """Return the facts about an answer as plain values."""
    theory = world.problem.theory
    if answer.end is None:
        return {"status": "none", "proved": answer.proved, "note": answer.note}
    end = answer.end
    path = list(answer.path) if answer.path is not None else None
    planner = None
    if path is None:
        planner = PLANNERS[0]
        path = standard_path(theory, person, end, planner=planner)
    facts: dict[str, Any] = {
        "status": "found",
        "proved": answer.proved,
        "note": answer.note,
        "end": end,
        "changed": sum(person[name] != end[name] for name in end),
        "asked_cost": sum(
            float(distance(f, person[f.name], end[f.name])) * float(f.weight)
            for f in theory.features
        ),
        "consistent": consistent(theory, end, abduce(theory, person)),
        "rules_accept": goal_holds(theory, end),
        "model_accepts": world.model.accepts(end),
        "planner": planner,
        "path": path,
    }
    if answer.document is not None:
        facts["faults"] = [str(fault) for fault in world.problem.check(answer.document).faults]
    if path is None:
        return {**facts, "legal": False, "illegal": ["no path: a change does not exist"]}
    walked = walk(theory, person, path, aim=end)
    arrived = walked.consistent and (
        goal_holds(theory, walked.state)
        if peer.aim is Aim.RULES
        else world.model.accepts(walked.state)
    )
    return {
        **facts,
        "legal": walked.legal,
        "illegal": list(walked.illegal),
        "taken": walked.taken,
        "executed_cost": walked.cost,
        "arrives": arrived,
        "as_promised": walked.promised,
    }
