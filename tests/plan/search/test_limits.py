"""Limits end a search with `gave_up` and a true bound, never with a wrong answer and never in silence."""

from __future__ import annotations

import time
from itertools import combinations
from random import Random
from typing import Any

import pytest

from p2c._explain.letter import summarize
from p2c._plan.outcome import Found, GaveUp
from p2c.problem import Problem
from tests.loan import JOHN, LOAN, category, whole
from tests.oracle import best_plan
from tests.strategies import seeded_problems

Document = dict[str, Any]


def assert_honest(document: Document, row: Document, *, limits: range) -> int:
    """Compare limited searches with the whole truth; return how many of them gave up."""
    problem = Problem.from_dict(document | {"exceptions": "abduce"})
    truth = best_plan(problem.theory, problem.read_row(row))
    assert truth is not None
    given_up = 0
    for limit in limits:
        plan = problem.plan(row, node_limit=limit)
        shown = f"{limit} {plan}\n{document!r}\n{row!r}"
        if not isinstance(plan, GaveUp):
            assert plan.status == truth.status, shown
            assert plan.cost == pytest.approx(truth.cost), shown
            continue
        given_up += 1
        assert truth.status != "already", shown
        if truth.cost is not None:
            assert plan.bound <= truth.cost * (1 + 1e-9), shown
        if plan.best is not None:
            assert not plan.best.optimal
            assert truth.cost is not None
            assert plan.best.cost >= truth.cost * (1 - 1e-9) or "minimize" in document, shown
        assert problem.check(plan), shown
    return given_up


@pytest.mark.parametrize("seed", range(3))
def test_a_node_limit_leaves_a_bound_below_the_true_cost(seed: int) -> None:
    worlds = seeded_problems(seed + 300, 50)
    assert sum(assert_honest(*world, limits=range(4)) for world in worlds) > 20


def many_changes(count: int) -> tuple[Problem, Document]:
    """Return a problem too large for routes of classes, in which every feature sets off an effect and has to change."""
    rules: list[str] = []
    features: Document = {}
    for each in range(count):
        rules += [
            f"bad(X) :- f{each}(X,N), N<5.",
            f"bad(X) :- e{each}(X,'off').",
            f"e{each}(X,'on') :- f{each}(X,N), N>=5.",
        ]
        features |= {f"f{each}": whole(0, 9), f"e{each}": category("off", "on")}
    row = {name: 0 if name.startswith("f") else "off" for name in features}
    document = {"goal": "not bad(X)", "rules": "\n".join(rules), "features": features}
    return Problem.from_dict(document), row


def more_guests_than_rooms(guests: int) -> tuple[Problem, Document]:
    """Return a problem that has no plan, which no look at a few features at a time can tell."""
    rooms = [f"room{each}" for each in range(1, guests)]
    rules = [f"bad(X) :- g{each}(X,'out')." for each in range(guests)]
    for one, other in combinations(range(guests), 2):
        rules += [f"bad(X) :- g{one}(X,'{room}'), g{other}(X,'{room}')." for room in rooms]
    features = {f"g{each}": category("out", *rooms) for each in range(guests)}
    document = {"goal": "not bad(X)", "rules": "\n".join(rules), "features": features}
    return Problem.from_dict(document), dict.fromkeys(features, "out")


def many_rules(count: int, kind: str) -> tuple[Problem, Document]:
    """Return a problem of `count` rules, each with constants of its own."""
    draw = Random(0)

    def number() -> int:
        return draw.randint(1, 99_999)

    def rule(each: int) -> str:
        if kind == "effects":
            return f"b(X,N) :- a(X,M), M={each}, N>={number()}."
        if kind == "decisions":
            return f"bad(X) :- a(X,N), N<{number()}, b(X,M), M>{number()}."
        return f"bad(X) :- a(X,N), N>{number()}, N<{number()}, b(X,M), M<5."

    goal = "b(X,N), N>50000" if kind == "effects" else "not bad(X)"
    features = {"a": whole(0, 100_000), "b": whole(0, 100_000)}
    rules = "\n".join(rule(each) for each in range(count))
    return Problem.from_dict({"goal": goal, "rules": rules, "features": features}), {"a": 5, "b": 1}


@pytest.mark.parametrize("kind", ["decisions", "one feature", "effects"])
def test_a_first_question_compiles_many_rules_within_its_time_limit(kind: str) -> None:
    problem, row = many_rules(2_000 if kind != "effects" else 800, kind)
    begun = time.process_time()
    problem.plan(row, time_limit=1)
    # It takes about a second; when each rule was tested in each cell, 4 to 30 of them.
    assert time.process_time() - begun < 3.5


@pytest.mark.parametrize("seconds", [0.0, 0.3])
def test_a_time_limit_is_kept(seconds: float) -> None:
    problem, row = more_guests_than_rooms(12)
    problem.compiled.axes  # noqa: B018 - what is compiled once is not the search's time
    plan = problem.plan(row, time_limit=seconds)
    assert isinstance(plan, GaveUp)
    assert plan.bound <= 12 + 1e-9


def test_many_changes_that_each_set_off_an_effect_are_put_in_order_without_trying_all_orders() -> (
    None
):
    problem, row = many_changes(25)
    plan = problem.plan(row, node_limit=1000)
    assert isinstance(plan, Found)
    assert [act.feature for act in plan.actions] == [f"f{each}" for each in range(25)]
    assert problem.check(plan)


def test_forty_changes_that_do_not_touch_one_another_need_no_limit() -> None:
    rules = "\n".join(f"bad(X) :- f{each}(X,N), N<5." for each in range(40))
    features = {f"f{each}": whole(0, 9) for each in range(40)}
    problem = Problem.from_dict({"goal": "not bad(X)", "rules": rules, "features": features})
    plan = problem.plan(dict.fromkeys(features, 0), time_limit=20)
    assert isinstance(plan, Found)
    assert [act.feature for act in plan.actions] == list(features)
    assert problem.check(plan)


def test_no_nodes_at_all_means_giving_up_at_once_with_nothing_found() -> None:
    problem = Problem.from_dict(LOAN)
    plan = problem.plan(JOHN, node_limit=0)
    assert isinstance(plan, GaveUp)
    document = plan.to_dict()
    assert document["status"] == "gave_up"
    assert document["cost"] is None
    assert document["counterfactual"] is None
    assert document["steps"] == []
    assert document["optimal"] is False
    assert document["bound"] == 0
    assert summarize(problem.theory, plan).opening == (
        "The search stopped at its limit; no way costs less than 0.",
        "No way was found until then.",
    )


def test_a_limit_that_is_not_reached_changes_nothing() -> None:
    problem = Problem.from_dict(LOAN)
    plan = problem.plan(JOHN)
    assert problem.plan(JOHN, node_limit=10_000).to_dict() == plan.to_dict()
    assert problem.plan(JOHN, time_limit=60).to_dict() == plan.to_dict()


def test_who_is_there_already_is_told_so_whatever_the_limit() -> None:
    rich = {"age": 31, "debt": 0, "bank_balance": 70000, "credit_score": 700}
    assert Problem.from_dict(LOAN).plan(rich, node_limit=0, time_limit=0).status == "already"
