"""One rejection, one test: each takes a valid plan, breaks one thing, and looks for the sentence that says so."""

from __future__ import annotations

import copy
import random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings

from p2c.domain.row import read_row
from p2c.errors import PlanError
from p2c.plan.validate import Verdict, check_plan
from tests.loan import CREDIT_RULE, JOHN, LOAN, category, ordinal, small, theory_of, whole
from tests.oracle import all_end_states, best_plan
from tests.strategies import problems

if TYPE_CHECKING:
    from p2c.rules.theory import Theory

Document = dict[str, Any]
DEBT: Document = {"kind": "direct", "feature": "debt", "from": 5000, "to": 0, "cost": 0.005}
BALANCE: Document = {
    "kind": "direct",
    "feature": "bank_balance",
    "from": 40000,
    "to": 60000,
    "cost": 0.00002,
}
SCORE: Document = {
    "kind": "causal",
    "feature": "credit_score",
    "from": 599,
    "to": 620,
    "cost": 0,
    "because": [CREDIT_RULE],
    "assumed": False,
}


def plan_of(initial: Document, *steps: list[Document], cost: float, **keys: Any) -> Document:
    """Return a found plan with these actions, each step with the state that they lead to."""
    state = dict(initial)
    written = []
    for actions in steps:
        state = state | {action["feature"]: action["to"] for action in actions}
        written.append({"actions": copy.deepcopy(actions), "state": dict(state)})
    plan = {
        "status": "found",
        "norm": "l1",
        "cost": cost,
        "optimal": True,
        "initial": dict(initial),
        "counterfactual": dict(state),
        "exceptions": [],
        "steps": written,
    }
    return plan | keys


def direct(feature: str, start: Any, end: Any, cost: float = 1) -> Document:
    return {"kind": "direct", "feature": feature, "from": start, "to": end, "cost": cost}


def causal(feature: str, start: Any, end: Any, *because: str, assumed: bool = False) -> Document:
    return SCORE | {
        "feature": feature,
        "from": start,
        "to": end,
        "because": list(because),
        "assumed": assumed,
    }


def loan_plan() -> Document:
    return plan_of(JOHN, [DEBT, SCORE], [BALANCE], cost=0.00502, problem="loan")


def verdict(document: Document, **keys: Any) -> Verdict:
    return check_plan(theory_of(LOAN | keys), document)


def faults(document: Document, theory: Theory | None = None) -> str:
    """Return what is wrong, one fault a line."""
    found = check_plan(theory or theory_of(LOAN), document)
    return "\n".join(map(str, found.faults))


def with_features(**features: Document) -> Theory:
    """Return the loan with some keys of its features changed."""
    known = LOAN["features"]
    changed = {name: known[name] | keys for name, keys in features.items()}
    return theory_of(LOAN | {"features": known | changed})


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
    [("l0", (1, 1), 2), ("l1", (0.005, 0.00002), 0.00502), ("l2", (0.005, 0.00002), 0.00500004)],
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


MOVES = {"job": category("a", "b", "c", moves={"a": ["b"], "b": ["a", "c"]}), "day": whole(0, 9)}


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


STUCK = "good(X) :- a(X,'y').\n:- a(X,'y'), b(X,'n')."
STUCK_FEATURES = {"a": category("n", "y"), "b": category("n", "y")}


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


# Steps, states and the path.


def test_a_recorded_state_is_the_replayed_one() -> None:
    plan = loan_plan()
    plan["steps"][0]["state"]["bank_balance"] = 60000
    assert faults(plan) == "step 1: records bank_balance as 60000, but it is 40000 there"


def test_the_counterfactual_is_the_last_state() -> None:
    plan = loan_plan()
    plan["counterfactual"]["credit_score"] = 621
    assert faults(plan) == "counterfactual: records credit_score as 621, but it is 620 there"


def test_numbers_of_an_int_feature_are_ints() -> None:
    plan = loan_plan()
    plan["counterfactual"]["credit_score"] = 620.0
    assert faults(plan) == "counterfactual: credit_score is an int feature, found 620.0"


def test_a_step_has_actions() -> None:
    plan = plan_of(JOHN, [], [DEBT, SCORE], [BALANCE], cost=0.00502)
    assert "step 1: has no actions" in faults(plan)


