"""The slow planner against the contract, clause by clause."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.loan import category, ordinal, small, whole
from tests.oracle import all_end_states, best_plan
from tests.plan.asked import bit, causal, direct, planned

if TYPE_CHECKING:
    from p2c._spec.feature import Value

Document = dict[str, Any]

SWITCH = category("off", "on")
LAMP = category("no", "yes")
LIT = "lamp(X,'yes') :- switch(X,'on'). good(X) :- lamp(X,'yes')."
UNLIT = "lamp(X,'yes') :- switch(X,'on'). good(X) :- not lamp(X,'yes')."


# The laws.


@pytest.mark.parametrize("law", ["iff", "if"])
def test_a_rule_that_fires_brings_its_effect(law: str) -> None:
    theory = small(LIT, {"switch": SWITCH, "lamp": LAMP}, law=law)
    plan = planned(theory, switch="off", lamp="no")
    assert plan.acts == [direct("switch", "on"), causal("lamp", "yes")]
    assert plan.measure == 1


def test_under_only_if_a_rule_that_fires_merely_allows_its_effect() -> None:
    theory = small(LIT, {"switch": SWITCH, "lamp": LAMP}, law="only_if")
    assert planned(theory, switch="off", lamp="no").status == "infeasible"


@pytest.mark.parametrize("law", ["iff", "only_if"])
def test_without_its_cause_an_effect_goes(law: str) -> None:
    theory = small(UNLIT, {"switch": SWITCH, "lamp": LAMP}, law=law)
    plan = planned(theory, switch="on", lamp="yes")
    assert plan.acts == [direct("switch", "off"), causal("lamp", "no")]
    assert plan.document["steps"][0]["actions"][1]["because"] == []


def test_under_if_an_effect_outlives_its_cause() -> None:
    theory = small(UNLIT, {"switch": SWITCH, "lamp": LAMP}, law="if")
    assert planned(theory, switch="on", lamp="yes").status == "infeasible"


def test_a_law_of_a_feature_stands_over_that_of_the_problem() -> None:
    lamp = LAMP | {"law": "iff"}
    theory = small(LIT, {"switch": SWITCH, "lamp": lamp}, law="only_if")
    assert planned(theory, switch="off", lamp="no").status == "found"


def test_two_fired_rules_are_alternatives() -> None:
    rules = """
        level(X,0) :- switch(X,'on').
        level(X,5) :- switch(X,'on').
        good(X) :- switch(X,'on').
    """
    theory = small(rules, {"switch": SWITCH, "level": whole(0, 5)}, law="if")
    plan = planned(theory, switch="off", level=4)
    assert plan.acts == [direct("switch", "on"), causal("level", 5)]
    assert plan.document["steps"][0]["actions"][1]["assumed"] is False


# Exceptions.


def test_an_exception_is_kept_while_nothing_of_it_changes() -> None:
    rules = "lamp(X,'yes') :- switch(X,'on'). good(X) :- other(X,1)."
    theory = small(rules, {"switch": SWITCH, "lamp": LAMP, "other": bit()})
    plan = planned(theory, switch="on", lamp="no", other=0)
    assert plan.acts == [direct("other", 1)]
    assert plan.document["exceptions"] == [
        {"feature": "lamp", "rules": ["lamp(X,'yes') :- switch(X,'on')."]}
    ]


def test_an_exception_is_lost_when_another_rule_fires() -> None:
    rules = """
        lamp(X,'yes') :- switch(X,'on').
        lamp(X,'yes') :- other(X,1).
        good(X) :- other(X,1).
    """
    theory = small(rules, {"switch": SWITCH, "lamp": LAMP, "other": bit()})
    plan = planned(theory, switch="on", lamp="no", other=0)
    assert plan.acts == [direct("other", 1), causal("lamp", "yes")]


def test_strict_refuses_a_row_that_breaks_a_rule() -> None:
    theory = small(LIT, {"switch": SWITCH, "lamp": LAMP}, exceptions="strict")
    row = {"switch": "on", "lamp": "no"}
    assert best_plan(theory, row) is None
    assert all_end_states(theory, row) == []


def test_a_broken_constraint_is_excused_while_all_that_it_reads_stays() -> None:
    rules = """
        :- both(X).
        both(X) :- one(X,1), two(X,1).
        good(X) :- other(X,1).
    """
    theory = small(rules, {"one": bit(), "two": bit(), "other": bit()})
    plan = planned(theory, one=1, two=1, other=0)
    assert plan.acts == [direct("other", 1)]
    assert plan.document["exceptions"] == [{"constraint": ":- both(X)."}]


def test_a_constraint_binds_again_when_something_that_it_reads_has_changed() -> None:
    rules = ":- level(X,N), N>=1. good(X) :- level(X,2)."
    theory = small(rules, {"level": whole(0, 3)})
    assert planned(theory, level=3).status == "infeasible"


def test_the_goal_may_hold_at_the_start_by_an_exception() -> None:
    theory = small(UNLIT, {"switch": SWITCH, "lamp": LAMP})
    plan = planned(theory, switch="on", lamp="no")
    assert (plan.status, plan.cost, plan.acts) == ("already", 0, [])


# Causal actions.


def test_equally_near_values_are_all_possible_and_the_plan_says_that_it_assumes_one() -> None:
    rules = "lamp(X,V) :- switch(X,'on'), V \\= 'x'. good(X) :- lamp(X,'z')."
    theory = small(rules, {"switch": SWITCH, "lamp": category("x", "y", "z")}, law="if")
    plan = planned(theory, switch="off", lamp="x")
    assert plan.acts == [direct("switch", "on"), causal("lamp", "z")]
    assert plan.document["steps"][0]["actions"][1]["assumed"] is True


def test_an_effect_takes_the_nearest_allowed_value_and_no_other() -> None:
    rules = "level(X,N) :- switch(X,'on'), N>=3. good(X) :- level(X,4)."
    theory = small(rules, {"switch": SWITCH, "level": whole(0, 5)}, law="if")
    assert planned(theory, switch="off", level=1).status == "infeasible"


def test_an_effect_goes_only_the_way_that_its_action_permits() -> None:
    rules = """
        level(X,N) :- switch(X,'on'), N \\= 3.
        good(X) :- switch(X,'on').
    """
    features = {"switch": SWITCH, "level": whole(0, 5, action="up")}
    theory = small(rules, features, law="if")
    plan = planned(theory, switch="off", level=3)
    assert plan.acts == [direct("switch", "on"), causal("level", 4)]
    assert plan.document["steps"][0]["actions"][1]["assumed"] is False


def test_what_lies_upstream_acts_first() -> None:
    rules = """
        b(X,1) :- a(X,1).
        c(X,1) :- a(X,1), b(X,0).
        good(X) :- c(X,1).
    """
    features = {"a": bit(), "b": bit(), "c": bit(law="if")}
    theory = small(rules, features)
    # If c could act before b, it would keep the 1 after its cause has gone.
    assert planned(theory, a=0, b=0, c=0).status == "infeasible"


@pytest.mark.parametrize("stuck", ["fixed", "up"])
def test_a_violated_feature_that_cannot_act_still_holds_back_what_lies_below(stuck: str) -> None:
    rules = """
        b(X,0) :- a(X,1).
        c(X,1) :- a(X,1), b(X,1).
        good(X) :- c(X,1).
    """
    theory = small(rules, {"a": bit(), "b": bit(action=stuck), "c": bit()}, law="if")
    assert planned(theory, a=0, b=1, c=0).status == "infeasible"


@pytest.mark.parametrize("winner", ["b", "c"])
def test_in_a_cycle_of_its_own_each_may_act_first(winner: str) -> None:
    rules = f"""
        b(X,1) :- a(X,1), c(X,0).
        c(X,1) :- a(X,1), b(X,0).
        good(X) :- {winner}(X,1).
    """
    theory = small(rules, {"a": bit(), "b": bit(), "c": bit()})
    plan = planned(theory, a=0, b=0, c=0)
    assert plan.acts == [direct("a", 1), causal(winner, 1)]


def test_a_state_from_which_no_effect_leads_on_takes_another_direct_action_in_the_same_step() -> (
    None
):
    rules = "b(X,1) :- a(X,1), d(X,1). good(X) :- a(X,1)."
    theory = small(rules, {"a": bit(), "d": bit(), "b": bit(action="fixed")})
    plan = planned(theory, a=0, d=1, b=0)
    assert plan.acts == [direct("a", 1), direct("d", 0)]
    assert len(plan.document["steps"]) == 1


def test_a_broken_constraint_is_mended_by_a_direct_action_in_the_same_step() -> None:
    rules = ":- a(X,1), d(X,1). good(X) :- a(X,1)."
    theory = small(rules, {"a": bit(), "d": bit()})
    plan = planned(theory, a=0, d=1)
    assert plan.acts == [direct("a", 1), direct("d", 0)]
    assert len(plan.document["steps"]) == 1


def test_while_an_effect_is_due_nothing_is_done_directly() -> None:
    rules = """
        b(X,1) :- a(X,1), d(X,0).
        good(X) :- a(X,1), b(X,0).
    """
    # Here d would have to be set between a and its effect on b, which under `if` then stays.
    features = {"a": bit(), "b": bit(law="if"), "d": bit(action="up")}
    theory = small(rules + ":- d(X,1), a(X,0).", features)
    plan = planned(theory, a=0, b=0, d=0)
    assert plan.acts == [direct("d", 1), direct("a", 1)]
    assert len(plan.document["steps"]) == 1


# Supported effects.


def test_a_supported_effect_needs_no_violation_and_costs_nothing() -> None:
    theory = small(LIT, {"switch": SWITCH, "lamp": LAMP}, law="only_if", effects="supported")
    plan = planned(theory, switch="on", lamp="no")
    assert plan.acts == [causal("lamp", "yes")]
    assert plan.measure == 0


def test_a_triggered_effect_needs_a_violation() -> None:
    theory = small(LIT, {"switch": SWITCH, "lamp": LAMP}, law="only_if")
    assert planned(theory, switch="on", lamp="no").status == "infeasible"


def test_a_supported_effect_takes_the_nearest_value_of_its_own_rule() -> None:
    rules = """
        level(X,N) :- switch(X,'on'), N>=4.
        level(X,0) :- switch(X,'on').
        good(X) :- level(X,4).
    """
    features = {"switch": SWITCH, "level": whole(0, 5)}
    row: dict[str, Value] = {"switch": "on", "level": 0}
    assert planned(small(rules, features), **row).status == "infeasible"
    supported = planned(small(rules, features, effects="supported"), **row)
    assert supported.acts == [causal("level", 4)]


# Direct actions.


@pytest.mark.parametrize(
    ("action", "status"),
    [("free", "found"), ("up", "found"), ("down", "infeasible"), ("fixed", "infeasible")],
)
def test_a_person_goes_only_the_way_that_the_action_permits(action: str, status: str) -> None:
    theory = small("good(X) :- level(X,N), N>=4.", {"level": whole(0, 5, action=action)})
    assert planned(theory, level=2).status == status


def test_a_feature_is_changed_directly_once() -> None:
    rules = "seen(X,1) :- level(X,2). good(X) :- seen(X,1), level(X,0)."
    theory = small(rules, {"level": whole(0, 2), "seen": bit(law="if")})
    assert planned(theory, level=0, seen=0).status == "infeasible"


def test_a_feature_with_moves_takes_several() -> None:
    moves = {"a": ["b"], "b": ["c"]}
    theory = small("good(X) :- place(X,'c').", {"place": category("a", "b", "c", moves=moves)})
    plan = planned(theory, place="a")
    assert plan.acts == [direct("place", "b"), direct("place", "c")]
    assert plan.measure == 2


@pytest.mark.parametrize(("ways", "status"), [({}, "infeasible"), ({"b": ["c", "a"]}, "found")])
def test_moves_never_lead_back_to_a_value_left_directly(ways: Document, status: str) -> None:
    rules = "seen(X,1) :- place(X,'b'). good(X) :- seen(X,1), not place(X,'b')."
    moves = {"a": ["b"], "b": ["a"]} | ways
    features = {"place": category("a", "b", "c", moves=moves), "seen": bit(law="if")}
    assert planned(small(rules, features), place="a", seen=0).status == status


def test_moves_and_direction_hold_together() -> None:
    steps = ordinal("a", "b", "c", action="down", moves={"a": ["b"], "b": ["c"]})
    theory = small("good(X) :- place(X,'c').", {"place": steps})
    assert planned(theory, place="a").status == "infeasible"


# Missing values.


def test_a_missing_value_makes_a_comparison_false_and_its_negation_true() -> None:
    features = {"job": category("no", "yes"), "level": whole(0, 5)}
    fails = small("good(X) :- level(X,N), N \\= 3.", features)
    holds = small("good(X) :- level(X,N), not(N=<3), not job(X,'no').", features)
    assert planned(fails, job="no", level=None).status == "found"
    assert planned(holds, job=None, level=None).status == "already"


@pytest.mark.parametrize("action", ["free", "up", "down"])
def test_from_a_missing_value_every_value_is_at_distance_one(action: str) -> None:
    theory = small("good(X) :- level(X,3).", {"level": whole(0, 10, action=action, weight=2)})
    assert planned(theory, level=None).measure == 2


def test_a_fixed_missing_value_stays_missing() -> None:
    theory = small("good(X) :- level(X,3).", {"level": whole(0, 10, action="fixed")})
    assert planned(theory, level=None).status == "infeasible"


def test_from_a_missing_value_moves_lead_anywhere() -> None:
    features = {"place": category("a", "b", "c", moves={"a": ["b"]})}
    plan = planned(small("good(X) :- place(X,'c').", features), place=None)
    assert plan.acts == [direct("place", "c")]


def test_a_missing_value_is_unheaded_even_where_the_head_excludes_one_value_only() -> None:
    rules = "lamp(X,V) :- switch(X,'on'), V \\= 'x'. good(X) :- switch(X,'on')."
    theory = small(rules, {"switch": SWITCH, "lamp": category("x", "y")})
    plan = planned(theory, switch="off", lamp=None)
    assert plan.document["exceptions"] == []
    assert plan.acts == [direct("switch", "on"), causal("lamp", "y")]
