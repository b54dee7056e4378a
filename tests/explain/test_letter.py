"""What the person is told: golden letters, plain words, no internal name, and nothing that a replay does not bear out."""

from __future__ import annotations

import re
import string
from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

import p2c
from p2c import P2CError, Problem, datasets
from p2c._explain.letter import Letter, write_letter
from p2c._explain.phrases import ENGLISH, LANGUAGES, Phrases
from p2c._explain.sentences import filled
from p2c._plan.outcome import Found, GaveUp
from p2c.errors import ProblemError
from tests.embedded import embedded, people
from tests.loan import JOHN, LOAN, category, whole
from tests.readability import reading_ease, sentences, syllables
from tests.strategies import problems


def told(letter: Letter) -> list[str]:
    """Return every piece of text of a letter."""
    pieces = [letter.title, letter.verdict]
    for section in letter.sections:
        pieces += [section.heading, section.lead]
        for item in section.items:
            pieces += [item.text, *item.notes]
    return [piece for piece in pieces if piece]


def letter_of(problem: Problem, row: Mapping[str, Any], language: str = "en") -> Letter:
    return write_letter(problem.theory, problem.plan(row), language=language)


def test_a_plan_is_told_from_the_refusal_to_the_proof() -> None:
    assert embedded("loan").plan(datasets.rows("loan")["john"]).explain() == "\n".join(
        [
            "The answer is no for now.",
            "",
            "Why the answer is what it is",
            "Each of these points alone leads to a no:",
            "- You have 40,000 dollars in the bank, which is below 60,000 dollars.",
            "- Your credit score is 599 points, which is below 620 points.",
            "",
            "What you can do",
            "Do these things in this order:",
            "1. Lower your debt from 5,000 dollars to 0 dollars.",
            "   → Your credit score will then go from 599 points to 620 points by itself. This is because you owe 0 dollars.",
            "2. Raise your bank balance from 40,000 dollars to 60,000 dollars or more.",
            "",
            "What would not be enough",
            "- Leave out step 1, and the answer stays no. Your credit score is 599 points, which is below 620 points.",
            "- Leave out step 2, and the answer stays no. You have 40,000 dollars in the bank, which is below 60,000 dollars.",
            "",
            "What this counts on",
            "- What should follow by itself does follow.",
            "- All else about you stays as it is.",
            "- The rules behind the answer stay as they are.",
            "",
            "What it takes",
            "It takes 2 steps of your own.",
            "- Step 1: 5,000 dollars less (debt).",
            "- Step 2: 20,000 dollars more (bank balance).",
            "- No other way takes less effort. This is proved.",
        ]
    )


def test_what_a_plan_takes_is_said_in_steps_and_never_as_a_bare_number() -> None:
    """A person knows what 5,000 dollars are, not what an effort of 0.00502 is."""
    for name in ("loan", "cars", "adult", "german"):
        for row in datasets.rows(name).values():
            plan = embedded(name).plan(row)
            if plan.status != "found":
                continue
            for language in ("en", "de"):
                letter = write_letter(embedded(name).theory, plan, language=language)
                parts = {each.kind: each for each in letter.sections}
                told = " ".join([parts["effort"].lead, *(i.text for i in parts["effort"].items)])
                count = len(plan.actions)
                assert count == 1 or str(count) in parts["effort"].lead
                fraction = f"{plan.cost:.3g}".partition(".")[2]
                assert not fraction or not re.search(rf"[.,]{fraction}\b", told)


def test_steps_of_the_same_effort_are_said_to_be_equally_hard() -> None:
    data = {
        "goal": "a(X,'y'), b(X,'y')",
        "rules": "",
        "features": {name: {**category("x", "y"), "weight": 2} for name in "ab"},
    }
    text = Problem.from_dict(data).plan({"a": "x", "b": "x"}).explain()
    assert "It takes 2 steps of your own. Each is as hard as the others." in text
    assert "- Step 2: a change of your b." in text


def test_where_several_steps_are_the_hardest_all_of_them_are_named() -> None:
    data = {
        "goal": "a(X,N), N>=1, b(X,'y'), c(X,'y'), d(X,'y')",
        "rules": "",
        "features": {
            "a": {**whole(0, 10), "scale": 10},
            **{name: {**category("x", "y"), "weight": 2} for name in "bcd"},
        },
    }
    plan = Problem.from_dict(data).plan({"a": 0, "b": "x", "c": "x", "d": "x"})
    assert "It takes 4 steps of your own. The hardest are steps 2, 3 and 4." in plan.explain()
    assert "Am schwersten wiegen die Schritte 2, 3 und 4." in plan.explain(language="de")


