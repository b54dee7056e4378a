"""The questions that solvers answer: each calls one function of the library and returns what JSON can hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from p2c.explain.sentences import explain_proof

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p2c.problem import Problem

    Arguments = Mapping[str, Any]

KEYS = ("norm", "effects", "minimize", "exceptions", "causal")
"""The problem's keys that a question may override: each has few values, so all variants can be kept."""


def restricted(problem: Problem, restrictions: Mapping[str, Mapping[str, Any]]) -> Problem:
    """Return the problem with a person's restrictions in it."""
    return problem.restricted(restrictions)


def overrides(arguments: Arguments) -> dict[str, Any]:
    """Return the problem's keys that a question overrides."""
    return {key: arguments[key] for key in KEYS if arguments.get(key) is not None}


def greet(problem: Problem, arguments: Arguments) -> dict[str, Any]:
    """Compile the problem, and plan once where there is someone to plan for."""
    problem.compiled  # noqa: B018 - the first use pays for it
    if arguments["row"] is not None:
        problem.plan(arguments["row"], time_limit=1.0)
    return {}


def plan(problem: Problem, arguments: Arguments) -> dict[str, Any]:
    """Return the cheapest plan."""
    found = problem.plan(
        arguments["row"], time_limit=arguments["time_limit"], **overrides(arguments)
    )
    return found.to_dict()


def nearest(problem: Problem, arguments: Arguments) -> dict[str, Any]:
    """Return the k cheapest end states."""
    plans = problem.nearest(
        arguments["row"],
        arguments["k"],
        distinct=arguments["distinct"],
        time_limit=arguments["time_limit"],
        **overrides(arguments),
    )
    return {"plans": [each.to_dict() for each in plans]}


def why(problem: Problem, arguments: Arguments) -> dict[str, Any]:
    """Return why the decision is what it is."""
    proof = problem.why(arguments["row"])
    sentences = explain_proof(problem.theory, proof)
    return {
        "holds": proof.holds,
        "sentences": [{"text": each.text, "depth": each.depth} for each in sentences],
        "proof": proof.to_dict(),
        **problem.theory.rests_on(problem.read_row(arguments["row"])),
    }


def check(problem: Problem, arguments: Arguments) -> dict[str, Any]:
    """Return what is wrong with a plan."""
    verdict = problem.check(arguments["plan"])
    faults = [{"place": each.place, "message": each.message} for each in verdict.faults]
    return {
        "valid": verdict.ok,
        "faults": faults,
        "checked": verdict.checked,
        "unchecked": verdict.unchecked,
    }
