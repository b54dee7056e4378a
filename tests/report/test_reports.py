"""Reports: self-contained, whole, and the same for the same question."""

from __future__ import annotations

import base64
import datetime
import hashlib
import html
import json
import re
import zlib

import pytest

from p2c import P2CError, Problem, datasets
from p2c._report.expert_report import Origin, digest
from p2c._report.formats import FORMATS
from tests.embedded import embedded

STARTS = {
    "html": b"<!doctype html>",
    "md": b"# ",
    "txt": b"Your way to a yes\n",
    "pdf": b"%PDF-",
}


def text_of(problem: str, person: str, **keys: str) -> str:
    return embedded(problem).report(datasets.rows(problem)[person], **keys).decode()  # type: ignore[arg-type]


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_what_it_says(name: str) -> None:
    assert (
        embedded("loan").report(datasets.rows("loan")["john"], format=name).startswith(STARTS[name])
    )


def test_the_page_allows_nothing_but_its_own_style_sheet() -> None:
    page = text_of("adult", "wait_and_marry", audience="expert")
    (style,) = re.findall(r"<style>(.*?)</style>", page, re.S)
    mark = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)
    assert html.unescape(policy) == (
        f"default-src 'none'; style-src 'sha256-{mark}'; base-uri 'none'; form-action 'none'"
    )
    assert not re.search(
        r"<script|<link|<img|<iframe|\son\w+=|\sstyle=|url\(|@import|\ssrc=|\shref=", page
    )
    outside = set(re.findall(r"https?://[^\"'<> ]+", page))
    assert outside <= {"http://www.w3.org/2000/svg"}


def test_the_page_prints_on_a4_and_names_its_language() -> None:
    page = text_of("loan", "john", language="de")
    assert '<html lang="de">' in page
    assert "@page{size:A4" in page
    assert "<h1>Ihr Weg zum Ja</h1>" in page
    assert page.count("<svg") == 1


def test_the_applicants_page_has_no_rule_and_the_experts_has_each() -> None:
    for format_name in ("html", "md"):
        page = text_of("loan", "john", format=format_name)
        assert ":-" not in page
        assert "reject" not in page
    expert = text_of("loan", "john", format="md", audience="expert")
    for rule in embedded("loan").spec.rules.splitlines():  # type: ignore[union-attr]
        if rule and not rule.startswith("%"):
            assert f"`{rule}`" in expert


def test_a_report_as_text_has_its_tables_in_columns() -> None:
    text = text_of("loan", "john", format="txt", audience="expert")
    assert (
        "1. Lower your debt from 5,000 dollars to 0 dollars.\n   → Your credit score will then go"
        in text
    )
    now = "bank balance  40,000 dollars  40,000 dollars  (2) 60,000 dollars"
    assert now in text
    assert "\n\nwhat                  value\ngoal                  not reject_loan(X)\n" in text
    assert "<svg" not in text


def test_the_experts_report_has_all_that_repeats_it() -> None:
    problem, row = embedded("german"), datasets.rows("german")["exception"]
    origin = Origin(
        command="p2c report german.toml row.json -o x.md", files=(("german.toml", "ab12"),)
    )
    page = problem.report(row, format="md", audience="expert", origin=origin).decode()
    assert "`p2c report german.toml row.json -o x.md`" in page
    assert digest(problem.to_dict()) in page
    assert digest(dict(problem.read_row(row))) in page
    assert "| SHA-256 german.toml | ab12 |" in page
    assert "the path is valid: every step, the cost and the end" in page
    assert "| not checked by the replay; p2c check --prove does it | that no cheaper path" in page
    assert "exception at the start" in page
    assert "## Alternatives that differ in kind, cheapest first" in page
    assert f"| 1 | {problem.plan(row).cost:.10g} |" in page


def test_an_expert_can_compute_the_cost_again_from_the_report_alone() -> None:
    problem, row = embedded("adult"), datasets.rows("adult")["wait_and_marry"]
    origin = Origin(date="2026-01-31")
    page = problem.report(row, format="md", audience="expert", origin=origin).decode()
    assert "| date of this report | 2026-01-31 |" in page
    table = [
        [cell.replace("\\", "").strip() for cell in line.strip("|").split("|")]
        for line in page.splitlines()
        if line.startswith("|")
    ]
    given = {
        cells[0]: cells[1] for cells in _below(table, ["feature", "at the start", "at the end"])
    }
    assert given == {name: str(value) for name, value in problem.read_row(row).items()}
    header = ["feature", "weight", "divisor of a difference", "values that a plan may choose"]
    efforts = {cells[0]: cells for cells in _below(table, [*header, "moves"])}
    moves = problem.theory.feature["marital_status"].moves_from or {}
    assert all(
        f"{start} → {', '.join(map(str, ends))}" in efforts["marital_status"][4]
        for start, ends in moves.items()
    )
    assert efforts["age"][3] == "17 + n · 1"
    path = _below(table, ["step", "kind", "feature", "change", "cost, or the rules that fired"])
    total = 0.0
    for _, kind, name, change, _ in path:
        if kind == "direct":
            start, end = change.split(" → ")
            weight, divisor = efforts[name][1:3]
            far = 1.0 if divisor == "–" else abs(float(end) - float(start)) / float(divisor)
            total += float(weight) * far
    assert total == pytest.approx(problem.plan(row).cost)


