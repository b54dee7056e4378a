"""Our own methods behind the same protocol: the planner on the rules, and plans that the model confirms."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder

from benchmarks.peers.protocol import Aim, Answer, Compliance, Finder, Peer
from p2c import Problem
from p2c._plan.outcome import Found
from p2c._rules.render import render_rule

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

    from benchmarks.peers.protocol import Path
    from benchmarks.world import State, World
    from p2c._plan.outcome import Action, Plan


def prepare_rules(world: World) -> Finder:
    """Return the exact planner on a world's rules."""

    def find(person: State) -> Answer:
        plan = world.problem.plan(person)
        return replace(_answer(plan), document=plan.to_dict())

    return find


def prepare_published(world: World) -> Finder:
    """Return the planner with effects as the paper's experiments count them: free wherever a rule supports the value."""
    problem = world.problem.with_keys(effects="supported")

    def find(person: State) -> Answer:
        plan = problem.plan(person)
        actions = [action for step in plan.steps for action in step.actions]
        return replace(_answer(plan), path=_changes(actions))

    return find


def prepare_model(world: World) -> Finder:
    """Return the search for plans that a world's model confirms; only the causal rules are the problem's own."""
    recourse = recourse_of(world)

    def find(person: State) -> Answer:
        confirmed = recourse.plan(person)
        return (
            _answer(confirmed)
            if confirmed.model is not None and confirmed.model.verified
            else Answer(None, note=confirmed.status)
        )

    return find


def recourse_of(world: World) -> Problem:
    """Return a world's model, behind columns as people make them, with the problem's features and causal rules."""
    data, theory = world.problem.to_dict(), world.problem.theory
    governing = [
        render_rule(rule)
        for rule in theory.program.rules
        if rule.head is None or rule.head.predicate in theory.rules_of
    ]
    keys: dict[str, Any] = {"law": data["law"]} if "law" in data else {}
    listed = [each.name for each in theory.features if each.is_listed]
    frame = world.frame.astype(dict.fromkeys(listed, str))
    return Problem.from_model(
        as_pipeline(world, frame), frame, desired=True, threshold=0.5,
        causal="\n".join(governing) or None, features=data["features"], **keys,
    )  # fmt: skip


def as_pipeline(world: World, frame: pd.DataFrame) -> Pipeline:
    """Return a world's fitted model as a pipeline of scikit-learn: the same columns, made by transformers."""
    columns = [
        (each.name, OneHotEncoder(categories=[list(each.places)], sparse_output=False), [each.name])
        if each.is_listed
        else (each.name, "passthrough", [each.name])
        for each in world.features
    ]
    spread = ColumnTransformer(columns).fit(frame)
    return Pipeline([("columns", spread), ("model", world.model.fitted)])


def _answer(plan: Plan) -> Answer:
    if not isinstance(plan, Found):
        return Answer(None, plan.status == "infeasible", note=plan.status)
    return Answer(dict(plan.end), plan.optimal, _changes(plan.actions))


def _changes(actions: Iterable[Action]) -> Path:
    return tuple((action.feature, action.end) for action in actions)


PEERS = {
    "p2c-published": Peer(
        "P2C as published (supported effects)",
        Aim.RULES,
        Compliance.YES,
        prepare_published,
        gives_path=True,
    ),
    "p2c": Peer("p2c", Aim.RULES, Compliance.YES, prepare_rules, gives_path=True),
    "p2c-model": Peer(
        "p2c with the model", Aim.MODEL, Compliance.YES, prepare_model, gives_path=True
    ),
}
