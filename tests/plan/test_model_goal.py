"""A model as the goal of the search, against the slow planner: causes, constraints, laws, norms, moves and exceptions included."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from p2c._learn.model.additive import AdditiveScore, ColumnCells, ScoreLine
from p2c._learn.model.read_model import ReadModel
from p2c._plan.blockers import find_blockers
from p2c._plan.planner import find_plan
from p2c._plan.search.best_first import Limits
from p2c._plan.search.devices import ALL, Device
from p2c._plan.search.weighed_points import WeighedPoints
from p2c.errors import P2CError
from p2c.problem import Problem
from tests.loan import category, whole
from tests.oracle import all_end_states, best_plan
from tests.plan.judged import calm_problems, caused_problems, judged_problems, unruled_problems
from tests.plan.test_agreement import nearest_differences, plan_differences

if TYPE_CHECKING:
    from collections.abc import Iterable


def compare(seed: int, count: int, *, lined: bool = False) -> dict[str, int]:
    """Compare plans, nearest ends and proofs of impossibility; return how many of each status there were."""
    counts: dict[str, int] = {}
    for problem, row in judged_problems(seed, count, lined=lined):
        state = problem.read_row(row)
        expected = best_plan(problem.theory, state)
        if expected is None:
            with pytest.raises(P2CError):
                problem.plan(row)
            continue
        shown = f"{problem.to_dict()!r}\n{row!r}"
        # What blocks somebody is compared elsewhere, and may take long to find out.
        plan = problem.plan(row, time_limit=30)
        assert not plan_differences(expected, plan.to_dict()), shown
        counts[plan.status] = counts.get(plan.status, 0) + 1
        if plan.status == "infeasible":
            continue
        assert problem.check(plan), shown
        ends = all_end_states(problem.theory, state, limit=4)
        nearest = [each.to_dict() for each in problem.nearest(row, k=4)]
        assert not nearest_differences(ends, nearest), shown
    return counts


@pytest.mark.parametrize("seed", range(3))
def test_plans_against_a_model_are_those_of_brute_force(seed: int) -> None:
    counts = compare(seed + 100, 40)
    assert counts["found"] >= 4
    assert counts["infeasible"] >= 10


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60))
def test_plans_against_a_model_are_those_of_brute_force_on_many_more(seed: int) -> None:
    compare(seed + 5_000, 50)


def test_plans_against_a_model_that_weighs_numbers_are_those_of_brute_force() -> None:
    counts = compare(300, 60, lined=True)
    assert counts["found"] >= 8
    assert counts["infeasible"] >= 8


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_plans_against_a_model_that_weighs_numbers_are_those_of_brute_force_on_many_more(
    seed: int,
) -> None:
    compare(seed + 7_000, 50, lined=True)


def compare_unruled(seed: int, count: int, *, lined: bool = False) -> dict[str, int]:
    """Compare plans where the model alone decides; return how many of each status there were."""
    counts: dict[str, int] = {}
    for problem, row in unruled_problems(seed, count, lined=lined):
        state = problem.read_row(row)
        expected = best_plan(problem.theory, state)
        assert expected is not None
        plan = find_plan(problem.compiled, state, devices=ALL - {Device.CLASS_ROUTES})
        found = {**plan.to_dict(), "blockers": []}
        assert not plan_differences(expected, found), f"{problem.to_dict()!r}\n{row!r}"
        counts[plan.status] = counts.get(plan.status, 0) + 1
    return counts


def test_where_the_model_alone_decides_plans_are_those_of_brute_force() -> None:
    counts = compare_unruled(400, 150)
    assert counts["found"] >= 30
    assert counts["infeasible"] >= 10


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_where_the_model_alone_decides_plans_are_those_of_brute_force_on_many_more(
    seed: int,
) -> None:
    compare_unruled(seed + 8_000, 500)


def test_where_weighed_numbers_alone_decide_plans_are_those_of_brute_force(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    knapsacks = []
    begin = WeighedPoints.__init__

    def counted(self: WeighedPoints, *given: Any) -> None:
        knapsacks.append(self)
        begin(self, *given)

    monkeypatch.setattr(WeighedPoints, "__init__", counted)
    counts = compare_unruled(600, 300, lined=True)
    assert counts["found"] >= 60
    assert counts["infeasible"] >= 20
    assert len(knapsacks) >= 25


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_where_weighed_numbers_alone_decide_plans_are_those_of_brute_force_on_many_more(
    seed: int,
) -> None:
    compare_unruled(seed + 9_000, 500, lined=True)


def compare_ruled(problems: Iterable[tuple[Problem, dict[str, Any]]]) -> Counter[str]:
    """Compare plans where rules act besides the model.

    Returns:
        How often each status occurred, and how many plans have an effect.
    """
    counts: Counter[str] = Counter()
    for problem, row in problems:
        state = problem.read_row(row)
        expected = best_plan(problem.theory, state)
        if expected is None:
            continue
        plan = find_plan(problem.compiled, state, devices=ALL - {Device.CLASS_ROUTES})
        found = {**plan.to_dict(), "blockers": []}
        assert not plan_differences(expected, found), f"{problem.to_dict()!r}\n{row!r}"
        counts[plan.status] += 1
        actions = [each for step in found.get("steps") or () for each in step["actions"]]
        counts["caused"] += any(each["kind"] == "causal" for each in actions)
    return counts


def test_where_rules_may_be_silent_plans_are_those_of_brute_force() -> None:
    counts = compare_ruled(calm_problems(600, 150))
    assert min(counts["found"], counts["infeasible"]) >= 10


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_where_rules_may_be_silent_plans_are_those_of_brute_force_on_many_more(seed: int) -> None:
    compare_ruled(calm_problems(seed + 9_000, 200))


def test_where_effects_lead_to_acceptance_plans_are_those_of_brute_force() -> None:
    counts = compare_ruled(caused_problems(700, 300))
    assert counts["found"] >= 120
    assert counts["caused"] >= 20
    assert counts["infeasible"] >= 60


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_where_effects_lead_to_acceptance_plans_are_those_of_brute_force_on_many_more(
    seed: int,
) -> None:
    compare_ruled(caused_problems(seed + 11_000, 200))


def test_limits_of_a_weighed_number_bar_a_way_that_lifting_them_opens() -> None:
    hours = ColumnCells("hours", 2, np.array([]), missing=1)
    age = ColumnCells("age", 2, np.array([]), missing=1)
    lines = (ScoreLine(0, np.array([1.0])), ScoreLine(1, np.array([0.5])))
    border = np.array([100.0])
    score = AdditiveScore((hours, age), np.zeros(1), border, border, lines=lines)
    features = {
        "hours": {"type": "int", "min": 0, "max": 80},
        "age": {"type": "int", "min": 18, "max": 90, "action": "fixed"},
    }
    document = {"goal": "accepted(X)", "rules": "", "features": features}
    problem = Problem.from_dict(document, model=ReadModel(score, lambda _: False))
    plan = problem.plan({"hours": 40, "age": 30})
    assert plan.status == "infeasible"
    assert [(each.feature, each.restriction) for each in plan.blockers] == [("hours", "limits")]
    assert plan.opened is not None
    assert plan.opened.counterfactual == {"hours": 85, "age": 30}
    assert problem.plan({"hours": 40, "age": 50}).counterfactual == {"hours": 75, "age": 50}


def weighing(border: float, slopes: dict[str, float]) -> ReadModel:
    """Return a model that accepts from a border on what it makes of some numbers, each times its slope."""
    return weighing_all([border], {name: [each] for name, each in slopes.items()})


def weighing_all(borders: list[float], slopes: dict[str, list[float]]) -> ReadModel:
    """Return a model that accepts what reaches every border."""
    axes = tuple(ColumnCells(name, 2, np.array([]), missing=1) for name in slopes)
    lines = tuple(ScoreLine(place, np.array(each)) for place, each in enumerate(slopes.values()))
    cut = np.array(borders)
    score = AdditiveScore(axes, np.zeros(len(borders)), cut, cut, lines=lines)
    return ReadModel(score, lambda _: False)


def barring(problem: Problem, row: dict[str, Any]) -> tuple[list[str], Any]:
    """Return the features whose limits bar every way, and the end of the way that opens without these."""
    told = problem.plan(row).to_dict()
    assert {each["restriction"] for each in told["blockers"]} <= {"limits"}
    return [each["feature"] for each in told["blockers"]], told["opened"]["counterfactual"]


@pytest.mark.parametrize(
    ("kind", "values", "end"),
    [("int", [0, 4], 16), ("float", [0.0, 4.0], 16.0), ("float", [0.5, 1], 15.1)],
)
def test_a_weighed_number_without_its_list_goes_no_farther_than_it_must(
    kind: str, values: list[float], end: float
) -> None:
    features = {
        "a": {"type": "int", "min": 0, "max": 9, "weight": 6},
        "b": {"type": kind, "values": values, "scale": 9},
    }
    document = {"goal": "accepted(X)", "rules": "", "features": features}
    problem = Problem.from_dict(document, model=weighing(15.1, {"a": 1.0, "b": 1.0}))
    row = {"a": 0, "b": values[0]}
    assert barring(problem, row) == (["b"], {"a": 0, "b": end})


def test_a_number_is_weighed_against_a_value_of_today_outside_the_limits() -> None:
    features = {
        "a": {"type": "int", "values": [0, 4]},
        "b": {"type": "int", "min": 0, "max": 9, "action": "fixed", "weight": 9},
    }
    document = {"goal": "accepted(X)", "rules": "", "features": features}
    model = weighing(1.0, {"a": 1.0, "b": -1.0})
    problem = Problem.from_dict(document, model=model, bounded=False)
    assert barring(problem, {"a": 0, "b": 500}) == (["a"], {"a": 501, "b": 500})
    assert problem.check(problem.plan({"a": 0, "b": 500}), prove=True)
    lifted = problem.plan({"a": 0, "b": 500}, restrict={"a": {"lift": ["limits"]}})
    assert lifted.counterfactual == {"a": 501, "b": 500}


@pytest.mark.parametrize("keys", [{"values": [0, 0.25, 1]}, {"min": 0, "max": 1, "step": 0.25}])
def test_a_number_that_weighs_next_to_nothing_goes_no_farther_than_can_be_counted(
    keys: dict[str, Any],
) -> None:
    features = {"a": {"type": "float", **keys}, "b": {"type": "int", "min": 0, "max": 9}}
    document = {"goal": "accepted(X)", "rules": "", "features": features}
    problem = Problem.from_dict(document, model=weighing(15.1, {"a": 1e-17, "b": 0.1}))
    assert barring(problem, {"a": 0, "b": 0}) == (["b"], {"a": 0.0, "b": 151})


def test_a_list_gets_few_values_where_each_is_followed_by_itself() -> None:
    features = {
        "a": {"type": "float", "values": [0, 0.25, 4]},
        "b": whole(0, 9),
        "g": category("off", "on"),
    }
    document = {"goal": "accepted(X)", "rules": "g(X,on) :- b(X,N), N>=5.", "features": features}
    model = weighing(15.1, {"a": 1.0, "b": 0.1})
    problem = Problem.from_dict(document | {"effects": "supported"}, model=model)
    assert barring(problem, {"a": 0, "b": 0, "g": "off"})[0] == ["a"]


def test_a_number_is_weighed_against_what_rules_ask_of_another_beyond_its_limits() -> None:
    features = {"a": {"type": "int", "min": 0, "max": 9}, "b": {"type": "int", "values": [0, 4]}}
    document = {"goal": "accepted(X), b(X,N), N>=500", "rules": "", "features": features}
    problem = Problem.from_dict(document, model=weighing(1.0, {"a": 1.0, "b": -1.0}))
    assert barring(problem, {"a": 0, "b": 0}) == (["a", "b"], {"a": 501, "b": 500})


@pytest.mark.parametrize(
    ("borders", "slopes"),
    [
        ([19, 26], {"a": [4, 0], "b": [-3, 1]}),
        ([15, 52], {"a": [-1, 1], "b": [2, -4]}),
        ([44, 42, 22], {"a": [3, -2, 4], "b": [0, 2, -3]}),
    ],
)
def test_numbers_that_several_classes_pull_different_ways_go_together(
    borders: list[float], slopes: dict[str, list[float]]
) -> None:
    features = {name: {"type": "int", "min": 0, "max": 9} for name in slopes}
    document = {"goal": "accepted(X)", "rules": "", "features": features}
    problem = Problem.from_dict(document, model=weighing_all(borders, slopes))
    names, end = barring(problem, {"a": 5, "b": 1})
    assert names == ["a", "b"]
    for border, *weights in zip(borders, *slopes.values(), strict=True):
        assert weights[0] * end["a"] + weights[1] * end["b"] >= border


def test_what_several_classes_ask_together_keeps_the_search_short() -> None:
    slopes: dict[str, list[float]] = {
        "a": [1, 4, -3],
        "b": [-4, 2, 2],
        "c": [3, -2, 1],
        "d": [1, -2, 1],
    }
    features = {name: {"type": "int", "min": 0, "max": 9} for name in slopes}
    document = {"goal": "accepted(X)", "rules": "", "features": features}
    problem = Problem.from_dict(document, model=weighing_all([24, 52, 20], slopes))
    state, limits = problem.read_row({"a": 3, "b": 1, "c": 9, "d": 8}), Limits()
    found = find_blockers(problem.compiled, state, limits)
    assert [each.feature for each in found.blockers] == ["a", "b", "c"]
    assert limits.expanded < 2_000, "24,000 where each class is looked at alone"


def test_a_constraint_that_a_person_breaks_counts_until_what_it_reads_changes() -> None:
    features = {name: {"type": "int", "min": 0, "max": 6} for name in ("a", "b")}
    rules = ":- a(X,N), N>=3, b(X,M), M=<4."
    document = {"goal": "accepted(X)", "rules": rules, "features": features}
    problem = Problem.from_dict(document, model=weighing(-6.5, {"a": 0.1, "b": -2.0}))
    assert problem.plan({"a": 3, "b": 4}).counterfactual == {"a": 2, "b": 3}
