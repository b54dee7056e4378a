"""One rejection, one test: each takes a valid plan, breaks one thing, and looks for the sentence that says so."""

from __future__ import annotations

import pytest

from p2c._plan.check.validate import check_plan
from p2c.problem import Problem
from tests.loan import JOHN, LOAN, category, small, theory_of, whole
from tests.plan.check.claimed import (
    BALANCE,
    DEBT,
    MOVES,
    SCORE,
    STUCK,
    STUCK_FEATURES,
    Document,
    causal,
    direct,
    faults,
    loan_plan,
    plan_of,
    verdict,
    with_features,
)

# Accepted.


def test_the_plan_of_the_contract_is_valid() -> None:
    found = verdict(loan_plan())
    assert found.ok
    assert found
    assert str(found) == (
        "the path is valid: every step, the cost and the end\n"
        "not checked: that no cheaper path exists"
    )


def test_example_2_of_the_paper_is_valid_as_printed() -> None:
    initial = JOHN | {"loan_duration": 12}
    duration = {"loan_duration": whole(1, 60)}
    theory = theory_of(LOAN | {"features": LOAN["features"] | duration})
    assert faults(plan_of(initial, [BALANCE], [DEBT, SCORE], cost=0.00502), theory) == ""


def test_example_2_with_the_credit_score_set_directly_is_rejected() -> None:
    score = direct("credit_score", 599, 620, 21 / 550)
    found = faults(plan_of(JOHN, [BALANCE], [score], cost=0.00002 + 21 / 550))
    assert "step 2, action 1: credit_score is an effect of its causal rules" in found


@pytest.mark.parametrize(
    ("norm", "costs", "cost"),
    [
        ("l0", (1, 1), 2),
        ("l1", (0.005, 0.00002), 0.00502),
        ("l2", (0.005, 0.00002), 0.00500004),
        ("linf", (0.005, 0.00002), 0.005),
    ],
)
def test_each_norm_has_its_own_costs(norm: str, costs: tuple[float, float], cost: float) -> None:
    cost = (0.005**2 + 0.00002**2) ** 0.5 if norm == "l2" else cost
    steps = [DEBT | {"cost": costs[0]}, SCORE], [BALANCE | {"cost": costs[1]}]
    assert faults(plan_of(JOHN, *steps, cost=cost, norm=norm)) == ""
    assert "cost: the path costs" in faults(plan_of(JOHN, *steps, cost=cost * 1.0001, norm=norm))


def test_the_norm_is_the_problems_where_the_plan_names_none() -> None:
    plan = plan_of(JOHN, [DEBT | {"cost": 1}, SCORE], [BALANCE | {"cost": 1}], cost=2)
    del plan["norm"]
    assert check_plan(theory_of(LOAN | {"norm": "l0"}), plan).ok
    assert not check_plan(theory_of(LOAN), plan).ok


def test_a_rule_may_be_spelled_in_another_way() -> None:
    plan = loan_plan()
    plan["steps"][0]["actions"][1]["because"] = ["credit_score(X,N):-debt(X,D),D =< 0,N >= 620."]
    assert verdict(plan).ok


def test_already_is_valid_where_the_goal_holds_at_the_start() -> None:
    rich = JOHN | {"debt": 0, "bank_balance": 60000, "credit_score": 700}
    assert faults(plan_of(rich, cost=0, status="already")) == ""


def test_infeasible_needs_no_path() -> None:
    plan: Document = {"status": "infeasible", "initial": JOHN, "cost": None, "blockers": []}
    assert verdict(plan).ok


def test_gave_up_may_come_with_its_best_path_or_without() -> None:
    assert verdict(loan_plan() | {"status": "gave_up", "optimal": False}).ok
    assert verdict({"status": "gave_up", "initial": JOHN, "cost": None, "steps": []}).ok


# What a direct action may not do.


def test_a_fixed_feature_is_not_changed() -> None:
    steps = [direct("age", 31, 32, 1 / 98)], [DEBT, SCORE], [BALANCE]
    found = faults(plan_of(JOHN, *steps, cost=0.00502 + 1 / 98))
    assert found == "step 1, action 1: age is fixed: nothing changes it"


def test_a_feature_that_only_goes_up_is_not_taken_down() -> None:
    assert "step 1, action 1: debt only goes up, so not debt from 5000 to 0" in faults(
        loan_plan(), with_features(debt={"action": "up"})
    )


def test_a_feature_that_only_goes_down_is_not_taken_up() -> None:
    assert "step 2, action 1: bank_balance only goes down" in faults(
        loan_plan(), with_features(bank_balance={"action": "down"})
    )


