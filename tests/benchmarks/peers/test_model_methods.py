"""The methods that ask a model, on a model that accepts from level 5 on."""

from __future__ import annotations

import pytest

from benchmarks.peers import PEERS
from tests.benchmarks.tiny import JOHN, MARY, loan_world, step_world


@pytest.mark.parametrize("method", ["borderline", "treecf", "p2c-model"])
def test_a_method_stops_at_the_first_level_that_the_model_accepts(method: str) -> None:
    for name in PEERS[method].needs:
        pytest.importorskip(name)
    answer = PEERS[method].prepare(step_world())(dict(MARY))
    assert answer.end == {**MARY, "level": 5}


def test_treecf_proves_its_answer_and_that_there_is_none() -> None:
    pytest.importorskip("treecf")
    world = step_world()
    assert PEERS["treecf"].prepare(world)(dict(MARY)).proved
    data = world.problem.to_dict()
    data["features"]["level"]["action"] = "down"
    stuck = type(world)(
        type(world.problem).from_dict(data), world.frame, world.accepted, world.model
    )
    answer = PEERS["treecf"].prepare(stuck)(dict(MARY))
    assert answer.end is None
    assert answer.proved


@pytest.mark.parametrize("method", ["random", "genetic", "kdtree"])
def test_dice_returns_an_accepted_state_and_leaves_fixed_features_alone(method: str) -> None:
    pytest.importorskip("dice_ml")
    world = step_world()
    answer = PEERS[f"dice-{method}"].prepare(world)(dict(MARY))
    assert answer.end is not None
    assert world.model.accepts(answer.end)
    assert answer.end["colour"] == MARY["colour"]


def test_borderline_says_so_where_nothing_changes_the_models_answer() -> None:
    world = step_world()
    data = world.problem.to_dict()
    data["features"]["level"]["action"] = "down"
    stuck = type(world)(
        type(world.problem).from_dict(data), world.frame, world.accepted, world.model
    )
    answer = PEERS["borderline"].prepare(stuck)(dict(MARY))
    assert answer.end is None
    assert "did not change" in answer.note


def test_our_confirmed_plan_lets_the_score_follow_from_the_debt() -> None:
    answer = PEERS["p2c-model"].prepare(loan_world())(dict(JOHN))
    assert answer.end == {**JOHN, "debt": 0, "balance": 6, "score": "high"}
    assert set(answer.path or ()) == {("debt", 0), ("balance", 6)}