def _below(table: list[list[str]], header: list[str]) -> list[list[str]]:
    """Return the rows of the table with this header."""
    start = table.index(header) + 2
    rows = []
    for cells in table[start:]:
        if len(cells) != len(header) or cells[0] in ("feature", "what", "step", "no."):
            break
        rows.append(cells)
    return rows


def test_a_report_says_today_where_no_date_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    class Calendar(datetime.date):
        @classmethod
        def today(cls) -> Calendar:
            return cls(2031, 5, 6)

    monkeypatch.setattr("p2c._report.formats.date", Calendar)
    assert "2031-05-06" in text_of("loan", "john", format="md", audience="expert")


def test_the_pages_of_a_pdf_are_numbered() -> None:
    row = datasets.rows("adult")["wait_and_marry"]
    pdf = embedded("adult").report(row, format="pdf", audience="expert")
    lasts = last_lines(pdf)
    assert len(lasts) > 1
    assert lasts == [f"{number} / {len(lasts)}" for number in range(1, len(lasts) + 1)]


def last_lines(pdf: bytes) -> list[str]:
    """Return the last line of each page, its letters looked up in the table of the plain font, which comes first."""
    found = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pdf, re.S)
    plain = [zlib.decompress(each) if each[:1] == b"x" else each for each in found]
    tables = [each for each in plain if b"beginbfchar" in each]
    letters = {
        int(glyph, 16): chr(int(letter, 16))
        for glyph, letter in re.findall(rb"<(\w{4})> <(\w{4})>", tables[0])
    }
    lines = [each.strip().rsplit(b"\n", 1)[-1] for each in plain if b" Tf ET" in each]
    glyphs = [b"".join(re.findall(rb"\((.*?)\) Tj", line, re.S)) for line in lines]
    return [
        "".join(letters[int.from_bytes(each[at : at + 2])] for at in range(0, len(each), 2))
        for each in glyphs
    ]


def test_no_alternatives_are_looked_for_where_none_are_wanted() -> None:
    problem, row = embedded("loan"), datasets.rows("loan")["john"]
    page = problem.report(row, format="md", audience="expert", origin=Origin(alternatives=0))
    assert b"Alternatives" not in page


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", "The time limit ended the search for more."),
        ("de", "Das Zeitlimit hat die Suche nach weiteren beendet."),
    ],
)
def test_a_time_limit_ends_the_search_for_alternatives_too(language: str, words: str) -> None:
    problem = embedded("loan")
    plan = problem.plan(datasets.rows("loan")["john"])
    for limit, ended in ((0, True), (None, False)):
        page = problem.report(
            plan, format="md", audience="expert", language=language, time_limit=limit
        )
        assert (words in page.decode()) is ended


def test_a_report_on_a_person_keeps_to_the_time_limit_and_the_engine() -> None:
    problem, row = embedded("loan"), datasets.rows("loan")["john"]
    page = problem.report(row, format="md", time_limit=0).decode()
    assert "The search came to its limit." in page
    with pytest.raises(P2CError, match="no engine 'clasp'"):
        problem.report(row, engine="clasp")


def test_the_experts_report_has_the_problems_german_words() -> None:
    page = text_of("loan", "john", format="md", audience="expert", language="de")
    assert "| debt | Schulden | int | 0 bis 1.000.000 Dollar | free |" in page
    assert "| debt | debt |" not in page


def test_where_there_is_no_way_the_experts_report_names_the_blocker() -> None:
    page = text_of("german", "no_way", format="md", audience="expert")
    assert "| blocker | checking\\_account\\_status: fixed |" in page
    assert "| status | infeasible |" in page


@pytest.mark.parametrize("name", datasets.names())
def test_every_named_person_gets_both_reports_in_both_languages(name: str) -> None:
    for row in datasets.rows(name).values():
        for language in ("en", "de"):
            for audience in ("applicant", "expert"):
                first = embedded(name).report(row, audience=audience, language=language)
                again = embedded(name).report(row, audience=audience, language=language)
                assert first == again
                assert b"</html>" in first


def test_a_hash_depends_on_the_content_and_not_on_the_order() -> None:
    assert digest({"a": 1, "b": [1, 2]}) == digest(json.loads('{"b": [1, 2], "a": 1}'))
    assert digest({"a": 1}) != digest({"a": 2})


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (
            {"format": "docx"},
            "format: no report as 'docx'; known: 'html', 'md', 'pdf', 'txt'",
        ),
        ({"audience": "boss"}, "audience: no report for 'boss'; known: 'applicant', 'expert'"),
        ({"language": "xx"}, "language: no catalogue 'xx'; known: 'de', 'en', 'fr'"),
    ],
)
def test_a_wrong_wish_is_one_line(keys: dict[str, str], message: str) -> None:
    problem = Problem.from_dict(embedded("loan").to_dict())
    with pytest.raises(P2CError) as caught:
        problem.report(datasets.rows("loan")["john"], **keys)  # type: ignore[arg-type]
    assert str(caught.value) == message


def test_a_missing_package_is_named_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "resvg_py", None)
    with pytest.raises(P2CError, match=r"pip install 'p2c-recourse\[report\]'"):
        embedded("loan").plan(datasets.rows("loan")["john"]).to_png()
