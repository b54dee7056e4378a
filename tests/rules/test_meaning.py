"""The definitions of the contract's second section, one hand-made case each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings

from p2c._rules.cells import every_test
from p2c._rules.evaluate import passes
from p2c._rules.meaning import (
    ConstraintException,
    FeatureException,
    abduce,
    allows,
    breached,
    broken_constraints,
    candidate_values,
    consistent,
    fired,
    goal_met,
    may_act,
    supported_outcomes,
    triggered_outcomes,
    unheaded,
    violated,
)
from p2c._spec.feature import distance, permits
from p2c._spec.row import read_row
from tests.loan import JOHN, LOAN, category, ordinal, small, theory_of, whole
from tests.strategies import problems

if TYPE_CHECKING:
    from p2c._rules.theory import Theory

HOME = """
    good(X) :- home(X,'b').
    home(X,'b') :- city(X,'y').
    home(X,V) :- sea(X,'y'), V \\= 'a', V \\= 'b'.
"""
HOME_FEATURES = {
    "city": category("n", "y"),
    "sea": category("n", "y"),
    "home": category("a", "b", "c", "d"),
}
HOMES = ("a", "b", "c", "d", None)


def home(**keys: Any) -> Theory:
    return small(HOME, HOME_FEATURES, **keys)


def state(city: str, sea: str, where: str | None) -> dict[str, Any]:
    return {"city": city, "sea": sea, "home": where}


def outcomes(theory: Theory, now: dict[str, Any]) -> set[tuple[Any, ...]]:
    """Return what may happen by itself, without exceptions: feature, value, assumed."""
    found = triggered_outcomes(theory, now, violated(theory, now, ()))
    return {(each.feature, each.value, each.assumed) for each in found}


# Fired, heads and Allowed.


def test_fired_are_the_rules_whose_bodies_hold() -> None:
    theory = home()
    first, second = theory.rules_of["home"]
    assert fired(theory, "home", state("n", "n", "a")) == ()
    assert fired(theory, "home", state("y", "n", "a")) == (first,)
    assert fired(theory, "home", state("y", "y", "a")) == (first, second)


def test_unheaded_are_the_values_in_no_head_a_missing_one_too() -> None:
    assert [value for value in HOMES if unheaded(home(), "home", value)] == ["a", None]


@pytest.mark.parametrize(
    ("law", "city", "sea", "allowed"),
    [
        ("iff", "y", "n", ["b"]),
        ("iff", "y", "y", ["b", "c", "d"]),
        ("iff", "n", "n", ["a", None]),
        ("if", "y", "n", ["b"]),
        ("if", "y", "y", ["b", "c", "d"]),
        ("if", "n", "n", ["a", "b", "c", "d", None]),
        ("only_if", "y", "n", ["a", "b", None]),
        ("only_if", "y", "y", ["a", "b", "c", "d", None]),
        ("only_if", "n", "n", ["a", None]),
    ],
)
def test_allowed_follows_the_table_of_the_three_laws(
    law: str, city: str, sea: str, allowed: list[str | None]
) -> None:
    theory = home(law=law)
    rules = fired(theory, "home", state(city, sea, "a"))
    assert [value for value in HOMES if allows(theory, "home", rules, value)] == allowed


def test_a_feature_may_have_a_law_of_its_own() -> None:
    features = HOME_FEATURES | {"home": category("a", "b", "c", "d", law="if")}
    assert allows(small(HOME, features), "home", (), "c")


# Consistency and exceptions.


def test_a_state_is_consistent_when_it_obeys_every_law_and_constraint() -> None:
    theory = small(HOME + ":- city(X,'y'), sea(X,'y').", HOME_FEATURES)
    assert consistent(theory, state("y", "n", "b"), ())
    assert not consistent(theory, state("y", "n", "a"), ())
    assert not consistent(theory, state("y", "y", "b"), ())
    assert broken_constraints(theory, state("y", "y", "b")) == theory.constraints


def test_an_exception_is_abduced_for_every_law_that_the_start_breaks() -> None:
    theory = home()
    first, _ = theory.rules_of["home"]
    assert abduce(theory, state("y", "n", "c")) == (FeatureException("home", "c", (first,)),)
    assert abduce(theory, state("n", "n", "c")) == (FeatureException("home", "c", ()),)
    assert abduce(theory, state("y", "n", "b")) == ()


def test_an_exception_lasts_while_the_value_and_the_fired_rules_stay() -> None:
    theory = home()
    exceptions = abduce(theory, state("n", "n", "c"))
    assert violated(theory, state("n", "n", "c"), exceptions) == ()
    assert violated(theory, state("n", "n", "d"), exceptions) == ("home",)
    assert violated(theory, state("y", "n", "c"), exceptions) == ("home",)
    assert violated(theory, state("n", "y", "c"), exceptions) == ()


def test_an_exception_comes_back_with_the_state_that_it_was_made_for() -> None:
    theory = home()
    exceptions = abduce(theory, state("y", "n", "c"))
    assert violated(theory, state("n", "n", "c"), exceptions) == ("home",)
    assert violated(theory, state("y", "n", "c"), exceptions) == ()


def test_a_constraint_exception_lasts_while_all_that_it_reads_stays() -> None:
    rules = "good(X) :- a(X,'y').\nodd(X) :- b(X,N), N>3.\n:- a(X,'n'), odd(X)."
    features = {"a": category("n", "y"), "b": whole(0, 9), "c": category("n", "y")}
    theory = small(rules, features)
    start: dict[str, Any] = {"a": "n", "b": 5, "c": "n"}
    (exception,) = exceptions = abduce(theory, start)
    assert exception == ConstraintException(theory.constraints[0], (("a", "n"), ("b", 5)))
    assert breached(theory, start | {"c": "y"}, exceptions) == ()
    assert breached(theory, start | {"b": 6}, exceptions) == theory.constraints
    assert breached(theory, start | {"b": 1}, exceptions) == ()


def test_the_goal_needs_a_consistent_state() -> None:
    theory = theory_of(LOAN)
    rich = JOHN | {"bank_balance": 60000, "debt": 0}
    assert goal_met(theory, rich | {"credit_score": 620}, ())
    assert not goal_met(theory, rich | {"credit_score": 620, "debt": 5}, ())
    assert not goal_met(theory, rich | {"credit_score": 599}, abduce(theory, rich))


# What happens by itself.


def test_a_violated_feature_takes_the_nearest_allowed_value() -> None:
    theory = theory_of(LOAN)
    (outcome,) = triggered_outcomes(theory, JOHN | {"debt": 0}, ("credit_score",))
    assert (outcome.feature, outcome.value, outcome.assumed) == ("credit_score", 620, False)
    assert outcome.because == theory.rules_of["credit_score"]


def test_where_no_rule_fires_the_nearest_unheaded_value_is_taken_for_no_reason() -> None:
    theory = theory_of(LOAN)
    (outcome,) = triggered_outcomes(theory, JOHN | {"credit_score": 700}, ("credit_score",))
    assert (outcome.value, outcome.because) == (619, ())


def test_each_of_several_nearest_values_is_an_assumed_outcome() -> None:
    assert outcomes(home(), state("n", "y", "a")) == {("home", "c", True), ("home", "d", True)}


def test_numbers_on_both_sides_may_be_equally_near() -> None:
    rules = "good(X) :- n(X,9).\nn(X,N) :- a(X,'y'), N \\= 5."
    theory = small(rules, {"a": category("n", "y"), "n": whole(0, 9)})
    assert outcomes(theory, {"a": "y", "n": 5}) == {("n", 4, True), ("n", 6, True)}


def test_the_direction_of_a_feature_holds_for_its_effects_too() -> None:
    rules = "good(X) :- n(X,9).\nn(X,N) :- a(X,'y'), N \\= 5."
    features = {"a": category("n", "y"), "n": whole(0, 9, action="up")}
    assert outcomes(small(rules, features), {"a": "y", "n": 5}) == {("n", 6, False)}
    fixed = features | {"n": whole(0, 9, action="fixed")}
    assert outcomes(small(rules, fixed), {"a": "y", "n": 5}) == set()


def test_the_moves_of_a_feature_hold_for_its_effects_too() -> None:
    features = HOME_FEATURES | {"home": category("a", "b", "c", "d", moves={"a": ["d"]})}
    assert outcomes(small(HOME, features), state("n", "y", "a")) == {("home", "d", False)}
    assert outcomes(small(HOME, features), state("n", "y", "b")) == set()


def test_near_on_an_ordinal_is_near_in_rank() -> None:
    rules = "good(X) :- n(X,'e').\nn(X,V) :- a(X,'y'), V>='d'.\nn(X,'a') :- a(X,'y')."
    features = {"a": category("n", "y"), "n": ordinal("a", "b", "c", "d", "e")}
    assert outcomes(small(rules, features), {"a": "y", "n": "c"}) == {("n", "d", False)}
    assert outcomes(small(rules, features), {"a": "y", "n": "b"}) == {("n", "a", False)}


def test_a_target_lies_on_the_grid_though_the_value_need_not() -> None:
    rules = "good(X) :- n(X,N), N>0.\nn(X,N) :- a(X,'y'), N>=0.42."
    features = {"a": category("n", "y"), "n": {"type": "float", "min": 0, "max": 1, "step": 0.1}}
    theory = small(rules, features)
    assert outcomes(theory, {"a": "y", "n": 0.37}) == {("n", 0.5, False)}
    assert violated(theory, {"a": "y", "n": 0.43}, ()) == ()


def test_from_a_missing_value_all_values_are_equally_near() -> None:
    assert outcomes(home(), state("n", "y", None)) == {("home", "c", True), ("home", "d", True)}
    assert outcomes(home(), state("y", "n", None)) == {("home", "b", False)}
    assert outcomes(home(), state("n", "n", None)) == set()


def test_a_feature_waits_for_violated_ones_upstream() -> None:
    rules = "good(X) :- c(X,'y').\nb(X,'y') :- a(X,'y').\nc(X,'y') :- b(X,'n')."
    theory = small(rules, {name: category("n", "y") for name in "abc"})
    now = {"a": "y", "b": "n", "c": "n"}
    assert violated(theory, now, ()) == ("b", "c")
    assert outcomes(theory, now) == {("b", "y", False)}
    assert not may_act(theory, "c", ("b",))
    assert may_act(theory, "c", ("c",))


def test_an_upstream_feature_that_cannot_act_still_holds_up_those_below() -> None:
    rules = "good(X) :- c(X,'y').\nb(X,'y') :- a(X,'y').\nc(X,'y') :- b(X,'n')."
    features = {name: category("n", "y") for name in "abc"} | {
        "b": category("n", "y", action="fixed")
    }
    assert outcomes(small(rules, features), {"a": "y", "b": "n", "c": "n"}) == set()


def test_features_of_one_cycle_do_not_wait_for_each_other() -> None:
    rules = "good(X) :- b(X,'y').\nb(X,'y') :- c(X,'y').\nc(X,'y') :- b(X,'y')."
    features = {name: category("n", "y", "z") for name in "bc"}
    theory = small(rules, features)
    now = {"b": "y", "c": "n"}
    assert violated(theory, now, ()) == ("b", "c")
    assert {each[:2] for each in outcomes(theory, now)} == {("b", "n"), ("b", "z"), ("c", "y")}


def test_a_broken_constraint_has_no_effect_of_its_own() -> None:
    theory = small(HOME + ":- city(X,'n').", HOME_FEATURES)
    now = state("n", "n", "a")
    assert not consistent(theory, now, ())
    assert outcomes(theory, now) == set()


def test_supported_effects_go_to_the_nearest_value_of_each_head_that_lacks_the_present_one() -> (
    None
):
    theory = home(effects="supported")
    found = supported_outcomes(theory, state("y", "y", "b"))
    assert {(each.value, each.assumed) for each in found} == {("c", True), ("d", True)}
    assert all(each.because == theory.rules_of["home"] for each in found)
    assert [each.value for each in supported_outcomes(theory, state("y", "y", "c"))] == ["b"]
    assert supported_outcomes(theory, state("n", "n", "a")) == ()


@given(problems())
@settings(max_examples=200, deadline=None)
def test_candidate_values_never_miss_a_nearest_value(
    world: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    problem, row = world
    theory = theory_of(problem)
    now = read_row(theory.features, row)
    for name, _ in theory.causes:
        feature, start = theory.feature[name], now[name]
        rules = fired(theory, name, now)
        if start is None or allows(theory, name, rules, start):
            continue
        near = [
            (distance(feature, start, value), value)
            for value in (feature.domain.value(place) for place in range(feature.domain.size))
            if allows(theory, name, rules, value) and permits(feature, start, value)
        ]
        best = min((far for far, _ in near), default=None)
        listed = candidate_values(theory, feature)
        assert all(value in listed for far, value in near if far == best)


def test_from_a_missing_number_there_is_an_outcome_for_every_set_that_the_rules_tell_apart() -> (
    None
):
    rules = """
        good(X) :- score(X,N), N>=40, N=<60, not dull(X).
        dull(X) :- score(X,N), N=50.
        score(X,N) :- debt(X,0), N>=20.
    """
    features = {"debt": whole(0, 9), "score": whole(0, 1_000_000)}
    theory = small(rules, features)
    found = triggered_outcomes(theory, {"debt": 0, "score": None}, ("score",))
    values = [each.value for each in found]
    assert values == [20, 21, 39, 40, 41, 49, 50, 51, 59, 60, 61, 1_000_000]
    assert all(each.assumed for each in found)


@given(problems())
@settings(max_examples=100, deadline=None)
def test_from_a_missing_value_every_cell_of_the_allowed_values_is_met(
    world: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    problem, row = world
    theory = theory_of(problem)
    for name, _ in theory.causes:
        feature = theory.feature[name]
        now = {**read_row(theory.features, row), name: None}
        rules = fired(theory, name, now)
        if allows(theory, name, rules, None) or feature.action.value == "fixed":
            continue
        tests = [test for test in every_test(theory) if test.feature == name]
        values = [feature.domain.value(place) for place in range(feature.domain.size)]
        passed = {value: tuple(passes(feature, value, test) for test in tests) for value in values}
        wanted = {passed[value] for value in values if allows(theory, name, rules, value)}
        met = {passed[each.value] for each in triggered_outcomes(theory, now, (name,))}
        assert met == wanted
