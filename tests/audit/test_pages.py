"""The report of an audit, as its reader meets it."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from p2c._audit.confined import Confinement
from p2c._audit.intervals import Interval
from p2c._audit.tally import Difference
from p2c._audit.telling import AuditTeller
from p2c._explain.phrases import LANGUAGES
from p2c._plan.outcome import Blocker
from p2c._report.document import Grid
from p2c._report.pdf import PADDING, _Writer
from p2c.datasets import load_frame
from p2c.errors import P2CError
from p2c.problem import Problem
from tests.embedded import embedded
from tests.loan import JOHN, LOAN, category, whole

if TYPE_CHECKING:
    from p2c._audit.audit import Audit


@pytest.fixture(scope="module")
def german() -> Audit:
    return embedded("german").audit(load_frame("german"), ["age:<30,30-50,>50"])


def page(audit: Audit, language: str = "en") -> list[str]:
    return audit.report(format="md", language=language).decode().splitlines()


def test_a_reader_is_told_who_has_no_way_and_why(german: Audit) -> None:
    lines = page(german)
    for line in (
        "**312 of 1,000 people are refused today (31.2%).**",
        "- 40 of the refused (12.8%) have no way to a yes: nothing that they may change, in whatever order, leads to one. This is proved for each of them.",
        "- What stands in the way of 40 of 40 (100%): bank account cannot be changed, or just as well: loan record cannot be changed.",
        "- The largest group of them: bank account is anything but “none at all” and loan record is “all loans with us paid back”. Whoever is like this has no way, whatever else is true of them; this is proved for people outside the data, too.",
        "| bank account cannot be changed, or just as well: loan record cannot be changed | 40 of 40 (100%) |",
        "| loan record cannot be changed | 40 of 40 (100%) | 1.25 |",
        "| bank account is anything but “none at all” and loan record is “all loans with us paid back” | 40 |",
    ):
        assert line in lines


def test_the_same_is_told_in_german(german: Audit) -> None:
    lines = page(german, "de")
    assert "**312 von 1.000 Personen werden heute abgelehnt (31,2 %).**" in lines
    assert any(
        line.startswith("| „") and "lässt sich nicht ändern | 40 von 40 (100 %)" in line
        for line in lines
    )


def test_all_languages_say_the_same_things() -> None:
    places = {}
    for language, phrases in LANGUAGES.items():
        places[language] = {
            key: sorted(part.split("}")[0] for part in text.split("{")[1:])
            for key, text in phrases.audit.items()
        }
    assert all(each == places["en"] for each in places.values())


@pytest.mark.parametrize(
    ("format", "start"), [("html", b"<!doctype html>"), ("pdf", b"%PDF"), ("json", b"{")]
)
def test_every_format_can_be_written(german: Audit, format: str, start: bytes) -> None:
    assert german.report(format=format).startswith(start)


@pytest.mark.parametrize("format", ["png", "jsn"])
def test_a_format_that_no_audit_has_is_answered_with_those_that_it_has(
    german: Audit, format: str
) -> None:
    with pytest.raises(P2CError, match=rf"no report as '{format}'; .*'json'"):
        german.report(format=format)


def test_the_json_says_what_the_page_says(german: Audit) -> None:
    found = json.loads(german.report(format="json"))
    assert found["why_not"]["statements"] == [
        {
            "blockers": [{"feature": "checking_account_status", "restriction": "fixed"}],
            "or_instead": [[{"feature": "credit_history", "restriction": "fixed"}]],
            "people": 40,
            "share": 1.0,
        }
    ]
    (only,) = found["confined"]["classes"]
    assert found["confined"]["complete"]
    assert only["people"] == 40
    assert set(only["where"]) == {"checking_account_status", "credit_history"}


def boxed(features: dict[str, Any], rules: str, rows: list[dict[str, Any]]) -> list[str]:
    """Return who never has a way, in words."""
    problem = Problem.from_dict({"goal": "not bad(X)", "rules": rules, "features": features})
    lines = page(problem.audit(pd.DataFrame(rows, dtype=object)))
    start = lines.index("| who | people in the data |") + 2
    return lines[start : lines.index("", start)]


def test_ranges_names_and_missing_values_are_told_as_people_say_them() -> None:
    fixed = {"action": "fixed"}
    features = {
        "age": whole(18, 99, **fixed),
        "job": category("a", "b", "c", **fixed),
        "free": whole(0, 9),
    }
    rules = "bad(X) :- age(X,N), N<25, free(X,M), M>=0.\nbad(X) :- job(X,c)."
    rows: list[dict[str, Any]] = [
        {"age": 20, "job": "a", "free": 1},
        {"age": 30, "job": "c", "free": 1},
        {"age": None, "job": "c", "free": 1},
        {"age": 40, "job": "a", "free": 1},
    ]
    assert boxed(features, rules, rows) == [
        "| job is “c” | 2 |",
        "| age is at most 24 and free is known | 1 |",
    ]


def test_how_far_learned_rules_speak_is_said_before_what_they_say(german: Audit) -> None:
    lines = page(german)
    first = next(line for line in lines if line.startswith("- "))
    assert first.startswith(
        "- The decision is made by rules that agree with the recorded outcomes on 73.4%"
    )


def test_effort_is_told_in_what_people_change(german: Audit) -> None:
    text = "\n".join(page(german))
    assert "an effort of at most 0.498 (as much as 6 months of loan duration)" in text
    assert "| loan duration | 12.1 months count 1 |" in text
    assert "| wealth | any change counts 1 |" in text
    assert "several changes come together as: sum of efforts (L1)" in text


@pytest.mark.parametrize(
    ("norm", "told", "change"),
    [
        ("l0", ["any change counts 4", "any change counts 1"], ""),
        ("l1", ["2.5 count 1", "each step counts 0.5"], " (as much as 2 of a)"),
        ("l2", ["5 count 1", "each step counts 0.5"], " (as much as 4 of a)"),
        ("linf", ["2.5 count 1", "each step counts 0.5"], " (as much as 2 of a)"),
    ],
)
def test_every_norm_says_how_a_change_counts(norm: str, told: list[str], change: str) -> None:
    features = {
        "a": whole(0, 10, weight=4),
        "b": {"type": "ordinal", "values": ["x", "y", "z"]},
        "c": category("u", "v", action="fixed"),
    }
    rules = "bad(X) :- a(X,N), N<5."
    keys = {"goal": "not bad(X)", "rules": rules, "features": features, "norm": norm}
    tell = AuditTeller(Problem.from_dict(keys).theory, "en")
    assert [words for _, words in tell.counted(["a"])] == told
    assert tell.as_change(0.8, ["a"]) == change


@pytest.mark.parametrize(
    ("language", "told"),
    [
        ("en", "debt may only change in certain ways"),
        ("de", "„debt“ lässt sich nur auf bestimmte Weise ändern"),
    ],
)
def test_a_restriction_without_words_of_its_own_is_told_as_moves_are(
    language: str, told: str
) -> None:
    tell = AuditTeller(Problem.from_dict(LOAN).theory, language)
    assert tell.barred([Blocker("debt", "new")]) == told


def test_the_goal_and_the_rules_are_told_in_words(german: Audit) -> None:
    lines = page(german)
    assert "| what counts as a yes | the decision is “label: good” |" in lines
    assert "- If bank account is none at all, then “label: good” applies." in lines
    refused = Problem.from_dict(LOAN).audit(pd.DataFrame([JOHN]))
    assert "| what counts as a yes | the decision is not “reject loan” |" in page(refused)


def test_only_what_is_in_the_tables_is_explained(german: Audit) -> None:
    text = "\n".join(page(german))
    assert "“Exceptions” are people" in text
    assert "A star marks" not in text
    assert "“Values missing”" not in text
    few = embedded("german").audit(load_frame("german").head(60), ["age:<30,30-50,>50"])
    assert "A star marks groups with fewer than 30" in "\n".join(page(few))


def test_a_sure_difference_of_two_traits_together_is_told_in_short(german: Audit) -> None:
    group = replace(german.everybody, group="a: 1, b: 1", traits=(("a", "1"), ("b", "1")))
    gap = Difference("a: 1, b: 1", "no_way", False, 0.5, 0.1, Interval(0.2, 0.6), 0.001, 50)
    audit = replace(german, tallies=(german.everybody, group), differences=(gap,))
    lines = page(audit)
    assert any(
        line.startswith("- Share of the refused without a way: a: 1, b: 1 50%") for line in lines
    )
    assert "- No difference between groups is larger than chance explains." not in lines


@pytest.fixture(scope="module")
def by_status() -> list[str]:
    return page(embedded("german").audit(load_frame("german"), "personal_status_and_sex"))


def test_of_groups_with_few_refused_people_only_counts_are_told(by_status: list[str]) -> None:
    start = by_status.index("## What a yes takes")
    assert any("male:single" in line for line in by_status[start:])
    few = [line for line in by_status if "male:married/widowed" in line]
    assert few[0].endswith("\\* | 92 | 20 (21.7%) | 18 | 2 | 4 |")
    assert ["| share refused |" in line for line in few] == [False, True]


def test_of_sure_differences_in_short_it_is_said_that_they_are_and_where_the_others_stand(
    german: Audit,
) -> None:
    pair = replace(german.everybody, group="a: 1, b: 1", traits=(("a", "1"), ("b", "1")))
    single = replace(german.everybody, group="a: 1", traits=(("a", "1"),))
    gaps = [
        Difference("a: 1", "refused", False, 0.5, 0.1, Interval(0.2, 0.6), 0.001, 50),
        Difference("a: 1", "cost", True, 0.5, 0.1, Interval(0.2, 0.6), 0.001, 50),
        Difference("a: 1, b: 1", "no_way", False, 0.5, 0.1, Interval(0.2, 0.6), 0.001, 50),
    ]
    tallies = (german.everybody, single, pair)
    lines = page(replace(german, tallies=tallies, differences=tuple(gaps)))
    start = lines.index("These differences between groups are larger than chance explains:")
    assert lines[start + 2 : start + 6] == [
        "- Median effort, reason by reason: a: 1 0.5, everybody else 0.1 (among people who are refused for the same reasons: the median for each reason, averaged).",
        "- Share refused: a: 1 50%, everybody else 10%.",
        "",
        "Also marked “yes” under “Do groups differ?”, of one trait or of two together: 1 more.",
    ]


def test_what_curves_show_is_a_table_where_there_are_no_pictures(german: Audit) -> None:
    lines = page(german)
    assert "| age: &gt;50 | 84.4% |" in lines
    assert not any("curve" in line for line in lines)
    assert b"A curve that ends lower" in german.report(format="html")


def test_where_everybody_has_a_way_nothing_is_explained() -> None:
    audit = Problem.from_dict(LOAN).audit(pd.DataFrame([JOHN]))
    assert audit.obstacles is None
    assert audit.confinement is None
    assert audit.confined == ()
    assert "Why they have no way" not in "\n".join(page(audit))


def test_an_audit_of_nobody_says_so() -> None:
    audit = Problem.from_dict(LOAN).audit(pd.DataFrame([JOHN])[:0])
    assert "**Nobody is refused.**" in page(audit)
    assert audit.report(format="pdf").startswith(b"%PDF")


def test_an_audit_of_rules_needs_nothing_that_reads_models() -> None:
    asked = (
        "import sys; sys.modules['sklearn'] = None\n"
        "import p2c\n"
        "people = p2c.datasets.load_frame('german').head(50)\n"
        "print(p2c.Problem.example('german').audit(people, by='housing').everybody.refused.count)"
    )
    done = subprocess.run(
        [sys.executable, "-c", asked], capture_output=True, text=True, check=False
    )
    assert done.stdout == "19\n", done.stderr


def test_groups_have_the_words_of_the_language() -> None:
    words = {"de": {"label": "Beruf", "names": {"a": "Koch"}}}
    keys = {
        "goal": "age(X,N), N>=25",
        "rules": "",
        "features": {
            "age": whole(18, 99, action="fixed"),
            "job": category("a", "b", languages=words),
        },
    }
    rows = [
        {"age": 20, "job": "a", "area": None},
        {"age": 30, "job": "b", "area": "x"},
        {"age": 60, "job": None, "area": "x"},
    ]
    audit = Problem.from_dict(keys).audit(pd.DataFrame(rows), ["age:<50", "job", "area"])
    text = "\n".join(page(audit, "de"))
    for name in ("age: außerhalb", "Beruf: Koch", "Beruf: unbekannt", "area: unbekannt"):
        assert name in text
    assert "unknown" not in text
    assert "elsewhere" not in text
    english = "\n".join(page(audit))
    assert "job: a" in english
    assert "age: elsewhere" in english


def test_a_region_is_told_in_few_conditions_and_regions_in_few_lines() -> None:
    names = "abcdef"
    fixed = {name: whole(0, 9, action="fixed") for name in names}
    keys = {
        "goal": "ok(X)",
        "rules": "\n".join(f"ok(X) :- {name}(X,N), N>=5." for name in names),
        "features": fixed,
    }
    audit = Problem.from_dict(keys).audit(pd.DataFrame([dict.fromkeys(names, 0)]))
    told = AuditTeller(audit.theory, "en").told(audit.confined[0][1])
    assert told == (
        "a is at most 4 and b is at most 4 and c is at most 4 and d is at most 4,"
        " and 2 more conditions that are in the JSON file"
    )
    assert len(audit.to_dict()["confined"]["classes"][0]["where"]) == 6
    (box,) = audit.confinement.boxes if audit.confinement else ()
    many = replace(audit, confinement=Confinement((box,) * 12, True, np.array([], dtype=np.int64)))
    lines = page(many)
    assert sum("more conditions" in line for line in lines if line.startswith("|")) == 10
    assert "2 more lines are in the JSON file." in lines


def words_on_paper(grid: Grid) -> set[str]:
    """Return the words of a table as they stand on the lines of a PDF."""
    writer = _Writer("en")
    writer.begin("table")
    lines: list[str] = []
    try:
        widths = writer.widths(grid)
        for number, cells in enumerate((grid.header, *grid.rows)):
            writer.pdf.set_font("Source", "" if number else "B", 9)
            for width, cell in zip(widths, cells, strict=True):
                lines += writer.pdf.multi_cell(
                    width - 0.4, 4.6, cell, padding=PADDING, dry_run=True, output="LINES"
                )
    finally:
        writer.close()
    return {word for line in lines for word in line.split()}


def test_numbers_stay_on_one_line_in_the_tables_of_a_pdf() -> None:
    counts = ("1,234,567,890", "1,234: 12.3% (10.9% – 13.8%)", "0.123456", "123,456", "9,999,999")
    header = ("group", *(f"column with a long title {each}" for each in range(8)))
    row = ("a trait that takes many words to be told, and one more: 30-50", *counts, *counts[:3])
    numbers = {"1,234,567,890", "12.3%", "(10.9%", "13.8%)", "0.123456", "123,456", "9,999,999"}
    assert numbers <= words_on_paper(Grid(header, (row,)))


def test_no_word_of_a_pdf_table_is_broken_while_there_is_room() -> None:
    header = ("Gruppe", "Personen", "angenommen", "mit einem Weg", "ohne Weg", "Schritte")
    row = ("Kreditlaufzeit von mehr als 36 Monaten, " * 8, "3", "1", "unverändert", "0", "2")
    assert {*" ".join((*header, *row)).split()} <= words_on_paper(Grid(header, (row,)))