def test_no_state_repeats() -> None:
    theory = small("good(X) :- job(X,'c').", MOVES)
    steps = [direct("job", "a", "b")], [direct("job", "b", "a")], [direct("job", "a", "b")]
    found = faults(plan_of({"job": "a", "day": 0}, *steps, cost=3), theory)
    assert "step 2: ends in a state that the path had before, at the start" in found
    assert "step 3: ends in a state that the path had before, after step 1" in found


def test_the_goal_is_met_only_at_the_end() -> None:
    later = direct("bank_balance", 40000, 60000, 0.00002)
    rich = JOHN | {"debt": 0, "credit_score": 700}
    steps = [later], [direct("debt", 0, 5000, 0.005), causal("credit_score", 700, 619)]
    found = faults(plan_of(rich, *steps, cost=0.00502))
    assert "step 1: meets the goal, so the path ends here, but another step follows" in found


def test_the_goal_is_met_at_the_end() -> None:
    assert faults(plan_of(JOHN, [DEBT, SCORE], cost=0.005)) == (
        "step 1: is the last step, but the goal is not met at its end"
    )


# Costs.


def test_a_wrong_total_cost_is_rejected() -> None:
    assert faults(loan_plan() | {"cost": 0.005}) == (
        "cost: the path costs 0.00502 in l1, found 0.005"
    )


def test_costs_are_compared_with_a_relative_tolerance() -> None:
    assert verdict(loan_plan() | {"cost": 0.00502 * (1 + 5e-10)}).ok
    assert not verdict(loan_plan() | {"cost": 0.00502 * (1 + 5e-9)}).ok
    assert not verdict(loan_plan() | {"cost": -0.00502}).ok


def test_a_wrong_action_cost_is_rejected() -> None:
    plan = loan_plan()
    plan["steps"][0]["actions"][0]["cost"] = 0.006
    assert faults(plan) == "step 1, action 1: costs 0.005 in l1, found 0.006"


def test_weights_scales_and_ranks_make_the_cost() -> None:
    features = {
        "level": ordinal("low", "mid", "high", weight=3),
        "pay": {"type": "float", "min": 0, "max": 10, "scale": 2.5, "weight": 0.1},
    }
    theory = small("good(X) :- level(X,'mid'), pay(X,N), N>=0.3.", features)
    steps = [direct("level", "low", "mid", 1.5)], [direct("pay", 0, 0.3, 0.012)]
    assert faults(plan_of({"level": "low", "pay": 0}, *steps, cost=1.512), theory) == ""


# Exceptions.


EXCEPTION = {"feature": "credit_score", "rules": []}


def test_an_exception_keeps_a_broken_law_consistent() -> None:
    lucky = JOHN | {"credit_score": 700}
    plan = plan_of(lucky, [BALANCE], cost=0.00002, exceptions=[EXCEPTION])
    assert faults(plan) == ""
    named = EXCEPTION | {"rules": [CREDIT_RULE]}
    assert faults(plan | {"exceptions": [named]}) == ""


def test_an_exception_that_is_not_listed_is_a_fault() -> None:
    plan = plan_of(JOHN | {"credit_score": 700}, [BALANCE], cost=0.00002)
    assert faults(plan) == (
        "exceptions: credit_score breaks its law at the start and is not listed"
    )


def test_an_exception_that_is_none_is_a_fault() -> None:
    assert faults(loan_plan() | {"exceptions": [EXCEPTION]}) == (
        "exceptions: credit_score breaks no law at the start"
    )
    constraint = {"constraint": ":- debt(X,5000)."}
    assert faults(loan_plan() | {"exceptions": [constraint]}) == (
        "exceptions: ':- debt(X,5000).' is no constraint broken at the start"
    )


def test_an_exception_names_the_rules_that_fired() -> None:
    poor = JOHN | {"debt": 0}
    plan = plan_of(poor, [BALANCE], cost=0.00002, exceptions=[EXCEPTION])
    assert f"exceptions: the rules of credit_score: '{CREDIT_RULE}' belongs there" in faults(plan)


def test_a_broken_constraint_is_listed_and_tolerated_while_nothing_it_reads_changes() -> None:
    theory = small(STUCK + "\ngood(X) :- c(X,'y').", STUCK_FEATURES | {"c": category("n", "y")})
    initial = {"a": "y", "b": "n", "c": "n"}
    listed = [{"constraint": ":- a(X,'y'), b(X,'n')."}]
    acts = [direct("c", "n", "y")]
    steps = plan_of(initial, acts, cost=1, exceptions=listed)
    goal = small(
        STUCK.replace("good(X) :- a(X,'y').", "good(X) :- c(X,'y')."),
        STUCK_FEATURES | {"c": category("n", "y")},
    )
    assert faults(steps, goal) == ""
    assert "status: expected 'already'" in faults(steps, theory)
    assert "':- a(X,'y'), b(X,'n').' is broken at the start and not listed" in faults(
        steps | {"exceptions": []}, goal
    )


