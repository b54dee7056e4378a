"""The forms: every block and field is there, in every language."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

import pytest

from p2c import P2CError, Problem, datasets
from p2c._explain.phrases import LANGUAGES
from p2c._notices.form import FORMS, PLACE, form_text, frame_fields, packaged, read_form
from p2c._spec.toml import problem_to_toml
from tests.embedded import embedded
from tests.notices.offices import CASE, FIELDS, lender
from tests.readability import reading_ease, sentences

if TYPE_CHECKING:
    from pathlib import Path

JOHN = datasets.rows("loan")["john"]
LAWS = {
    "reg-b": {
        "account": "form C-1",
        "action": "12 CFR 1002.9(a)(2)",
        "reasons": "12 CFR 1002.9(a)(2)(i)",
        "consumer_report": "15 U.S.C. 1681m(a)(3)",
        "credit_score": "15 U.S.C. 1681m(a)(2)",
        "outside_source": "15 U.S.C. 1681m(b)",
        "questions": "form C-1",
        "ecoa": "12 CFR 1002.9(b)(1)",
    },
    "ccd2": {
        "refusal": "art. 18(9)",
        "reasons": "art. 18(8)(a)",
        "automated": "art. 18(9)",
        "explanation": "art. 18(8)(a)",
        "data": "art. 18(8)(a)",
        "intervention": "art. 18(8)",
        "view": "art. 18(8)(b)",
        "review": "art. 18(8)(c)",
        "contest": "art. 18(9)",
        "database": "art. 19(6)",
        "debt_advice": "art. 18(9)",
    },
    "colorado": {
        "decision": "6-1-1704",
        "role": "6-1-1704",
        "reasons": "6-1-1704",
        "data": "6-1-1704",
        "more": "6-1-1704",
        "correction": "6-1-1705(1)(a)(I)",
        "human_review": "6-1-1705(1)(a)(II)",
        "contact": "6-1-1704",
    },
    "plain": {"letter": ""},
}
"""The mandatory blocks, each with its place in the law."""


@pytest.mark.parametrize("name", FORMS)
def test_a_form_has_the_mandatory_blocks_of_its_law_with_their_places(name: str) -> None:
    blocks = {key: each.cite for key, each in packaged(name).blocks.items() if each.mandatory}
    assert list(blocks) == list(LAWS[name])
    for key, cite in LAWS[name].items():
        assert cite in blocks[key], key


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_form_has_the_same_fields_in_every_language(name: str, language: str) -> None:
    form = packaged(name)
    form.check_language(language)
    for key, block in form.blocks.items():
        if block.text:
            english, other = block.text["en"], block.text[language]
            assert sorted(PLACE.findall(english)) == sorted(PLACE.findall(other)), key
            assert len(english.strip().split("\n\n")) == len(other.strip().split("\n\n")), key


@pytest.mark.parametrize("name", FORMS)
def test_what_a_law_leaves_to_us_is_said_in_plain_english(name: str) -> None:
    for key, block in packaged(name).blocks.items():
        text = "" if block.fixed else block.text.get("en", "")
        for paragraph in text.strip().split("\n\n"):
            for sentence in sentences(PLACE.sub("it", paragraph)):
                assert reading_ease(sentence) >= 60, (key, sentence)


def made(form: Any, fields: dict[str, Any], case: dict[str, Any], language: str = "en") -> str:
    loan = embedded("loan")
    written = loan.report(
        JOHN,
        format="txt",
        language=language,
        notice=form,
        lender=lender(fields=fields),
        case=case,
    )
    return written.decode()


def mandatory(name: str) -> list[str]:
    """Return every field of a form that has no default, the frame's too."""
    form = packaged(name)
    return [*form.frame, *(each for each in form.fields if each not in form.defaults)]


@pytest.mark.parametrize(
    ("name", "field"), [(name, field) for name in FORMS for field in mandatory(name)]
)
def test_a_notice_without_one_field_stops_by_its_name(name: str, field: str) -> None:
    fields = {key: value for key, value in FIELDS.items() if key != field}
    case = {key: value for key, value in CASE.items() if key != field}
    if field == "date":  # today, unless another day is given
        assert made(name, fields, case)
        return
    with pytest.raises(P2CError) as stopped:
        made(name, fields, case)
    (line,) = str(stopped.value).splitlines()
    assert line.startswith(f"{name}: {field}: missing: ")
    assert (packaged(name).fields.get(field) or frame_fields()[field]) in line


