"""What stands in the way: a smallest set of restrictions, checked by trying every smaller one in an edited problem."""

from __future__ import annotations

import copy
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from p2c._explain.letter import summarize
from p2c._learn.model.additive import AdditiveScore, ColumnCells, ScoreLine
from p2c._learn.model.read_model import ReadModel
from p2c._plan.blockers import Explanation, Trial, find_blockers
from p2c._plan.lifting import liftings
from p2c._plan.outcome import Blocker, Found, Infeasible
from p2c._plan.planner import find_plan
from p2c._plan.search.best_first import Limits
from p2c.problem import Problem
from tests.loan import JOHN, LOAN, category, ordinal, whole
from tests.oracle import best_plan
from tests.plan.judged import never
from tests.plan.search.test_limits import many_changes
from tests.strategies import seeded_problems
from tests.unplanted import SIZES, unplanted

if TYPE_CHECKING:
    from collections.abc import Iterable

Document = dict[str, Any]


def restrictions(problem: Problem, document: Document) -> list[Blocker]:
    """Return everything that could be lifted, as the problem's own keys say it."""
    found = []
    for feature in problem.theory.features:
        keys = document["features"][feature.name]
        if feature.action.value != "free":
            found.append(Blocker(feature.name, feature.action.value))
        if "moves" in keys:
            found.append(Blocker(feature.name, "moves"))
        if feature.kind.is_number:
            found.append(Blocker(feature.name, "limits"))
    return found


def lifted(problem: Problem, document: Document, chosen: Iterable[Blocker]) -> Problem:
    """Return the problem without some restrictions."""
    edited = copy.deepcopy(document)
    for blocker in chosen:
        keys = edited["features"][blocker.feature]
        if blocker.restriction == "moves":
            del keys["moves"]
        elif blocker.restriction == "limits":
            widen(problem, blocker.feature, keys)
        else:
            keys["action"] = "free"
    return Problem.from_dict(edited, model=problem.model)


