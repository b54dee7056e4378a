"""A counterfactual as most tools give it, all changes at once, written as a plan so that the validator can judge it.

Each change becomes a step of its own, set directly, in the order of the problem, features with causal rules last. What
the contract forbids about that, the validator says step by step.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from p2c._rules.meaning import origin
from p2c._spec.feature import exact
from p2c._spec.resources import amounts_of, number_of
from p2c._spec.row import omitted_in

if TYPE_CHECKING:
    from p2c._rules.theory import Theory
    from p2c._spec.feature import Feature, Value
    from p2c._spec.row import State


def one_shot_document(theory: Theory, start: State, end: State) -> dict[str, Any]:
    """Return the plan that sets every changed feature to its value in the end state, one after the other."""
    changed = [
        each
        for each in theory.features
        if start[each.name] != end[each.name] and each.equation is None
    ]
    person = origin(theory, start)
    state = dict(start)
    steps = []
    totals: dict[str, Fraction] = {}
    for feature in sorted(changed, key=lambda each: each.governed):
        name = feature.name
        before, state = state, {**state, name: end[name]}
        state = state if person is None else person.recomputed(state)
        action: dict[str, Any] = {
            "kind": "direct",
            "feature": name,
            "from": start[name],
            "to": end[name],
            "cost": float(theory.norm.action_cost(feature, start[name], end[name])),
        }
        used = amounts_of(feature, start[name], end[name])
        amounts = {each: amount for each, amount in used.items() if amount}
        if amounts:
            action["uses"] = {each: number_of(amount) for each, amount in amounts.items()}
            for each, amount in amounts.items():
                totals[each] = totals.get(each, Fraction(0)) + amount
        effects = [
            _computed(each, before[each.name], state[each.name])
            for each in theory.computed
            if before[each.name] != state[each.name]
        ]
        steps.append({"actions": [action, *effects], "state": state})
    return {
        "status": "found",
        "norm": theory.norm.value,
        "initial": dict(start),
        "counterfactual": dict(end),
        "exceptions": None,
        "cost": _cost(theory, changed, start, end),
        "steps": steps,
        "uses": {name: number_of(amount) for name, amount in totals.items()},
        "omitted": sorted(omitted_in(start)),
    }


def _computed(feature: Feature, before: Value, after: Value) -> dict[str, Any]:
    """Return the change of a computed feature."""
    assert feature.equation is not None
    return {
        "kind": "causal",
        "feature": feature.name,
        "from": before,
        "to": after,
        "cost": 0,
        "because": [feature.equation.text],
        "assumed": False,
    }


def _cost(theory: Theory, changed: list[Feature], start: State, end: State) -> float:
    norm = theory.norm
    return norm.cost(
        (exact(each.weight), norm.length(each, start[each.name], end[each.name]))
        for each in changed
    )
