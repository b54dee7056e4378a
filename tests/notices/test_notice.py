"""Notices: reasons, data sheet, frame, formats, and the register."""

from __future__ import annotations

import hashlib
import json
import re
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from typing import TYPE_CHECKING, Any

import pytest

from p2c import P2CError, Problem, datasets
from p2c._explain.phrases import LANGUAGES
from p2c._notices.filed import append_record, kept_until, read_register
from p2c._notices.form import FORMS, PLACE, packaged
from p2c._spec.feature import missing_words
from tests.embedded import embedded, people
from tests.loan import LOAN
from tests.notices.offices import CASE, FIELDS, lender

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

JOHN = datasets.rows("loan")["john"]
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c4944415408d763f8cfc000000301010018dd8db00000000049454e44ae426082"
)
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>alert(1)</script><rect width="9" height="9"/></svg>'
SPOKEN = [
    language
    for language in LANGUAGES
    if language == "en" or not missing_words(embedded("loan").theory.features[1], language)
]


def notice(row: Mapping[str, Any] = JOHN, **options: Any) -> str:
    usual: dict[str, Any] = {"notice": "reg-b", "lender": lender(), "case": CASE, "format": "txt"}
    return embedded("loan").report(row, **{**usual, **options}).decode()


def assert_complete(text: str, form: str, language: str, problem: str) -> None:
    """Check that each mandatory block stands in a notice, with a reason."""
    plain = " ".join(text.split())
    for key, block in packaged(form).blocks.items():
        if not block.mandatory:
            continue
        for part in (block.heading.get(language, ""), block.text.get(language, "")):
            for piece in PLACE.split(part)[::2]:
                assert " ".join(piece.split()) in plain, (problem, form, key, piece)
    assert "1. " in text
    assert "\n5. " not in text  # at most four reasons, and two key factors


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("language", SPOKEN)
def test_every_block_stands_in_the_notice(form: str, language: str) -> None:
    text = notice(notice=form, language=language)
    assert_complete(text, form, language, "loan")
    for value in CASE.values():
        for line in value.splitlines():
            assert line in text or form == "plain"


@pytest.mark.parametrize("name", ["german", "adult"])
@pytest.mark.parametrize("form", FORMS)
def test_every_block_stands_in_the_notices_to_a_sample(name: str, form: str) -> None:
    assert assert_all_complete(name, (form,), people(name, 12)) > 3


@pytest.mark.slow
@pytest.mark.parametrize("name", ["german", "adult"])
def test_every_block_stands_in_the_notices_to_all_who_are_refused(name: str) -> None:
    known = embedded(name).theory.feature
    rows = ({key: row[key] for key in known} for row in datasets.load_rows(name))
    distinct = {tuple(row.values()): row for row in rows}
    assert assert_all_complete(name, ("reg-b", "ccd2"), distinct.values()) > 100


def assert_all_complete(name: str, forms: Iterable[str], rows: Iterable[Mapping[str, Any]]) -> int:
    """Check the notices to each person who is refused; return their number."""
    problem, refused = embedded(name), 0
    for row in rows:
        plan = problem.plan(row)
        if plan.status == "already":
            continue
        refused += 1
        language = "de" if refused % 5 == 0 else "en"
        options: dict[str, Any] = {"format": "txt", "language": language, "case": CASE}
        for form in forms:
            text = problem.report(plan, notice=form, lender=lender(), **options).decode()
            assert_complete(text, form, language, name)
    return refused


def test_reasons_have_codes_and_protected_features_are_none(tmp_path: Path) -> None:
    codes = tmp_path / "codes.csv"
    codes.write_text(
        "feature,direction,code,text_en,text_de\n"
        "bank_balance,,R01,Too little money in the bank,Zu wenig Geld auf der Bank\n"
        "credit_score,,R07,Credit score,Kreditscore\n",
        encoding="utf-8",
    )
    own = tmp_path / "lender.toml"
    own.write_text('protected = ["age"]\nreasons = "codes.csv"\n', encoding="utf-8")
    fields = {**FIELDS, **CASE}
    text = notice(lender=own, case={**fields, "data_sheet": False})
    assert "1. R01: Too little money in the bank\n2. R07: Credit score\n" in text
    german = notice(lender=own, case={**fields, "data_sheet": False}, language="de")
    assert "1. R01: Zu wenig Geld auf der Bank\n2. R07: Kreditscore\n" in german
    text = notice(lender=lender(protected=["bank_balance"]))
    assert "1. Credit score is too low (599 points).\n" in text
    assert "Bank balance is too low" not in text
    everything = lender(protected=["bank_balance", "credit_score"])
    with pytest.raises(P2CError, match="none that is not protected"):
        notice(lender=everything)


