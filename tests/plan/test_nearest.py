"""The k nearest end states: in the order of cost, each once, and no slower for large domains."""

from __future__ import annotations

import math
import tomllib
from itertools import islice, pairwise
from statistics import fmean
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from p2c import datasets
from p2c._plan.nearest import Distinct, nearest_plans
from p2c._plan.outcome import DirectAction
from p2c._plan.search.best_first import Limits
from p2c.errors import P2CError
from p2c.problem import Problem
from tests.loan import JOHN, LOAN, category, whole
from tests.oracle import all_end_states
from tests.strategies import seeded_problems

if TYPE_CHECKING:
    from p2c._plan.outcome import Plan

Document = dict[str, Any]


def costs_of(problem: Problem, row: Document, **keys: Any) -> list[float]:
    return [plan.cost or 0.0 for plan in problem.nearest(row, **keys)]


@pytest.mark.parametrize(
    ("norm", "nearest", "furthest", "mean"),
    [("l0", 1, 3, 2.3), ("l1", 1, 3, 2.3), ("l2", 1, 1.732, 1.4999)],
)
def test_the_cars_of_the_papers_second_table(
    norm: str, nearest: float, furthest: float, mean: float
) -> None:
    problem = Problem.from_dict(tomllib.loads(datasets.problem_text("cars")))
    row = {"persons": "2", "safety": "med", "buying": "high", "maint": "high"}
    costs = costs_of(problem, row, k=20, norm=norm)
    assert len(costs) == 20
    assert math.isclose(costs[0], nearest)
    assert round(costs[-1], 3) == furthest
    assert round(fmean(costs), 4) == mean


def test_end_states_come_cheapest_first_and_none_comes_twice() -> None:
    for norm in ("l0", "l1", "l2", "linf"):
        plans = Problem.from_dict(LOAN).nearest(JOHN, k=30, norm=norm)
        costs = [plan.cost or 0.0 for plan in plans]
        assert costs == sorted(costs)
        ends = {tuple((plan.counterfactual or {}).values()) for plan in plans}
        assert len(ends) == len(plans) == 30


def test_the_first_of_them_is_the_plan() -> None:
    problem = Problem.from_dict(LOAN)
    assert problem.nearest(JOHN)[0].to_dict() == problem.plan(JOHN).to_dict()


def test_each_of_them_is_a_valid_plan() -> None:
    problem = Problem.from_dict(LOAN)
    for plan in problem.nearest(JOHN, k=25):
        assert problem.check(plan), str(problem.check(plan))


@pytest.mark.parametrize("seed", range(3))
def test_every_end_state_is_found_when_enough_are_asked_for(seed: int) -> None:
    for document, row in seeded_problems(seed + 900, 40):
        problem = Problem.from_dict(document | {"exceptions": "abduce"})
        ends = all_end_states(problem.theory, problem.read_row(row))
        plans = problem.nearest(row, k=len(ends) + 5)
        assert len(plans) == len(ends), (document, row)
        costs = [plan.cost or 0.0 for plan in plans]
        for one, other in zip(costs, (end.cost for end in ends), strict=True):
            assert math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12), (document, row)
        assert {tuple((plan.counterfactual or {}).items()) for plan in plans} == {
            tuple(end.state.items()) for end in ends
        }


def cells(problem: Problem, state: Document) -> tuple[int | None, ...]:
    """Return what the rules can see of a state."""
    found = []
    for axis in problem.compiled.axes:
        value = state[axis.feature.name]
        place = None if value is None else axis.feature.place(value)
        found.append(None if place is None else axis.cell(place))
    return tuple(found)


@pytest.mark.parametrize("seed", range(3))
def test_distinct_cells_differ_in_what_rules_can_see_cheapest_first(seed: int) -> None:
    for document, row in seeded_problems(seed + 950, 40):
        problem = Problem.from_dict(document | {"exceptions": "abduce", "minimize": "cost"})
        plans = problem.nearest(row, k=50, distinct="cells")
        if not plans or plans[0].status == "already":
            continue
        seen = [cells(problem, dict(plan.counterfactual or {})) for plan in plans]
        assert len(set(seen)) == len(seen), (document, row)
        costs = [plan.cost or 0.0 for plan in plans]
        assert all(one <= other * (1 + 1e-9) for one, other in pairwise(costs)), (document, row)
        assert plans[0].to_dict() == problem.plan(row).to_dict(), (document, row)
        for plan in plans:
            assert problem.check(plan), (str(problem.check(plan)), document, row)