def test_a_strict_problem_refuses_a_row_that_breaks_a_law() -> None:
    plan = plan_of(JOHN | {"credit_score": 700}, [BALANCE], cost=0.00002)
    found = faults(plan, theory_of(LOAN | {"exceptions": "strict"}))
    assert "initial: the rules of credit_score do not allow 700, and exceptions are strict" in found


# Status.


def test_already_needs_the_goal_at_the_start() -> None:
    assert "status: 'already' means that the goal holds at the start, and it does not" in faults(
        plan_of(JOHN, cost=0, status="already")
    )


def test_found_is_wrong_where_the_goal_holds_at_the_start() -> None:
    rich = JOHN | {"debt": 0, "bank_balance": 60000, "credit_score": 700}
    assert "status: expected 'already', for the goal holds at the start" in faults(
        plan_of(rich, cost=0)
    )


def test_found_needs_steps() -> None:
    assert "status: 'found' needs at least one step" in faults(plan_of(JOHN, cost=0))


def test_already_costs_nothing_and_has_no_steps() -> None:
    rich = JOHN | {"debt": 0, "bank_balance": 60000, "credit_score": 700}
    assert "cost: the path costs 0 in l1, found 0.1" in faults(
        plan_of(rich, cost=0.1, status="already")
    )
    step = [direct("debt", 0, 1, 1e-6)]
    assert "status: 'already' has no steps, found 1" in faults(
        plan_of(rich, step, cost=1e-6, status="already")
    )


def test_infeasible_is_wrong_where_the_goal_holds_at_the_start() -> None:
    rich = JOHN | {"debt": 0, "bank_balance": 60000, "credit_score": 700}
    plan: Document = {"status": "infeasible", "initial": rich, "cost": None, "blockers": []}
    assert "status: expected 'already'" in faults(plan)


def test_infeasible_has_neither_steps_nor_cost() -> None:
    assert "status: 'infeasible' has no steps, found 2" in faults(
        loan_plan() | {"status": "infeasible"}
    )
    bare = {"status": "infeasible", "initial": JOHN, "cost": 1, "counterfactual": JOHN}
    assert "cost: expected null" in faults(bare)
    assert "counterfactual: expected null" in faults(bare)


def test_the_best_path_of_a_search_that_gave_up_is_replayed() -> None:
    plan = plan_of(JOHN, [DEBT], cost=0.005, status="gave_up", optimal=False)
    assert "step 1: ends inconsistent" in faults(plan)
    assert "optimal: expected false" in faults(loan_plan() | {"status": "gave_up"})


def test_a_plan_belongs_to_its_problem() -> None:
    assert faults(loan_plan() | {"problem": "cars"}) == "problem: expected 'loan', found 'cars'"


def test_every_fault_is_listed_at_once() -> None:
    plan = plan_of(JOHN, [direct("age", 31, 30, 0)], [DEBT, SCORE | {"to": 700}], cost=1)
    assert faults(plan).splitlines() == [
        "step 1, action 1: age is fixed: nothing changes it",
        "step 1, action 1: costs 0.01020408163 in l1, found 0",
        "step 2, action 2: the nearest value of credit_score is 620",
        "step 2: is the last step, but the goal is not met at its end",
        "cost: the path costs 0.01520408163 in l1, found 1",
    ]


# Documents that are no plans.


@pytest.mark.parametrize(
    "key", ["status", "initial", "cost", "counterfactual", "exceptions", "steps"]
)
def test_a_missing_key_is_named(key: str) -> None:
    plan = loan_plan()
    del plan[key]
    with pytest.raises(PlanError, match=f"the key '{key}' is missing"):
        verdict(plan)


