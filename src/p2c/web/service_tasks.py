"""The questions that the service puts to solvers: each returns what JSON can hold of what is known of a asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from p2c.explain.sentences import explain_proof

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p2c.web.consultation import Consultation

    Arguments = Mapping[str, Any]


def greet(asked: Consultation, arguments: Arguments) -> dict[str, Any]:
    """Compile the problem, and plan once where there is someone to plan for."""
    asked.problem.compiled  # noqa: B018 - the first use pays for it
    if arguments["row"] is not None:
        asked.plan(1.0)
    return {}


def plan(asked: Consultation, arguments: Arguments) -> dict[str, Any]:
    """Return the cheapest plan."""
    return asked.plan(arguments["time_limit"]).to_dict()


def nearest(asked: Consultation, arguments: Arguments) -> dict[str, Any]:
    """Return the k cheapest end states."""
    plans = asked.nearest(arguments["k"], arguments["distinct"], arguments["time_limit"])
    return {"plans": [each.to_dict() for each in plans]}


def why(asked: Consultation, _: Arguments) -> dict[str, Any]:
    """Return why the decision is what it is."""
    theory, proof = asked.problem.theory, asked.proof
    return {
        "holds": proof.holds,
        "sentences": [
            {"text": each.text, "depth": each.depth} for each in explain_proof(theory, proof)
        ],
        "proof": proof.to_dict(),
        **theory.rests_on(asked.state),
    }


def check(asked: Consultation, arguments: Arguments) -> dict[str, Any]:
    """Return what is wrong with a plan."""
    verdict = asked.problem.check(arguments["plan"])
    faults = [{"place": each.place, "message": each.message} for each in verdict.faults]
    return {
        "valid": verdict.ok,
        "faults": faults,
        "checked": verdict.checked,
        "unchecked": verdict.unchecked,
    }
