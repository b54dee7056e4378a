"""The file of a review: torn, crafted and foreign lines, and several people at once."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from p2c._learn.causal.candidate import ReviewVerdict
from p2c._learn.causal.review import Review, read_review, write_review
from p2c.errors import P2CError, ReviewError
from tests.learn.causal.reviews import CANDIDATES, FEATURES, HIGH, IDLE, SAID, candidate

if TYPE_CHECKING:
    from pathlib import Path


def test_a_pipe_in_the_place_of_a_review_is_refused_and_holds_nobody_up(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "review.jsonl")
    with pytest.raises(P2CError, match="expected a regular file"):
        read_review(tmp_path / "review.jsonl")


@pytest.mark.parametrize("newline", [b"", b"\n"])
def test_a_line_torn_at_any_place_is_passed_over_and_writing_goes_on(
    review: Review, path: Path, newline: bytes
) -> None:
    review.decide("high", "approved", **SAID)
    whole = path.read_bytes()
    review.decide("wage", "approved", **SAID)
    last = path.read_bytes()[len(whole) :]
    for cut in range(1, len(last) - 1, 7):
        path.write_bytes(whole + last[:cut] + newline)
        torn = read_review(path)
        assert list(torn.verdicts()) == ["high"]
        assert torn.torn == (whole.count(b"\n") + 1,)
        torn.decide("wage", "rejected", **SAID)
        again = read_review(path)
        assert again.verdicts()["wage"].verdict is ReviewVerdict.REJECTED
        assert again.torn == torn.torn
        assert path.read_bytes().startswith(whole + last[:cut])


def test_a_record_that_lacks_only_its_line_break_counts(review: Review, path: Path) -> None:
    review.decide("high", "approved", **SAID)
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    again = read_review(path)
    assert list(again.verdicts()) == ["high"]
    again.decide("wage", "approved", **SAID)
    assert list(read_review(path).verdicts()) == ["high", "wage"]


def test_a_line_is_the_record_alone(review: Review, path: Path) -> None:
    review.decide("high", "approved", **SAID)
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert records == review.journal.records
    assert records[-1]["record"] == "answer"


def test_two_people_at_once_do_not_overwrite_each_other(review: Review, path: Path) -> None:
    other = read_review(path)
    review.decide("high", "approved", **SAID)
    with pytest.raises(ReviewError, match="someone wrote to it since it was read"):
        other.decide("wage", "approved", **SAID)
    assert list(read_review(path).verdicts()) == ["high"]


def test_an_answer_is_on_the_disk_before_it_counts(
    review: Review, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ReviewError, match="cannot be written: No space left"):
        review.decide("high", "approved", **SAID)
    assert review.answers == []


def test_new_candidates_join_a_review_in_use(review: Review, path: Path) -> None:
    review.decide("high", "approved", **SAID)
    before = path.read_bytes()
    again = write_review(path, (*CANDIDATES, candidate("idle", IDLE)), features=FEATURES)
    assert path.read_bytes().startswith(before)
    assert [each.id for each in again.pending()] == ["low", "wage", "idle"]
    unchanged = path.read_bytes()
    write_review(path, CANDIDATES, features=FEATURES)
    assert path.read_bytes() == unchanged


ANSWER = {
    "record": "answer",
    "rule": "high",
    "verdict": "approved",
    "law": "iff",
    "direction": "debt -> score",
    "text": HIGH,
    "by": "Expert",
    "at": "2024-01-01T00:00:00+00:00",
    "why": "seen",
}
COUNTS = {"rows": 9, "support": 4, "heads": 4, "hits": 3, "covered": 4, "explained": 3}
CANDIDATE = {
    "record": "candidate",
    "id": "new",
    "feature": "score",
    "rule": HIGH,
    "causes": ["debt"],
    "law": None,
    "evidence": {**COUNTS, "examples": []},
}


@pytest.mark.parametrize(
    ("crafted", "key"),
    [
        ({**ANSWER, "rule": "nobody"}, "there is no rule 'nobody'"),
        ({**ANSWER, "rule": ["high"]}, "'rule'"),
        ({**ANSWER, "rule": None}, "'rule'"),
        ({**ANSWER, "law": None}, "'law'"),
        ({**ANSWER, "law": ["iff"]}, "iff"),
        ({**ANSWER, "text": 5}, "'text'"),
        ({**ANSWER, "by": {"a": 1}}, "'by'"),
        ({**ANSWER, "at": 5}, "'at'"),
        ({**ANSWER, "why": None}, "'why'"),
        ({**ANSWER, "evidence": [1]}, "'evidence'"),
        ({**ANSWER, "verdict": {}}, "'verdict'"),
        ({"record": "answer", "verdict": "approved"}, "'rule'"),
        ({**CANDIDATE, "id": 7}, "'id'"),
        ({**CANDIDATE, "rule": None}, "'rule'"),
        ({**CANDIDATE, "causes": "debt"}, "'causes'"),
        ({**CANDIDATE, "causes": [1]}, "'causes'"),
        ({**CANDIDATE, "evidence": {**COUNTS, "examples": [3]}}, "'examples'"),
        ({**CANDIDATE, "evidence": {**COUNTS, "examples": [{"row": 1, "values": 5}]}}, "'values'"),
        (
            {**CANDIDATE, "evidence": {**COUNTS, "examples": [{"row": 1, "values": {"a": []}}]}},
            "'values', which hold no list",
        ),
        ({**CANDIDATE, "evidence": {**COUNTS, "examples": [], "rows": "9"}}, "'rows'"),
        ({**CANDIDATE, "evidence": {**COUNTS, "examples": [], "rows": True}}, "'rows'"),
        ({**CANDIDATE, "evidence": {**COUNTS, "examples": [], "hits": -1}}, "'hits'"),
        ({**CANDIDATE, "evidence": {**COUNTS, "examples": [], "hits": 5}}, "cannot be those"),
        ({**CANDIDATE, "evidence": {**COUNTS, "examples": [], "rows": 10**400}}, "cannot be those"),
        ({"record": "feature", "name": ["a"], "keys": {}}, "'name'"),
        ({"record": "feature", "name": "a", "keys": 5}, "'keys'"),
        ({"record": "else"}, "the kind 'else'"),
        ({"record": ["answer"]}, "kind"),
        ({}, "'record'"),
    ],
)
def test_a_crafted_line_is_one_line_that_names_the_record_and_the_key(
    review: Review, path: Path, crafted: dict[str, Any], key: str
) -> None:
    review.journal.append([crafted])
    with pytest.raises(ReviewError, match=f"record {len(review.journal.records)} ") as refused:
        read_review(path)
    assert key in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("content", ["", "not json\n", '{"record": "answer"}\n', "[1]\n"])
def test_another_file_is_no_review(path: Path, content: str) -> None:
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ReviewError):
        read_review(path)
