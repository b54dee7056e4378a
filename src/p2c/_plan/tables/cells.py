"""What a table tells of an answer, whoever gave it: the cells of its row, and the types of their columns."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from p2c._plan.outcome import CausalAction, GaveUp, TakenAction
from p2c._plan.tables.encode import WIDEST
from p2c._spec.feature import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from p2c._plan.outcome import Action, Plan
    from p2c._rules.theory import Theory
    from p2c._spec.feature import Feature


def value_type(feature: Feature) -> type[int] | type[float] | type[str]:
    """Return what a column of a feature's values holds; values of several types, or too large for theirs, become text."""
    if feature.kind is Kind.FLOAT:
        return float
    if feature.kind is Kind.INT:
        return str if max(abs(feature.minimum), abs(feature.maximum)) >= WIDEST else int
    return int if all(isinstance(value, int) for value in feature.places) else str


def plan_cells(theory: Theory, plan: Plan) -> dict[str, Any]:
    """Return the cells of an answer by column, but for its end; lists are compact JSON."""
    acts = [
        [(not isinstance(act, CausalAction), act.feature, _ended(act)) for act in step.actions]
        for step in plan.steps
    ]
    actions, steps = step_texts(acts) if acts else ("", "")
    bound = f"no way costs less than {plan.bound}" if isinstance(plan, GaveUp) else ""
    return {
        "status": plan.status,
        "cost": plan.cost,
        "actions": actions,
        "steps": steps,
        "exceptions": listed(plan.question.exceptions),
        "unknown": listed(theory.missing(plan.question.initial)),
        "proof": plan.proof,
        "message": bound and f"the search stopped at its limit; {bound}",
    }


def action_cell(action: Action) -> dict[str, Any]:
    """Return an action as a cell tells it."""
    return _told(action.feature, _ended(action))


def _ended(action: Action) -> Any:
    return action if isinstance(action, TakenAction) else action.end


def _told(name: str, value: Any) -> dict[str, Any]:
    if isinstance(value, TakenAction):
        return {"action": name, "count": value.count}
    return {"feature": name, "to": value}


def step_texts(steps: Sequence[Sequence[tuple[bool, str, Any]]]) -> tuple[str, str]:
    """Return the direct actions and the steps of a plan, of which each act is direct or not, on a feature, to a value."""
    direct = [_told(name, value) for step in steps for is_direct, name, value in step if is_direct]
    kinds = [
        [
            {"kind": "direct" if is_direct else "causal", **_told(name, value)}
            for is_direct, name, value in step
        ]
        for step in steps
    ]
    return json.dumps(direct, ensure_ascii=False), json.dumps(kinds, ensure_ascii=False)


def listed(items: Sequence[Any]) -> str:
    """Return a list as compact JSON; nothing for an empty one."""
    return json.dumps(items, ensure_ascii=False) if items else ""
