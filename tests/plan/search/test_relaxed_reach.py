"""A look ahead forgets the order of actions, not the ways that features may go."""

from __future__ import annotations

import pytest

from p2c._plan.compiled.person import place_person
from p2c._plan.compiled.transitions import Transitions
from p2c._plan.search.arrivals import may_arrive
from p2c._plan.search.best_first import Limits
from p2c.problem import Problem
from tests.loan import whole

RULES = """
bad(X) :- s(X,N), N>=70, t(X,M), M>9.
s(X,N) :- a(X,A), A>=5, N>=40.
"""


def sees_a_way(action: str, own: int | None, step: int = 1) -> bool:
    """Tell whether a look ahead sees a way for somebody whose score must not stay above 70, and who may set it."""
    features = {
        "a": whole(0, 9),
        "s": whole(0, 100, action=action, step=step),
        "t": whole(0, 20, action="fixed"),
    }
    problem = Problem.from_dict(
        {"goal": "not bad(X)", "law": "if", "rules": RULES, "features": features}
    )
    state = problem.read_row({"a": 7, "s": own, "t": 15})
    return may_arrive(Transitions(place_person(problem.compiled, state)), Limits())


@pytest.mark.parametrize("step", [1, 10], ids=["on the grid", "off the grid"])
@pytest.mark.parametrize(("action", "sees"), [("up", False), ("down", True), ("free", True)])
def test_what_may_only_rise_is_not_seen_below_where_it_stands(
    action: str, step: int, *, sees: bool
) -> None:
    assert sees_a_way(action, 76, step) is sees


@pytest.mark.parametrize("own", [69, None])
def test_what_stands_low_enough_or_is_unknown_may_stay_or_go_there(own: int | None) -> None:
    assert sees_a_way("up", own)


@pytest.mark.parametrize(("action", "sees"), [("up", False), ("free", True)])
def test_what_its_law_lets_stay_is_carried_off_only_by_a_rule_whose_head_does_not_hold_it(
    action: str, *, sees: bool
) -> None:
    problem = Problem.from_dict(
        {
            "goal": "s(X,N), N>=7",
            "law": "only_if",
            "effects": "supported",
            "rules": "s(X,N) :- a(X,A), A>=1, N<7.",
            "features": {"a": whole(0, 9, action=action), "s": whole(0, 10)},
        }
    )
    state = problem.read_row({"a": 7, "s": 4})
    assert may_arrive(Transitions(place_person(problem.compiled, state)), Limits()) is sees
