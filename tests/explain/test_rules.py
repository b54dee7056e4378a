"""Rules and laws in words: the sentence says what the rule says, in both languages, and the examples what the law does."""

from __future__ import annotations

from typing import Any

import pytest

from p2c._explain.phrases import ENGLISH, GERMAN, Phrases
from p2c._explain.rules import law_words, rule_words
from p2c._learn.causal.contradictions import read_proposal, theory_of
from p2c._rules.meaning import allows, fired
from p2c._spec.feature import Law, Value

FEATURES: dict[str, dict[str, Any]] = {
    "relationship": {"type": "category", "values": ["Husband", "Wife", "Own-child"]},
    "marital_status": {"type": "category", "values": ["Divorced", "Married-civ-spouse"]},
    "sex": {"type": "category", "values": ["Female", "Male"]},
    "age": {"type": "int", "min": 17, "max": 90},
    "capital_gain": {"type": "float", "min": 0, "max": 99999, "unit": "dollars", "label": "gain"},
}
HUSBAND = "marital_status(X,'Married-civ-spouse') :- relationship(X,'Husband')."


def told(text: str, phrases: Phrases = ENGLISH) -> str:
    proposal = read_proposal("r", text, Law.IFF, FEATURES)
    theory = theory_of([proposal], FEATURES)
    (clause,) = theory.rules_of[proposal.feature]
    return rule_words(theory, clause, phrases)


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (HUSBAND, "If relationship is Husband, then marital status is Married-civ-spouse."),
        (
            "sex(X,'Male') :- not relationship(X,'Wife'), relationship(X,'Husband').",
            "If relationship is Husband and not “Wife”, then sex is Male.",
        ),
        (
            "sex(X,'Male') :- age(X,N), N>=30, N=<40.0.",
            "If age is at least 30 and at most 40, then sex is Male.",
        ),
        (
            "sex(X,'Male') :- age(X,N), not(N=<29), relationship(X,'Wife').",
            "If age is above 29 (or not known) and relationship is Wife, then sex is Male.",
        ),
        ("age(X,N) :- sex(X,'Male'), N>=18.", "If sex is Male, then age is at least 18."),
        (
            "relationship(X,V) :- sex(X,'Male'), V \\= 'Wife'.",
            "If sex is Male, then relationship is not “Wife”.",
        ),
        (
            "sex(X,'Male') :- capital_gain(X,N), N>6849.5.",
            "If gain is above 6,849.5 dollars, then sex is Male.",
        ),
        (
            "sex(X,'Male') :- age(X,N), N>40, not ab1(X). ab1(X) :- relationship(X,'Wife'), not ab2(X)."
            " ab1(X) :- age(X,N), N>80. ab2(X) :- capital_gain(X,N), N=<0.",
            "If age is above 40 (unless exception 1 applies), then sex is Male. If relationship is Wife"
            " (unless gain is at most 0 dollars), then exception 1 applies. If age is above 80, then"
            " exception 1 applies.",
        ),
        (
            "sex(X,'Male') :- age(X,N), N>40, not ab1(X). ab1(X) :- relationship(X,'Wife')."
            " ab1(X) :- age(X,N), N>80.",
            "If age is above 40 (unless relationship is Wife, or age is above 80), then sex is Male.",
        ),
        (
            "sex(X,'Male') :- gone(X). gone(X) :- age(X,N), not(N>=17), not(N<17).",
            "If age is not known, then sex is Male.",
        ),
        (
            "sex(X,'Male') :- not gone(X). gone(X) :- age(X,N), not(N>=17), not(N<17).",
            "If it is not so that age is not known, then sex is Male.",
        ),
        ("sex(X,'Male').", "In every case, sex is Male."),
    ],
)
def test_a_rule_is_told_without_brackets_in_brackets(rule: str, words: str) -> None:
    assert told(rule) == words


def test_a_rule_speaks_german() -> None:
    assert (
        told(HUSBAND, GERMAN)
        == "Wenn gilt: „relationship“ ist Husband, dann gilt: „marital status“ ist Married-civ-spouse."
    )


def test_exceptions_without_end_are_only_named_in_the_end() -> None:
    chain = " ".join(f"ab{n}(X) :- age(X,N), N>{n}, not ab{n + 1}(X)." for n in range(1, 40))
    words = told(f"sex(X,'Male') :- not ab1(X). {chain} ab40(X) :- age(X,N), N>80.")
    assert "exception 5 applies" in words
    assert len(words) < 400


def test_every_comparison_and_every_key_is_there_in_both_languages() -> None:
    assert set(ENGLISH.rules) == set(GERMAN.rules)


@pytest.mark.parametrize("law", list(Law))
def test_the_examples_of_a_law_say_what_the_law_does(law: Law) -> None:
    """What an example says of somebody is what the reference meaning does with them."""
    proposal = read_proposal("r", HUSBAND, law, FEATURES)
    theory = theory_of([proposal], FEATURES)
    (clause,) = theory.rules_of["marital_status"]
    words = law_words(theory, clause, law)
    person: dict[str, Value] = {"sex": "Male", "age": 40, "capital_gain": 0.0}
    applied = {**person, "relationship": "Husband", "marital_status": "Divorced"}
    silent = {**person, "relationship": "Wife", "marital_status": "Married-civ-spouse"}
    for example, state in zip(words.examples, (applied, silent), strict=True):
        rules = fired(theory, "marital_status", state)
        allowed = allows(theory, "marital_status", rules, state["marital_status"])
        assert ("stays as it is" in example) is allowed
        assert ("changes by itself" in example) is not allowed
        assert str(state["marital_status"]) in example
    assert "relationship is Husband" in words.text
    assert "arital status" in words.text