def test_a_kind_of_end_state_is_listed_once_however_many_points_it_has() -> None:
    problem = Problem.from_dict(LOAN)
    assert len(problem.nearest(JOHN, k=5)) == 5
    assert len(problem.nearest(JOHN, k=5, distinct="cells")) == 1


def test_fifty_of_a_billion_values_come_at_once() -> None:
    features = {name: whole(0, 10**9) for name in ("one", "two", "three")}
    goal = "one(X,A), A>=1000, two(X,B), B>=5000, three(X,C), C=<7"
    problem = Problem.from_dict({"goal": goal, "rules": "", "features": features})
    plans = problem.nearest({"one": 0, "two": 0, "three": 10**9}, k=50)
    assert len({tuple((plan.counterfactual or {}).values()) for plan in plans}) == 50
    assert all(plan.cost is not None for plan in plans)
    assert plans[0].counterfactual == {"one": 1000, "two": 5000, "three": 7}
    assert problem.check(plans[-1])


def test_who_is_there_already_gets_one_plan_and_who_has_no_way_none() -> None:
    problem = Problem.from_dict(LOAN)
    rich = {"age": 31, "debt": 0, "bank_balance": 70000, "credit_score": 700}
    assert [plan.status for plan in problem.nearest(rich, k=20)] == ["already"]
    assert [p.status for p in problem.nearest(rich, k=20, distinct="cells")] == ["already"]
    stuck = JOHN | {"debt": 0}
    assert problem.nearest(stuck, k=20) == []
    assert problem.nearest(stuck, k=20, distinct="cells") == []


def test_fewer_than_asked_for_is_all_there_are() -> None:
    features = {"c": category("a", "b", "d")}
    problem = Problem.from_dict({"goal": "not c(X,'a')", "rules": "", "features": features})
    plans = problem.nearest({"c": "a"}, k=20)
    assert [(plan.counterfactual or {})["c"] for plan in plans] == ["b", "d"]


@pytest.mark.parametrize("k", [0, -1, 2.0, "3", None, True])
def test_how_many_has_to_be_a_whole_number_above_zero(k: Any) -> None:
    with pytest.raises(P2CError, match="k: expected a whole number from 1 on"):
        Problem.from_dict(LOAN).nearest(JOHN, k=k)


def test_an_unknown_way_to_differ_is_refused() -> None:
    with pytest.raises(P2CError, match="distinct: expected points or cells, found 'regions'"):
        Problem.from_dict(LOAN).nearest(JOHN, distinct="regions")


def features_set(plan: Plan) -> set[str]:
    return {
        act.feature for step in plan.steps for act in step.actions if isinstance(act, DirectAction)
    }


def test_a_way_that_contains_a_cheaper_one_is_no_other_way() -> None:
    data = {
        "goal": "yes(X)",
        "rules": "yes(X) :- a(X,N), N>=5.\nyes(X) :- b(X,'y'), c(X,'y').",
        "features": {"a": whole(0, 9), "b": category("x", "y"), "c": category("x", "y")},
    }
    problem = Problem.from_dict(data)
    plans = problem.nearest({"a": 0, "b": "x", "c": "x"}, 20, distinct="cells")
    assert [features_set(plan) for plan in plans] == [{"a"}, {"b", "c"}]


def test_less_of_one_thing_with_some_of_another_is_another_way() -> None:
    data = {
        "goal": "yes(X)",
        "rules": "yes(X) :- a(X,N), N>=9.\nyes(X) :- a(X,N), N>=4, b(X,'y').",
        "features": {"a": whole(0, 9), "b": category("x", "y", weight=0.9)},
    }
    problem = Problem.from_dict(data)
    plans = problem.nearest({"a": 0, "b": "x"}, 20, distinct="cells")
    ends = [plan.counterfactual for plan in plans]
    assert ends == [{"a": 9, "b": "x"}, {"a": 4, "b": "y"}]


def independent(count: int, needed: int) -> tuple[Problem, Document]:
    """Return a problem of independent numbers, some of which must change, and a person."""
    rules = "\n".join(f"bad(X) :- f{n}(X,N), N<{50 + n}." for n in range(needed))
    features = {f"f{n}": whole(0, 1000) for n in range(count)}
    problem = Problem.from_dict({"goal": "not bad(X)", "rules": rules, "features": features})
    return problem, {f"f{n}": n for n in range(count)}


