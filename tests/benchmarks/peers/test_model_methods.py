"""The methods that ask a model, on a model that accepts from level 5 on."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from benchmarks.peers import PEERS
from p2c import Problem
from p2c._spec.feature import distance
from tests.benchmarks.tiny import JOHN, MARY, loan_world, step_world, uneven_world

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.world import World
    from p2c._spec.feature import Value

EXACT = ("treecf", "ocean")


def only_down(world: World) -> World:
    data = world.problem.to_dict()
    data["features"]["level"]["action"] = "down"
    return replace(world, problem=Problem.from_dict(data))


def cost(world: World, start: Mapping[str, Value], end: Mapping[str, Value]) -> float:
    return float(sum(distance(f, start[f.name], end[f.name]) for f in world.features))


@pytest.mark.parametrize("method", ["borderline", "treecf", "ocean", "p2c-model"])
def test_a_method_stops_at_the_first_level_that_the_model_accepts(method: str) -> None:
    for name in PEERS[method].needs:
        pytest.importorskip(name)
    answer = PEERS[method].prepare(step_world())(dict(MARY))
    assert answer.end == {**MARY, "level": 5}


@pytest.mark.parametrize("method", EXACT)
def test_an_exact_method_proves_its_answer_and_that_there_is_none(method: str) -> None:
    for name in PEERS[method].needs:
        pytest.importorskip(name)
    world = step_world()
    assert PEERS[method].prepare(world)(dict(MARY)).proved
    answer = PEERS[method].prepare(only_down(world))(dict(MARY))
    assert answer.end is None
    assert answer.proved


@pytest.mark.parametrize("method", EXACT)
def test_an_exact_method_is_as_cheap_as_trying_every_state(method: str) -> None:
    for name in PEERS[method].needs:
        pytest.importorskip(name)
    world = uneven_world()
    find = PEERS[method].prepare(world)
    every = [{"level": a, "height": b} for a in range(10) for b in range(31)]
    good = [state for state in every if world.model.accepts(state)]
    refused = [state for state in every if not world.model.accepts(state)]
    for person in random.Random(1).sample(refused, 8):
        answer = find(dict(person))
        assert answer.end is not None
        assert world.model.accepts(answer.end)
        least = min(cost(world, person, end) for end in good)
        assert cost(world, person, answer.end) == pytest.approx(least)


@pytest.mark.parametrize("method", ["random", "genetic", "kdtree"])
def test_dice_returns_an_accepted_state_and_leaves_fixed_features_alone(method: str) -> None:
    pytest.importorskip("dice_ml")
    world = step_world()
    answer = PEERS[f"dice-{method}"].prepare(world)(dict(MARY))
    assert answer.end is not None
    assert world.model.accepts(answer.end)
    assert answer.end["colour"] == MARY["colour"]


def test_borderline_says_so_where_nothing_changes_the_models_answer() -> None:
    answer = PEERS["borderline"].prepare(only_down(step_world()))(dict(MARY))
    assert answer.end is None
    assert "did not change" in answer.note


def test_our_confirmed_plan_lets_the_score_follow_from_the_debt() -> None:
    answer = PEERS["p2c-model"].prepare(loan_world())(dict(JOHN))
    assert answer.end == {**JOHN, "debt": 0, "balance": 6, "score": "high"}
    assert set(answer.path or ()) == {("debt", 0), ("balance", 6)}