def test_a_code_without_words_in_the_language_is_refused(tmp_path: Path) -> None:
    codes = tmp_path / "codes.csv"
    codes.write_text(
        "feature,direction,code,text_en\nbank_balance,,R01,Low\ncredit_score,,R07,Score\n"
    )
    (tmp_path / "lender.toml").write_text('protected = []\nreasons = "codes.csv"\n')
    with pytest.raises(P2CError, match="no text in 'de' for the code 'R01'"):
        notice(
            lender=tmp_path / "lender.toml",
            case={**FIELDS, **CASE, "data_sheet": False},
            language="de",
        )


def test_what_is_protected_has_to_be_said() -> None:
    with pytest.raises(P2CError, match=r"^reg-b: protected: missing"):
        notice(lender={"fields": FIELDS, "sources": {"*": "files"}})


def test_the_data_sheet_has_every_input_its_source_and_whether_it_counted() -> None:
    sources = {"*": "your form", "credit_score": {"en": "Score House", "de": "Das Scorehaus"}}
    sheet = notice(lender=lender(sources=sources), notice="ccd2")
    rows = [re.split(r"\s{2,}", line) for line in sheet.splitlines()]
    assert ["Age", "31 years", "your form", "no"] in rows
    assert ["Bank balance", "40,000 dollars", "your form", "yes, reason 1"] in rows
    assert ["Credit score", "599 points", "Score House", "yes, reason 2"] in rows
    assert ["Debt", "5,000 dollars", "your form", "no"] in rows
    with pytest.raises(P2CError, match=r"sources\.age: missing: where the value comes from"):
        notice(lender=lender(sources={"debt": "files"}), notice="ccd2")
    with pytest.raises(P2CError, match=r"sources\.dept: no such feature; did you mean 'debt'"):
        notice(lender=lender(sources={"*": "a", "dept": "files"}))


def test_a_letter_never_mixes_languages() -> None:
    features = {
        name: {key: value for key, value in keys.items() if key != "languages"}
        for name, keys in embedded("loan").to_dict()["features"].items()
    }
    loan = Problem.from_dict({**embedded("loan").to_dict(), "features": features})
    with pytest.raises(P2CError, match=r"features\.debt\.languages\.de\.label: missing"):
        loan.report(JOHN, notice="reg-b", lender=lender(), case=CASE, language="de")
    german = Problem.from_dict({**loan.to_dict(), "language": "de"})
    assert german.report(JOHN, notice="reg-b", lender=lender(), case=CASE, language="de")
    assert "missing_words" not in {each.kind.value for each in loan.lint()}
    features["debt"]["languages"] = {"de": {"label": "Schulden", "unit": "Dollar"}}
    lint = Problem.from_dict({**loan.to_dict(), "features": features}).lint()
    lacking = [each.about for each in lint if each.kind.value == "missing_words"]
    assert lacking == ["age", "loan_duration", "bank_balance", "credit_score"]


def test_a_raw_name_is_refused_in_letters_and_told_by_lint() -> None:
    features = {
        "pay_0": {"type": "int", "min": 0, "max": 9},
        "debt": {**LOAN["features"]["debt"], "label": "debt"},
    }
    data = {"goal": "pay_0(X,N), N=<1", "rules": "", "features": features}
    with pytest.raises(
        P2CError, match=r"features\.pay_0\.label: missing: a letter would call it 'pay 0'"
    ):
        Problem.from_dict(data).report(
            {"pay_0": 3, "debt": 1}, notice="reg-b", lender=lender(), case=CASE
        )
    assert [
        each.about for each in Problem.from_dict(data).lint() if each.kind.value == "raw_name"
    ] == ["pay_0"]