def widen(problem: Problem, name: str, keys: Document) -> None:
    """Let a number go one step past every constant that rules compare it with, and keep its grid."""
    axis = problem.compiled.axes[problem.compiled.index[name]]
    constants = [test.constant for test in axis.tests if not isinstance(test.constant, str)]
    if "values" in keys:
        near = {each + way for each in constants for way in (-1, 0, 1)}
        if keys["type"] == "float":
            near |= {(low + high) / 2 for low, high in pairwise(sorted(near))}
        whole_ones = {int(each // 1) for each in near} | {int(each // 1) + 1 for each in near}
        keys["values"] = sorted({*keys["values"], *(whole_ones if keys["type"] == "int" else near)})
        return
    step = keys.get("step", 1)
    while any(constant <= keys["min"] + step for constant in constants):
        keys["min"] = round(keys["min"] - step, 6)
    while any(constant >= keys["max"] - step for constant in constants):
        keys["max"] = round(keys["max"] + step, 6)


def opens(problem: Problem, row: Document) -> bool:
    return isinstance(find_plan(problem.compiled, problem.read_row(row)), Found)


def assert_smallest(document: Document, row: Document) -> bool:
    """Compare the blockers of an infeasible problem with all sets of restrictions; tell whether it is one."""
    document = document | {"exceptions": "abduce"}
    problem = Problem.from_dict(document)
    plan = problem.plan(row)
    if not isinstance(plan, Infeasible):
        return False
    every = restrictions(problem, document)
    shown = f"{plan.blockers}\n{document!r}\n{row!r}"
    assert set(plan.blockers) <= set(every), shown
    if not plan.blockers:
        assert plan.opened is None
        assert not opens(lifted(problem, document, every), row), shown
        return True
    opened = lifted(problem, document, plan.blockers)
    assert opens(opened, row), shown
    # A path that only breaks an exception for its own sake is no advice and is not told.
    assert plan.opened is not None or plan.question.exceptions, shown
    for size in range(len(plan.blockers)):
        for chosen in combinations(every, size):
            assert not opens(lifted(problem, document, chosen), row), f"{chosen}\n{shown}"
    return True


@pytest.mark.parametrize("seed", range(2))
def test_the_blockers_are_a_smallest_set_that_opens_a_path(seed: int) -> None:
    worlds = seeded_problems(seed + 502, 60)
    assert sum(assert_smallest(*world) for world in worlds) > 5


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_the_blockers_are_a_smallest_set_in_many_more_worlds(seed: int) -> None:
    for world in seeded_problems(seed + 2000, 100):
        assert_smallest(*world)


def locked(count: int, *, needed: int) -> tuple[Problem, Document]:
    """Return a problem of fixed features of which some have to change."""
    rules = [f"bad(X) :- f{each}(X,N), N<5." for each in range(count)]
    features = {f"f{each}": whole(0, 9, action="fixed") for each in range(count)}
    row = {f"f{each}": 0 if each < needed else 9 for each in range(count)}
    document = {"goal": "not bad(X)", "rules": "\n".join(rules), "features": features}
    return Problem.from_dict(document), row


def test_what_has_to_be_lifted_is_named_and_nothing_else() -> None:
    problem, row = locked(30, needed=3)
    plan = problem.plan(row)
    assert isinstance(plan, Infeasible)
    assert [each.to_dict() for each in plan.blockers] == [
        {"feature": name, "restriction": "fixed"} for name in ("f0", "f1", "f2")
    ]
    assert plan.opened is not None
    assert [act.feature for act in plan.opened.actions] == ["f0", "f1", "f2"]


@pytest.mark.parametrize(("count", "needed"), [(14, 14), (40, 5)])
def test_the_blockers_among_many_restrictions_are_a_smallest_set(count: int, needed: int) -> None:
    problem, row = locked(count, needed=needed)
    plan = problem.plan(row)
    assert isinstance(plan, Infeasible)
    assert len(plan.blockers) == needed


def test_in_a_large_problem_effects_are_thought_of_last() -> None:
    problem, row = many_changes(12)
    features = problem.to_dict()["features"]
    features["f3"]["action"] = "fixed"
    plan = Problem.from_dict(problem.to_dict() | {"features": features}).plan(row)
    assert isinstance(plan, Infeasible)
    assert [each.to_dict() for each in plan.blockers] == [{"feature": "f3", "restriction": "fixed"}]
    assert plan.opened is not None
    assert len(plan.opened.actions) == 12


def woven(count: int) -> tuple[Problem, Document]:
    """Return a problem without a path in which everything hangs on everything, so that trying takes long."""
    names = [f"f{each}" for each in range(count)]
    body = ", ".join(f"{name}(X,b)" for name in names[:-1])
    rules = [f"{names[-1]}(X,b) :- {body}.", f"bad(X) :- {names[-1]}(X,a).", "bad(X) :- f0(X,b)."]
    features = {name: category("a", "b") for name in names}
    features[names[-1]]["action"] = "effect"
    document = {"goal": "not bad(X)", "rules": "\n".join(rules), "features": features}
    return Problem.from_dict(document | {"effects": "supported"}), dict.fromkeys(names, "a")


def test_a_time_limit_holds_for_the_blockers_too() -> None:
    problem, row = woven(9)
    plan = problem.plan(row)
    assert isinstance(plan, Infeasible)
    assert plan.explained
    found = find_blockers(problem.compiled, problem.read_row(row), Limits.within(0.0))
    assert found == Explanation(known=False)
    hasty = Infeasible(plan.question, *found)
    assert hasty.to_dict()["explained"] is False
    assert "explained" not in plan.to_dict()
    assert summarize(problem.theory, hasty).opening == (
        "There is no way from here; this is proved.",
        "There was no time to find out what stands in the way.",
    )


@pytest.mark.parametrize(
    ("feature", "start", "restriction"),
    [
        (whole(0, 9, action="fixed"), 3, "fixed"),
        (whole(0, 9, action="down"), 3, "down"),
        (whole(0, 4), 3, "limits"),
        (whole(0, 5, step=2), 2, "limits"),
        ({"type": "int", "values": [1, 3]}, 3, "limits"),
        ({"type": "float", "min": 0, "max": 4.5}, 3, "limits"),
    ],
)
def test_each_restriction_on_a_number_has_its_name(
    feature: Document, start: int, restriction: str
) -> None:
    problem = Problem.from_dict({"goal": "n(X,N), N>=5", "rules": "", "features": {"n": feature}})
    plan = problem.plan({"n": start})
    assert isinstance(plan, Infeasible)
    assert [each.restriction for each in plan.blockers] == [restriction]
    assert plan.opened is not None
    assert plan.opened.counterfactual["n"] >= 5
    assert len(plan.opened.steps) == 1


@pytest.mark.parametrize("step", [0.01, 0.05, 0.1, 0.3])
@pytest.mark.parametrize("side", [1, -1])
def test_limits_are_lifted_to_the_next_value_of_any_grid(step: float, side: int) -> None:
    for count in range(3, 40):
        border, beyond = (round(side * step * each, 4) for each in (count, count + 1))
        low, high = sorted((0, round(2 * side * step, 4)))
        feature = {"type": "float", "min": low, "max": high, "step": step}
        goal = f"n(X,N), N{'>' if side == 1 else '<'}{border}"
        problem = Problem.from_dict({"goal": goal, "rules": "", "features": {"n": feature}})
        plan = problem.plan({"n": 0})
        assert isinstance(plan, Infeasible)
        assert plan.blockers == (Blocker("n", "limits"),), border
        assert plan.opened is not None
        assert plan.opened.counterfactual["n"] == beyond


@pytest.mark.parametrize(
    ("values", "goal", "end"),
    [
        ([0, 1], "N>0.2, N<0.5", 0.35),
        ([0, 0.5], "N>2.25", 2.75),
        ([5.5], "N=7.25", 7.25),
        ([0.1, 1 / 3], "N>=7", 7.0),
    ],
)
def test_a_float_without_its_list_goes_between_any_two_constants_and_past_them(
    values: list[float], goal: str, end: float
) -> None:
    feature = {"type": "float", "values": values}
    document = {"goal": f"n(X,N), {goal}", "rules": "", "features": {"n": feature}}
    plan = Problem.from_dict(document).plan({"n": values[0]})
    assert isinstance(plan, Infeasible)
    assert plan.blockers == (Blocker("n", "limits"),)
    assert plan.opened is not None
    assert plan.opened.counterfactual["n"] == end


@pytest.mark.parametrize(
    ("feature", "restriction"),
    [
        (category("a", "b", action="fixed"), "fixed"),
        (category("a", "b", moves={"b": ["a"]}), "moves"),
        (ordinal("b", "a", action="up"), "up"),
    ],
)
def test_each_restriction_on_a_name_has_its_name(feature: Document, restriction: str) -> None:
    problem = Problem.from_dict({"goal": "c(X,'b')", "rules": "", "features": {"c": feature}})
    plan = problem.plan({"c": "a"})
    assert isinstance(plan, Infeasible)
    assert [each.restriction for each in plan.blockers] == [restriction]


def test_two_restrictions_on_one_feature_are_both_named() -> None:
    feature = ordinal("a", "b", "c", action="down", moves={"c": ["b"]})
    problem = Problem.from_dict({"goal": "c(X,'c')", "rules": "", "features": {"c": feature}})
    plan = problem.plan({"c": "a"})
    assert isinstance(plan, Infeasible)
    assert {each.restriction for each in plan.blockers} == {"down", "moves"}


def test_an_effect_that_cannot_happen_is_a_blocker() -> None:
    plan = Problem.from_dict(LOAN).plan(JOHN | {"debt": 0})
    assert isinstance(plan, Infeasible)
    assert plan.blockers == (Blocker("credit_score", "effect"),)
    summary = summarize(Problem.from_dict(LOAN).theory, plan)
    assert summary.opening[-1] == (
        "A way would open if it were not for this: your credit score cannot be changed directly."
    )


def test_where_no_lifting_helps_the_rules_are_said_to_be_the_reason() -> None:
    rules = "bad(X) :- n(X,N), N<5. bad(X) :- n(X,N), N>=5."
    features = {"n": whole(0, 9, action="fixed")}
    problem = Problem.from_dict({"goal": "not bad(X)", "rules": rules, "features": features})
    plan = problem.plan({"n": 3})
    assert isinstance(plan, Infeasible)
    assert plan.to_dict()["blockers"] == []
    assert plan.to_dict()["opened"] is None
    assert summarize(problem.theory, plan).opening == (
        "There is no way from here; this is proved.",
        "None of your restrictions is the reason: the rules themselves leave no way.",
    )


def by_brute_force(
    problem: Problem, state: dict[str, Any]
) -> tuple[tuple[Blocker, ...], list[tuple[str, str, Any]]]:
    """Return a smallest set of restrictions whose lifting opens a path, all sets tried with the slow planner.

    With it the actions of the best path on which nothing is set in vain, none where there is no such path.
    """
    trial = Trial(problem.compiled, state, liftings(problem.compiled), Limits())
    for size in range(1, len(trial.liftings) + 1):
        best: tuple[float, tuple[int, ...]] | None = None
        for chosen in combinations(range(len(trial.liftings)), size):
            theory = trial.lifted_space(frozenset(chosen)).theory
            plan = best_plan(theory, state)
            assert plan is not None
            if plan.cost is not None and (best is None or plan.cost < best[0] - 1e-9):
                best = plan.cost, chosen
        if best is not None:
            theory = trial.lifted_space(frozenset(best[1])).theory
            advice = best_plan(theory, state, lasting=True)
            assert advice is not None
            return tuple(trial.liftings[number].blocker for number in best[1]), advice.acts
    return (), []


def acts(plan: Found | None) -> list[tuple[str, str, Any]]:
    """Return the actions of a path: kind, feature and new value."""
    told = plan.to_dict()["steps"] if plan else []
    return [(act["kind"], act["feature"], act["to"]) for step in told for act in step["actions"]]


def compare(seed: int, count: int) -> int:
    """Compare on those of some random problems whose person has no way, and return how many these are."""
    compared = 0
    for document, row in seeded_problems(seed, count):
        problem = Problem.from_dict(document | {"exceptions": "abduce"})
        state = problem.read_row(row)
        if find_plan(problem.compiled, state).status != "infeasible":
            continue
        if len(liftings(problem.compiled)) > 6:
            continue
        found = find_blockers(problem.compiled, state)
        assert found.known
        expected = by_brute_force(problem, state)
        assert (found.blockers, acts(found.opened)) == expected, (document, row)
        compared += 1
    return compared


@pytest.mark.parametrize(("seed", "count"), [(700, 60), (30_002, 90)])
def test_blockers_are_a_smallest_set_with_the_cheapest_path(seed: int, count: int) -> None:
    assert compare(seed, count) >= 15


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100))
def test_blockers_are_a_smallest_set_on_many_more(seed: int) -> None:
    assert compare(seed + 30_000, 90) >= 10


