from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from p2c._engines import ENGINES
from p2c.cli import main
from tests.loan import JOHN, LOAN

if TYPE_CHECKING:
    from pathlib import Path


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr("sys.argv", ["p2c", *arguments])
    with pytest.raises(SystemExit) as raised:
        main()
    return int(raised.value.code or 0)


@pytest.fixture
def loan(tmp_path: Path) -> tuple[str, str]:
    problem, row = tmp_path / "loan.json", tmp_path / "john.json"
    problem.write_text(json.dumps(LOAN))
    row.write_text(json.dumps(JOHN))
    return str(problem), str(row)


def test_an_export_is_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], loan: tuple[str, str]
) -> None:
    assert run(monkeypatch, "export", *loan, "--to", "scasp") == 0
    assert "start([5000, 40000, 599])." in capsys.readouterr().out


def test_a_proof_log_goes_with_the_pseudo_boolean_problem(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    problem, row = tmp_path / "p.toml", tmp_path / "row.json"
    problem.write_text(
        'goal = "a(X,1)"\nrules = ""\n[features.a]\ntype = "int"\nmin = 0\nmax = 1\n'
    )
    row.write_text('{"a": 0}')
    export = ("export", str(problem), str(row))
    out = ("--out", str(tmp_path / "out"))
    assert run(monkeypatch, *export, "--to", "opb", "--proof", *out) == 0
    assert {path.suffix for path in (tmp_path / "out").iterdir()} == {".opb", ".pbp"}
    assert run(monkeypatch, *export, "--to", "pddl", "--proof", *out) == 2
    assert "only --to opb has one" in capsys.readouterr().err
    assert run(monkeypatch, *export, "--to", "opb", "--proof", "--proof-version", "9", *out) == 2
    assert "no version" in capsys.readouterr().err


def test_an_export_of_several_files_goes_into_a_folder(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    loan: tuple[str, str],
    tmp_path: Path,
) -> None:
    assert run(monkeypatch, "export", *loan, "--to", "pddl") == 2
    assert "makes 4 files: name a folder" in capsys.readouterr().err
    assert run(monkeypatch, "export", *loan, "--to", "pddl", "--out", str(tmp_path / "here")) == 0
    assert len(list((tmp_path / "here").glob("loan-*.pddl"))) == 4


def test_an_unknown_language_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], loan: tuple[str, str]
) -> None:
    assert run(monkeypatch, "export", *loan, "--to", "clinggo") == 2
    assert capsys.readouterr().err == "--to: no language 'clinggo'; did you mean 'clingo'?\n"


def test_an_option_of_the_question_reaches_the_export(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], loan: tuple[str, str]
) -> None:
    assert run(monkeypatch, "export", *loan, "--to", "clingo", "--minimize", "actions") == 0
    assert "\nfewest_actions.\n" in capsys.readouterr().out


def test_the_doctor_examines_every_engine(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "doctor", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert [each["engine"] for each in told] == list(ENGINES)
    assert all(each["seconds"] for each in told if each["version"])


def test_the_doctor_says_how_to_get_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.delenv("SCASP", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert run(monkeypatch, "doctor") == 0
    out = capsys.readouterr().out
    assert "not installed" in out
    assert "to get it: see https://" in out


def test_the_doctor_finds_a_sick_engine(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    sick = tmp_path / "scasp"
    sick.write_text("#!/bin/sh\necho 'version 1.0'\n")
    sick.chmod(0o755)
    monkeypatch.setenv("SCASP", str(sick))
    assert run(monkeypatch, "doctor") == 1
    assert "failed: scasp: expected answers as JSON" in capsys.readouterr().out
