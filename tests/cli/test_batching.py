"""`p2c batch` as an operator meets it: what it says at the end, meanwhile and when something is wrong."""

from __future__ import annotations

import io
import json
import re
import sys
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from p2c._batch.show import Lines, progress
from p2c._spec.toml import problem_to_toml
from p2c.cli import main
from tests.batch.people import PEOPLE, read, write_parquet
from tests.loan import LOAN, category
from tests.plan.search.test_limits import more_guests_than_rooms

if TYPE_CHECKING:
    from pathlib import Path

    Capture = pytest.CaptureFixture[str]


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with the loan and its people, where the program runs."""
    (tmp_path / "loan.toml").write_text(problem_to_toml(LOAN), encoding="utf-8")
    write_parquet(tmp_path / "in" / "a.parquet", [row | {"id": 7} for row in PEOPLE * 4])
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(line: str, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "argv", ["p2c", *line.split()])
    with pytest.raises(SystemExit) as left:
        main()
    shown = capsys.readouterr()
    assert isinstance(left.value.code, int | None)
    return left.value.code or 0, shown.out, shown.err


def test_the_summary_is_a_page(
    desk: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    code, out, err = run("batch loan.toml in out --plot sum.svg", monkeypatch, capsys)
    assert (code, err) == (
        0,
        "left aside, not in the problem: id (--keep carries a column through)\n24 of 24 rows\n",
    )
    assert [" ".join(line.split()) for line in out.splitlines()] == [
        "24 rows in 1 part, all made now",
        "status rows share",
        "already 4 16.67%",
        "found 12 50.00%",
        "infeasible 4 16.67%",
        "invalid 4 16.67%",
        "no way because of rows share",
        "credit_score effect 4 16.67%",
        "the answer rests on rows share",
        "exceptions to a causal rule or a constraint 4 16.67%",
        (
            "costs of plans, quantiles to three digits: 5% 0.00502, 25% 0.00502, 50% 0.00502,"
            " 75% 0.00502, 95% 0.00502"
        ),
    ]
    assert "<svg" in (desk / "sum.svg").read_text(encoding="utf-8")


def test_the_summary_says_that_the_rules_were_learned(
    desk: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    source = {"from": "model", "fidelity": 0.983}
    (desk / "loan.toml").write_text(problem_to_toml(LOAN | {"source": source}), encoding="utf-8")
    _, out, _ = run("batch loan.toml in out", monkeypatch, capsys)
    by = "The answer is given by rules that agree with the model on 98.3% of the rows."
    assert by in " ".join(out.split())
    summary = json.loads((desk / "out" / "_summary.json").read_text(encoding="utf-8"))
    assert summary["source"] == source


def test_one_person_who_is_hard_to_plan_for_is_given_up_and_holds_up_nobody(
    desk: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    problem, guests = more_guests_than_rooms(12)
    document = problem.to_dict() | {"goal": "ok(X)"}
    document["rules"] += " ok(X) :- not bad(X). ok(X) :- owner(X,'yes')."
    document["features"]["owner"] = category("no", "yes") | {"action": "fixed"}
    hard, easy = (guests | {"owner": answer} for answer in ("no", "yes"))
    (desk / "guests.toml").write_text(problem_to_toml(document), encoding="utf-8")
    write_parquet(desk / "guests.parquet", [hard, easy, hard | {"g0": "room1"}])
    line = "batch guests.toml guests.parquet out --json --time-limit 0.2 --engine native"
    code, out, _ = run(line, monkeypatch, capsys)
    assert (code, json.loads(out)["statuses"]) == (0, {"already": 1, "gave_up": 2})
    assert [row["status"] for row in read(desk / "out")] == ["gave_up", "already", "gave_up"]


def test_the_summary_may_be_json(
    desk: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    line = "batch loan.toml in out --json --keep id --alternatives 1 --norm l0 --no-blockers"
    code, out, err = run(line, monkeypatch, capsys)
    assert (code, err) == (0, "24 of 24 rows\n")
    summary = json.loads(out)
    assert summary == json.loads((desk / "out" / "_summary.json").read_text(encoding="utf-8"))
    assert summary["blockers"] == {"not asked": 4}
    assert summary["costs"] == [[2.0, 12]]
    first = read(desk / "out")[0]
    assert (first["id"], first["cost"]) == (7, 2)
    assert json.loads(first["alternatives"]) == []  # no other way differs in kind


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("batch loan.toml nowhere out", "nowhere: no such file or folder"),
        ("batch loan.toml in loan.toml", "expected a folder for the output, found a file"),
        ("batch loan.toml in loan.toml/out", "out: cannot be written: Not a directory"),
        ("batch loan.toml in out --engine scasp", "the engine 'scasp' is not installed: see https"),
        ("batch loan.toml in out --keep name", "name: cannot be kept, no such column"),
        ("batch loan.toml in out --cluster local --scheduler x", "give one of the two"),
        ("batch loan.toml in out --workers 0", "--workers"),
        ("batch none.toml in out", "none.toml: cannot be read"),
        ("batch loan.toml in out --plot sum.xyz", "sum.xyz: expected the ending of a picture"),
        ("batch loan.toml in out --plot no/sum.svg", "no/sum.svg: there is no folder 'no'"),
    ],
)
def test_what_is_wrong_is_one_line(
    desk: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture, line: str, complaint: str
) -> None:
    monkeypatch.setattr("p2c._engines.scasp.engine.find_solver", lambda: None)
    code, out, err = run(line, monkeypatch, capsys)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert complaint in err
    assert not (desk / "out").exists()


def test_what_an_engine_cannot_answer_is_not_laid_to_the_input(
    desk: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    line = "batch loan.toml in out --keep id --engine clingo --norm linf"
    code, out, err = run(line, monkeypatch, capsys)
    assert (code, out) == (2, "")
    assert "another engine or norm takes another folder" in err
    assert "mend the input" not in err


def test_progress_shows_rows_where_somebody_looks() -> None:
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=120)
    with progress(console) as watch:
        watch(rows=0, total=2000, spare=("id", "note"))
        watch(rows=500, total=2000, spare=("id", "note"))
        watch(rows=1500, total=2000, spare=("id", "note"))
    assert screen.getvalue().count("left aside, not in the problem: id, note") == 1
    assert "1,500 of 2,000 rows" in screen.getvalue()
    assert "rows/s" in screen.getvalue()


def test_progress_is_a_line_now_and_then_where_nobody_looks() -> None:
    screen = io.StringIO()
    with progress(Console(file=screen, width=120)) as watch:
        for rows in (0, *range(1, 2001, 7), 2000):
            watch(rows=rows, total=2000, spare=("id",))
    first, *lines = screen.getvalue().splitlines()
    assert first.startswith("left aside")
    assert (lines[0], lines[-1]) == ("204 of 2,000 rows", "2,000 of 2,000 rows")
    assert len(lines) == 10


def test_a_slow_batch_is_not_silent_for_long() -> None:
    screen, clock = io.StringIO(), iter([0.0, 29.0, 31.0, 31.0, 40.0])
    lines = Lines(Console(file=screen, width=120), clock=lambda: next(clock))
    for rows in (1, 2, 3):
        lines.tell(rows, 2000)
    assert screen.getvalue() == "2 of 2,000 rows\n"


def test_a_batch_into_a_pipe_says_how_far_it_is(
    desk: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    code, _, err = run("batch loan.toml in out", monkeypatch, capsys)
    assert code == 0
    assert re.search(r"^([\d,]+) of \1 rows$", err, re.MULTILINE)