def test_a_target_off_the_grid_is_rejected() -> None:
    theory = with_features(bank_balance={"step": 7})
    assert faults(loan_plan(), theory) == (
        "step 2, action 1: 60000 is not on the grid of bank_balance"
    )


def test_a_target_outside_the_domain_is_rejected() -> None:
    plan = plan_of(JOHN, [DEBT | {"to": -1}], cost=0)
    found = faults(plan)
    assert "step 1, action 1: the target of debt does not exist: -1 is outside its range" in found
    assert "step 1: records debt as -1, but it is 5000 there" in found


def test_a_target_that_is_no_category_is_rejected() -> None:
    theory = small("good(X) :- job(X,'c').", {"job": category("a", "c")})
    assert "step 1, action 1: the target of job does not exist: 'b' is not one of" in faults(
        plan_of({"job": "a"}, [direct("job", "a", "b")], cost=1), theory
    )


def test_a_target_is_a_value() -> None:
    plan = plan_of(JOHN, [DEBT | {"to": None}], cost=0)
    assert "step 1, action 1: sets debt to nothing" in faults(plan)


def test_a_direct_action_changes_something() -> None:
    plan = plan_of(JOHN, [DEBT | {"to": 5000, "cost": 0}], [DEBT, SCORE], [BALANCE], cost=0.00502)
    assert "step 1, action 1: does not change debt" in faults(plan)


def test_a_move_that_does_not_exist_is_rejected() -> None:
    theory = small("good(X) :- job(X,'c').", MOVES)
    plan = plan_of({"job": "a", "day": 0}, [direct("job", "a", "c")], cost=1)
    assert faults(plan, theory) == ("step 1, action 1: there is no move of job from 'a' to 'c'")


def test_a_feature_with_moves_may_be_changed_more_than_once() -> None:
    theory = small("good(X) :- job(X,'c').", MOVES)
    steps = [direct("job", "a", "b")], [direct("job", "b", "c")]
    assert faults(plan_of({"job": "a", "day": 0}, *steps, cost=2), theory) == ""


def test_a_feature_with_moves_does_not_go_back_to_a_value_that_it_left() -> None:
    theory = small("good(X) :- job(X,'a'), day(X,1).", MOVES)
    steps = [direct("job", "a", "b")], [direct("day", 0, 1, 1 / 9)], [direct("job", "b", "a")]
    assert faults(plan_of({"job": "a", "day": 0}, *steps, cost=2 + 1 / 9), theory) == (
        "step 3, action 1: takes job back to 'a', which it left by a direct action"
    )


def test_a_feature_without_moves_is_changed_directly_only_once() -> None:
    half = direct("bank_balance", 40000, 50000, 0.00001)
    rest = direct("bank_balance", 50000, 60000, 0.00001)
    assert faults(plan_of(JOHN, [half], [DEBT, SCORE], [rest], cost=0.00502)) == (
        "step 3, action 1: bank_balance was changed directly before, and a feature is only once"
    )


def test_from_is_the_value_at_that_time() -> None:
    plan = loan_plan()
    plan["steps"][1]["actions"][0]["from"] = 50000
    assert faults(plan) == ("step 2, action 1: says that bank_balance is 50000, but it is 40000")


def test_a_direct_action_waits_for_pending_effects() -> None:
    assert "step 1, action 2: is direct while an effect is pending: credit_score" in faults(
        plan_of(JOHN, [DEBT, BALANCE, SCORE], cost=0.00502)
    )


def test_a_direct_action_in_a_consistent_state_begins_a_new_step() -> None:
    assert faults(plan_of(JOHN, [BALANCE, DEBT, SCORE], cost=0.00502)) == (
        "step 1, action 2: the state before it is consistent, so it belongs to a new step"
    )


def test_an_action_names_a_feature_of_the_problem() -> None:
    plan = loan_plan()
    plan["steps"][1]["actions"][0]["feature"] = "bank_balanse"
    assert "step 2, action 1: there is no feature 'bank_balanse'; did you mean" in faults(plan)


# What a causal action may not do.


def test_a_causal_change_that_no_rule_supports_is_rejected() -> None:
    assert "step 1, action 2: no rule supports credit_score becoming 610" in faults(
        plan_of(JOHN, [DEBT, SCORE | {"to": 610}], [BALANCE], cost=0.00502)
    )


def test_an_effect_takes_the_nearest_value() -> None:
    assert faults(plan_of(JOHN, [DEBT, SCORE | {"to": 700}], [BALANCE], cost=0.00502)) == (
        "step 1, action 2: the nearest value of credit_score is 620"
    )


