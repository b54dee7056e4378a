from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import p2c
from p2c.domain.feature import Law
from p2c.errors import P2CError, ProblemError, ReviewError
from p2c.learn.causal.adopt import approved_rules, with_causal_rules
from p2c.learn.causal.candidate import Candidate, Evidence, Example
from p2c.learn.causal.contradictions import refuse_contradictions
from p2c.learn.causal.evidence import weigh
from p2c.learn.causal.proposal import read_proposal, theory_of
from p2c.learn.causal.review import Review, read_review, write_review
from p2c.learn.causal.verdict import ReviewVerdict
from p2c.rules.evaluate import clause_fires, in_head
from tests.learn.causal.reviews import FEATURES

if TYPE_CHECKING:
    from pathlib import Path

HIGH = "score(X,N) :- debt(X,D), D=<0, N>=620."
LOW = "score(X,N) :- debt(X,D), not(D=<0), N<620."
WAGE = "paid(X,'yes') :- not job(X,'none')."
IDLE = "paid(X,'no') :- job(X,'none')."
SAID: dict[str, Any] = {"by": "Expert", "why": "seen in practice"}


def test_a_pipe_in_the_place_of_a_review_is_refused_and_holds_nobody_up(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "review.jsonl")
    with pytest.raises(P2CError, match="expected a regular file"):
        read_review(tmp_path / "review.jsonl")


def candidate(name: str, rule: str, law: Law | None = Law.IFF) -> Candidate:
    feature = rule.partition("(")[0]
    causes = tuple(each for each in FEATURES if each != feature and f"{each}(" in rule)
    example = Example(3, (("score", 400), ("debt", None)))
    evidence = Evidence(100, 40, 50, 39, 60, 49, (example,))
    return Candidate(name, feature, rule, causes, evidence, law)


CANDIDATES = (
    candidate("high", HIGH),
    candidate("low", LOW, None),
    candidate("wage", WAGE, Law.IF),
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "review.jsonl"


@pytest.fixture
def review(path: Path) -> Review:
    return write_review(path, CANDIDATES, features=FEATURES)


def problem(**keys: Any) -> dict[str, Any]:
    rules = "reject(X) :- score(X,N), N<620."
    features = {name: dict(each) for name, each in FEATURES.items()}
    return {"name": "loan", "goal": "not reject(X)", "rules": rules, "features": features, **keys}


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
    assert read_review(path).candidates["high"].rule == HIGH


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


@pytest.mark.parametrize("change", ["rewrite", "remove"])
def test_a_line_changed_after_it_was_written_is_an_error(
    review: Review, path: Path, change: str
) -> None:
    review.decide("high", "rejected", by="Expert", why="chance")
    review.decide("wage", "approved", **SAID)
    lines = path.read_bytes().splitlines(keepends=True)
    lines[-2] = lines[-2].replace(b"rejected", b"approved") if change == "rewrite" else b""
    path.write_bytes(b"".join(lines))
    with pytest.raises(ReviewError, match="changed after it was written"):
        read_review(path)


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
        ({**ANSWER, "law": None}, "None"),
        ({**ANSWER, "law": ["iff"]}, "iff"),
        ({**ANSWER, "text": 5}, "'text'"),
        ({**ANSWER, "by": {"a": 1}}, "'by'"),
        ({**ANSWER, "at": 5}, "'at'"),
        ({**ANSWER, "why": None}, "'why'"),
        ({**ANSWER, "evidence": [1]}, "'evidence'"),
        ({**ANSWER, "verdict": {}}, "Verdict"),
        ({"record": "answer", "verdict": "approved"}, "'rule'"),
        ({**CANDIDATE, "id": 7}, "'id'"),
        ({**CANDIDATE, "rule": None}, "'rule'"),
        ({**CANDIDATE, "causes": "debt"}, "'causes'"),
        ({**CANDIDATE, "causes": [1]}, "'causes'"),
        ({**CANDIDATE, "evidence": {**COUNTS, "examples": [3]}}, "'examples'"),
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
    assert planned["features"]["score"]["causal"] == "iff"
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
        with_causal_rules(problem(rules=own, causal="only_if"), finished(review))


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