@pytest.mark.parametrize(("scale", "bounded"), [({}, True), ({}, False), ({"scale": 50.0}, False)])
def test_no_step_is_called_the_hardest_where_a_cost_follows_the_range(
    scale: dict[str, float], *, bounded: bool
) -> None:
    data = {
        "goal": "a(X,N), N>=9, b(X,M), M>=9",
        "rules": "",
        "features": {
            "a": {**whole(0, 10), "weight": 3},
            "b": {**whole(0, 1000), "weight": 3, **scale},
        },
    }
    plan = Problem.from_dict(data, bounded=bounded).plan({"a": 0, "b": 0})
    assert "It takes 2 steps of your own.\n" in plan.explain()


def test_a_plan_is_told_in_german_with_the_problems_german_words() -> None:
    text = embedded("loan").plan(datasets.rows("loan")["john"]).explain(language="de")
    assert "1. Senken Sie „Schulden“: jetzt 5.000 Dollar, dann 0 Dollar." in text.splitlines()
    assert "- Schritt 1: 5.000 Dollar weniger (Schulden)." in text.splitlines()
    assert not re.search(r"\b(your|the|dollars|debt)\b", text)


@pytest.mark.parametrize(
    ("row", "language", "title", "verdict"),
    [
        ("john", "en", "Your way to a yes", "The answer is no for now."),
        ("no_way", "en", "Your answer", "The answer is no."),
        ("no_way", "de", "Ihre Antwort", "Die Antwort ist Nein."),
        ("already", "en", "Your answer", "The answer is yes."),
    ],
)
def test_nobody_is_promised_a_way_that_there_is_not(
    row: str, language: str, title: str, verdict: str
) -> None:
    problem = embedded("loan")
    plan = problem.plan(datasets.rows("loan")[row])
    letter = write_letter(problem.theory, plan, language=language)
    assert (letter.title, letter.verdict) == (title, verdict)


def test_where_there_is_no_way_the_letter_says_what_blocks_and_what_opens() -> None:
    sections = {s.kind: s for s in letter_of(embedded("german"), people("german", 0)[3]).sections}
    assert [item.text for item in sections["blocked"].items] == [
        "Your bank account cannot be changed."
    ]
    assert sections["blocked"].lead.startswith(
        "There is no way from here. This is proved by rules that agree with the recorded outcomes"
        " on 73.4% of the rows."
    )
    assert sections["opened"].lead == "If this were not so, a way would open:"
    assert [item.text for item in sections["opened"].items] == [
        "Change your bank account from “less than 0 DM” to “none at all”."
    ]


def test_rules_that_leave_no_way_are_said_to() -> None:
    problem = Problem.from_dict(LOAN | {"rules": "reject_loan(X).", "features": {"n": whole(0, 9)}})
    (blocked,) = (s for s in letter_of(problem, {"n": 3}).sections if s.kind == "blocked")
    assert blocked.lead == filled(ENGLISH.rules_block, by="")
    assert blocked.items == ()


def test_a_search_that_gave_up_says_how_far_it_came() -> None:
    problem = Problem.from_dict(LOAN)
    letter = write_letter(problem.theory, problem.plan(JOHN, node_limit=0))
    (search,) = (s for s in letter.sections if s.kind == "search")
    assert search.lead == "The search came to its limit."
    assert [item.text for item in search.items] == [ENGLISH.stopped_without]


@pytest.mark.parametrize(
    ("share", "language", "lead"),
    [
        (0.0, "en", "The search came to its limit."),
        (
            0.6299,
            "en",
            "The search came to its limit. No way takes less than 62% of the effort of the way above.",
        ),
        (
            1.0,
            "de",
            "Die Suche hat ihre Grenze erreicht. Kein Weg kostet weniger als 100 % des Aufwands des Weges oben.",
        ),
    ],
)
def test_how_far_a_search_came_is_told_beside_the_best_way_and_never_as_a_bare_number(
    share: float, language: str, lead: str
) -> None:
    problem = Problem.from_dict(LOAN)
    best = problem.plan(JOHN)
    assert isinstance(best, Found)
    plan = GaveUp(best.question, share * best.cost, replace(best, proof="none"))
    letter = write_letter(problem.theory, plan, language=language)
    assert [each.lead for each in letter.sections if each.kind == "search"] == [lead]


