"""The planner that chooses the set of direct actions first, against the slow one: the same status, cost and actions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from p2c._plan.compiled.person import place_person
from p2c._plan.compiled.transitions import Transitions
from p2c._plan.outcome import GaveUp
from p2c._plan.planner import find_plan, search_plan
from p2c._plan.search import best_first
from p2c._plan.search.arrivals import arrivals
from p2c._plan.search.best_first import Limits
from p2c._plan.search.states import StateSearch
from p2c.problem import Problem
from tests.loan import category, whole
from tests.oracle import best_plan
from tests.plan.test_agreement import compare
from tests.strategies import seeded_problems
from tests.synthetic import synthetic
from tests.unplanted import SIZES, unplanted, with_moves

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Document = dict[str, Any]


def fitted(document: Document) -> Document:
    """Return a problem with nothing in it that keeps sets from being chosen first, as far as keys go."""
    features = {
        name: {key: value for key, value in keys.items() if key != "moves"}
        for name, keys in document["features"].items()
    }
    rest = {key: value for key, value in document.items() if key != "effects"}
    return rest | {"features": features, "exceptions": "abduce"}


def dynamics_of(problem: Problem, row: Document) -> Transitions:
    return Transitions(place_person(problem.compiled, problem.read_row(row)))


def agrees(document: Document, row: Document) -> bool:
    """Compare the two planners on a problem; tell whether the one that chooses first applies to it."""
    problem = Problem.from_dict(fitted(document))
    if not problem.compiled.selects:
        return False
    expected = best_plan(problem.theory, problem.read_row(row))
    assert expected is not None
    plan = search_plan(dynamics_of(problem, row), Limits())
    found = plan.to_dict()
    acts = [(a["kind"], a["feature"], a["to"]) for step in found["steps"] for a in step["actions"]]
    shown = f"{found}\n{expected.document}\n{document!r}\n{row!r}"
    assert found["status"] == expected.status, shown
    assert found["cost"] == pytest.approx(expected.cost), shown
    assert acts == expected.acts, shown
    assert found["status"] == "infeasible" or problem.check(plan), shown
    return True


@pytest.mark.parametrize("seed", range(6))
def test_choosing_the_set_first_agrees_with_the_slow_planner(seed: int) -> None:
    worlds = seeded_problems(seed + 100, 110)
    assert sum(agrees(*world) for world in worlds) >= 50


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60))
def test_choosing_the_set_first_agrees_with_the_slow_planner_on_many_more(seed: int) -> None:
    for world in seeded_problems(seed + 3000, 200):
        agrees(*world)


def along_moves(document: Document, seed: str) -> Document:
    """Return a problem in which most lists of values have moves drawn at random."""
    rng = Random(seed)
    features = {name: dict(keys) for name, keys in document["features"].items()}
    for keys in features.values():
        if keys["type"] in ("category", "ordinal") and "moves" not in keys and rng.random() < 0.7:
            values = keys["values"]
            keys["moves"] = {
                start: [end for end in values if end != start and rng.random() < 0.5]
                for start in values
            }
        if "moves" in keys and keys.get("action") == "fixed":
            keys["action"] = "free"
    rest = {key: value for key, value in document.items() if key != "effects"}
    return rest | {"features": features}


def agreeing(worlds: Iterable[tuple[Document, Document]]) -> int:
    """Compare with the slow planner where sets are chosen first, and return on how many problems."""
    compared = 0
    for document, row in worlds:
        if Problem.from_dict(document).compiled.selects:
            difference = compare(document, row)
            assert not difference, f"{difference}\n{document!r}\n{row!r}"
            compared += 1
    return compared


def problems_along_moves(seed: int, count: int) -> Iterator[tuple[Document, Document]]:
    """Yield random problems in which features that people set have moves."""
    for number, (document, row) in enumerate(seeded_problems(seed, count)):
        told = along_moves(document, f"{seed} {number}")
        features = Problem.from_dict(told).theory.features
        if any(each.moves and each.action.is_direct for each in features):
            yield told, row


def test_choosing_trails_first_agrees_with_the_slow_planner() -> None:
    assert agreeing(problems_along_moves(58, 150)) >= 50


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 145))
def test_choosing_trails_first_agrees_with_the_slow_planner_on_many_more(seed: int) -> None:
    assert agreeing(problems_along_moves(seed, 100)) >= 30


def carried_along_moves(seed: int, count: int) -> Iterator[tuple[Document, Document]]:
    """Yield random problems in which people set features along moves that rules change as well, again and again."""
    for number, (document, row) in enumerate(seeded_problems(seed, count)):
        rng = Random(f"{seed} {number}")
        told = along_moves(document, f"{seed} {number}") | {"exceptions": "abduce"}
        found = [each for each in Problem.from_dict(told).theory.features if each.governed]
        features = told["features"]
        for each in found:
            if each.moves and each.action.value == "effect":
                features[each.name]["action"] = "free"
        if any(each.moves for each in found):
            told["norm"] = rng.choice(["l0", "l1", "l2", "linf"])
            yield told | ({"effects": "supported"} if rng.random() < 0.4 else {}), row


def test_features_set_again_between_effects_agree_with_the_slow_planner() -> None:
    assert agreeing(carried_along_moves(7, 60)) >= 20


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(700, 720))
def test_features_set_again_between_effects_agree_on_many_more(seed: int) -> None:
    assert agreeing(carried_along_moves(seed, 100)) >= 30


def with_supported_effects(seed: int, count: int) -> Iterator[tuple[Document, Document]]:
    """Yield random problems in which fired rules may act at any time."""
    for document, row in seeded_problems(seed, count):
        if Problem.from_dict(document).theory.causes:
            yield document | {"effects": "supported"}, row


def test_choosing_sets_where_effects_are_supported_agrees_with_the_slow_planner() -> None:
    assert agreeing(with_supported_effects(90, 150)) >= 80


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(900, 945))
def test_choosing_sets_where_effects_are_supported_agrees_on_many_more(seed: int) -> None:
    assert agreeing(with_supported_effects(seed, 100)) >= 50


def test_supported_effects_take_few_nodes() -> None:
    document, rows = synthetic(30, 100, 40, seed=1, people=4, changes=(3, 6))
    problem = Problem.from_dict(document | {"effects": "supported"})
    for row in rows:
        assert search_plan(dynamics_of(problem, row), Limits(nodes=200)).status == "found"


def test_features_with_moves_are_set_with_few_nodes() -> None:
    document, rows = synthetic(30, 100, 40, seed=1, people=4, changes=(3, 6))
    problem = Problem.from_dict(with_moves(document, most=2))
    for row in rows:
        limits = Limits(nodes=600)
        assert search_plan(dynamics_of(problem, row), limits).status != "gave_up"


@dataclass
class Counted(Limits):
    """No limits; counts the checks: one for each step of an order, each set of ends and each slice of the clause search."""

    checks: int = 0

    def check(self) -> None:
        """Count."""
        self.checks += 1


def test_a_set_of_features_that_rules_carry_on_is_put_in_order_in_few_steps() -> None:
    document, row = unplanted(133, *SIZES["20/40/15"])
    for name in ("f6", "f15"):
        document["features"][name]["action"] = "free"
    problem, limits = Problem.from_dict(document), Counted()
    plan = find_plan(problem.compiled, problem.read_row(row), limits)
    assert plan.cost == 3.706
    assert limits.checks < 3_000


def test_under_a_ceiling_no_more_orders_are_tried_than_places_are_open() -> None:
    document, row = unplanted(6459, 9, 12, 8)
    for keys in document["features"].values():
        if keys.get("action", "fixed") == "fixed":
            keys["action"] = "free"
    problem, limits = Problem.from_dict({**document, "norm": "linf"}), Counted()
    plan = find_plan(problem.compiled, problem.read_row(row), limits)
    assert plan.status == "infeasible"
    assert limits.checks < 6_000


def sets_agree_with_states(document: Document, row: Document) -> bool:
    """Compare first paths on which nothing is set in vain, everything being free to be set; tell whether there is one."""
    told = fitted(document)
    for keys in told["features"].values():
        keys["action"] = "free"
    problem = Problem.from_dict(told)
    transitions = replace(dynamics_of(problem, row), lasting=True)
    if transitions.judge(transitions.person.places).goal:
        return False
    states = StateSearch(transitions, problem.compiled.relevant, lambda arrival: arrival)
    expected = next(best_first.best_first(states.leads(), Limits()), None)
    found = next(arrivals(transitions, Limits()), None)
    assert (found and found.key) == (expected and expected.key), f"{told!r}\n{row!r}"
    return found is not None


def test_where_nothing_may_be_set_in_vain_sets_come_to_the_same_as_states() -> None:
    assert sum(sets_agree_with_states(*world) for world in seeded_problems(300, 400)) >= 100


def test_what_a_feature_takes_that_keeps_its_exception_until_it_is_set_is_known_at_once() -> None:
    document, row = unplanted(41, *SIZES["20/40/15"])
    for name in ("f4", "f6", "f16"):
        document["features"][name]["action"] = "free"
    transitions = replace(dynamics_of(Problem.from_dict(document), row), lasting=True)
    limits = Counted()
    arrival = next(arrivals(transitions, limits))
    assert transitions.person.cost(arrival.effort, actions=arrival.direct) == 5.152
    assert limits.checks < 12_000


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_where_nothing_may_be_set_in_vain_sets_come_to_the_same_on_many_more(seed: int) -> None:
    for world in seeded_problems(seed + 4000, 400):
        sets_agree_with_states(*world)


@pytest.mark.parametrize("seed", range(2))
def test_choosing_the_set_first_gives_up_with_a_true_bound(seed: int) -> None:
    for document, row in seeded_problems(seed + 200, 60):
        problem = Problem.from_dict(fitted(document))
        if not problem.compiled.selects:
            continue
        truth = best_plan(problem.theory, problem.read_row(row))
        assert truth is not None
        for limit in range(5):
            plan = search_plan(dynamics_of(problem, row), Limits(limit))
            shown = f"{plan}\n{document!r}\n{row!r}"
            if not isinstance(plan, GaveUp):
                assert plan.status == truth.status, shown
            elif truth.cost is not None:
                assert plan.bound <= truth.cost * (1 + 1e-9), shown
                assert plan.best is None or not plan.best.optimal, shown


def test_actions_that_stir_nothing_stand_where_ties_want_them() -> None:
    rules = """
        bad(X) :- a(X,N), N<5. bad(X) :- b(X,N), N<5. bad(X) :- c(X,N), N<5. bad(X) :- e(X,'off').
        e(X,'on') :- b(X,N), N>=5.
    """
    features = {"e": category("off", "on"), "a": whole(0, 9), "b": whole(0, 9), "c": whole(0, 9)}
    problem = Problem.from_dict({"goal": "not bad(X)", "rules": rules, "features": features})
    row = {"e": "off", "a": 0, "b": 0, "c": 0}
    plan = search_plan(dynamics_of(problem, row), Limits())
    acts = [act.feature for step in plan.steps for act in step.actions]
    assert acts == ["a", "b", "e", "c"]
    answer = problem.plan(row).to_dict()
    assert plan.to_dict() == {key: answer[key] for key in answer if key != "slack"}


def test_it_is_not_used_where_moves_make_very_many_ways() -> None:
    usual: Document = {"e": category("off", "on"), "n": whole(0, 9), "c": category("x", "y")}
    rules = "e(X,'on') :- n(X,N), N>=5."
    goal = "e(X,'on'), c(X,'y')"
    plain = Problem.from_dict({"goal": goal, "rules": rules, "features": usual})
    assert plain.compiled.selects
    many = category(*"abcdxy", moves={each: [*"abcdxy"] for each in "abcdxy"})
    other = Problem.from_dict({"goal": goal, "rules": rules, "features": usual | {"c": many}})
    assert not other.compiled.selects


def test_a_feature_is_set_along_moves_again_after_an_effect_has_carried_it_on() -> None:
    document = {
        "goal": "c(X,'d')",
        "law": "if",
        "rules": "c(X,V) :- door(X,'open'), V \\= 'b'.",
        "features": {
            "door": category("shut", "open", weight=0.5),
            "c": category(*"abcd", action="free", moves={"a": ["b"], "b": ["c"], "c": ["d"]}),
        },
    }
    plan = search_plan(
        dynamics_of(Problem.from_dict(document), {"door": "shut", "c": "a"}), Limits()
    )
    acts = [(act.feature, act.end) for step in plan.steps for act in step.actions]
    assert acts == [("door", "open"), ("c", "b"), ("c", "c"), ("c", "d")]
    assert plan.cost == 2.5
