"""Reports: self-contained, whole, and the same for the same question."""

from __future__ import annotations

import base64
import hashlib
import json
import re

import pytest

from p2c import P2CError, Problem, datasets
from p2c.report.dossier import Origin, digest
from p2c.report.formats import FORMATS
from tests.embedded import embedded

STARTS = {"html": b"<!doctype html>", "md": b"# ", "png": b"\x89PNG\r\n", "pdf": b"%PDF-"}


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
    assert policy.replace("&#39;", "'") == (
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


def test_no_alternatives_are_looked_for_where_none_are_wanted() -> None:
    problem, row = embedded("loan"), datasets.rows("loan")["john"]
    page = problem.report(row, format="md", audience="expert", origin=Origin(alternatives=0))
    assert b"Alternatives" not in page


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
        ({"format": "docx"}, "format: no report as 'docx'; known: 'html', 'md', 'pdf', 'png'"),
        ({"audience": "boss"}, "audience: no report for 'boss'; known: 'applicant', 'expert'"),
        ({"language": "fr"}, "language: no catalogue 'fr'; known: 'de', 'en'"),
        (
            {"format": "png", "audience": "expert"},
            "format: the expert's report does not fit on a picture; use .html, .md or .pdf",
        ),
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
    with pytest.raises(P2CError, match=r"pip install 'p2c\[report\]'"):
        embedded("loan").plan(datasets.rows("loan")["john"]).to_png()
