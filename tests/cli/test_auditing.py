"""`p2c audit` as an auditor meets it: what it writes, and what it refuses."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from p2c._spec.toml import problem_to_toml
from p2c.problem import Problem
from tests.cli.desk import Desk
from tests.loan import JOHN, LOAN

if TYPE_CHECKING:
    from pathlib import Path

PEOPLE = [
    {**JOHN, "sex": "f"},
    {**JOHN, "sex": "m", "debt": 0},
    {**JOHN, "sex": "m", "bank_balance": 70_000, "credit_score": 700},
    {**JOHN, "sex": "", "debt": -1},
    {**JOHN, "sex": "f", "credit_score": None},
]
ENDINGS = ("html", "pdf", "md", "json")


@pytest.fixture
def desk(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Desk:
    monkeypatch.chdir(tmp_path)
    desk = Desk(tmp_path, capsys, monkeypatch)
    pd.DataFrame(PEOPLE).to_csv("people.csv", index=False)
    return desk


def test_a_report_is_written_in_every_format_and_can_be_written_again(desk: Desk) -> None:
    line = ("audit", "loan.toml", "people.csv", "--by", "sex", "--by", "age:<40,>=40", "-o", "out")
    shown = desk.run(*line)
    assert (shown.code, shown.err) == (0, f"{len(PEOPLE)} of {len(PEOPLE)} rows\n")
    assert shown.out.split() == [f"out/audit.{ending}" for ending in ENDINGS]
    found = json.loads((desk.folder / "out/audit.json").read_text(encoding="utf-8"))
    assert found["groups"][0]["statuses"] == {
        "already": 1,
        "found": 2,
        "infeasible": 1,
        "invalid": 1,
    }
    assert [each["group"] for each in found["groups"][1:4]] == ["sex: f", "sex: m", "sex: unknown"]
    assert found["asked"]["command"].startswith("p2c audit loan.toml people.csv -o out --by=sex")
    assert set(found["asked"]["hashes"]) == {"problem", "data"}
    page = (desk.folder / "out/audit.md").read_text(encoding="utf-8")
    assert "3 of 4 people are refused today (75%)." in page
    assert "1 of the refused (33.3%) have no way to a yes" in page
    again = desk.run(*line)
    assert (again.code, again.out) == (0, shown.out)


def test_a_report_that_is_there_is_kept_unless_it_may_be_replaced(desk: Desk) -> None:
    (desk.folder / "out").mkdir()
    desk.write("out/audit.html", "mine")
    line = ("audit", "loan.toml", "people.csv", "-o", "out")
    refused = desk.run(*line)
    progress, complaint = refused.err.splitlines()
    assert (refused.code, progress) == (2, f"{len(PEOPLE)} of {len(PEOPLE)} rows")
    assert "exists and differs" in complaint
    assert desk.run(*line, "--overwrite").code == 0


def test_another_audit_takes_the_place_of_one_where_that_is_wanted(desk: Desk) -> None:
    line = ("audit", "loan.toml", "people.csv", "-o", "out")
    assert desk.run(*line).code == 0
    assert desk.run(*line, "--by", "sex", "--overwrite").code == 0
    desk.write("out/people/notes.txt", "mine")
    desk.write("fewer.csv", pd.DataFrame(PEOPLE).head(2).to_csv(index=False))
    other = ("audit", "loan.toml", "fewer.csv", "-o", "out")
    assert "begun with other settings" in desk.refuses(*other)
    assert desk.run(*other, "--overwrite").code == 0
    found = json.loads((desk.folder / "out/audit.json").read_text(encoding="utf-8"))
    assert found["asked"]["rows"] == 2
    assert (desk.folder / "out/people/notes.txt").read_text() == "mine"


def test_the_command_counts_what_python_counts(desk: Desk) -> None:
    desk.run("audit", "loan.toml", "people.csv", "--by", "sex", "-o", "out", "--language", "de")
    found = json.loads((desk.folder / "out/audit.json").read_text(encoding="utf-8"))
    here = Problem.from_dict(LOAN).audit(pd.DataFrame(PEOPLE), ["sex"]).to_dict()
    assert found["groups"] == json.loads(json.dumps(here["groups"]))
    assert "3 von 4 Personen werden heute abgelehnt" in (desk.folder / "out/audit.md").read_text(
        "utf-8"
    )


def test_without_what_writes_pdf_the_other_formats_are_written_and_that_is_said(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "fpdf", None)
    shown = desk.run("audit", "loan.toml", "people.csv", "-o", "out")
    assert shown.code == 0
    assert shown.out.split() == [f"out/audit.{each}" for each in ENDINGS if each != "pdf"]
    (line,) = [each for each in shown.err.splitlines() if not each.endswith(" rows")]
    assert line.startswith("audit.pdf is left out: this needs the package 'fpdf2'")


def test_what_is_wrong_is_said_in_one_line(desk: Desk) -> None:
    line = ("audit", "loan.toml", "people.csv", "-o", "out")
    assert desk.refuses(*line, "--by", "sax") == (
        "by: no column 'sax' in people.csv; did you mean 'sex'?"
    )
    assert "expected bands" in desk.refuses(*line, "--by", "age:young")
    assert "no catalogue 'xx'" in desk.refuses(*line, "--language", "xx")
    assert "no such file" in desk.refuses("audit", "loan.toml", "nobody.csv", "-o", "out").lower()


def test_two_problems_are_compared_on_the_same_people(desk: Desk) -> None:
    desk.write(
        "other.toml",
        problem_to_toml(
            {**LOAN, "name": "other", "rules": LOAN["rules"].replace("60000", "30000")}
        ),
    )
    shown = desk.run("audit", "loan.toml", "people.csv", "--against", "other.toml", "-o", "out")
    assert (shown.code, shown.err) == (0, 2 * f"{len(PEOPLE)} of {len(PEOPLE)} rows\n")
    found = json.loads((desk.folder / "out/audit.json").read_text(encoding="utf-8"))
    assert found["change"]["after"] == "other"
    assert found["change"]["groups"][0]["gain"]["count"] == 2


def test_a_folder_with_a_model_is_audited(desk: Desk) -> None:
    loans = pd.DataFrame({"income": range(20, 80), "age": [20 + i % 40 for i in range(60)]})
    model = DecisionTreeClassifier(max_depth=2).fit(
        loans, (loans["income"] > 51) & (loans["age"] > 30)
    )
    Problem.from_model(model, loans, desired=True, actions={"age": "fixed"}).save(
        desk.folder / "model"
    )
    loans.assign(region="north").to_csv("loans.csv", index=False)
    shown = desk.run("audit", "model", "loans.csv", "--by", "region", "-o", "out")
    assert (shown.code, shown.err) == (0, "60 of 60 rows\n")
    found = json.loads((desk.folder / "out/audit.json").read_text(encoding="utf-8"))
    assert found["asked"]["proved"]
    stuck = int((loans["age"] <= 30).sum())
    assert found["groups"][1]["without_a_way"]["count"] == stuck
    assert [each["people"] for each in found["confined"]["classes"]] == [stuck]


CODES = "feature,direction,code,text\nbank_balance,,R01,Too little money\ncredit_score,,R07,Credit score\n"


def test_reasons_are_a_column_of_the_batch_and_stand_in_the_letter(desk: Desk) -> None:
    desk.write("codes.csv", CODES)
    options = ("--reasons", "codes.csv", "--protected", "age")
    shown = desk.run("batch", "loan.toml", "people.csv", "out", *options)
    assert shown.code == 0
    table = pd.read_parquet(desk.folder / "out/part-000000.parquet")
    told = [
        [each["code"] for each in json.loads(text or "[]")]
        for text in table["reasons"].astype(object).where(table["reasons"].notna(), "")
    ]
    assert told == [["R01", "R07"], ["R01", "R07"], [], [], ["R01"]]
    shown = desk.run("report", "loan.toml", "john.json", "-o", "letter.md", *options)
    assert "1. R01: Too little money" in (desk.folder / "letter.md").read_text(encoding="utf-8")
    assert "needs --reasons" in desk.refuses(
        "report", "loan.toml", "john.json", "-o", "l.md", "--protected", "age"
    )


def test_the_time_for_explanations_is_an_option(desk: Desk) -> None:
    line = ("audit", "loan.toml", "people.csv", "-o", "out", "--explain-time-limit", "0")
    assert desk.run(*line).code == 0
    document = json.loads((desk.folder / "out/audit.json").read_text(encoding="utf-8"))
    assert document["why_not"]["cut_short"]
    assert document["confined"]["not_found_out"] == 1
    assert "--explain-time-limit=0" in document["asked"]["command"]