@pytest.mark.parametrize("key", ["kind", "feature", "from", "to", "cost", "because", "assumed"])
def test_a_missing_key_of_an_action_is_named(key: str) -> None:
    plan = loan_plan()
    del plan["steps"][0]["actions"][1][key]
    with pytest.raises(PlanError, match=f"step 1, action 2: the key '{key}' is missing"):
        verdict(plan)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"status": "maybe"}, "status: expected one of 'found'"),
        ({"norm": "l7"}, "norm: expected one of 'l0', 'l1', 'l2', found 'l7'"),
        ({"cost": "cheap"}, "cost: expected a number, found 'cheap'"),
        ({"cost": float("nan")}, "cost: expected a number, found nan"),
        ({"cost": True}, "cost: expected a number, found True"),
        ({"cost": 10**5000}, "cost: expected a number, found a number of thousands of digits"),
        ({"cost": None}, None),
        ({"optimal": "yes"}, "optimal: expected true or false"),
        ({"initial": [1]}, r"initial: expected an object of keys and values, found \[1\]"),
        ({"initial": {}}, "initial: the key 'age' is missing"),
        ({"initial": JOHN | {"age": 200}}, "initial: age: 200 is outside its range"),
        ({"initial": JOHN | {"age": [31]}}, r"initial: age: expected a number, found \[31\]"),
        ({"steps": {"a": 1}}, "steps: expected a list"),
        ({"steps": [1]}, "step 1: expected an object"),
        ({"steps": [{"actions": []}]}, "step 1: the key 'state' is missing"),
        ({"steps": [{"actions": 4, "state": JOHN}]}, "step 1: actions: expected a list"),
        ({"steps": [{"actions": [None], "state": JOHN}]}, "step 1, action 1: expected an object"),
        (
            {"steps": [{"actions": [{"kind": "odd"}], "state": JOHN}]},
            "expected 'direct' or 'causal'",
        ),
        ({"exceptions": "none"}, "exceptions: expected a list, found 'none'"),
        ({"exceptions": [{}]}, "exception 1: the key 'feature' is missing"),
        ({"exceptions": [{"feature": "debt", "rules": [1]}]}, "exception 1: rules: expected text"),
        ({"problem": 5}, "problem: expected text, found 5"),
    ],
)
def test_a_wrong_type_is_refused_in_one_line(change: Document, message: str | None) -> None:
    if message is None:
        assert "cost: 'found' with this path needs one, found null" in faults(loan_plan() | change)
        return
    with pytest.raises(PlanError, match=message) as caught:
        verdict(loan_plan() | change)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("document", [None, [], "plan", 5])
def test_what_is_no_object_is_no_plan(document: Any) -> None:
    with pytest.raises(PlanError, match="plan: expected an object"):
        verdict(document)


# Random worlds.


@given(problems())
@settings(max_examples=150, deadline=None)
def test_every_best_plan_of_the_oracle_replays(world: tuple[Document, Document]) -> None:
    problem, row = world
    theory = theory_of(problem)
    state = read_row(theory.features, row)
    plan = best_plan(theory, state)
    if plan is not None:
        assert faults(plan.document, theory) == ""
        for end in all_end_states(theory, state, limit=5):
            assert faults(end.path, theory) == ""


@given(problems())
@settings(max_examples=150, deadline=None)
def test_a_damaged_plan_is_rejected(world: tuple[Document, Document]) -> None:
    problem, row = world
    theory = theory_of(problem)
    plan = best_plan(theory, read_row(theory.features, row))
    if plan is None or plan.status != "found":
        return
    for damage in (_drop_a_step, _drop_an_action, _hide_an_effort, _raise_the_cost, _turn_round):
        document = copy.deepcopy(plan.document)
        damage(document, random.Random(0))
        assert document == plan.document or faults(document, theory), damage.__name__


def _drop_a_step(document: Document, rng: random.Random) -> None:
    document["steps"].pop(rng.randrange(len(document["steps"])))


def _drop_an_action(document: Document, rng: random.Random) -> None:
    actions = rng.choice(document["steps"])["actions"]
    actions.pop(rng.randrange(len(actions)))


def _hide_an_effort(document: Document, rng: random.Random) -> None:
    actions = [act for step in document["steps"] for act in step["actions"]]
    efforts = [act for act in actions if act["kind"] == "direct"]
    if efforts:
        rng.choice(efforts).update(kind="causal", cost=0, because=[], assumed=False)


def _raise_the_cost(document: Document, rng: random.Random) -> None:
    document["cost"] += 1 + rng.random()


def _turn_round(document: Document, rng: random.Random) -> None:
    action = rng.choice(rng.choice(document["steps"])["actions"])
    action["from"], action["to"] = action["to"], action["from"]
