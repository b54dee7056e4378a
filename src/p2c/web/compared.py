"""Our plan beside a counterfactual from elsewhere: its steps in words, and on each what is wrong with it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from p2c.errors import P2CError
from p2c.explain.narrate import rounded
from p2c.explain.sentences import label_words, number_words, value_words
from p2c.plan.leap import leap_document, state_goal
from p2c.plan.outcome import Found, Infeasible
from p2c.problem import Problem
from p2c.web.scenes import told
from p2c.web.tasks import overrides

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p2c.errors import Fault

STEP = re.compile(r"step (\d+)(?:, action (\d+))?")


def comparison(problem: Problem, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return our plan, theirs with its faults, and, for a mere end state, whether any path leads there."""
    asked = problem.with_keys(**overrides(arguments))
    limit = arguments["time_limit"]
    ours = asked.plan(arguments["row"], time_limit=limit)
    document = arguments.get("document")
    end = None
    if document is None:
        end = asked.read_row(arguments["end"])
        document = leap_document(asked.theory, asked.read_row(arguments["row"]), end)
    verdict = asked.check(document)
    return {
        "ours": told(asked, ours),
        "steps": _steps(asked, document, verdict.faults),
        "faults": [
            {"place": each.place, "message": each.message}
            for each in verdict.faults
            if not STEP.match(each.place)
        ],
        "valid": verdict.ok,
        "cost": _cost_words(document.get("cost")),
        "reach": None if end is None else _reach(asked, arguments["row"], end, limit),
    }


def _cost_words(cost: Any) -> str:
    usable = isinstance(cost, int | float) and not isinstance(cost, bool)
    return number_words(rounded(cost)) if usable else "unknown"


def _steps(
    problem: Problem, document: Mapping[str, Any], faults: tuple[Fault, ...]
) -> list[dict[str, Any]]:
    """Return the steps in words; the validator has read the document, so that its shape is sure."""
    placed: dict[tuple[int, int], list[str]] = {}
    for each in faults:
        match = STEP.match(each.place)
        if match:
            placed.setdefault((int(match[1]), int(match[2] or 0)), []).append(each.message)
    return [
        {
            "actions": [
                _action(problem, action, placed.get((number, index), []))
                for index, action in enumerate(step["actions"], start=1)
            ],
            "faults": placed.get((number, 0), []),
        }
        for number, step in enumerate(document.get("steps") or (), start=1)
    ]


def _action(problem: Problem, action: Mapping[str, Any], faults: list[str]) -> dict[str, Any]:
    feature = problem.theory.feature.get(action["feature"])
    words = [
        "not known"
        if value is None
        else str(value)
        if feature is None
        else value_words(feature, value)
        for value in (action["from"], action["to"])
    ]
    return {
        "label": action["feature"] if feature is None else label_words(feature),
        "from": words[0],
        "to": words[1],
        "direct": action["kind"] == "direct",
        "faults": faults,
    }


def _reach(problem: Problem, row: Mapping[str, Any], end: Mapping[str, Any], limit: float) -> Any:
    """Return the cheapest path to exactly this end state, in words, or that there is none."""
    keys = {**problem.to_dict(), "goal": state_goal(problem.theory, end)}
    try:
        there = Problem.from_dict(keys).restricted(dict(problem.restrictions))
        plan = there.plan(row, time_limit=limit)
    except P2CError as error:
        return {"status": "unknown", "message": str(error)}
    if isinstance(plan, Found | Infeasible):
        return told(there, plan)
    return {"status": plan.status}
