"""The slow planner's answers as the contract's JSON."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from p2c._rules.render import render_rule
from p2c._spec.cost import Norm
from tests.oracle_values import number

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.oracle import Act, Path, Places, World


def path_document(world: World, path: Path) -> dict[str, Any]:
    """Return a path as the contract's JSON."""
    return {
        "status": "found" if path.acts else "already",
        **_question(world),
        "cost": world.cost_of(path.measure),
        "optimal": True,
        "counterfactual": world.named(path.states[-1]),
        "steps": _written(world, path),
    }


def infeasible_document(world: World) -> dict[str, Any]:
    """Return the answer that there is no path."""
    nothing: dict[str, Any] = {"cost": None, "counterfactual": None, "steps": []}
    return {"status": "infeasible", **_question(world), **nothing, "blockers": []}


def _question(world: World) -> dict[str, Any]:
    return {
        "problem": world.theory.name,
        "norm": world.theory.norm.value,
        "initial": world.named(world.initial),
        "exceptions": _exceptions(world),
    }


def _exceptions(world: World) -> list[dict[str, Any]]:
    features = [
        {"feature": world.features[f].name, "rules": _broken_rules(world, f)}
        for f in sorted(world.excused)
    ]
    constraints = [
        {"constraint": render_rule(world.theory.constraints[c].rule)}
        for c in sorted(world.excused_constraints)
    ]
    return [*world.arithmetic.mismatches, *features, *constraints]


def _recomputed(world: World, before: Places, after: Places) -> list[dict[str, Any]]:
    """Return the changes of computed features that an action brings."""
    return [
        {
            "kind": "causal",
            "feature": each.name,
            "from": world.values[world.index[each.name]][before[world.index[each.name]]],
            "to": world.values[world.index[each.name]][after[world.index[each.name]]],
            "cost": 0,
            "because": [each.equation.text],
            "assumed": False,
        }
        for each in world.arithmetic.computed
        if each.equation and before[world.index[each.name]] != after[world.index[each.name]]
    ]


def _broken_rules(world: World, f: int) -> list[str]:
    """Return the rules that fired in vain, or those that would have had to."""
    fired = world.fired_at_start[f]
    return _texts(
        world, f, fired or [r for r, h in enumerate(world.heads[f]) if world.initial[f] in h]
    )


def _texts(world: World, f: int, rules: Iterable[int]) -> list[str]:
    return [render_rule(world.causes[f][r].rule) for r in sorted(rules)]


def _written(world: World, path: Path) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = []
    actions: list[dict[str, Any]] = []
    for act, direct, before, after in zip(
        path.acts, path.direct, path.states, path.states[1:], strict=False
    ):
        actions.append(_action(world, act, before, direct=direct))
        actions += _recomputed(world, before, after)
        if world.facts(after).consistent:
            steps.append({"actions": actions, "state": world.named(after)})
            actions = []
    return steps


def _action(world: World, act: Act, before: Places, *, direct: bool) -> dict[str, Any]:
    f, place = act
    feature = world.features[f]
    change = {
        "feature": feature.name,
        "from": world.values[f][before[f]],
        "to": world.values[f][place],
    }
    if direct:
        far = Fraction(1) if world.theory.norm is Norm.L0 else world.steps[f][before[f]][place]
        return {"kind": "direct", **change, "cost": float(number(feature.weight) * far)}
    because = _texts(world, f, world.facts(before).fired[f])
    assumed = world.effects(before)[act]
    return {"kind": "causal", **change, "cost": 0, "because": because, "assumed": assumed}
