"""What the pages ask solvers for: an answer together with its words, ready to be shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from p2c.explain.narrate import narrate, rounded
from p2c.explain.sentences import explain_proof, label_words, number_words, value_words
from p2c.plan.outcome import Found, Infeasible
from p2c.web.tasks import overrides

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p2c.plan.outcome import Plan
    from p2c.problem import Problem

    Arguments = Mapping[str, Any]


def overview(problem: Problem, _: Arguments) -> dict[str, Any]:
    """Return what looks wrong with a problem and how large its search space is."""
    space = problem.space()
    return {
        "findings": [str(each) for each in problem.lint()],
        "raw": _count(space.raw),
        "cells": _count(space.cells),
        "sizes": [
            {
                "feature": each.feature,
                "values": _count(each.values),
                "cells": list(each.cells),
            }
            for each in space.features
        ],
    }


def _count(number: int) -> str:
    """Return a count in figures, or where nobody would read them, its size."""
    text = number_words(number)
    return text if len(text) <= 24 else f"about 10^{len(str(number)) - 1}"


def story(problem: Problem, arguments: Arguments) -> dict[str, Any]:
    """Return the cheapest plan in words, why the decision is what it is, and what blocks where there is no way."""
    row = arguments["row"]
    plan = problem.plan(row, time_limit=arguments["time_limit"], **overrides(arguments))
    proof = problem.why(row)
    return {
        **told(problem, plan),
        "holds": proof.holds,
        "reasons": [
            {"text": each.text, "depth": each.depth}
            for each in explain_proof(problem.theory, proof)
        ],
        "proof": proof.to_dict(),
        "blockers": _blockers(problem, plan),
        "document": plan.to_dict(),
    }


def ways(problem: Problem, arguments: Arguments) -> dict[str, Any]:
    """Return the cheapest ways that differ in kind, each in words."""
    plans = problem.nearest(
        arguments["row"], arguments["k"], distinct="cells", **overrides(arguments)
    )
    return {"ways": [told(problem, each) for each in plans]}


def told(problem: Problem, plan: Plan) -> dict[str, Any]:
    """Return a plan in words."""
    words = narrate(problem.theory, plan)
    return {
        "status": plan.status,
        "cost": None if plan.cost is None else number_words(rounded(plan.cost)),
        "opening": list(words.opening),
        "steps": [
            [{"text": a.text, "direct": a.direct, "because": list(a.because)} for a in step]
            for step in words.steps
        ],
        "closing": list(words.closing),
        "changes": _changes(problem, plan),
    }


def _changes(problem: Problem, plan: Plan) -> list[dict[str, str]]:
    end = plan.counterfactual
    if end is None:
        return []
    start = plan.question.initial
    return [
        {
            "label": label_words(each),
            "from": _words(problem, each.name, start[each.name]),
            "to": _words(problem, each.name, end[each.name]),
        }
        for each in problem.theory.features
        if start[each.name] != end[each.name]
    ]


def _words(problem: Problem, name: str, value: Any) -> str:
    return "not known" if value is None else value_words(problem.theory.feature[name], value)


def _blockers(problem: Problem, plan: Plan) -> list[dict[str, Any]]:
    if not isinstance(plan, Infeasible):
        return []
    opened = told(problem, plan.opened) if isinstance(plan.opened, Found) else None
    return [
        {
            "feature": each.feature,
            "restriction": each.restriction,
            "label": label_words(problem.theory.feature[each.feature]),
            "opened": opened,
        }
        for each in plan.blockers
    ]