def test_a_missing_value_is_said_to_be_unknown_and_set_rather_than_changed() -> None:
    texts = told(
        letter_of(
            Problem.from_dict(LOAN), JOHN | {"bank_balance": None, "debt": 0, "credit_score": 700}
        )
    )
    assert (
        "We do not know your bank balance, so this counts as not known."
        " The answer may be another once it is known." in texts
    )
    problem = Problem.from_dict(LOAN | {"goal": "bank_balance(X,N), N>=7"})
    texts = told(letter_of(problem, JOHN | {"bank_balance": None}))
    assert "Bring your bank balance to 7 or more." in texts


def test_an_outcome_that_the_plan_counts_on_is_said_to_be_luck() -> None:
    rules = "good(X) :- a(X,'y'). a(X,V) :- b(X,'on'), V \\= 'x'. a(X,'x') :- b(X,'off')."
    features = {"a": category("x", "y", "z"), "b": category("off", "on")}
    problem = Problem.from_dict({"goal": "good(X)", "rules": rules, "features": features})
    texts = told(letter_of(problem, {"a": "x", "b": "off"}))
    assert "Your a could turn out in some other way. This plan counts on y." in texts


def test_the_second_nearest_is_not_called_the_cheapest() -> None:
    first, second = embedded("loan").nearest(datasets.rows("loan")["john"], k=2)
    least = filled(ENGLISH.least_effort, by="")
    assert least in first.explain()
    assert least not in second.explain()
    assert filled(ENGLISH.least_to_here, by="") in second.explain()


def test_the_fewest_actions_are_not_called_the_least_effort() -> None:
    plan = embedded("loan").plan(datasets.rows("loan")["john"], minimize="actions")
    assert filled(ENGLISH.fewest_steps, by="") in plan.explain()
    assert filled(ENGLISH.least_effort, by="") not in plan.explain()


def test_a_plan_straight_from_an_engine_says_that_it_has_no_words() -> None:
    from p2c._engines import ENGINES

    problem = Problem.from_dict(LOAN)
    plan = ENGINES["native"].plan(problem.compiled, problem.read_row(JOHN), time_limit=None)
    with pytest.raises(P2CError, match=r"plan with Problem\.plan"):
        plan.explain()
    assert plan._repr_html_() is None


def test_an_unknown_language_is_named_with_those_there_are() -> None:
    with pytest.raises(P2CError, match="language: no catalogue 'xx'; known: 'de', 'en'"):
        Problem.from_dict(LOAN).plan(JOHN).explain(language="xx")


def test_a_name_for_a_value_that_there_is_not_is_a_fault() -> None:
    features = {"a": category("x", names={"y": "why"}, languages={"de": {"names": {"z": "Z"}}})}
    with pytest.raises(ProblemError) as caught:
        Problem.from_dict({"goal": "a(X,'x')", "rules": "", "features": features})
    assert str(caught.value).splitlines() == [
        "features.a.names: 'y' is not one of the values; known: 'x'",
        "features.a.languages.de.names: 'z' is not one of the values; known: 'x'",
    ]


@pytest.mark.parametrize(
    ("language", "steps", "reasons"),
    [
        ("en", "Raise your wait from 1 month to 5 months or more.", "There is one more point like these."),
        ("de", "Erhöhen Sie „Warten“: jetzt 1 Monat, dann 5 Monate oder mehr.", "Es gibt noch einen Punkt dieser Art."),
    ],
)  # fmt: skip
def test_one_of_a_thing_is_told_in_the_singular(language: str, steps: str, reasons: str) -> None:
    words = {"unit": "months", "languages": {"de": {"label": "Warten", "unit": "Monate"}}}
    many = {f"f{number}": whole(0, 9) for number in range(20)}
    rules = ["bad(X) :- wait(X,N), N<5."]
    rules += [f"bad(X) :- {name}(X,N), N<5." for name in many]
    problem = Problem.from_dict(
        {"goal": "not bad(X)", "rules": "\n".join(rules), "features": {"wait": whole(0, 9, **words), **many}}
    )  # fmt: skip
    letter = letter_of(problem, {"wait": 1, **dict.fromkeys(many, 1)}, language)
    assert {steps, reasons} <= set(told(letter))


