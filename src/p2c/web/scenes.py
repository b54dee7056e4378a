"""What the pages ask solvers for: an answer together with its words, ready to be shown."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from p2c.explain.letter import write_letter
from p2c.explain.narrate import narrate, rounded
from p2c.explain.sentences import number_words
from p2c.plan.outcome import Infeasible
from p2c.report.board import lay_out
from p2c.report.graph import graph_told
from p2c.report.picture import plan_svg
from p2c.web.tasks import overrides

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p2c.plan.outcome import Plan
    from p2c.problem import Problem
    from p2c.rules.theory import Theory

    Arguments = Mapping[str, Any]


def overview(problem: Problem, _: Arguments) -> dict[str, Any]:
    """Return what looks wrong with a problem and how large its search space is."""
    space = problem.space()
    return {
        "findings": [str(each) for each in problem.lint()],
        "raw": _count(space.raw),
        "cells": _count(space.cells),
        "graph": graph_told(problem.theory),
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
    language = arguments.get("language") or "en"
    return {
        "status": plan.status,
        "cost": None if plan.cost is None else number_words(rounded(plan.cost)),
        "drawn": bool(plan.steps),
        "rules": _rules(problem, plan),
        "language": language,
        "letter": _letter(problem, plan, language),
        "picture": plan_told(problem.theory, plan, language),
        "proof": proof.to_dict(),
        "blockers": _blockers(plan),
    }


def picture(problem: Problem, arguments: Arguments) -> dict[str, Any]:
    """Return the picture of the cheapest plan."""
    plan = problem.plan(
        arguments["row"], time_limit=arguments["time_limit"], **overrides(arguments)
    )
    language = arguments.get("language") or "en"
    return {"svg": plan_svg(problem.theory, plan, theme=arguments["theme"], language=language)}


def graph(problem: Problem, arguments: Arguments) -> dict[str, Any]:
    """Return the picture of what follows from what."""
    return {"svg": problem.to_svg(theme=arguments["theme"])}


def plan_told(theory: Theory, plan: Plan, language: str) -> str:
    """Say in words what the picture of a plan shows."""
    return lay_out(theory, plan, language=language).told


def _letter(problem: Problem, plan: Plan, language: str) -> dict[str, Any]:
    return asdict(write_letter(problem.theory, plan, language=language))


def ways(problem: Problem, arguments: Arguments) -> dict[str, Any]:
    """Return the cheapest ways that differ in kind, each in words."""
    plans = problem.nearest(
        arguments["row"], arguments["k"], distinct="cells", **overrides(arguments)
    )
    language = arguments.get("language") or "en"
    return {"ways": [told(problem, each, language) for each in plans]}


def told(problem: Problem, plan: Plan, language: str = "en") -> dict[str, Any]:
    """Return a plan in short: what it costs, what is to be done, and what else is to be said of it."""
    letter = write_letter(problem.theory, plan, language=language)
    parts = {each.kind: each for each in letter.sections}
    steps = parts.get("steps")
    said = [parts[kind] for kind in ("blocked", "effort", "search") if kind in parts]
    return {
        "status": plan.status,
        "cost": None if plan.cost is None else number_words(rounded(plan.cost)),
        "steps": [asdict(each) for each in steps.items] if steps else [],
        "lines": [line for each in said for line in (each.lead, *(i.text for i in each.items))],
    }


def _rules(problem: Problem, plan: Plan) -> list[dict[str, Any]]:
    """Return the effects of a plan, each with the rules behind it."""
    return [
        {"text": act.text, "rules": list(act.because)}
        for step in narrate(problem.theory, plan).steps
        for act in step
        if act.because
    ]


def _blockers(plan: Plan) -> list[dict[str, Any]]:
    if not isinstance(plan, Infeasible):
        return []
    return [each.to_dict() for each in plan.blockers]
