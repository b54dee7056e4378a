"""Approved rules taken over into a problem."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import p2c
from p2c._learn.causal.adopt import with_causal_rules
from p2c.errors import P2CError, ProblemError, ReviewError
from tests.learn.causal.reviews import FEATURES, SAID, WAGE

if TYPE_CHECKING:
    from p2c._learn.causal.review import Review


def problem(**keys: Any) -> dict[str, Any]:
    rules = "reject(X) :- score(X,N), N<620."
    features = {name: dict(each) for name, each in FEATURES.items()}
    return {"name": "loan", "goal": "not reject(X)", "rules": rules, "features": features, **keys}


def test_a_pending_rule_keeps_a_problem_from_being_planned_and_is_named(review: Review) -> None:
    review.decide("high", "approved", **SAID)
    review.decide("wage", "rejected", **SAID)
    with pytest.raises(ReviewError, match="1 rule is not reviewed: low") as refused:
        with_causal_rules(problem(), review)
    assert refused.value.rules == ("low",)
    assert isinstance(refused.value, P2CError)


def finished(review: Review) -> Review:
    review.decide("high", "approved", **SAID)
    review.decide("low", "approved", law="iff", **SAID)
    review.decide("wage", "rejected", **SAID)
    return review


def test_approved_rules_are_what_the_planner_plans_with(review: Review) -> None:
    planned = with_causal_rules(problem(), finished(review))
    assert planned["features"]["score"]["law"] == "iff"
    plan = p2c.Problem.from_dict(planned).plan(
        {"debt": 5, "score": 500, "job": "cook", "paid": "yes"}
    )
    document = plan.to_dict()
    assert [a["feature"] for step in document["steps"] for a in step["actions"]] == [
        "debt",
        "score",
    ]
    assert document["counterfactual"]["score"] == 620


def test_a_problem_stays_as_it_was_given(review: Review) -> None:
    given = problem()
    with_causal_rules(given, finished(review))
    assert given == problem()


def test_a_problem_that_holds_a_rejected_rule_is_refused(review: Review) -> None:
    held = problem(rules=f"reject(X) :- score(X,N), N<620.\n{WAGE}")
    with pytest.raises(
        ReviewError, match="wage: the problem holds this rule, which Expert rejected"
    ):
        with_causal_rules(held, finished(review))


def test_a_problem_without_a_feature_of_a_rule_is_refused(review: Review) -> None:
    lacking = problem()
    del lacking["features"]["debt"]
    with pytest.raises(ReviewError, match="high: the problem has no feature 'debt'"):
        with_causal_rules(lacking, finished(review))


def test_a_problem_with_its_own_rules_under_another_law_is_refused(review: Review) -> None:
    own = "reject(X) :- score(X,N), N<620.\nscore(X,N) :- job(X,'none'), debt(X,7), N<400."
    with pytest.raises(ReviewError, match="under the law 'only_if'"):
        with_causal_rules(problem(rules=own, law="only_if"), finished(review))


def test_a_problem_whose_own_rule_contradicts_an_approved_one_is_refused(review: Review) -> None:
    own = "reject(X) :- score(X,N), N<620.\nscore(X,N) :- job(X,'none'), N<400."
    message = "line 2 of the problem, high: both fire where debt is 0 and job is 'none'"
    with pytest.raises(ReviewError, match=message):
        with_causal_rules(problem(rules=own), finished(review))


def test_a_problem_that_defines_a_helper_of_a_rule_is_refused(review: Review) -> None:
    helped = "score(X,N) :- debt(X,0), not ab1(X,'True'), N>=620. ab1(X,'True') :- job(X,'none')."
    review.decide("high", "edited", rule=helped, **SAID)
    for each in ("low", "wage"):
        review.decide(each, "rejected", **SAID)
    own = "reject(X) :- score(X,N), N<620, not ab1(X,'True').\nab1(X,'True') :- job(X,'cook')."
    with pytest.raises(ReviewError, match="high: the problem defines ab1 too"):
        with_causal_rules(problem(rules=own), review)


def test_the_domains_of_the_problem_count_too(review: Review) -> None:
    narrow = problem()
    narrow["features"]["debt"]["min"] = 1
    with pytest.raises(ReviewError, match="high: no row can satisfy its body"):
        with_causal_rules(narrow, finished(review))


def test_rules_in_another_file_have_to_be_read_first(review: Review) -> None:
    elsewhere = {**problem(), "rules": None, "rules_file": "loan.lp"}
    with pytest.raises(ProblemError, match="load the problem"):
        with_causal_rules(elsewhere, finished(review))
