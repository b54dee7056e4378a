"""Proofs as trees and as text."""

from __future__ import annotations

import pandas as pd
import pytest

from p2c.learn.foldse import FoldSE
from p2c.learn.foldse.literals import LearnedLiteral, LearnedRule, Relation
from p2c.learn.foldse.proof import prove

BIRDS = LearnedRule(
    (
        LearnedLiteral("bird", Relation.EQUAL, "yes"),
        LearnedLiteral("Age-now", Relation.AT_MOST, 30.0),
    ),
    (
        LearnedRule(
            (
                LearnedLiteral("kind", Relation.EQUAL, "penguin"),
                LearnedLiteral("Age-now", Relation.ABOVE, 2.0),
            )
        ),
    ),
    "flies",
)


def test_a_proof_shows_what_held_and_what_failed() -> None:
    proof = prove([BIRDS], {"bird": "yes", "Age-now": 4.0, "kind": ""}, default="walks")
    assert str(proof).splitlines() == [
        "flies, because a rule holds",
        "  rule for flies holds",
        "    bird is 'yes': holds, it is 'yes'",
        "    age_now is at most 30.0: holds, it is 4.0",
        "    exception fails",
        "      kind is 'penguin': fails, it is missing",
        "      age_now is above 2.0: holds, it is 4.0",
    ]


def test_where_every_rule_fails_the_default_is_proved() -> None:
    proof = prove([BIRDS], {"bird": "yes", "Age-now": 4.0, "kind": "penguin"}, default="walks")
    assert (proof.label, proof.by_default) == ("walks", True)
    assert [each.holds for each in proof.rules[0].exceptions] == [True]


def test_a_row_may_be_a_mapping_a_series_a_frame_or_values() -> None:
    frame = pd.DataFrame({"a": [1, 2, 3, 4], "b": list("xyxy")})
    model = FoldSE().fit(frame, [0, 0, 1, 1])
    rows = [{"a": 4}, frame.iloc[3], frame.iloc[[3]], [4, "y"]]
    assert len({model.explain(row) for row in rows}) == 1
    assert model.explain([None, "x"]).rules[0].literals[0].value == ""


@pytest.mark.parametrize(
    ("row", "message"),
    [({"b": 1}, "the row has no 'a'"), ([1], "expected 2 values, found 1")],
)
def test_a_row_that_does_not_fit_is_refused(row: object, message: str) -> None:
    model = FoldSE().fit(pd.DataFrame({"a": [1, 2], "b": [0, 0]}), [0, 1])
    with pytest.raises(ValueError, match=message):
        model.explain(row)
