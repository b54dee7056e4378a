"""Branch and bound over regions, for a parsed model beside rules.

The compiled search applies beside causal rules and constraints too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier

from p2c._learn.model.additive import AdditiveScore, ColumnCells, Table
from p2c._learn.model.read_model import ReadModel
from p2c._plan.outcome import GaveUp
from p2c._plan.planner import find_plan
from p2c._plan.search.best_first import Limits
from p2c._plan.search.box_search import BoxSearch
from p2c._plan.search.devices import ALL, Device
from p2c.problem import Problem
from tests.loan import category, whole
from tests.oracle import best_plan
from tests.plan.judged import caused_problems, never
from tests.verify.certified import certified

Document = dict[str, Any]

CAUSES = """
f0(X,V) :- f1(X,N), N=<3, V>=7.
f2(X,V) :- f1(X,N), N=<1, V>=5.
f3(X,V) :- f4(X,N), N>=6, f0(X,M), M>=5, V>=6.
f5(X,V) :- f6(X,N), N>=7, V=<2.
:- f7(X,N), N>=6, f4(X,M), M>=8.
:- f0(X,N), N>=8, f8(X,M), M=<1.
"""
NODES = 3_000
"""Nodes within which each plan is proved, boxes of the compiled search included."""


@pytest.fixture(scope="module")
def boosted() -> tuple[Any, pd.DataFrame]:
    chance = np.random.default_rng(0)
    table = pd.DataFrame(chance.integers(0, 10, (800, 10)), columns=[f"f{n}" for n in range(10)])
    points = (
        table["f0"]
        + table["f2"]
        + table["f3"]
        - table["f5"]
        + 0.3 * table[["f8", "f9"]].sum(axis=1)
    )
    model = GradientBoostingClassifier(n_estimators=40, max_depth=3, random_state=0)
    return model.fit(table, points + chance.normal(0, 1, 800) >= 16), table


@pytest.mark.parametrize(("law", "least"), [("if", 3), ("iff", 3), ("only_if", 0)])
def test_rules_beside_a_model_do_not_leave_the_compiled_search(
    boosted: tuple[Any, pd.DataFrame], law: str, least: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("numba")
    model, table = boosted
    monkeypatch.setattr(BoxSearch, "boxed", _not_here)
    problem = Problem.from_model(model, table, desired=True, causal=CAUSES, law=law)
    assert problem is not None
    caused = 0
    for row in table[~model.predict(table)].head(25).to_dict("records"):
        limits = Limits()
        plan = find_plan(problem.compiled, problem.read_row(row), limits)
        assert limits.expanded <= NODES
        if plan.status == "infeasible":
            continue
        document = problem.plan(row).to_dict()
        assert document["steps"] == plan.to_dict()["steps"]
        assert problem.check(document)
        actions = [each for step in document["steps"] for each in step["actions"]]
        caused += any(each["kind"] == "causal" for each in actions)
    assert caused >= least


def _not_here(*_: object) -> None:
    raise AssertionError("boxes are searched in Python")


def test_plans_of_single_rules_beside_a_model_are_certified(
    boosted: tuple[Any, pd.DataFrame],
) -> None:
    model, table = boosted
    rules = "f0(X,V) :- f1(X,N), N=<3, V>=7.\nf5(X,V) :- f6(X,N), N>=7, V=<2."
    problem = Problem.from_model(model, table, desired=True, causal=rules, law="if")
    assert problem is not None
    for row in table[~model.predict(table)].head(6).to_dict("records"):
        assert certified(problem, row, problem.plan(row).to_dict()).verify()


def test_of_several_nearest_values_that_no_leaf_tells_apart_the_first_is_assumed() -> None:
    cells = ColumnCells("g", 4, None, {"p": 1, "q": 2, "r": 0}, missing=3)
    cut = np.ones(1)
    score = AdditiveScore(
        (cells,), np.zeros(1), cut, cut, (Table((0,), np.array([[1.0], [1], [0], [0]])),)
    )
    features = {
        "a": category("u", "v"),
        "b": whole(0, 2),
        "g": category("p", "q", "r") | {"law": "if"},
    }
    rules = "g(X,V) :- b(X,N), N=<0, V \\= q.\n:- a(X,v), b(X,N), N>=2."
    document = {"goal": "accepted(X)", "rules": rules, "features": features, "norm": "l0"}
    problem = Problem.from_dict(document, model=ReadModel(score, never))
    state = problem.read_row({"a": "u", "b": 2, "g": "q"})
    plan = find_plan(problem.compiled, state, devices=ALL - {Device.CLASS_ROUTES})
    assert plan.to_dict()["counterfactual"] == {"a": "u", "b": 0, "g": "p"}


@pytest.mark.parametrize("seed", range(2))
def test_a_node_limit_leaves_a_bound_below_the_true_cost(seed: int) -> None:
    given_up = incumbents = 0
    for problem, row in caused_problems(seed + 800, 60):
        truth = best_plan(problem.theory, problem.read_row(row))
        assert truth is not None
        for limit in (1, 2, 4, 8):
            state = problem.read_row(row)
            plan = find_plan(problem.compiled, state, Limits(limit))
            shown = f"{limit} {plan}\n{problem.to_dict()!r}\n{row!r}"
            if not isinstance(plan, GaveUp):
                assert plan.status == truth.status, shown
                continue
            given_up += 1
            if truth.cost is not None:
                assert plan.bound <= truth.cost * (1 + 1e-9), shown
            if plan.best is not None:
                incumbents += 1
                assert problem.check(plan), shown
    assert given_up >= 40
    assert incumbents >= 1
