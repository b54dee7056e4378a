"""Relations in a review: the same file, answers and refusals as for causal rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from p2c._learn.causal.adopt import approved_rules, with_causal_rules
from p2c._learn.causal.review import read_review, write_review
from p2c._learn.relations.relation import Example, Relation, RelationKind
from p2c.errors import ReviewError
from tests.learn.causal.reviews import CANDIDATES, FEATURES, SAID

if TYPE_CHECKING:
    from pathlib import Path

    from p2c._learn.causal.review import Review

NUMBERS = {
    name: {"type": "int", "min": 0, "max": 1000} for name in ("income", "ratio", "own", "let")
}
ALL = FEATURES | NUMBERS
RATIO = Relation(
    "ratio-1",
    RelationKind.RATIO,
    ("ratio", "debt", "income"),
    "ratio = debt / income",
    100,
    98,
    (Example(7, (("ratio", 3), ("debt", 4), ("income", None))),),
)
ORDER = Relation(
    "debt-2", RelationKind.ORDER, ("debt", "income"), ":- debt(X,A), income(X,B), A > B.", 90, 90
)
HOME = Relation("home-3", RelationKind.GROUP, ("own", "let"), "home: own, let", 90, 90)


@pytest.fixture
def review(tmp_path: Path) -> Review:
    return write_review(tmp_path / "r.review", [RATIO, ORDER, HOME], features=ALL)


def test_a_relation_is_read_back_as_it_was_written(review: Review) -> None:
    again = read_review(review.path)
    assert list(again.candidates.values()) == [RATIO, ORDER, HOME]
    assert again.open_relations() == (RATIO, ORDER, HOME)


def test_approved_relations_become_equations_rules_and_groups(review: Review) -> None:
    answer = review.decide("ratio-1", "approved", **SAID)
    assert (answer.law, answer.direction) == (None, "debt, income -> ratio")
    review.decide("debt-2", "approved", **SAID)
    review.decide("home-3", "approved", **SAID)
    approved = read_review(review.path).approved()
    assert approved.declared.equations == {"ratio": "debt / income"}
    assert approved.declared.groups == {"home": ("own", "let")}
    assert ORDER.text in approved.text
    assert "% debt-2, approved by Expert" in approved.text


def test_an_edited_relation_takes_the_place_of_the_proposed_one(review: Review) -> None:
    review.decide("ratio-1", "edited", rule="ratio = 100 * debt / income", **SAID)
    assert review.approved().declared.equations == {"ratio": "100 * debt / income"}


def test_a_rejected_relation_is_neither_used_nor_open(review: Review) -> None:
    review.decide("ratio-1", "rejected", **SAID)
    assert review.approved().declared.equations == {}
    assert RATIO not in review.open_relations()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"law": "iff"}, "ratio-1: a relation has no law"),
        (
            {"verdict": "edited", "rule": "rate = debt / income"},
            "ratio-1: no feature 'rate'; did you mean 'ratio'",
        ),
        ({"verdict": "edited", "rule": "by and large"}, "ratio-1: expected an equation"),
        ({"verdict": "edited", "rule": ":- debt(X."}, "ratio-1: line 1, column"),
        ({"verdict": "edited", "rule": "ratio = debt / income"}, "the text is the proposed one"),
    ],
)
def test_an_answer_that_cannot_hold_is_refused_in_one_line(
    review: Review, arguments: dict[str, Any], message: str
) -> None:
    before = review.path.read_bytes()
    with pytest.raises(ReviewError, match=message):
        review.decide("ratio-1", **({"verdict": "approved"} | SAID | arguments))
    assert review.path.read_bytes() == before


def test_two_equations_of_one_feature_are_refused(tmp_path: Path) -> None:
    other = Relation("ratio-9", RelationKind.SUM, ("ratio", "debt"), "ratio = debt + 1", 50, 50)
    review = write_review(tmp_path / "r.review", [RATIO, other], features=ALL)
    review.decide("ratio-1", "approved", **SAID)
    with pytest.raises(ReviewError, match="another approved relation has an equation for 'ratio'"):
        review.decide("ratio-9", "approved", **SAID)


def test_open_relations_do_not_keep_causal_rules_from_being_used(tmp_path: Path) -> None:
    review = write_review(tmp_path / "r.review", [RATIO, CANDIDATES[2]], features=ALL)
    with pytest.raises(ReviewError, match="1 rule is not reviewed: wage"):
        approved_rules(review)
    review.decide("wage", "approved", **SAID)
    assert [each.id for each in approved_rules(review).rules] == ["wage"]


def test_a_problem_keeps_open_relations_until_they_are_answered(review: Review) -> None:
    problem = {"goal": "debt(X,N), N<9", "rules": "", "features": ALL}
    merged = with_causal_rules(problem, review)
    kept = {"text": RATIO.text, "features": list(RATIO.features), "rows": 100, "holds": 98}
    assert merged["relations"]["ratio-1"] == kept
    review.decide("ratio-1", "rejected", **SAID)
    assert list(with_causal_rules(merged, review)["relations"]) == ["debt-2", "home-3"]


def test_a_relation_record_with_impossible_counts_is_refused(review: Review) -> None:
    text = review.path.read_text().replace('"holds": 98', '"holds": 980')
    review.path.write_text(text)
    with pytest.raises(ReviewError, match="lacks or misuses 'holds', which is greater than 'rows'"):
        read_review(review.path)