@pytest.mark.parametrize(
    ("seed", "names", "cost"), [(1, ["f1", "f3", "f4", "f19"], 5.348), (38, ["f1", "f9"], 5.071)]
)
def test_where_governed_features_may_be_set_few_nodes_tell_what_blocks(
    seed: int, names: list[str], cost: float
) -> None:
    document, row = unplanted(seed, 20, 40, 15)
    problem, limits = Problem.from_dict(document), Limits(nodes=400)
    found = find_blockers(problem.compiled, problem.read_row(row), limits)
    assert found.known
    assert [each.feature for each in found.blockers] == names
    assert found.opened is not None
    assert found.opened.cost == pytest.approx(cost, abs=1e-3)


def test_a_path_that_only_breaks_an_exception_is_no_advice() -> None:
    problem = Problem.from_dict(LOAN)
    stuck = JOHN | {"debt": 0, "credit_score": 540, "bank_balance": 60_000}
    plan = problem.plan(stuck)
    assert isinstance(plan, Infeasible)
    assert plan.blockers == (Blocker("credit_score", "effect"),)
    assert plan.opened is not None
    (action,) = plan.opened.actions
    assert (action.start, action.end) == (540, 620)


@pytest.mark.parametrize(
    ("seed", "blockers", "cost", "nodes"),
    [
        (133, (Blocker("f6", "down"), Blocker("f15", "effect")), 3.706, 4_000),
        (141, (Blocker("f4", "down"), Blocker("f12", "fixed")), 5.738, 8_000),
    ],
)
def test_only_sets_that_may_open_the_cheapest_path_are_searched_on_and_each_lift_is_put_to_use(
    seed: int, blockers: tuple[Blocker, ...], cost: float, nodes: int
) -> None:
    document, row = unplanted(seed, *SIZES["20/40/15"])
    problem, limits = Problem.from_dict(document), Limits()
    told = find_blockers(problem.compiled, problem.read_row(row), limits)
    assert told.blockers == blockers
    assert told.opened is not None
    assert told.opened.cost == cost
    assert limits.expanded < nodes


