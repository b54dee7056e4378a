"""Options that a better one can stand in for are left out, and no others."""

from __future__ import annotations

from typing import Any

import pytest

from p2c._plan.compiled.person import place_person
from p2c._plan.compiled.transitions import Transitions
from p2c._plan.search.options import Options
from p2c._plan.search.propagation import Propagation
from p2c._plan.search.relaxed_reach import RelaxedReach
from p2c.problem import Problem
from tests.loan import category, whole

Document = dict[str, Any]
ROW = {"a": 0, "b": "no", "c": "low"}
FEATURES = {
    "a": whole(0, 9),
    "b": category("no", "yes", action="fixed"),
    "c": category("low", "high"),
}


def left(rules: str, row: Document = ROW, **keys: Any) -> set[tuple[str, Any]]:
    """Return the feature and the value of each action that is worth a thought when nothing is chosen yet."""
    features = FEATURES | keys
    problem = Problem.from_dict({"goal": "not bad(X)", "rules": rules, "features": features})
    person = place_person(problem.compiled, problem.read_row(row))
    options = Options(Transitions(person), problem.compiled.relevant)
    reach = RelaxedReach(options.transitions, options.listed, options.by_axis)
    end = Propagation(reach).of((), (1 << len(options.listed)) - 1)
    assert end is not None
    names = [axis.feature.name for axis in problem.compiled.axes]
    return {
        (names[option.axis], person.value(option.axis, option.end))
        for number, option in enumerate(options.listed)
        if end.left >> number & 1
    }


def test_what_stops_no_rule_more_than_a_shorter_way_is_left_out() -> None:
    rules = "bad(X) :- a(X,N), N<5. bad(X) :- a(X,N), N<7, b(X,'yes')."
    assert left(rules) == {("a", 5)}


def test_what_stops_a_rule_that_may_fire_stays() -> None:
    rules = "bad(X) :- a(X,N), N<5. bad(X) :- a(X,N), N<7, b(X,'yes')."
    assert left(rules, ROW | {"b": "yes"}) == {("a", 7)}
    assert left(rules, b=category("no", "yes")) == {("a", 5)}
    choice = "bad(X) :- a(X,N), N<5, b(X,'no'). bad(X) :- a(X,N), N<7, b(X,'yes'), c(X,'low')."
    assert {("a", 5), ("a", 7)} <= left(choice, ROW | {"b": "yes"}, b=category("no", "yes"))


def test_staying_is_better_than_a_change_that_nothing_asks_for() -> None:
    assert left("bad(X) :- a(X,N), N<5. bad(X) :- a(X,N), N>=8, c(X,'high').") == {("a", 5)}


@pytest.mark.parametrize(
    "rule",
    [
        "d(X,'on') :- a(X,N), N>=7.",
        ":- a(X,N), N>=7, c(X,'low').",
        "bad(X) :- seen(X). seen(X) :- a(X,N), N>=7, b(X,'yes').",
    ],
)
def test_what_others_than_the_refusal_see_stays(rule: str) -> None:
    rules = f"bad(X) :- a(X,N), N<5. {rule}"
    found = left(rules, ROW | {"d": "off"}, d=category("off", "on"))
    assert ("a", 5) in found
    assert ("a", 7) in found