def test_because_holds_the_rules_that_fired() -> None:
    for because in ([], ["credit_score(X,N) :- debt(X,D), D=<1, N>=620."], ["nonsense("]):
        plan = plan_of(JOHN, [DEBT, SCORE | {"because": because}], [BALANCE], cost=0.00502)
        assert "step 1, action 2: because: '" in faults(plan)


def test_assumed_is_said_only_of_a_choice() -> None:
    plan = plan_of(JOHN, [DEBT, SCORE | {"assumed": True}], [BALANCE], cost=0.00502)
    assert faults(plan) == ("step 1, action 2: assumed is true, but no other value is equally near")


TIES = "good(X) :- job(X,'b').\njob(X,V) :- paid(X,'yes'), V \\= 'a'."
TIED = {"paid": category("no", "yes"), "job": category("a", "b", "c")}
TIED_RULE = "job(X,V) :- paid(X,'yes'), V \\= 'a'."


def test_a_choice_among_equally_near_values_is_assumed() -> None:
    theory = small(TIES, TIED)
    initial = {"paid": "no", "job": "a"}
    act = direct("paid", "no", "yes")
    right = causal("job", "a", "b", TIED_RULE, assumed=True)
    assert faults(plan_of(initial, [act, right], cost=1), theory) == ""
    assert faults(plan_of(initial, [act, right | {"assumed": False}], cost=1), theory) == (
        "step 1, action 2: assumed is false, but several values are equally near"
    )


def test_any_allowed_value_may_follow_a_missing_one() -> None:
    rules = "good(X) :- score(X,N), N>=50, N<51.\nscore(X,N) :- paid(X,'yes'), N>=10, N=<90."
    theory = small(rules, {"paid": category("no", "yes"), "score": whole(0, 99)})
    initial = {"paid": "no", "score": None}
    act = direct("paid", "no", "yes")
    rule = "score(X,N) :- paid(X,'yes'), N>=10, N=<90."
    effect = causal("score", None, 50, rule, assumed=True)
    assert faults(plan_of(initial, [act, effect], cost=1), theory) == ""
    assert "no rule supports score becoming 95" in faults(
        plan_of(initial, [act, effect | {"to": 95}], cost=1), theory
    )


def test_a_causal_action_needs_a_violated_feature() -> None:
    found = faults(plan_of(JOHN, [SCORE | {"because": []}], [BALANCE], cost=0.00002))
    assert "step 1, action 1: credit_score is not violated" in found


def test_a_feature_without_causal_rules_never_changes_by_itself() -> None:
    plan = plan_of(JOHN, [SCORE | {"feature": "debt", "from": 5000, "to": 0}], cost=0)
    assert "step 1, action 1: no causal rule has debt as its head" in faults(plan)


def test_a_causal_action_costs_nothing() -> None:
    plan = plan_of(JOHN, [DEBT, SCORE | {"cost": 0.1}], [BALANCE], cost=0.00502)
    assert faults(plan) == "step 1, action 2: is causal and costs nothing, found 0.1"


CHAIN = """
    good(X) :- end(X,'b').
    middle(X,'b') :- first(X,'b').
    end(X,'b') :- middle(X,'b'), first(X,'b').
    end(X,'c') :- not middle(X,'b'), first(X,'b').
"""
CHAIN_FEATURES = {
    "first": category("a", "b"),
    "middle": category("a", "b"),
    "end": category("a", "b", "c"),
}


def test_effects_follow_one_another_downstream() -> None:
    theory = small(CHAIN, CHAIN_FEATURES)
    initial = dict.fromkeys(CHAIN_FEATURES, "a")
    middle = causal("middle", "a", "b", "middle(X,'b') :- first(X,'b').")
    end = causal("end", "a", "b", "end(X,'b') :- middle(X,'b'), first(X,'b').")
    assert faults(plan_of(initial, [direct("first", "a", "b"), middle, end], cost=1), theory) == ""


def test_an_effect_waits_for_those_upstream_of_it() -> None:
    theory = small(CHAIN, CHAIN_FEATURES)
    initial = dict.fromkeys(CHAIN_FEATURES, "a")
    early = causal("end", "a", "c", "end(X,'c') :- not middle(X,'b'), first(X,'b').")
    middle = causal("middle", "a", "b", "middle(X,'b') :- first(X,'b').")
    late = causal("end", "c", "b", "end(X,'b') :- middle(X,'b'), first(X,'b').")
    plan = plan_of(initial, [direct("first", "a", "b"), early, middle, late], cost=1)
    assert faults(plan, theory) == (
        "step 1, action 2: middle is violated upstream of end and changes first"
    )