class Impatient(Limits):
    """No limits, but they may not be asked for again and again."""

    checks = 0

    def check(self) -> None:
        """Count."""
        self.checks += 1
        assert self.checks < 50


def test_where_lifting_leaves_too_many_places_to_follow_the_search_for_blockers_ends() -> None:
    axes = tuple(ColumnCells(name, 2, np.array([]), missing=1) for name in "ab")
    lines = tuple(ScoreLine(place, np.array([1.0])) for place in range(2))
    border = np.array([9000.0])
    score = AdditiveScore(axes, np.zeros(1), border, border, (), lines=lines)
    features = {name: whole(0, 9999, action="fixed") for name in "ab"} | {"c": category("x", "y")}
    rules = "c(X,'y') :- a(X,N), N>=5."
    document = {"goal": "accepted(X)", "rules": rules, "features": features, "effects": "supported"}
    problem = Problem.from_dict(document, model=ReadModel(score, never))
    state = problem.read_row({"a": 1, "b": 1, "c": "x"})
    assert find_blockers(problem.compiled, state, Impatient()) == Explanation(known=False)


def test_the_path_that_a_wider_grid_opens_is_replayed_wherever_it_begins() -> None:
    features = {"n": whole(0, 9, step=3)}
    problem = Problem.from_dict({"goal": "n(X,N), N=< -4", "rules": "", "features": features})
    plan = problem.plan({"n": None})
    assert isinstance(plan, Infeasible)
    assert plan.opened is not None
    assert plan.opened.counterfactual["n"] == -9
    assert problem.check(plan)
