"""Our plan beside counterfactuals from elsewhere: their steps in words, and on each what is wrong with it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from p2c._engines.policy import Policy
from p2c._explain.letter import teller_in
from p2c._plan.compiled.space import Space
from p2c._plan.one_shot_plan import one_shot_document
from p2c._plan.outcome import Found, Infeasible
from p2c._rules.play import towards
from p2c._server.tasks import told
from p2c.errors import Fault, P2CError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from p2c._explain.teller import Teller
    from p2c._server.tasks import Consultation
    from p2c._spec.row import State
    from p2c.problem import Problem

STEP = re.compile(r"step (\d+)(?:, action (\d+))?")
BEYOND_THE_END = frozenset({"model", "source"})
"""The parts of a plan that a mere end state of another tool does not have."""


def comparison(consulted: Consultation, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return our plan, the other answers with their faults, and the person beside every end, in the features' words."""
    limit = arguments["time_limit"] / (1 + len(arguments["answers"]))
    asked, row, ours = consulted.problem, consulted.state, consulted.plan(limit)
    teller = teller_in(asked.theory, arguments.get("language") or "en")
    answers = [_judged(asked, teller, row, each, limit) for each in arguments["answers"]]
    end = ours.end if isinstance(ours, Found) else row
    ends = [end, *(each.pop("end") for each in answers)]
    return {
        "ours": told(asked.theory, ours, teller.phrases.language),
        "answers": answers,
        "person": _person(teller, row, ends),
    }


def _judged(
    problem: Problem, teller: Teller, row: State, answer: Mapping[str, Any], limit: float
) -> dict[str, Any]:
    """Return another answer: its steps with their faults and, for a mere end state, whether any path leads there."""
    document, reach = answer.get("document"), None
    is_bare = document is None
    if document is None:
        end = problem.read_row(answer["end"])
        document = one_shot_document(problem.theory, row, end)
        reach = _reach(problem, row, end, limit, teller.phrases.language)
    claims = [
        each
        for each in problem.check(document).faults
        if not (is_bare and each.place in BEYOND_THE_END)
    ]
    faults = [each for each in claims if not STEP.match(each.place)]
    faults += _of_somebody_else(row, document)
    return {
        "steps": _steps(teller, document, claims),
        "faults": [
            {
                "place": _friendly(teller, each.place),
                "message": _friendly(teller, each.message),
            }
            for each in faults
        ],
        "valid": not claims and not faults,
        "cost": _cost_words(teller, document.get("cost")),
        "reach": reach,
        "end": _table(document, "counterfactual"),
    }


def _of_somebody_else(row: State, document: Mapping[str, Any]) -> list[Fault]:
    """Return a fault for each value that a plan starts from and the person does not have."""
    start = _table(document, "initial")
    return [
        Fault(name, f"the plan starts from {start[name]!s:.60}, and this person has {value}")
        for name, value in row.items()
        if name in start and start[name] != value
    ]


def _table(document: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = document.get(key)
    return found if isinstance(found, dict) else {}


def _person(teller: Teller, row: State, ends: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the person feature by feature: the value now, and at each end the value and whether it is another."""
    return [
        {
            "label": teller.label(name),
            "now": _value(teller, name, now),
            "ends": [
                {
                    "value": _value(teller, name, end.get(name, now)),
                    "changed": end.get(name, now) != now,
                }
                for end in ends
            ],
        }
        for name, now in row.items()
    ]


def _value(teller: Teller, name: str, value: Any) -> str:
    usable = isinstance(value, str | int | float | None) and not isinstance(value, bool)
    known = value is None or name in teller.theory.feature
    return teller.value(name, value) if known and usable else str(value)[:200]


def _friendly(teller: Teller, text: str) -> str:
    """Return a line in which features have their labels; the text of rules is unchanged."""
    labels = {name: teller.label(name) for name in teller.theory.feature}
    return re.sub(r"\w+(?![\w(])", lambda match: labels.get(match[0], match[0]), text)


def _cost_words(teller: Teller, cost: Any) -> str:
    usable = isinstance(cost, int | float) and not isinstance(cost, bool)
    return teller.number(cost) if usable else ""


def _steps(
    teller: Teller, document: Mapping[str, Any], faults: Sequence[Fault]
) -> list[dict[str, Any]]:
    """Return the steps in words; the validator has read the document, so that its shape is sure."""
    placed: dict[tuple[int, int], list[str]] = {}
    for each in faults:
        match = STEP.match(each.place)
        if match:
            words = _friendly(teller, each.message)
            placed.setdefault((int(match[1]), int(match[2] or 0)), []).append(words)
    return [
        {
            "actions": [
                _action(teller, action, placed.get((number, index), []))
                for index, action in enumerate(step["actions"], start=1)
            ],
            "faults": placed.get((number, 0), []),
        }
        for number, step in enumerate(document.get("steps") or (), start=1)
    ]


def _action(teller: Teller, action: Mapping[str, Any], faults: list[str]) -> dict[str, Any]:
    name = action["feature"]
    return {
        "label": teller.label(name) if name in teller.theory.feature else name,
        "from": _value(teller, name, action["from"]),
        "to": _value(teller, name, action["to"]),
        "direct": action["kind"] == "direct",
        "faults": faults,
    }


def _reach(
    problem: Problem, row: State, end: Mapping[str, Any], limit: float, language: str
) -> Any:
    """Return the cheapest path to exactly this end state, in words, or that there is none."""
    there = towards(problem.theory, end)
    try:
        plan = Policy(time_limit=limit).explained_plan(Space(there), row)
    except P2CError as error:
        return {"status": "unknown", "message": str(error)}
    if isinstance(plan, Found | Infeasible):
        return told(there, plan, language)
    return {"status": plan.status}
