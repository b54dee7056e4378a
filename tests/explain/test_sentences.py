"""What a person reads: golden texts, and no rule text or variable in any of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings

from p2c._explain.model_reasons import ModelReasons
from p2c._explain.phrases import ENGLISH, Phrases
from p2c._explain.sentences import Sentence, explain_proof, number_words, to_text, value_words
from p2c._rules.proof import why
from p2c._spec.row import read_row
from tests.loan import JOHN, LOAN, category, ordinal, small, theory_of, whole
from tests.strategies import problems

if TYPE_CHECKING:
    from p2c._rules.theory import Theory

DOLLARS = {"unit": "dollars"}
FEATURES = LOAN["features"] | {
    "debt": LOAN["features"]["debt"] | DOLLARS | {"phrase": "you owe"},
    "bank_balance": LOAN["features"]["bank_balance"] | DOLLARS,
    "credit_score": LOAN["features"]["credit_score"] | {"label": "credit rating"},
}
SPOKEN = LOAN | {"features": FEATURES}


def lines(theory: Theory, state: dict[str, Any]) -> list[str]:
    return to_text(explain_proof(theory, why(theory, state))).splitlines()


def fact(rule: str, feature: dict[str, Any], value: Any) -> str:
    """Return the one sentence about a feature `how_many` that a goal of one rule leads to."""
    theory = small(rule, {"how_many": feature})
    return lines(theory, {"how_many": value})[1].removeprefix("- ")


def test_a_refusal_gives_each_reason_in_a_sentence() -> None:
    assert lines(theory_of(SPOKEN), JOHN) == [
        "You do not reach the goal: “reject loan” applies to you.",
        "- Your value for bank balance is 40,000 dollars, which is below 60,000 dollars.",
        "- Your value for credit rating is 599, which is below 620.",
    ]


def test_an_acceptance_says_what_keeps_each_rule_from_applying() -> None:
    rich = JOHN | {"bank_balance": 1_234_567, "credit_score": 620}
    assert lines(theory_of(SPOKEN), rich) == [
        "You reach the goal: “reject loan” does not apply to you.",
        "- Your value for bank balance is 1,234,567 dollars, which is at least 60,000 dollars.",
        "- Your value for credit rating is 620, and this counts from 620 on.",
    ]


def test_a_missing_value_that_forces_a_model_is_said_to_be_missing() -> None:
    state = JOHN | {"debt": None}
    told = ModelReasons(theory_of(SPOKEN), state, False, True, ("debt",)).sentences()
    assert [each.text for each in told[1:]] == ["Your value for debt is unknown."]


def test_a_missing_value_has_no_name_where_some_value_is_called_none() -> None:
    account = {"type": "category", "values": ["None", "full"], "names": {"None": "no account"}}
    problem = small("good(X) :- account(X,'full').", {"account": account})
    feature = problem.feature["account"]
    assert value_words(feature, None) == "unknown"
    assert value_words(feature, "None") == "no account"


def test_nested_decisions_are_explained_below_the_sentence_that_names_them() -> None:
    rules = """
        label(X,'good') :- pay(X,N), not(N=<20.5), not ab1(X).
        ab1(X) :- job(X,'no_job'), not ab2(X,'True').
        ab2(X,'True') :- home(X,'own').
    """
    features = {
        "pay": {"type": "float", "min": 0, "max": 100},
        "job": category("no_job", "some"),
        "home": category("own", "rented"),
    }
    theory = small(rules, features, goal="label(X,'good')")
    assert lines(theory, {"pay": 30.0, "job": "no_job", "home": "rented"}) == [
        "You do not reach the goal: “label: good” does not apply to you.",
        "- Exception 1 applies to you.",
        "  - Your value for job is no job, and exception 2 does not apply to you.",
        "    - Your value for home is rented rather than own.",
    ]
    assert lines(theory, {"pay": 30.0, "job": "some", "home": "rented"}) == [
        "You reach the goal: “label: good” applies to you.",
        "- Your value for pay is 30, which is above 20.5, and exception 1 does not apply to you.",
        "  - Your value for job is some rather than no job.",
    ]


@pytest.mark.parametrize(
    ("test", "value", "sentence"),
    [
        ("N<5", 3, "Your value for how many is 3, which is below 5."),
        ("N<5", 7, "Your value for how many is 7, which is at least 5."),
        ("N>=5", 5, "Your value for how many is 5, and this counts from 5 on."),
        ("N>5", 5, "Your value for how many is 5, and this counts up to 5."),
        ("N=<5", 3, "Your value for how many is 3, which is at most 5."),
        ("N=<5", 7, "Your value for how many is 7, which is above 5."),
        ("not(N=<5)", 3, "Your value for how many is 3, which is at most 5."),
        ("not(N=<5)", 7, "Your value for how many is 7, which is above 5."),
        ("5>N", 3, "Your value for how many is 3, which is below 5."),
        ("N = 5", 5, "Your value for how many is 5."),
        ("N = 5", 3, "Your value for how many is 3 rather than 5."),
        ("N \\= 5", 3, "Your value for how many is 3 rather than 5."),
        ("N \\= 5", 5, "Your value for how many is 5."),
        ("N>5", None, "Your value for how many is not known, so it does not count as above 5."),
        (
            "not(N>5)",
            None,
            "Your value for how many is not known, so it does not count as above 5.",
        ),
    ],
)
def test_a_comparison_is_said_as_it_stands_for_the_person(
    test: str, value: int | None, sentence: str
) -> None:
    assert fact(f"good(X) :- how_many(X,N), {test}.", whole(0, 9), value) == sentence


def test_the_order_of_an_ordinal_is_said_like_that_of_numbers() -> None:
    feature = ordinal("very_low", "low", "high", label="rank")
    assert fact("good(X) :- how_many(X,V), V>='low'.", feature, "very_low") == (
        "Your value for rank is very low, which is below low."
    )


@pytest.mark.parametrize(
    ("phrase", "sentence"),
    [
        ("you owe {value}", "You owe 3 cents, which is below 5 cents."),
        ("you owe", "You owe 3 cents, which is below 5 cents."),
        (
            "at home {label} stand at {value}",
            "At home coins stand at 3 cents, which is below 5 cents.",
        ),
    ],
)
def test_a_phrase_says_it_in_the_words_of_the_problem(phrase: str, sentence: str) -> None:
    feature = whole(0, 9, label="coins", unit="cents", phrase=phrase)
    assert fact("good(X) :- how_many(X,N), N<5.", feature, 3) == sentence


def test_a_goal_about_features_is_its_own_reason() -> None:
    theory = small("", {"n": whole(0, 9), "m": whole(0, 9)}, goal="n(X,N), N>=5, m(X,M), M>=5")
    assert lines(theory, {"n": 3, "m": 7}) == [
        "You do not reach the goal: your value for n is 3, which is below 5."
    ]
    assert lines(theory, {"n": 6, "m": 7}) == [
        "You reach the goal: your value for n is 6, which is at least 5, and your value for m is 7, which is at least 5."
    ]


def test_a_fact_is_so_for_everybody() -> None:
    theory = small("good(X).", {"n": whole(0, 9)})
    assert lines(theory, {"n": 3})[1] == "- This is so for everybody."


def test_the_same_fact_is_said_once_in_a_sentence() -> None:
    rule = "good(X) :- not how_many(X,'a'), not how_many(X,'b'), how_many(X,'c')."
    theory = small(rule, {"how_many": category("a", "b", "c")})
    assert explain_proof(theory, why(theory, {"how_many": "c"}))[1] == Sentence(
        "Your value for how many is c rather than a, and your value for how many is c rather than b, and your value for how many is c.",
        1,
    )


def test_another_language_is_another_catalogue() -> None:
    words = {
        "statement": "Ihr Wert bei {label} ist {value}",
        "relations": {
            **ENGLISH.relations,
            **dict.fromkeys(ENGLISH.relations, "{statement} (Grenze {constant})"),
        },
        "goal_missed": "Ziel verfehlt: {reason}",
        "applies": "{decision} trifft zu",
        "thousands": ".",
        "decimal": ",",
    }
    german = Phrases(vars(ENGLISH) | words)
    theory = theory_of(SPOKEN)
    sentences = explain_proof(theory, why(theory, JOHN), phrases=german)
    assert [each.text for each in sentences[:2]] == [
        "Ziel verfehlt: “reject loan” trifft zu.",
        "Ihr Wert bei bank balance ist 40.000 dollars (Grenze 60.000 dollars).",
    ]


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (0, "0"),
        (999, "999"),
        (1000, "1,000"),
        (1e22, "10,000,000,000,000,000,000,000"),
        (1e-7, "0.0000001"),
    ],
)
def test_numbers_are_written_out(number: float, words: str) -> None:
    assert number_words(number) == words


@given(problems())
@settings(max_examples=150, deadline=None)
def test_no_rule_text_and_no_variable_is_ever_shown(
    world: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    problem, row = world
    theory = theory_of(problem)
    sentences = explain_proof(theory, why(theory, read_row(theory.features, row)))
    assert sentences[0].depth == 0
    for each in sentences:
        assert each.text[-1] == "."
        assert not any(sign in each.text for sign in (":-", "(X", "=<", ">=", "\\=", "not(", "_"))