def test_the_number_one_has_the_unit_that_the_problem_gives_it() -> None:
    kilo = whole(0, 9, unit="sacks of rice", unit_one="sack of rice")
    hours = whole(0, 9, unit="hours per week")
    problem = Problem.from_dict(
        {"goal": "n(X,N), N>1, h(X,M), M>1", "rules": "", "features": {"n": kilo, "h": hours}}
    )
    text = problem.plan({"n": 1, "h": 1}).explain()
    assert "from 1 sack of rice to 2 sacks of rice or more." in text
    assert "jetzt 1 hour per week, dann 2 hours per week" in problem.plan({"n": 1, "h": 1}).explain(
        "de"
    )
    assert "from 1 hour per week to 2 hours per week or more." in text


def places(frame: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(frame) if name}


def frames(phrases: Phrases) -> dict[str, set[str]]:
    """Return the places of every phrase of a catalogue, by where it stands."""
    found: dict[str, set[str]] = {}
    for name, value in vars(phrases).items():
        if name == "units_of_one":  # its words are each language's own
            continue
        entries = value.items() if isinstance(value, Mapping) else [("", value)]
        for key, frame in entries:
            found[f"{name} {key}"] = places(frame)
    return found


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_catalogue_has_the_same_phrases_with_the_same_places(language: str) -> None:
    assert frames(LANGUAGES[language]) == frames(ENGLISH)
    assert LANGUAGES[language].language == language


def test_every_phrase_that_the_code_names_is_in_the_catalogue() -> None:
    named = re.compile(r"\b(?:phrases|ENGLISH|GERMAN)\.([a-z]\w*)")
    source = Path(p2c.__file__).parent
    texts = [each.read_text() for each in source.rglob("*.py")]
    found = {name for text in texts for name in named.findall(text)}
    found -= {"append", "py"}
    assert len(found) > 100
    assert found - vars(ENGLISH).keys() == set()
    told = " ".join(texts)
    unsaid = [name for name in vars(ENGLISH) if not re.search(rf"\b{name}\b", told)]
    assert [name for name in unsaid if not name.startswith("ended_")] == []


@pytest.mark.parametrize("language", [each for each in LANGUAGES if each != "en"])
def test_no_sentence_is_left_in_english(language: str) -> None:
    same = [
        name
        for name, text in vars(ENGLISH).items()
        if isinstance(text, str) and len(text) > 12 and text == vars(LANGUAGES[language])[name]
    ]
    assert same == ["with_unit"]


def internal_names(problem: Problem) -> set[str]:
    """Return the names that rules use and that nobody meant for people."""
    theory = problem.theory
    features = problem.theory.features
    meant = " ".join(
        chain.from_iterable(
            (f.label, f.phrase, f.advice, *(words for _, words in f.names)) for f in features
        )
    )
    names = {feature.name for feature in features}
    names |= {decision.predicate for decision, _ in theory.decisions}
    names |= {str(each) for decision, _ in theory.decisions for each in decision.arguments}
    for feature in features:
        if feature.is_listed:
            names |= {str(feature.domain.value(n)) for n in range(feature.domain.size)}
    spoken = set(re.findall(r"[\w'-]+", meant)) | {"good", "more", "low", "high"}
    return {name for name in names if name not in spoken}


@pytest.mark.parametrize("name", datasets.names())
def test_no_rule_no_variable_and_no_internal_name_reaches_the_person(name: str) -> None:
    problem = embedded(name)
    banned = internal_names(problem)
    assert banned
    pattern = re.compile(
        "|".join(rf"(?<![\w-]){re.escape(each)}(?![\w-])" for each in sorted(banned))
    )
    for row in people(name, 120):
        for language in LANGUAGES:
            for piece in told(letter_of(problem, row, language)):
                assert not pattern.search(piece), piece
                assert not any(sign in piece for sign in (":-", "(X", "=<", ">=", "\\=", "_")), (
                    piece
                )


