"""A review as an expert fills it in: what an answer says, what counts, what is refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from p2c._learn.causal.candidate import ReviewVerdict
from p2c._learn.causal.review import Review, read_review
from p2c._spec.feature import Law
from p2c.errors import ReviewError
from tests.learn.causal.reviews import CANDIDATES, FEATURES, HIGH, LOW, SAID

if TYPE_CHECKING:
    from pathlib import Path


def test_a_review_is_read_back_as_it_was_written(review: Review, path: Path) -> None:
    again = read_review(path)
    assert tuple(again.candidates.values()) == CANDIDATES
    assert again.features == FEATURES
    assert again.pending() == CANDIDATES
    assert again.torn == ()


def test_the_file_has_one_record_a_line_and_only_grows(review: Review, path: Path) -> None:
    before = path.read_bytes()
    review.decide("high", "approved", **SAID)
    review.decide("wage", ReviewVerdict.REJECTED, **SAID)
    after = path.read_bytes()
    assert after.startswith(before)
    assert after.count(b"\n") == before.count(b"\n") + 2
    assert all(isinstance(json.loads(line), dict) for line in after.splitlines())


def test_an_answer_says_by_whom_when_why_under_which_law_and_which_way(
    review: Review, path: Path
) -> None:
    review.decide("high", "approved", by="Expert", why="debt is read by the bureau")
    (answer,) = read_review(path).answers
    assert (answer.verdict, answer.by, answer.law) == (ReviewVerdict.APPROVED, "Expert", Law.IFF)
    assert answer.direction == "debt -> score"
    assert answer.why == "debt is read by the bureau"
    assert answer.at.endswith("+00:00")
    assert answer.text == HIGH


def test_of_two_answers_the_last_counts_and_both_are_kept(review: Review, path: Path) -> None:
    review.decide("high", "rejected", by="Expert", why="chance")
    review.decide("high", "approved", by="Expert", why="looked again")
    again = read_review(path)
    assert [each.why for each in again.history("high")] == ["chance", "looked again"]
    assert again.verdicts()["high"].verdict is ReviewVerdict.APPROVED
    assert HIGH in again.approved().text


def test_what_is_rejected_or_pending_is_not_approved(review: Review) -> None:
    review.decide("high", "rejected", **SAID)
    review.decide("wage", "approved", **SAID)
    approved = review.approved()
    assert [each.id for each in approved.rules] == ["wage"]
    assert approved.laws == {"paid": Law.IF}
    assert approved.text.startswith("% wage, approved by Expert on ")
    assert [each.id for each in review.pending()] == ["low"]


def test_an_edited_rule_is_approved_as_edited(review: Review, path: Path) -> None:
    edited = "score(X,N) :- debt(X,D), D=<10, N>=620."
    review.decide("high", "edited", rule=edited, **SAID)
    approved = read_review(path).approved()
    assert edited in approved.text
    assert HIGH not in approved.text
    assert read_review(path).candidates["high"].text == HIGH


def test_an_edit_may_turn_the_direction_round(review: Review) -> None:
    answer = review.decide("high", "edited", rule="debt(X,0) :- score(X,N), N>=620.", **SAID)
    assert answer.direction == "score -> debt"
    assert review.approved().laws == {"debt": Law.IFF}


@pytest.mark.parametrize(
    ("verdict", "keys", "message"),
    [
        ("approvedd", {}, "did you mean 'approved'"),
        ("approved", {"by": " "}, "'by' is empty"),
        ("rejected", {"why": ""}, "'why' is empty"),
        ("approved", {"law": "when"}, "no law 'when'"),
        ("edited", {}, "the text is the proposed one"),
        ("edited", {"rule": HIGH.replace(" ", "\n ")}, "the text is the proposed one"),
        ("approved", {"rule": LOW}, "is 'edited'"),
        ("rejected", {"rule": LOW}, "a rejected rule has no text"),
        ("edited", {"rule": "score(X,N) :- debt(X,D"}, "line 1, column"),
        ("edited", {"rule": "score(X,N) :- dept(X,0), N>=620."}, "did you mean 'debt'"),
        (
            "edited",
            {"rule": "reject(X) :- debt(X,0)."},
            "expected one rule whose head is a feature",
        ),
        ("edited", {"rule": f"{HIGH} {LOW}"}, "found 2 such rules"),
        ("edited", {"rule": f"{HIGH} :- debt(X,0)."}, "no constraint"),
        ("edited", {"rule": "score(X,N) :- score(X,700), N>=620."}, "may not read 'score' itself"),
    ],
)
def test_an_answer_that_is_incomplete_or_unreadable_is_refused_and_not_written(
    review: Review, path: Path, verdict: str, keys: dict[str, str], message: str
) -> None:
    before = path.read_bytes()
    with pytest.raises(ReviewError, match=message):
        review.decide("high", verdict, **{**SAID, **keys})
    assert path.read_bytes() == before
    assert review.pending() == CANDIDATES


def test_a_rule_without_a_suggested_law_needs_one(review: Review) -> None:
    with pytest.raises(ReviewError, match="suggest no law"):
        review.decide("low", "approved", **SAID)
    assert review.decide("low", "approved", law="if", **SAID).law is Law.IF


def test_an_unknown_rule_is_named_with_a_likely_one(review: Review) -> None:
    with pytest.raises(ReviewError, match="no rule 'hihg'; did you mean 'high'"):
        review.decide("hihg", "approved", **SAID)