def test_an_effect_keeps_to_the_direction_of_its_feature() -> None:
    theory = with_features(credit_score={"action": "down"})
    assert "step 1, action 2: credit_score only goes down" in faults(loan_plan(), theory)


# A direct action that follows where no effect exists.


def test_where_no_effect_exists_another_direct_action_follows_in_the_step() -> None:
    theory = small(STUCK, STUCK_FEATURES)
    acts = [direct("a", "n", "y"), direct("b", "n", "y")]
    assert faults(plan_of({"a": "n", "b": "n"}, acts, cost=2), theory) == ""


def test_an_inconsistent_state_is_not_kept_in_the_path() -> None:
    theory = small(STUCK, STUCK_FEATURES)
    steps = [direct("a", "n", "y")], [direct("b", "n", "y")]
    assert faults(plan_of({"a": "n", "b": "n"}, *steps, cost=2), theory) == (
        "step 1: ends inconsistent: it breaks the constraint :- a(X,'y'), b(X,'n')."
    )


def test_a_step_with_effects_left_to_happen_is_rejected() -> None:
    found = faults(plan_of(JOHN, [DEBT], [BALANCE], cost=0.00502))
    assert "step 1: ends inconsistent: the rules of credit_score do not allow 599" in found
    assert "step 2: is the last step, but the goal is not met at its end" in found


# Supported effects.


OPTIONS = """
    good(X) :- home(X,'c').
    home(X,'b') :- city(X,'y').
    home(X,'c') :- city(X,'y').
"""
OPTION_FEATURES = {"city": category("n", "y"), "home": category("a", "b", "c")}
HOMES = ["home(X,'b') :- city(X,'y').", "home(X,'c') :- city(X,'y')."]


def test_with_supported_effects_a_step_may_begin_with_a_causal_action() -> None:
    theory = small(OPTIONS, OPTION_FEATURES, effects="supported")
    plan = plan_of({"city": "y", "home": "b"}, [causal("home", "b", "c", *HOMES)], cost=0)
    assert faults(plan, theory) == ""
    assert "home is not violated" in faults(plan, small(OPTIONS, OPTION_FEATURES))


def test_with_supported_effects_because_still_holds_all_fired_rules() -> None:
    theory = small(OPTIONS, OPTION_FEATURES, effects="supported")
    plan = plan_of({"city": "y", "home": "b"}, [causal("home", "b", "c", HOMES[1])], cost=0)
    assert faults(plan, theory) == f"step 1, action 1: because: '{HOMES[0]}' belongs there"


def test_with_supported_effects_a_value_still_needs_a_fired_rule() -> None:
    theory = small(OPTIONS, OPTION_FEATURES, effects="supported")
    plan = plan_of({"city": "y", "home": "b"}, [causal("home", "b", "a", *HOMES)], cost=0)
    assert "step 1, action 1: no rule supports home becoming 'a'" in faults(plan, theory)


def test_a_constraint_that_the_problem_states_twice_is_an_exception_twice() -> None:
    age = {"type": "int", "min": 0, "max": 1}
    problem = Problem.from_dict(
        {"goal": "age(X,1)", "rules": ":- age(X,0).\n:- age(X,0).", "features": {"age": age}}
    )
    document = problem.plan({"age": 0}).to_dict()
    assert problem.check(document)
    document["exceptions"].append(document["exceptions"][0])
    verdict = problem.check(document)
    assert [fault.message for fault in verdict.faults] == ["':- age(X,0).' is listed twice"]


def test_constraints_that_are_listed_again_together_are_doubled() -> None:
    features = {name: whole(0, 1) for name in "fgh"}
    rules = [":- f(X,0), g(X,0).", ":- f(X,0), h(X,0)."]
    problem = Problem.from_dict({"goal": "f(X,1)", "rules": "\n".join(rules), "features": features})
    document = problem.plan({"f": 0, "g": 0, "h": 0}).to_dict()
    assert problem.check(document)
    separate = document["exceptions"]
    document["exceptions"] = [*separate, {"constraint": " ".join(rules)}]
    assert "is listed twice" in str(problem.check(document))
    document["exceptions"] = [{"constraint": " ".join(rules)}]
    assert "expected one constraint each" in str(problem.check(document))


def test_a_verdict_with_many_faults_names_the_first_and_counts_the_rest() -> None:
    problem = Problem.from_dict(LOAN)
    document = problem.plan(JOHN).to_dict()
    document["exceptions"] = [{"constraint": f":- age(X,{age})."} for age in range(1, 90)]
    lines = str(problem.check(document)).splitlines()
    assert len(lines) < 15
    assert lines[-1].endswith("more")
