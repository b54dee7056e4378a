"""`p2c report` on the command line: files in each format, the exact command to repeat one, one line for what is wrong."""

from __future__ import annotations

import hashlib
import io
import json
import shlex
import sys
from typing import TYPE_CHECKING

import pytest

from p2c import datasets
from p2c._notices.filed import read_register
from p2c._spec.toml import problem_to_toml
from tests.cli.desk import STUCK, Desk
from tests.embedded import embedded
from tests.folder.test_store import fitted, table
from tests.notices.offices import CASE, FIELDS, lender

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def office(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Desk:
    return Desk(tmp_path, capsys, monkeypatch)


def test_the_ending_of_the_file_names_the_format(office: Desk) -> None:
    starts = {"html": b"<!doctype html>", "MD": b"# Your way", "pdf": b"%PDF-"}
    for ending, start in starts.items():
        target = office.folder / f"a.{ending}"
        shown = office.run("report", office.loan, office.john, "-o", target)
        assert (shown.code, shown.err) == (0, "")
        assert shown.out.replace("\n", "") == str(target)
        assert target.read_bytes().startswith(start)


def test_the_command_in_an_experts_report_makes_the_same_report(office: Desk) -> None:
    target = office.folder / "new folder" / "expert.md"
    office.run(
        "report", office.loan, office.john, "-o", target, "--for", "expert", "--norm", "l2", "--language", "de",
    )  # fmt: skip
    first = target.read_text(encoding="utf-8")
    (line,) = [each for each in first.splitlines() if each.startswith("- `p2c report ")]
    words = shlex.split(line.removeprefix("- `").removesuffix("`"))
    assert words[0] == "p2c"
    assert office.run(*words[1:], "--overwrite").code == 0
    assert target.read_text(encoding="utf-8") == first
    assert "(l2)" in first
    for path in (office.loan, office.john):
        assert hashlib.sha256(path.read_bytes()).hexdigest() in first


@pytest.mark.parametrize("kind", ["boosted", "kernel"])
@pytest.mark.parametrize("audience", ["applicant", "expert"])
def test_a_report_on_a_folder_with_a_model_says_what_the_model_said(
    kind: str, audience: str, office: Desk
) -> None:
    recourse = fitted(kind)
    refused = recourse.plan(table()[~recourse.predict(table())].iloc[0])
    recourse.save(office.folder / "desk")
    row = office.row({str(name): value for name, value in refused.question.initial.items()})
    words = "The model itself was asked about the end of this way"
    shown: dict[str, bytes] = {}
    for ending in ("html", "md", "txt", "pdf"):
        target = office.folder / f"{audience}.{ending}"
        told = office.run(
            "report",
            office.folder / "desk",
            row,
            "-o",
            target,
            "--for",
            audience,
            "--language",
            "en",
        )
        assert (told.code, told.err) == (0, ""), told
        shown[ending] = target.read_bytes()
    assert shown["pdf"].startswith(b"%PDF-")
    for ending in ("html", "md", "txt"):
        assert words in " ".join(shown[ending].decode().split()), ending
    if audience == "expert":
        for file in (office.folder / "desk").iterdir():
            assert hashlib.sha256(file.read_bytes()).hexdigest() in shown["md"].decode()


def test_a_report_on_no_way_is_written_and_says_so_with_the_code(office: Desk) -> None:
    target = office.folder / "no.md"
    assert office.run("report", office.loan, office.row(STUCK), "-o", target).code == 1
    assert "There is no way from here." in target.read_text(encoding="utf-8")


def test_a_file_that_is_there_is_kept_unless_told_otherwise(office: Desk) -> None:
    target = office.write("a.html", "mine")
    complaint = office.refuses("report", office.loan, office.john, "-o", target)
    assert (
        complaint
        == f"{target}: exists and differs; it stays unchanged, choose another name or folder, or --overwrite"
    )
    assert target.read_text(encoding="utf-8") == "mine"
    assert office.run("report", office.loan, office.john, "-o", target, "--overwrite").code == 0


@pytest.mark.parametrize(
    ("name", "more", "complaint"),
    [
        ("a.docx", [], "format: no report as 'docx'; known: 'html', 'md', 'pdf', 'txt'"),
        ("noending", [], "format: no report as ''; known: 'html', 'md', 'pdf', 'txt'"),
        ("a.md", ["--language", "xx"], "language: no catalogue 'xx'; known: 'de', 'en'"),
        ("a.png", [], "format: no report as 'png'; known: 'html', 'md', 'pdf', 'txt'"),
    ],
)
def test_a_wrong_wish_is_one_line_and_leaves_no_file(
    office: Desk, name: str, more: list[str], complaint: str
) -> None:
    target = office.folder / name
    assert office.refuses("report", office.loan, office.john, "-o", target, *more) == complaint
    assert not target.exists()


@pytest.mark.parametrize("name", ["a b.md", "<b>.md", "é漢.md", "a;rm -rf.md", "$(x).md", "'\".md"])
def test_odd_file_names_are_names(office: Desk, name: str) -> None:
    target = office.folder / name
    assert office.run("report", office.loan, office.john, "-o", target, "--for", "expert").code == 0
    assert target.exists()


def test_a_plan_is_explained_in_a_language(office: Desk) -> None:
    shown = office.run("explain", office.loan, office.john, "--language", "de")
    assert (shown.code, shown.err) == (0, "")
    assert shown.out.startswith("Die Antwort ist vorerst Nein.\n")
    assert office.run("explain", office.loan, office.row(STUCK)).code == 1


def test_a_row_from_standard_input_is_reported_on(
    office: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    typed = io.TextIOWrapper(io.BytesIO(office.john.read_bytes()))
    monkeypatch.setattr(sys, "stdin", typed)
    target = office.folder / "expert.md"
    shown = office.run("report", office.loan, "-", "-o", target, "--for", "expert")
    assert (shown.code, shown.err) == (0, "")
    assert hashlib.sha256(office.loan.read_bytes()).hexdigest() in target.read_text("utf-8")


@pytest.mark.parametrize("command", ["plan", "nearest", "explain", "report", "batch", "audit"])
def test_every_command_that_plans_takes_the_same_limits(desk: Desk, command: str) -> None:
    shown = desk.run(command, "--help")
    for option in ("--engine", "--time-limit", "--node-limit"):
        assert shown.out.count(f"{option} ") == 1


@pytest.mark.parametrize("limit", ["--time-limit", "--node-limit"])
def test_a_letter_may_come_of_a_search_that_was_ended(desk: Desk, limit: str) -> None:
    shown = desk.run("explain", desk.loan, desk.john, limit, "0")
    assert shown.code == 1
    assert "The search came to its limit." in shown.out


@pytest.fixture
def letters(office: Desk) -> Desk:
    fields = {name: value for name, value in FIELDS.items() if name != "account"}
    own = lender(fields=fields, protected=["age"])
    office.write("lender.toml", problem_to_toml(own))
    return office


def test_a_notice_is_written_and_recorded(letters: Desk) -> None:
    target, register = letters.folder / "notice.txt", letters.folder / "register.jsonl"
    case = letters.write("case.json", json.dumps(CASE))
    words = ["report", letters.loan, letters.john, "-o", target, "--notice", "reg-b"]
    words += ["--lender", letters.folder / "lender.toml", "--case", case, "--register", register]
    shown = letters.run(*words, "--field", "place=Joliet")
    assert (shown.code, shown.err) == (0, "")
    text = target.read_text(encoding="utf-8")
    assert "Joliet, 31 January 2027" in text
    assert "1. Bank balance is too low (40,000" in text
    (record,) = read_register(register)
    assert record["sha256"] == hashlib.sha256(target.read_bytes()).hexdigest()
    again = letters.refuses(*words)
    assert "exists" in again
    assert len(read_register(register)) == 1


def test_a_field_that_is_missing_stops_the_command_by_its_name(letters: Desk) -> None:
    target = letters.folder / "notice.pdf"
    complaint = letters.refuses(
        "report", letters.loan, letters.john, "-o", target, "--notice", "reg-b",
        "--lender", letters.folder / "lender.toml", "--field", "applicant=John Doe",
        "--field", "applicant_address=2 Elm Street", "--field", "reference=1",
    )  # fmt: skip
    assert complaint.startswith("reg-b: account: missing: the account, transaction or credit")
    assert not target.exists()
    complaint = letters.refuses(
        "report", letters.loan, letters.john, "-o", target, "--register", "r"
    )
    assert complaint == "--register: needs --notice, such as --notice reg-b"


def test_a_notice_goes_to_each_person_who_is_refused(letters: Desk) -> None:
    people = [*datasets.rows("loan").values()]
    rows = letters.write("rows.json", json.dumps(people))
    lines = ["applicant,applicant_address,reference,account,consumer_report"]
    lines += [f'Person {n},"{n} Elm Street, Joliet",A/{n},5000,false' for n in range(len(people))]
    cases = letters.write("cases.csv", "\n".join(lines) + "\n")
    folder, register = letters.folder / "out", letters.folder / "register.jsonl"
    words = ["report", letters.loan, rows, "-o", folder, "--every", "--format", "html"]
    words += ["--notice", "reg-b", "--lender", letters.folder / "lender.toml"]
    words += ["--case", cases, "--register", register]
    shown = letters.run(*words)
    assert (shown.code, shown.err) == (0, "")
    refused = [n for n, row in enumerate(people) if embedded("loan").plan(row).status != "already"]
    assert shown.out.startswith(f"{len(refused)} notices in")
    names = sorted(each.name for each in folder.iterdir())
    assert names == [f"{n + 1:06}-A-{n}.html" for n in refused]
    text = (folder / names[0]).read_text(encoding="utf-8")
    assert f"Person {refused[0]}" in text
    assert "Your credit report" not in text
    digests = {hashlib.sha256(each.read_bytes()).hexdigest() for each in folder.iterdir()}
    assert {each["sha256"] for each in read_register(register)} == digests
    letters.write("cases.csv", "\n".join(lines[:2]) + "\n")
    assert "expected a case for row" in letters.refuses(*words, "--overwrite")
