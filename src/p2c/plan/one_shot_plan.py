"""A counterfactual as most tools give it, all changes at once, written as a plan so that the validator can judge it.

Each change becomes a step of its own, set directly, in the order of the problem, features with causal rules last. What
the contract forbids about that, the validator says step by step.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from p2c.domain.feature import distance, exact
from p2c.domain.spec import Norm

if TYPE_CHECKING:
    from p2c.domain.feature import Feature
    from p2c.domain.row import State
    from p2c.rules.theory import Theory


def one_shot_document(theory: Theory, start: State, end: State) -> dict[str, Any]:
    """Return the plan that sets every changed feature to its value in the end state, one after the other."""
    changed = [each for each in theory.features if start[each.name] != end[each.name]]
    state = dict(start)
    steps = []
    for feature in sorted(changed, key=lambda each: each.governed):
        name = feature.name
        state = {**state, name: end[name]}
        action = {
            "kind": "direct",
            "feature": name,
            "from": start[name],
            "to": end[name],
            "cost": float(_effort(theory, feature, start, end)),
        }
        steps.append({"actions": [action], "state": state})
    return {
        "status": "found",
        "norm": theory.norm.value,
        "initial": dict(start),
        "counterfactual": dict(end),
        "exceptions": None,
        "cost": _cost(theory, changed, start, end),
        "steps": steps,
    }


def _effort(theory: Theory, feature: Feature, start: State, end: State) -> Fraction:
    weight = exact(feature.weight)
    if theory.norm is Norm.L0:
        return weight
    return weight * distance(feature, start[feature.name], end[feature.name])


def _cost(theory: Theory, changed: list[Feature], start: State, end: State) -> float:
    if theory.norm is not Norm.L2:
        return float(sum((_effort(theory, each, start, end) for each in changed), Fraction(0)))
    squares = (
        exact(each.weight) * distance(each, start[each.name], end[each.name]) ** 2
        for each in changed
    )
    return math.sqrt(sum(squares, Fraction(0)))
