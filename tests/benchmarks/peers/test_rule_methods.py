"""The methods that read rules, on a problem where each has another answer, known by hand."""

from __future__ import annotations

import random
from itertools import product
from typing import TYPE_CHECKING

import pytest

from benchmarks.peers import PEERS
from benchmarks.peers.c3g import as_constraints
from p2c import Problem
from p2c._rules.evaluate import goal_holds
from p2c._rules.meaning import abduce, consistent
from p2c._spec.feature import distance
from tests.benchmarks.tiny import JOHN, LOAN, loan_world

if TYPE_CHECKING:
    from benchmarks.world import State

pytest.importorskip("pysmt")
pytest.importorskip("z3")

ENDS = {
    # The score is set like anything else, and the debt stays.
    "mace": {**JOHN, "balance": 6, "score": "high"},
    # The debt has to go for the score to be possible, and both are charged.
    "c3g": {**JOHN, "debt": 0, "balance": 6, "score": "high"},
    # The score follows from the debt.
    "mint": {**JOHN, "debt": 0, "balance": 6, "score": "high"},
    "p2c": {**JOHN, "debt": 0, "balance": 6, "score": "high"},
}


@pytest.mark.parametrize("method", ENDS)
def test_a_method_finds_its_known_answer_and_says_that_it_is_proved(method: str) -> None:
    answer = PEERS[method].prepare(loan_world())(dict(JOHN))
    assert answer.end == ENDS[method]
    assert answer.proved


@pytest.mark.parametrize("method", ["mace", "c3g", "mint", "p2c"])
def test_a_method_proves_that_there_is_no_answer(method: str) -> None:
    data = LOAN.to_dict()
    data["rules"] += "\nreject(X) :- age(X,N), N<9."
    world = loan_world()
    hopeless = type(world)(Problem.from_dict(data), world.frame, world.accepted, world.model)
    answer = PEERS[method].prepare(hopeless)(dict(JOHN))
    assert answer.end is None
    assert answer.proved


def test_mint_refuses_a_feature_that_is_its_own_cause() -> None:
    data = LOAN.to_dict()
    data["rules"] += "\ndebt(X,N) :- score(X,'low'), N>=1."
    world = loan_world()
    cyclic = type(world)(Problem.from_dict(data), world.frame, world.accepted, world.model)
    with pytest.raises(ValueError, match="its own cause"):
        PEERS["mint"].prepare(cyclic)


def states() -> list[State]:
    values = {
        f.name: [f.domain.value(p) for p in range(f.domain.size)] for f in LOAN.theory.features
    }
    return [dict(zip(values, row, strict=True)) for row in product(*values.values())]


def cost(start: State, end: State) -> float:
    return float(sum(distance(f, start[f.name], end[f.name]) for f in LOAN.theory.features))


@pytest.mark.parametrize("method", ["mace", "c3g"])
def test_a_method_is_as_cheap_as_trying_every_state(method: str) -> None:
    theory, every = LOAN.theory, states()
    find = PEERS[method].prepare(loan_world())
    refused = [state for state in every if not goal_holds(theory, state)]
    for person in random.Random(1).sample(refused, 12):
        known = abduce(theory, person)
        good = [
            end
            for end in every
            if end["age"] == person["age"]
            and goal_holds(theory, end)
            and (method == "mace" or consistent(theory, end, known))
        ]
        answer = find(person)
        assert answer.end is not None
        assert cost(person, answer.end) == pytest.approx(min(cost(person, end) for end in good))


def test_c3g_as_a_problem_without_effects_charges_what_the_formula_does() -> None:
    charged = as_constraints(LOAN)
    plan = charged.plan(JOHN)
    assert plan.counterfactual == ENDS["c3g"]
    assert plan.cost == pytest.approx(0.5 + 0.2 + 1)


def test_p2c_as_published_lets_a_supported_value_come_without_a_cause() -> None:
    data = LOAN.to_dict()
    data["rules"] = data["rules"].replace("score(X,'low') :- debt(X,D), D>0.", "")
    data["law"] = "only_if"
    world = loan_world()
    relaxed = type(world)(Problem.from_dict(data), world.frame, world.accepted, world.model)
    person = {**JOHN, "debt": 0}
    answer = PEERS["p2c-published"].prepare(relaxed)(person)
    assert answer.end == {**person, "balance": 6, "score": "high"}
    assert set(answer.path or ()) == {("balance", 6), ("score", "high")}
    assert PEERS["p2c"].prepare(relaxed)(person).end is None
