"""`p2c report` on the command line: files in each format, the exact command to repeat one, one line for what is wrong."""

from __future__ import annotations

import hashlib
import io
import shlex
import sys
from typing import TYPE_CHECKING

import pytest

from tests.cli.desk import STUCK, Desk
from tests.folder.test_store import fitted, table

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