@pytest.mark.parametrize(
    ("field", "value", "complaint"),
    [
        ("consumer_report", "maybe", "consumer_report: expected true or false, found 'maybe'"),
        ("key_factors", ["a"] * 6, "key_factors: expected a list of 1 to 5 texts"),
        ("date", "31.1.2027", "date: expected a day such as 2027-01-31, found '31.1.2027'"),
        ("credito", "x", "credito: no such field; did you mean 'creditor'?"),
    ],
)
def test_a_wrong_field_is_refused(field: str, value: Any, complaint: str) -> None:
    with pytest.raises(P2CError, match=re.escape(complaint)):
        notice(case={**CASE, field: value})


@pytest.mark.parametrize(("content", "kind"), [(PNG, "png"), (SVG, "svg+xml")])
def test_the_logo_is_an_image_that_runs_nothing(content: bytes, kind: str, tmp_path: Path) -> None:
    (tmp_path / "logo").write_bytes(content)
    own = tmp_path / "lender.toml"
    own.write_text('logo = "logo"\nprotected = []\n', encoding="utf-8")
    fields = {**FIELDS, **CASE, "data_sheet": False}
    page = notice(lender=own, case=fields, format="html")
    assert f'src="data:image/{kind};base64,' in page
    assert "<script" not in page
    assert "img-src data:;" in page
    assert (
        embedded("loan")
        .report(JOHN, format="pdf", notice="reg-b", lender=own, case=fields)
        .startswith(b"%PDF-")
    )
    (tmp_path / "logo").write_bytes(b"MZ")
    with pytest.raises(P2CError, match=r"logo: .*expected PNG, JPEG or SVG"):
        notice(lender=own, case=fields)


@pytest.mark.parametrize("format", ["html", "md", "txt"])
def test_the_letter_has_its_parts_in_order(format: str) -> None:
    text = notice(format=format)
    parts = [
        "Example Bank", "1 Main Street", "John Doe", "2 Elm Street", "Springfield, 31 January 2027",
        "K", "4711", "Notice of action taken", "Dear John Doe", "Yours faithfully", "A. Officer",
        "registered in Springfield",
    ]  # fmt: skip
    text = text[text.find("<body") :] if format == "html" else text
    places = [text.index(part) for part in parts]
    assert places == sorted(places)


def test_the_register_has_a_record_of_each_notice_with_its_digest(tmp_path: Path) -> None:
    register = tmp_path / "notices.jsonl"
    loan = embedded("loan")
    made = [
        loan.report(
            JOHN, format=each, notice="reg-b", lender=lender(), case=CASE, register=register
        )
        for each in ("html", "txt")
    ]
    records = read_register(register)
    assert [each["sha256"] for each in records] == [
        hashlib.sha256(each).hexdigest() for each in made
    ]
    assert records[0] == {
        "notice": "reg-b",
        "reference": "K-4711",
        "date": "2027-01-31",
        "language": "en",
        "format": "html",
        "sha256": records[0]["sha256"],
        "problem": "loan",
        "reasons": [
            {"feature": "bank_balance", "direction": "low", "code": ""},
            {"feature": "credit_score", "direction": "low", "code": ""},
        ],
        "keep_until": "2030-01-31",  # the lender's own 36 months come before the form's 25
    }


def test_a_refused_notice_leaves_no_record(tmp_path: Path) -> None:
    register = tmp_path / "notices.jsonl"
    with pytest.raises(P2CError, match="applicant: missing"):
        notice(case={}, register=register)
    assert not register.exists()


def test_many_writers_share_a_register_and_a_torn_line_is_passed_over(tmp_path: Path) -> None:
    register = tmp_path / "notices.jsonl"
    append_record(register, {"number": 0})
    with register.open("ab") as file:
        file.write(b'{"torn": ')
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: append_record(register, {"number": number}), range(1, 60)))
    assert sorted(each["number"] for each in read_register(register)) == list(range(60))
    lines = register.read_text(encoding="utf-8").splitlines()
    assert len(lines) == 61
    assert json.loads(lines[-1])


@pytest.mark.parametrize(
    ("day", "months", "end"),
    [
        (date(2027, 1, 31), 25, date(2029, 2, 28)),
        (date(2027, 1, 31), 13, date(2028, 2, 29)),
        (date(2026, 12, 1), 36, date(2029, 12, 1)),
        (date(2026, 12, 1), 0, date(2026, 12, 1)),
    ],
)
def test_the_retention_date_is_that_many_months_later(day: date, months: int, end: date) -> None:
    assert kept_until(day, months) == end