@pytest.mark.parametrize("empty", ["", [], None, {"de": "nur deutsch"}])
def test_an_empty_field_is_a_missing_one(empty: Any) -> None:
    with pytest.raises(P2CError, match=r"^reg-b: creditor: missing"):
        made("reg-b", {**FIELDS, "creditor": empty}, CASE)


@pytest.mark.parametrize(
    ("name", "block"), [(name, block) for name in FORMS for block in LAWS[name]]
)
def test_an_edited_form_keeps_every_mandatory_block(name: str, block: str, tmp_path: Path) -> None:
    data = tomllib.loads(form_text(name))
    del data["blocks"][block]
    path = tmp_path / "mine.toml"
    path.write_text(problem_to_toml(data), encoding="utf-8")
    with pytest.raises(
        P2CError, match=rf"blocks\.{block}: is missing; a {name} notice has to have it"
    ):
        read_form(path)


@pytest.mark.parametrize(
    ("name", "block", "field"),
    [
        (name, key, field)
        for name in FORMS
        for key, block in packaged(name).blocks.items()
        for field in block.places
        if block.mandatory
    ],
)
def test_an_edited_form_keeps_every_field_of_a_mandatory_block(
    name: str, block: str, field: str, tmp_path: Path
) -> None:
    data = tomllib.loads(form_text(name))
    changed = data["blocks"][block]
    if field == "key_factors":
        del changed["list"]
    else:
        changed["text"]["en"] = changed["text"]["en"].replace(f"{{{field}}}", "")
    path = tmp_path / "mine.toml"
    path.write_text(problem_to_toml(data), encoding="utf-8")
    with pytest.raises(P2CError, match=rf"blocks\.{block}\.(text\.en|list): "):
        read_form(path)


def test_a_lender_edits_words_and_adds_a_block(tmp_path: Path) -> None:
    text = form_text("reg-b").replace('"Action taken"', '"What we did"')
    text += '\n[blocks.more]\ncite = ""\ntext.en = "Visit us: {hours}"\n'
    text = text.replace("[fields]\n", '[fields]\nhours = "opening hours"\n')
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    told = made(path, {**FIELDS, "hours": "nine to five"}, CASE)
    assert "What we did" in told
    assert "Visit us: nine to five" in told
    with pytest.raises(P2CError, match="hours: missing: opening hours"):
        made(path, FIELDS, CASE)
    with pytest.raises(P2CError, match=r"blocks\.more: no text in 'de'"):
        made(path, FIELDS, CASE, "de")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("name = ", "not TOML: Invalid value"),
        ('name = "x"\n', "title: this key is missing"),
        (
            'name = "x"\nblocks = {}\ntitle = {en = "t"}\ntitel = 1\n',
            "titel: unknown key; did you mean 'title'?",
        ),
        (
            'name = "x"\ntitle = {en = "t"}\n[blocks.a]\ncite = ""\ntext.en = "{who}"\n',
            r"blocks\.a: no field 'who' under \[fields\]",
        ),
        (
            'name = "x"\ntitle = {en = "t"}\n[blocks.a]\ncite = ""\nliste = "reasons"\n',
            r"blocks\.a\.liste: unknown key; did you mean 'list'\?",
        ),
    ],
)
def test_a_form_that_is_wrong_is_refused_in_one_line(
    text: str, complaint: str, tmp_path: Path
) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(P2CError, match=complaint):
        read_form(path)


def test_an_unknown_form_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(P2CError, match="no form 'reg-c'; did you mean 'reg-b'"):
        read_form("reg-c")


def test_an_answer_of_yes_needs_no_notice() -> None:
    loan = Problem.example("loan")
    with pytest.raises(P2CError, match="the decision is a yes"):
        loan.report(datasets.rows("loan")["already"], notice="reg-b", lender=lender(), case=CASE)
