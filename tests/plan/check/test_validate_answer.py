"""An answer as a whole: its path, costs, exceptions and status. One rejection, one test."""

from __future__ import annotations

import copy
import random
from typing import Any

import pytest
from hypothesis import given, settings

from p2c._spec.row import read_row
from p2c.errors import PlanError
from tests.loan import CREDIT_RULE, JOHN, LOAN, category, ordinal, small, theory_of
from tests.oracle import all_end_states, best_plan
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
)
from tests.strategies import problems

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
        ({"norm": "l7"}, "norm: expected one of 'l0', 'l1', 'l2', 'linf', found 'l7'"),
        ({"cost": "cheap"}, "cost: expected a number, found 'cheap'"),
        ({"cost": float("nan")}, "cost: expected a number, found nan"),
        ({"cost": True}, "cost: expected a number, found True"),
        ({"cost": 10**5000}, "cost: expected a number, found a number of more than 30 digits"),
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
