"""Rules that cannot stand beside each other are refused while they are reviewed, or at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from p2c._learn.causal.adopt import approved_rules
from p2c._learn.causal.contradictions import read_proposal, refuse_contradictions, theory_of
from p2c._learn.causal.learning import weigh
from p2c._learn.causal.review import Review, write_review
from p2c._rules.evaluate import clause_fires, in_head
from p2c._spec.feature import Law
from p2c.errors import ReviewError
from tests.learn.causal.reviews import FEATURES, HIGH, SAID, candidate

if TYPE_CHECKING:
    from pathlib import Path


def test_rules_that_fire_together_with_disjoint_heads_are_refused(review: Review) -> None:
    review.decide("high", "approved", **SAID)
    overlapping = "score(X,N) :- job(X,'none'), N<500."
    with pytest.raises(ReviewError) as refused:
        review.decide("low", "edited", rule=overlapping, law="iff", **SAID)
    assert refused.value.rules == ("high", "low")
    assert "both fire where debt is 0 and job is 'none'" in str(refused.value)
    assert [each.id for each in review.pending()] == ["low", "wage"]


def test_rules_that_never_fire_together_may_have_disjoint_heads(review: Review) -> None:
    review.decide("high", "approved", **SAID)
    review.decide("low", "approved", law="iff", **SAID)
    assert len(review.approved().rules) == 2


def test_rules_that_only_permit_may_overlap(review: Review) -> None:
    review.decide("high", "approved", law="only_if", **SAID)
    overlapping = "score(X,N) :- job(X,'none'), N<500."
    review.decide("low", "edited", rule=overlapping, law="only_if", **SAID)
    assert len(review.approved().rules) == 2


def test_the_same_rule_under_another_law_is_refused(review: Review) -> None:
    review.decide("high", "approved", law="iff", **SAID)
    with pytest.raises(ReviewError, match="a feature has one law") as refused:
        review.decide("low", "edited", rule=HIGH, law="if", **SAID)
    assert refused.value.rules == ("high", "low")


def test_the_same_rule_under_the_same_law_is_used_once(review: Review) -> None:
    review.decide("high", "approved", law="iff", **SAID)
    review.decide("low", "edited", rule=HIGH, law="iff", **SAID)
    assert review.approved().text.count(HIGH) == 1


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("score(X,N) :- debt(X,D), D<5, D>7, N>=620.", "no row can satisfy its body"),
        ("score(X,N) :- debt(X,D), D>2000, N>=620.", "no row can satisfy its body"),
        ("score(X,N) :- debt(X,D), D=<0, N>=900.", "names no admissible value of 'score'"),
    ],
)
def test_a_rule_that_can_never_apply_is_refused(review: Review, rule: str, message: str) -> None:
    with pytest.raises(ReviewError, match=message):
        review.decide("high", "edited", rule=rule, **SAID)


def test_a_rule_that_no_row_of_the_data_satisfies_is_refused(review: Review) -> None:
    frame = pd.DataFrame({"debt": [1, 2], "score": [500, 600]})
    text = "score(X,N) :- debt(X,D), D>500, N<400."
    evidence = weigh(read_proposal("high", text, Law.IFF, FEATURES), frame, FEATURES)
    assert (evidence.support, evidence.rows) == (0, 2)
    with pytest.raises(ReviewError, match="no row of the data satisfies its body"):
        review.decide("high", "edited", rule=text, evidence=evidence, **SAID)


def test_two_rules_may_not_define_one_helper_differently(review: Review) -> None:
    helped = "{head} :- not ab1(X,'True'), {test}. ab1(X,'True') :- job(X,'{job}')."
    first = helped.format(head="score(X,N)", test="N>=620", job="cook")
    second = helped.format(head="paid(X,'yes')", test="debt(X,0)", job="clerk")
    review.decide("high", "edited", rule=first, **SAID)
    with pytest.raises(ReviewError, match="both define ab1"):
        review.decide("wage", "edited", rule=second, **SAID)


def test_rules_of_several_features_that_rule_each_other_out_are_refused_in_the_end(
    path: Path,
) -> None:
    around = (
        candidate("there", "paid(X,'yes') :- job(X,'cook').", Law.IF),
        candidate("back", "job(X,'none') :- paid(X,'yes').", Law.IF),
        candidate("aside", HIGH),
    )
    review = write_review(path, around, features=FEATURES)
    for each in around:
        review.decide(each.id, "approved", **SAID)
    with pytest.raises(ReviewError, match="in no state that obeys") as refused:
        approved_rules(review)
    assert refused.value.rules == ("there", "back")


TESTS = ("debt(X,0)", "not debt(X,0)", "debt(X,D), D>7", "job(X,'cook')", "not job(X,'cook')")
VALUES = ("N>=620", "N<620", "N>=700, N<800")
RULES = st.builds(
    lambda tests, value: f"score(X,N) :- {', '.join(tests)}, {value}.",
    st.lists(st.sampled_from(TESTS), min_size=1, max_size=3, unique=True),
    st.sampled_from(VALUES),
)


@settings(deadline=None)
@given(RULES, RULES)
def test_what_is_refused_is_what_some_state_and_no_value_bears_out(one: str, other: str) -> None:
    both = [read_proposal(text, text, Law.IFF, FEATURES) for text in dict.fromkeys((one, other))]
    theory = theory_of(both, FEATURES)
    clauses = theory.rules_of["score"]
    fired = [
        [clause_fires(theory, clause, {"debt": debt, "job": job}) for clause in clauses]
        for debt in (None, 0, 7, 8)
        for job in (None, "cook", "none")
    ]
    shared = any(
        all(in_head(theory, clause, score) for clause in clauses) for score in (300, 620, 700, 800)
    )
    dead = not all(any(column) for column in zip(*fired, strict=True))
    refused = dead or (any(map(all, fired)) and not shared)
    try:
        refuse_contradictions(both, FEATURES)
    except ReviewError:
        assert refused
    else:
        assert not refused
