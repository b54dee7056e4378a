"""Plans that lead past something that holds them up, or that take what a look ahead is quick to leave out."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from p2c._learn.model.additive import AdditiveScore, ColumnCells, ScoreLine
from p2c._learn.model.read_model import ReadModel
from p2c._plan.compiled import space
from p2c._plan.planner import search_plan
from p2c._plan.search.best_first import Limits
from p2c.problem import Problem
from tests.loan import category, whole
from tests.oracle import all_end_states, best_plan
from tests.plan.judged import never
from tests.plan.search.test_action_sets import agreeing, along_moves, dynamics_of
from tests.strategies import seeded_problems

if TYPE_CHECKING:
    from collections.abc import Iterator

Document = dict[str, Any]

YES_NO = category("n", "y")

CARRIED_THEN_RELEASED = (
    {
        "goal": "f(X,1)",
        "effects": "supported",
        "rules": "f(X,2) :- a(X,y), b(X,n).",
        "features": {"a": YES_NO, "b": YES_NO, "f": whole(0, 2, law="only_if")},
    },
    {"a": "n", "b": "n", "f": 0},
)
CARRIED_ALONG_MOVES = (
    {
        "goal": "f(X,r)",
        "effects": "supported",
        "rules": "f(X,p) :- c(X,y). f(X,q) :- a(X,y), b(X,n).",
        "features": {
            "a": YES_NO,
            "b": YES_NO,
            "c": category("n", "y", action="fixed"),
            "f": category("p", "q", "r", law="only_if", moves={"p": ["q"], "q": ["r"]}),
        },
    },
    {"a": "n", "b": "n", "c": "y", "f": "p"},
)
HELD_UP_BY_A_CONSTRAINT = (
    {
        "goal": "f(X,q)",
        "effects": "supported",
        "law": "if",
        "rules": """
            f(X,p) :- a(X,y). f(X,q) :- a(X,y). e(X,1) :- a(X,y). g(X,0) :- a(X,n), e(X,1).
            :- a(X,y), g(X,1), z(X,n).
        """,
        "features": {
            "a": YES_NO,
            "z": YES_NO,
            "f": category("p", "q"),
            "g": whole(0, 1),
            "e": whole(0, 1),
        },
    },
    {"a": "n", "z": "n", "f": "p", "g": 1, "e": 0},
)
HELD_UP_FROM_ABOVE = (
    {
        "goal": "a(X,y), d(X,y), f(X,0)",
        "law": "if",
        "rules": """
            f(X,1) :- a(X,y), d(X,n). f(X,1) :- d(X,y), a(X,n). f(X,1) :- g(X,5), a(X,n).
            g(X,1) :- o(X,y).
        """,
        "features": {
            "a": YES_NO,
            "d": YES_NO,
            "o": category("n", "y", "z", moves={"n": ["y"], "y": ["z"]}),
            "g": whole(0, 5, action="fixed"),
            "f": whole(0, 1, action="up"),
        },
    },
    {"a": "n", "d": "n", "o": "n", "g": 0, "f": 0},
)

HELD_UP_UNTIL_IT_ACTS = (
    {
        "goal": "f(X,2), g(X,y)",
        "rules": "f(X,N) :- a(X,y), N>=1. g(X,y) :- a(X,y). g(X,y) :- f(X,2), x(X,y).",
        "features": {
            "a": YES_NO,
            "x": category("n", "y", action="fixed"),
            "f": whole(0, 2, action="free"),
            "g": YES_NO,
        },
    },
    {"a": "n", "x": "n", "f": 0, "g": "n"},
)


@pytest.mark.parametrize(
    ("document", "row"),
    [
        CARRIED_THEN_RELEASED,
        CARRIED_ALONG_MOVES,
        HELD_UP_BY_A_CONSTRAINT,
        HELD_UP_FROM_ABOVE,
        HELD_UP_UNTIL_IT_ACTS,
    ],
)
def test_what_holds_a_plan_up_for_a_while_does_not_count_as_its_end(
    document: Document, row: Document
) -> None:
    problem = Problem.from_dict(document)
    assert problem.compiled.selects
    expected = best_plan(problem.theory, problem.read_row(row))
    assert expected is not None
    assert expected.status == "found"
    plan = search_plan(dynamics_of(problem, row), Limits())
    assert plan.cost == pytest.approx(expected.cost)
    assert problem.check(plan)


def test_a_governed_number_that_a_model_weighs_may_be_set_anywhere_after_an_effect() -> None:
    border = np.array([3.0])
    cells = (ColumnCells("job", 2, np.array([]), missing=1),)
    line = ScoreLine(0, np.array([1.0]))
    score = AdditiveScore(cells, np.zeros(1), border, border, (), lines=(line,))
    features = {"a": YES_NO, "job": whole(0, 4, action="free")}
    document = {"goal": "accepted(X)", "rules": "job(X,0) :- a(X,n).", "features": features}
    problem = Problem.from_dict(document, model=ReadModel(score, never))
    row = {"a": "n", "job": 0}
    expected = best_plan(problem.theory, problem.read_row(row))
    assert expected is not None
    assert problem.plan(row).cost == pytest.approx(expected.cost)


def test_ends_that_only_another_trail_comes_to_without_passing_the_goal_are_listed() -> None:
    moves = {"a": ["b", "c"], "b": ["d"], "c": ["d"]}
    features = {"h": category("a", "b", "c", "d", moves=moves), "s": YES_NO}
    rules = "ok(X) :- h(X,b). ok(X) :- s(X,y)."
    problem = Problem.from_dict({"goal": "ok(X)", "rules": rules, "features": features})
    row = {"h": "a", "s": "n"}
    ends = all_end_states(problem.theory, problem.read_row(row))
    assert [each.state for each in ends] == [
        dict(each.counterfactual or {}) for each in problem.nearest(row, k=9)
    ]
    assert {"h": "d", "s": "y"} in [each.state for each in ends]


@pytest.mark.parametrize("effects", ["triggered", "supported"])
def test_ways_of_another_kind_may_set_the_same_governed_feature_elsewhere(effects: str) -> None:
    rules = "ok(X) :- g(X,1). ok(X) :- g(X,-1), b(X,y). g(X,1) :- c(X,y)."
    features = {
        "g": whole(-1, 1, action="free"),
        "b": YES_NO,
        "c": category("n", "y", action="fixed"),
    }
    document = {"goal": "ok(X)", "law": "if", "rules": rules, "features": features}
    problem = Problem.from_dict(document | {"effects": effects})
    ways = problem.nearest({"g": 0, "b": "n", "c": "n"}, k=9, distinct="cells")
    told = [[(a.feature, a.end) for step in way.steps for a in step.actions] for way in ways]
    assert told == [[("g", 1)], [("g", -1), ("b", "y")]]


def tangled(document: Document, seed: str) -> Document:
    """Return a random problem in which more holds up: mixed laws, effects that go one way or not at all, more constraints."""
    rng = Random(seed)
    told = along_moves(document, seed) if rng.random() < 0.4 else document
    governed = {cause for cause, _ in Problem.from_dict(told).theory.causes}
    features = {name: dict(keys) for name, keys in told["features"].items()}
    for name, keys in features.items():
        if name in governed:
            ways = ["effect"] if keys["type"] == "category" else ["up", "down"]
            keys["action"] = rng.choice(["fixed", "effect", "free", *ways])
            keys["law"] = rng.choice(["iff", "if", "only_if"])
            if keys["action"] not in ("fixed", "effect"):
                keys.pop("moves", None)
        if rng.random() < 0.2:
            keys["weight"] = 0
    rules = [line.split(" :- ", 1) for line in told["rules"].splitlines() if " :- " in line]
    decisions = [body for head, body in rules if head.startswith(("label", "reject", "accept"))]
    plain = [body for body in decisions if "ab" not in body and "helper" not in body]
    barred = rng.sample(plain, min(len(plain), rng.choice([0, 1, 1, 2])))
    return told | {
        "rules": "\n".join([told["rules"], *(f":- {body}" for body in barred)]),
        "features": features,
        "effects": rng.choice(["triggered", "supported", "supported"]),
        "exceptions": "abduce",
    }


def tangled_problems(seed: int, count: int) -> Iterator[tuple[Document, Document]]:
    """Yield random problems in which more holds up."""
    for number, (document, row) in enumerate(seeded_problems(seed, count)):
        yield tangled(document, f"{seed} {number}"), row


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every problem count as large."""
    monkeypatch.setattr(space, "SMALL", 0)


@pytest.mark.usefixtures("large")
def test_sets_agree_with_the_slow_planner_where_more_holds_up() -> None:
    assert agreeing(tangled_problems(60, 150)) >= 80


@pytest.mark.slow
@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("seed", range(6000, 6060))
def test_sets_agree_with_the_slow_planner_where_more_holds_up_on_many_more(seed: int) -> None:
    assert agreeing(tangled_problems(seed, 100)) >= 40
