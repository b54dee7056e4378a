"""Where a governed feature is set only to be carried on, places that nothing tells apart till then count as one."""

from __future__ import annotations

from dataclasses import dataclass

from p2c._plan.compiled.person import place_person
from p2c._plan.compiled.transitions import Transitions
from p2c._plan.planner import find_plan
from p2c._plan.search.best_first import Limits
from p2c._plan.search.options import Options
from p2c._plan.search.relaxed_reach import RelaxedReach
from p2c._plan.search.stopovers import Stopovers
from p2c.problem import Problem
from tests.loan import whole
from tests.unplanted import SIZES, unplanted

RULES = """
bad(X) :- a(X,N), N<5.
bad(X) :- s(X,N), N>=3, N<7.
s(X,N) :- a(X,A), A>=5, N>=20.
t(X,N) :- s(X,S), S>=12, N>=9.
"""


@dataclass
class Counted(Limits):
    """No limits; counts how often they were asked for, which is once for each step of an order and each set of ends."""

    checks: int = 0

    def check(self) -> None:
        """Count."""
        self.checks += 1


def alike(own: int, place: int) -> tuple[int, ...]:
    """Return the places of `s` that stand for those seen on the way as one of them is, for a person at another."""
    features = {"a": whole(0, 9), "s": whole(0, 30, action="free"), "t": whole(0, 9)}
    problem = Problem.from_dict({"goal": "not bad(X)", "rules": RULES, "features": features})
    person = place_person(problem.compiled, problem.read_row({"a": 0, "s": own, "t": 0}))
    options = Options(Transitions(person), problem.compiled.relevant)
    reach = RelaxedReach(options.transitions, options.listed, options.by_axis)
    axis = problem.compiled.index["s"]
    return Stopovers(reach).alike(axis, place).places


def test_regions_that_only_decisions_tell_apart_are_alike_on_the_way() -> None:
    assert alike(0, 0) == alike(0, 5) == alike(0, 8) == (0, 3, 7)


def test_a_region_that_a_law_looks_at_is_another_stopover() -> None:
    assert alike(0, 12) == (12,)
    assert alike(0, 25) == (20,)


def test_a_value_that_keeps_an_exception_alive_is_alike_to_none() -> None:
    assert alike(25, 25) == (25,)
    assert alike(25, 26) == (20,)


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
