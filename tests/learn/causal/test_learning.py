from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings

from p2c._learn.causal.candidate import Candidate, Evidence, render_graph, suggest_law
from p2c._learn.causal.contradictions import read_proposal
from p2c._learn.causal.learning import cuts_of, learn_causal_rules, quantile_cuts, weigh
from p2c._learn.tables.domains import domain_from_frame, tidy_frame
from p2c._rules import parse, render
from p2c._spec.feature import Law
from p2c.datasets import load_frame
from p2c.errors import ProblemError
from tests.learn.frames import Table, tables

MARRIED = "marital_status(X,'Married-civ-spouse')"
PAPER = {
    f"{MARRIED} :- relationship(X,'Husband').",
    f"{MARRIED} :- relationship(X,'Wife').",
    "marital_status(X,'Never-married') :- not relationship(X,'Husband'), "
    "not relationship(X,'Wife'), age(X,N1), N1=<29.0.",
}


@pytest.fixture(scope="module")
def adult() -> pd.DataFrame:
    return load_frame("adult").drop(columns=["capital_gain_raw", "capital_loss", "label"])


@pytest.fixture(scope="module")
def marital(adult: pd.DataFrame) -> tuple[Candidate, ...]:
    return learn_causal_rules(adult, targets=["marital_status"])


@pytest.fixture(scope="module")
def german() -> tuple[Candidate, ...]:
    return learn_causal_rules(load_frame("german").drop(columns="label"), complements=True)


def test_adult_gives_the_causal_rules_of_the_paper_letter_for_letter(
    marital: tuple[Candidate, ...],
) -> None:
    assert {each.rule for each in marital} == PAPER


def test_marriage_follows_from_being_a_husband_or_a_wife_as_precisely_as_in_the_paper(
    marital: tuple[Candidate, ...],
) -> None:
    married = [each.evidence for each in marital if each.rule.startswith(MARRIED)]
    hits, support = (sum(getattr(each, key) for each in married) for key in ("hits", "support"))
    assert hits / support == pytest.approx(0.999, abs=0.0005)
    assert married[0].precision == pytest.approx(0.9993, abs=0.0001)
    assert married[0].recall_together == pytest.approx(0.982, abs=0.005)


def test_the_evidence_names_the_rows_that_speak_against_a_rule(
    marital: tuple[Candidate, ...], adult: pd.DataFrame
) -> None:
    husband = next(each for each in marital if "'Husband')." in each.rule)
    assert husband.evidence.counterexamples == 9
    assert husband.causes == ("relationship",)
    for example in husband.evidence.examples:
        row = adult.iloc[example.row - 1]
        assert row["relationship"] == "Husband"
        assert row["marital_status"] != "Married-civ-spouse"
        assert dict(example.values) == row[["marital_status", "relationship"]].to_dict()


def test_only_the_features_named_may_be_causes(adult: pd.DataFrame) -> None:
    found = learn_causal_rules(adult, ["sex", "age"], targets=["relationship"])
    assert {cause for each in found for cause in each.causes} == {"sex", "age"}
    husband = next(each for each in found if "'Husband'" in each.rule)
    assert husband.evidence.precision == pytest.approx(0.713, abs=0.02)
    assert husband.evidence.recall == pytest.approx(0.932, abs=0.03)


def test_every_candidate_is_a_rule_of_the_language_about_the_features_of_the_table(
    german: tuple[Candidate, ...],
) -> None:
    features = domain_from_frame(load_frame("german").drop(columns="label"))
    for each in german:
        assert render(parse(each.rule)) == each.rule
        proposal = read_proposal(each.id, each.rule, Law.IFF, features)
        assert proposal.feature == each.feature
        assert set(proposal.causes) == set(each.causes)


def test_no_two_candidates_share_an_exception(german: tuple[Candidate, ...]) -> None:
    features = domain_from_frame(load_frame("german").drop(columns="label"))
    defined = [
        name
        for each in german
        for name in read_proposal(each.id, each.rule, Law.IFF, features).helper_names
    ]
    assert len(defined) > 10
    assert len(defined) == len(set(defined))
    assert len({each.id for each in german}) == len(german)