@pytest.mark.parametrize(("count", "needed"), [(10, 4), (12, 5), (14, 6), (16, 7), (24, 8)])
def test_the_nearest_ends_take_few_nodes_however_much_must_change(count: int, needed: int) -> None:
    problem, row = independent(count, needed)
    state = problem.read_row(row)
    few, more = Limits(), Limits()
    for limits, k in ((few, 1), (more, 20)):
        plans = nearest_plans(problem.compiled, state, distinct=Distinct.POINTS, limits=limits)
        found = list(islice(plans, k))
        assert len(found) == k
        best = problem.plan(row).to_dict()
        del best["slack"]  # a plan without its problem has none
        assert found[0].to_dict() == best
    assert few.expanded <= 3 * needed
    assert more.expanded <= 40 * needed


def test_what_ends_early_has_given_up_after_what_it_found() -> None:
    problem, row = independent(8, 4)
    plans = problem.nearest(row, k=500, node_limit=60)
    assert [plan.status for plan in plans[-2:]] == ["found", "gave_up"]
    least = problem.nearest(row, k=len(plans))[-1].cost
    assert plans[-1].to_dict()["bound"] <= least
    assert [each.status for each in problem.nearest(row, k=3, time_limit=0)] == ["gave_up"]


@pytest.mark.parametrize("distinct", list(Distinct))
def test_a_first_plan_that_breaks_a_tie_in_another_way_is_listed_once_and_loses_none(
    distinct: Distinct,
) -> None:
    features = {name: category("no", "yes") for name in "abc"}
    rules = " ".join(f"ok(X) :- {name}(X,'yes')." for name in features)
    problem = Problem.from_dict({"goal": "ok(X)", "rules": rules, "features": features})
    row = dict.fromkeys(features, "no")
    asked = (problem.compiled, problem.read_row(row))
    best, other, third = islice(nearest_plans(*asked, distinct=distinct), 3)
    given = list(islice(nearest_plans(*asked, distinct=distinct, first=other), 3))
    assert [plan.counterfactual for plan in given] == [
        plan.counterfactual for plan in (other, best, third)
    ]


def test_of_changes_that_cost_the_same_the_shorter_is_advised() -> None:
    problem = Problem.from_dict(
        {
            "goal": "not bad(X)",
            "norm": "l0",
            "rules": "bad(X) :- pets(X,N), N>2.",
            "features": {"pets": whole(0, 9)},
        }
    )
    assert problem.plan({"pets": 3}).counterfactual == {"pets": 2}
    assert [plan.counterfactual for plan in problem.nearest({"pets": 3}, k=3)] == [
        {"pets": 2},
        {"pets": 1},
        {"pets": 0},
    ]
    table = problem.plan_many(pd.DataFrame({"pets": [3, 5, 2]}))
    assert table["end_pets"].tolist() == [2, 2, 2]


def test_a_feature_that_may_be_set_or_carried_to_a_region_ends_in_all_its_places() -> None:
    # Set to 3, n is carried on to 4 and costs less than set to 4 at once; only set at once does it get to 5.
    document = {
        "goal": "n(X,N), N>3",
        "rules": "n(X,3) :- c(X,'b').",
        "law": "iff",
        "features": {"n": whole(2, 5, action="up"), "c": category("a", "b", action="fixed")},
    }
    problem = Problem.from_dict(document)
    row = {"n": 2, "c": "a"}
    ends = [plan.counterfactual for plan in problem.nearest(row, k=9)]
    assert ends == [{"n": 4, "c": "a"}, {"n": 5, "c": "a"}]


def test_an_own_value_without_a_place_may_be_excused_again() -> None:
    # With b alone the exception of n no longer holds; with y as well it does again.
    rules = """
    n(X,N) :- N<0.
    n(X,N) :- c(X,'b'), not d(X,'y'), N>9.
    bad(X) :- c(X,'a').
    """
    features = {
        "n": {"type": "float", "min": 0.0, "max": 1.0, "step": 0.5},
        "c": category("a", "b"),
        "d": category("x", "y"),
    }
    document = {"goal": "not bad(X)", "rules": rules, "law": "iff", "features": features}
    problem = Problem.from_dict(document | {"exceptions": "abduce"})
    (plan,) = problem.nearest({"n": 0.7, "c": "a", "d": "x"}, k=9)
    assert plan.counterfactual == {"n": 0.7, "c": "b", "d": "y"}