@pytest.mark.parametrize("name", datasets.names())
def test_every_sentence_for_the_person_is_plain_english(name: str) -> None:
    problem = embedded(name)
    pieces = {piece for row in people(name, 120) for piece in told(letter_of(problem, row))}
    scored = {each: reading_ease(each) for piece in pieces for each in sentences(piece)}
    assert len(scored) > 20
    assert {each: score for each, score in scored.items() if score < 60} == {}


@pytest.mark.parametrize(
    ("word", "count"),
    [
        ("answer", 2), ("take", 1), ("people", 2), ("married", 2), ("effort", 2), ("capital", 3),
        ("credit", 2), ("dial", 2), ("40,000", 1), ("proved", 1), ("degree", 2), ("car's", 1),
    ],
)  # fmt: skip
def test_syllables_are_counted_as_people_count_them(word: str, count: int) -> None:
    assert syllables(word) == count


@given(problems())
@settings(max_examples=50, deadline=None)
def test_every_outcome_of_any_problem_can_be_told_and_drawn(
    world: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    data, row = world
    problem = Problem.from_dict(data | {"exceptions": "abduce"})
    plan = problem.plan(row)
    for language in LANGUAGES:
        letter = write_letter(problem.theory, plan, language=language)
        for piece in told(letter):
            assert (
                piece[-1] in ".:"
                or piece in LANGUAGES[language].headings.values()
                or piece == letter.title
            )
            assert not any(sign in piece for sign in (":-", "(X", "=<", ">=", "\\=", "not("))
        if plan.status == "found":
            (steps,) = (s for s in letter.sections if s.kind == "steps")
            acts = [a for s in plan.steps for a in s.actions]
            assert sum(1 + len(item.notes) for item in steps.items) >= len(acts)
    assert plan.to_svg().count("<svg") == 1


@pytest.mark.parametrize(
    ("language", "said"),
    [("en", "Your value for open debts is 6"), ("de", "Ihr Wert bei „open debts“ ist 6")],
)
def test_a_label_may_stand_in_the_plural(language: str, said: str) -> None:
    debts = whole(0, 9) | {"label": "open debts"}
    problem = Problem.from_dict(
        {"goal": "not bad(X)", "rules": "bad(X) :- debts(X,N), N>5.", "features": {"debts": debts}}
    )
    assert any(each.startswith(said) for each in told(letter_of(problem, {"debts": 6}, language)))


def test_no_verb_agrees_with_a_label() -> None:
    singular = re.compile(
        r"(?<!value for )\{label\}(?: of \{value\}| \(\{value\}\))?,? (?:then )?(is|goes|has|does|becomes)\b"
    )
    told = list(vars(ENGLISH).values())
    letters = [
        *(each for each in told if isinstance(each, str)),
        *ENGLISH.restrictions.values(),
        *ENGLISH.picture.values(),
    ]
    assert not [each for each in letters if singular.search(each)]


@pytest.mark.parametrize(
    ("goal", "start", "english", "german"),
    [
        ("n(X,N), N>=80002", 40_000, "to 81,000 euros or more.", "dann 81.000 euros oder mehr."),
        ("n(X,N), N<19998", 40_000, "to 19,000 euros or less.", "dann 19.000 euros oder weniger."),
        ("n(X,N), N=<0", 40_000, "to 0 euros.", "dann 0 euros."),
        (
            "n(X,N), N>=50000, N=<90123",
            40_000,
            "to 50,000 euros (at most 90,000 euros).",
            "dann 50.000 euros (höchstens 90.000 euros).",
        ),
        (
            "n(X,N), N>=5000, N=<20000",
            40_000,
            "to 20,000 euros (at least 5,000 euros).",
            "dann 20.000 euros (mindestens 5.000 euros).",
        ),
    ],
)
def test_a_letter_says_how_exactly_a_number_has_to_be_met(
    goal: str, start: int, english: str, german: str
) -> None:
    features = {"n": whole(0, 100_000, unit="euros")}
    plan = Problem.from_dict({"goal": goal, "rules": "", "features": features}).plan({"n": start})
    assert english in plan.explain()
    assert german in plan.explain("de")


def test_a_letter_names_the_other_categories_that_would_do() -> None:
    job = {"type": "category", "values": ["none", "cook", "clerk"]}
    keys = {"goal": "not job(X,'none')", "rules": "", "features": {"job": job}}
    text = Problem.from_dict(keys).plan({"job": "none"}).explain()
    assert "Change your job from “none” to “cook”. Clerk would do as well." in text