def test_a_number_is_explained_range_by_range(german: tuple[Candidate, ...]) -> None:
    rules = [each.rule.split("\n")[0] for each in german if each.feature == "credit_amount"]
    assert rules
    assert all(rule.startswith("credit_amount(X,N) :- ") for rule in rules)
    assert any("N>=3973." in rule for rule in rules)


def test_a_category_may_be_explained_by_what_it_is_not(german: tuple[Candidate, ...]) -> None:
    rules = [each.rule for each in german]
    assert (
        "present_employment_since(X,V) :- job(X,'unskilled-resident'), V \\= 'unemployed'." in rules
    )


def test_numbers_are_cut_where_a_program_cuts_them() -> None:
    frame = tidy_frame(pd.DataFrame({"n": [1, 3, 5, 7], "m": ["a", "b", "a", "b"]}))
    program = parse("bad(X) :- n(X,N), N=<3.0.\ngood(X) :- n(X,N), not(N<7), m(X,'a').")
    assert cuts_of(program, frame) == {"n": [5.0, 7.0]}


def test_a_number_that_fills_a_part_has_it_to_itself() -> None:
    assert quantile_cuts(np.array([-5.0, *[0.0] * 20, 3.0, 4.0, 9.0]), 4) == [0.0, 3.0]


def test_explicit_cuts_decide_the_heads() -> None:
    frame = pd.DataFrame({"debt": [0, 0, 5, 9] * 10, "score": [700, 640, 500, 400] * 10})
    found = learn_causal_rules(frame, targets=["score"], cuts={"score": [620]})
    assert {each.rule for each in found} == {
        "score(X,N) :- debt(X,N1), not(N1=<0.0), N<620.",
        "score(X,N) :- debt(X,N1), N1=<0.0, N>=620.",
    }


@pytest.mark.parametrize(
    ("precision", "recall", "law"),
    [(99, 99, Law.IFF), (99, 50, Law.IF), (50, 99, Law.ONLY_IF), (80, 80, None), (90, 10, Law.IF)],
)
def test_a_law_is_suggested_from_nine_rows_in_ten_on(
    precision: int, recall: int, law: Law | None
) -> None:
    evidence = Evidence(100_000, 100, 100, precision, 200, recall)
    assert suggest_law(evidence) is law


def test_nine_in_ten_is_no_law_where_nearly_every_row_has_the_head() -> None:
    evidence = Evidence(1_000, 100, 900, 93, 100, 93)
    assert suggest_law(evidence) is None
    assert suggest_law(replace(evidence, hits=96, explained=96)) is Law.IF


def test_the_graph_says_who_causes_whom_and_what_goes_both_ways(adult: pd.DataFrame) -> None:
    found = learn_causal_rules(
        adult, ["relationship", "age", "marital_status"], targets=["marital_status", "relationship"]
    )
    text = render_graph(found)
    assert "marital_status\n  <-> relationship: 3 rules, P(head|body) up to 99.9%" in text
    assert "99.9%; the other way round too\n" in text
    assert "\n  <- age: " in text


def test_an_unknown_column_is_named_with_a_likely_one() -> None:
    with pytest.raises(ProblemError, match="no column 'agee'; did you mean 'age'"):
        learn_causal_rules(pd.DataFrame({"age": [1, 2], "n": [1, 2]}), ["agee"])


@settings(max_examples=15, deadline=None)
@given(tables())
def test_the_evidence_is_what_the_meaning_of_the_rule_says(table: Table) -> None:
    frame = table.frame.assign(outcome=list(table.labels))
    frame = frame.dropna(axis="columns", how="all")
    features = domain_from_frame(frame)
    found = learn_causal_rules(frame, ratio=table.ratio, tail=table.tail, bins=3, examples=2)
    for each in found:
        proposal = read_proposal(each.id, each.rule, Law.IFF, features)
        weighed = weigh(proposal, frame, features, examples=2)
        own = replace(each.evidence, covered=each.evidence.support, explained=each.evidence.hits)
        assert replace(weighed, examples=()) == replace(own, examples=())
        rows = [example.row for example in each.evidence.examples]
        assert [example.row for example in weighed.examples] == rows
