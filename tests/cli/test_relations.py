"""Relations between columns on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import joblib
import pytest
from sklearn.tree import DecisionTreeClassifier
from typer.testing import CliRunner

from p2c import Problem, read_review
from p2c.cli.app import app
from tests.learn.relations.planted import lender

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    from typer.testing import Result

COLUMNS = ["income", "debt", "dti", "max_delay", "mean_delay"]
TEXTS = ["dti = debt / income", ":- mean_delay(X,A), max_delay(X,B), A > B."]


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(each) for each in arguments], catch_exceptions=False)


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    made = lender(1_500)[COLUMNS]
    return made.assign(repaid=((made["dti"] < 0.3) & (made["mean_delay"] < 4)).astype(int))


@pytest.fixture
def place(table: pd.DataFrame, tmp_path: Path) -> Path:
    table.to_csv(tmp_path / "loans.csv", index=False)
    return tmp_path


def test_init_keeps_the_relations_it_finds_and_writes_a_review(place: Path) -> None:
    data = place / "loans.csv"
    said = run(
        "init", data, "--target", "repaid", "--desired", "1", "--yes", "-o", place / "p.toml"
    )
    assert said.exit_code == 0, said.output
    assert "dti = debt / income" in said.output
    assert f"p2c review {place / 'p.review'} --list" in said.output.replace("\n", " ")
    kept = Problem.load(place / "p.toml").to_dict()["relations"]
    assert [each["text"] for each in kept.values()] == TEXTS
    review = read_review(place / "p.review")
    assert list(review.candidates) == list(kept)


def test_relations_are_listed_and_answered_like_causal_rules(place: Path) -> None:
    data, path = place / "loans.csv", place / "p.review"
    run("init", data, "--target", "repaid", "--desired", "1", "--yes", "-o", place / "p.toml")
    ratio, order = read_review(path).candidates
    listed = run("review", path, "--list")
    assert listed.exit_code == 1
    assert "Mean delay is never greater than max delay." in listed.output
    assert "It holds on 1,500 of 1,500 rows." in listed.output
    who = ("--by", "expert", "--why", "by definition")
    assert run("review", path, "--approve", ratio, "--reject", order, *who).exit_code == 0
    assert read_review(path).approved().declared.equations == {"dti": "debt / income"}
    assert "approved" in run("review", path, "--log").output


def test_rejected_relations_leave_the_problem(place: Path) -> None:
    data, path = place / "loans.csv", place / "p.review"
    run("init", data, "--target", "repaid", "--desired", "1", "--yes", "-o", place / "p.toml")
    ratio, order = read_review(path).candidates
    run("review", path, "--reject", order, "--by", "me", "--why", "no")
    adopted = run("adopt", place / "p.toml", path, "-o", place / "q.toml")
    assert adopted.exit_code == 0, adopted.output
    assert list(Problem.load(place / "q.toml").to_dict()["relations"]) == [ratio]


def test_fit_keeps_the_relations_of_a_model_in_its_folder(place: Path, table: pd.DataFrame) -> None:
    tree = DecisionTreeClassifier(max_depth=4, random_state=0)
    joblib.dump(tree.fit(table[COLUMNS], table["repaid"]), place / "m.joblib")
    folder = place / "loans"
    options = ("--data", place / "loans.csv", "--target", "repaid", "--yes", "--trust", "pickle")
    said = run("fit", place / "m.joblib", *options, "-o", folder)
    assert said.exit_code == 0, said.output
    kept = Problem.load(folder, trust="pickle").to_dict()["relations"]
    assert [each["text"] for each in kept.values()] == TEXTS
    assert list(read_review(folder / "relations.review").candidates) == list(kept)
