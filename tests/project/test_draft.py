"""A project under way: what was given and said is kept, and what is wrong is refused and changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from p2c._from_data import DataOptions, problem_from_table
from p2c._learn.tables.files import open_table
from p2c._learn.tables.look import Assumption
from p2c._project.draft import (
    Choice,
    Draft,
    build,
    built,
    read_draft,
    take_model,
    take_table,
    write_draft,
)
from p2c._server.workshop import perform, read_work
from p2c.errors import P2CError
from p2c.problem import Problem

if TYPE_CHECKING:
    from pathlib import Path

ROWS = "age,income,state,outcome\n" + "".join(
    f"{20 + each % 40},{each // 2},{'ab'[each % 2]},{'yes' if each > 60 else 'no'}\n"
    for each in range(120)
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    sent = folder / "People of today.CSV"
    sent.write_text(ROWS)
    take_table(folder, sent)
    return folder


def test_what_was_said_is_there_again(project: Path) -> None:
    said = {"age": Choice(action="up", weight=2, label="your age")}
    draft = Draft(table="table.csv", target="outcome", desired="yes", columns=said)
    write_draft(project, draft)
    assert read_draft(project) == draft


def test_another_table_keeps_what_was_said_of_columns_that_it_has(project: Path) -> None:
    said = {"age": Choice(action="up"), "income": Choice(weight=3)}
    write_draft(project, Draft(table="table.csv", target="outcome", columns=said))
    sent = project / "new.csv"
    sent.write_text("age,other\n1,2\n2,3\n")
    draft = take_table(project, sent)
    assert draft.columns == {"age": Choice(action="up")}
    assert draft.target == ""


@pytest.mark.parametrize("name", ["m.pkl", "m.joblib", "m", "m.exe", "m.csv.pickle"])
def test_a_model_that_could_run_code_is_not_taken(project: Path, name: str) -> None:
    sent = project / name
    sent.write_bytes(b"\x80\x04abc")
    with pytest.raises(P2CError, match="expected a model that ends in"):
        take_model(project, sent)
    assert read_draft(project).model == ""


@pytest.mark.parametrize("name", ["m.skops", "m.onnx", "m.json", "m.ubj", "m.txt", "m.cbm"])
def test_a_pickle_by_another_name_is_not_taken(project: Path, name: str) -> None:
    sent = project / name
    sent.write_bytes(b"\x80\x04\x95abc")
    with pytest.raises(P2CError, match="a pickle"):
        take_model(project, sent)
    assert read_draft(project).model == ""


def test_a_torn_table_leaves_the_old_one(project: Path) -> None:
    sent = project / "torn.parquet"
    sent.write_bytes(b"PAR1 and no more")
    with pytest.raises(P2CError, match="cannot be read as Parquet"):
        take_table(project, sent)
    assert read_draft(project).table == "table.csv"
    assert (project / "table.csv").read_text() == ROWS


def test_effort_and_words_are_in_the_problem_that_is_learned(project: Path) -> None:
    said = (Assumption("age", "fixed"), Assumption("income", "free", 3, label="what you earn"))
    table = open_table(project / "table.csv")
    options = DataOptions(desired="yes", assumptions=said)
    features = problem_from_table(Problem, table, "outcome", options, {}).to_dict()["features"]
    assert features["age"]["action"] == "fixed"
    assert features["income"]["weight"] == 3
    assert features["income"]["label"] == "what you earn"


def test_of_several_outcomes_the_one_that_is_wanted_is_learned(tmp_path: Path) -> None:
    file = tmp_path / "three.csv"
    grades = [f"{each},{'abc'[each // 40]}" for each in range(120)]
    file.write_text("\n".join(["income,grade", *grades]))
    options = DataOptions(desired="b")
    problem = problem_from_table(Problem, open_table(file), "grade", options, {})
    assert problem.spec.goal == "grade(X,'b')"


def test_a_problem_is_made_of_what_was_said(project: Path) -> None:
    said = {"age": Choice(action="fixed", label="your age")}
    write_draft(project, Draft(table="table.csv", target="outcome", desired="yes", columns=said))
    assert built(project) is None
    told = build(project, lambda: None)
    assert "income" in told["rules"]
    assert built(project) == project / "problem.toml"
    assert 'label = "your age"' in (project / "problem.toml").read_text()
    assert "yes" not in (project / "people.csv").read_text()


def test_a_step_that_fails_says_why_and_leaves_what_was_made(project: Path) -> None:
    write_draft(project, Draft(table="table.csv", target="outcome", desired="yes"))
    perform(build, project)
    made = (project / "problem.toml").read_bytes()
    write_draft(project, Draft(table="table.csv", target="outcome", desired="perhaps"))
    perform(build, project)
    work = read_work(project)
    assert (work.state, (project / "problem.toml").read_bytes()) == ("failed", made)
    assert "'perhaps' is not a class" in work.error
