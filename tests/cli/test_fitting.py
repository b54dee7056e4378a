"""`p2c fit` and `p2c init`: from a stored model and a table, or a table alone, to plans, in two commands."""

from __future__ import annotations

import json
import os
import pty
import select
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np
import pytest
from skl2onnx import to_onnx
from skl2onnx.common.data_types import Int64TensorType, StringTensorType
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from skops import io
from typer.testing import CliRunner

from p2c._learn.causal.learning import learn_causal_rules
from p2c._learn.causal.review import write_review
from p2c._learn.tables.domains import domain_from_frame
from p2c._learn.tables.files import open_table
from p2c._learn.tables.look import Why
from p2c._spec.feature import Action
from p2c._spec.toml import problem_to_toml
from p2c.cli.app import app
from p2c.errors import P2CError
from p2c.problem import Problem
from tests.lending import loans

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    from typer.testing import Result

POINTS = """feature,from,to,points
,70,,0
income,,40,10
income,40,70,40
income,70,,70
job,clerk,,30
job,,,20
"""


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(each) for each in arguments], catch_exceptions=False)


def applicants() -> pd.DataFrame:
    table = loans(400)
    good = table["income"] - table["debt"] + 20 * (table["job"] == "clerk") > 45
    sex = np.where(table["age"] % 2 == 0, "f", "m")
    return table.assign(sex=sex, number=range(1, 401), paid=np.where(good, "yes", "no"))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the data and a model in every format."""
    folder = tmp_path_factory.mktemp("models")
    table = applicants()
    table.to_csv(folder / "loans.csv", index=False)
    table.to_parquet(folder / "loans.parquet")
    features = table.drop(columns=["paid", "number"])
    encoder = make_column_transformer((OneHotEncoder(), ["job", "sex"]), remainder="passthrough")
    model = make_pipeline(encoder, GradientBoostingClassifier(n_estimators=10, random_state=0))
    model.fit(features, table["paid"])
    io.dump(model, folder / "model.skops")
    kinds = {
        name: StringTensorType([None, 1]) if name in ("job", "sex") else Int64TensorType([None, 1])
        for name in features.columns
    }
    graph = to_onnx(model, initial_types=list(kinds.items()), options={"zipmap": False})
    (folder / "model.onnx").write_bytes(graph.SerializeToString())
    (folder / "points.csv").write_text(POINTS)
    numbers, wanted = features[["income", "debt", "age"]], (table["paid"] == "yes").astype(int)
    try:
        import lightgbm
        import xgboost
    except ImportError:
        return folder
    xgboost.XGBClassifier(n_estimators=8).fit(numbers, wanted).save_model(folder / "trees.ubj")
    boosted = lightgbm.LGBMClassifier(n_estimators=8, verbose=-1).fit(numbers, wanted)
    boosted.booster_.save_model(str(folder / "trees.txt"))
    return folder


@pytest.mark.parametrize(
    ("file", "options", "proved"),
    [
        ("model.skops", ("--target", "paid", "--desired", "yes"), True),
        ("model.onnx", ("--target", "paid", "--desired", "yes", "--ignore", "number"), False),
        ("trees.ubj", (), True),
        ("trees.txt", ("--threshold", "0.6"), True),
        ("points.csv", (), True),
    ],
)
def test_two_commands_lead_from_a_model_file_to_a_confirmed_plan(
    file: str, options: tuple[str, ...], proved: bool, place: Path, tmp_path: Path
) -> None:
    if not (place / file).is_file():
        pytest.skip("the library of this format is not installed")
    desk = tmp_path / "desk"
    told = run("fit", place / file, "--data", place / "loans.csv", *options, "-o", desk)
    assert told.exit_code == 0, told.output
    if proved:
        assert "read exactly:" in told.output
    else:
        first, second = told.output.splitlines()[:2]
        assert first.startswith("no proof: the model is only asked")
        assert second.startswith("cheapest cure: ")
    problem = Problem.load(desk)
    rows = problem.read_rows(desk / "sample.csv")
    refused = next(n for n, row in enumerate(rows, start=1) if not problem.decide(row))
    command = f"next: p2c plan {desk} {desk / 'sample.csv'} --row {refused}"
    assert told.output.rstrip().endswith(command)
    shown = run("plan", desk, desk / "sample.csv", "--row", refused, "--json")
    answer = json.loads(shown.output)
    assert answer["status"] == "found"
    assert (answer["model"]["verified"], answer["model"]["proved"]) == (True, proved)


def test_the_search_space_of_a_model_is_told_as_the_models(place: Path, tmp_path: Path) -> None:
    causal = tmp_path / "causal.lp"
    causal.write_text("job(X,'clerk') :- income(X,M), M>=70.")
    fitted = ("fit", place / "points.csv", "--data", place / "loans.csv", "-o")
    assert run(*fitted, tmp_path / "alone").exit_code == 0
    assert run(*fitted, tmp_path / "both", "--causal", causal).exit_code == 0
    for name, who in (("alone", "the model"), ("both", "the model and the rules")):
        shown = run("space", tmp_path / name).output
        assert f"cut by {who} into" in shown
        assert f"of which {who} can tell " in shown


def test_the_command_that_is_named_next_trusts_what_was_trusted(
    place: Path, tmp_path: Path
) -> None:
    trees = io.get_untrusted_types(file=place / "model.skops")
    joblib.dump(io.load(place / "model.skops", trusted=trees), tmp_path / "model.joblib")
    data = ("--data", place / "loans.csv", "--target", "paid", "--desired", "yes")
    desk = tmp_path / "desk"
    told = run("fit", tmp_path / "model.joblib", *data, "--trust", "pickle", "-o", desk)
    command = told.output.strip().splitlines()[-1].removeprefix("next: p2c ")
    assert run(*shlex.split(command)).exit_code == 0


def test_it_says_what_it_saw_assumed_and_how_to_change_it(place: Path, tmp_path: Path) -> None:
    data = ("--data", place / "loans.parquet", "--target", "paid", "--desired", "yes")
    told = run("fit", place / "model.skops", *data, "--weight", "debt=2", "-o", tmp_path / "desk")
    assert "assumed up, for nobody grows younger: age" in told.output
    assert "assumed fixed, for nobody is asked to change it: sex" in told.output
    assert "10 to 99" in told.output
    assert "--accept" in told.output
    text = (tmp_path / "desk" / "problem.toml").read_text()
    assert "# number: 10 to 99" in text
    features = Problem.load(tmp_path / "desk").theory.feature
    assert "number" not in features
    assert [features[name].action.value for name in ("age", "sex", "debt")] == [
        "up",
        "fixed",
        "free",
    ]
    assert features["debt"].weight == 2


def test_columns_that_the_model_does_not_read_are_shown_and_cannot_be_spoken_of(
    place: Path, tmp_path: Path
) -> None:
    data = ("--data", place / "loans.csv", "--target", "paid", "--desired", "yes")
    told = run("fit", place / "model.skops", *data, "-o", tmp_path / "desk")
    (line,) = [each for each in told.output.splitlines() if each.split()[:1] == ["number"]]
    assert line.split() == ["number", "id", "1", "to", "400", "0", "not", "read"]
    with pytest.raises(P2CError, match=r"loans\.csv: the model does not read the column 'number'"):
        run("fit", place / "model.skops", *data, "--fixed", "number", "-o", tmp_path / "other")


def test_columns_that_help_no_rule_are_shown_and_left_out(place: Path, tmp_path: Path) -> None:
    options = ("--target", "paid", "--desired", "yes")
    told = run("init", place / "loans.csv", *options, "-o", tmp_path / "a.toml")
    (line,) = [each for each in told.output.splitlines() if each.split()[:1] == ["number"]]
    assert line.split() == ["number", "id", "1", "to", "400", "0", "left", "out"]
    assert "column 'number' is left out: it is different in every row" in told.output
    told = run("init", place / "loans.csv", *options, "--keep", "number", "-o", tmp_path / "b.toml")
    assert "left out" not in told.output


def test_options_say_otherwise_and_contradictions_are_refused(place: Path, tmp_path: Path) -> None:
    data = ("--data", place / "loans.csv", "--target", "paid", "--desired", "yes")
    chosen = ("--free", "age", "--up", "income", "--down", "debt", "--fixed", "job")
    desk = tmp_path / "desk"
    run("fit", place / "model.skops", *data, *chosen, "-o", desk)
    actions = {name: each.action.value for name, each in Problem.load(desk).theory.feature.items()}
    expected = {"income": "up", "debt": "down", "job": "fixed", "age": "free", "sex": "fixed"}
    assert actions == expected
    wrong = {
        ("--up", "age", "--down", "age"): "--down age: the column is given as 'up' too",
        ("--fixed", "agee"): "no column 'agee'; did you mean 'age'",
        ("--desired", "maybe"): "'maybe' is not a class",
    }
    for options, message in wrong.items():
        with pytest.raises(P2CError, match=message):
            run("fit", place / "model.skops", *data, *options, "-o", tmp_path / "other")
    with pytest.raises(P2CError, match=r"exists; it stays unchanged, .* or --replace"):
        run("fit", place / "model.skops", *data, "-o", desk)


def test_causal_rules_come_from_a_file_or_a_review(place: Path, tmp_path: Path) -> None:
    data = ("--data", place / "loans.csv", "--target", "paid", "--desired", "yes")
    rules = tmp_path / "causes.lp"
    rules.write_text("debt(X,N) :- income(X,I), I>=80, N=<10.\n")
    run("fit", place / "model.skops", *data, "--causal", rules, "-o", tmp_path / "a")
    assert Problem.load(tmp_path / "a").theory.rules_of.keys() == {"debt"}
    table = applicants()[["income", "job"]].assign(income=lambda t: (t["job"] == "clerk") * 10)
    found = learn_causal_rules(table, targets=["income"])
    review = write_review(tmp_path / "r.jsonl", found, features=domain_from_frame(table))
    for candidate in review.pending():
        review.decide(candidate.id, "rejected", by="An expert", why="a test")
    told = run(
        "fit", place / "model.skops", *data, "--causal", tmp_path / "r.jsonl", "-o", tmp_path / "b"
    )
    assert told.exit_code == 0


def test_an_effect_of_causal_rules_is_not_assumed_to_be_free(place: Path, tmp_path: Path) -> None:
    data = ("--data", place / "loans.csv", "--target", "paid", "--desired", "yes")
    rules = tmp_path / "causes.lp"
    rules.write_text("debt(X,N) :- income(X,I), I>=80, N=<10.\n")
    causal = ("--causal", rules, "--fixed", "age")
    told = run("fit", place / "model.skops", *data, *causal, "-o", tmp_path / "a")
    assert "assumed effect, for causal rules lead to it: debt\n" in told.output
    assert "assumed free, for nothing speaks against it: income, job\n" in told.output
    law = f"'iff' where it states none: p2c lint {tmp_path / 'a'} reads it back"
    assert law in " ".join(told.output.split())
    assert "# assumed effect, for causal rules lead to it" in (
        tmp_path / "a" / "problem.toml"
    ).read_text(encoding="utf-8")
    run("fit", place / "model.skops", *data, *causal, "--free", "debt", "-o", tmp_path / "b")
    actions = [Problem.load(tmp_path / each).theory.feature["debt"].action for each in "ab"]
    assert actions == [Action.EFFECT, Action.FREE]


def test_a_table_of_outcomes_becomes_a_commented_problem(place: Path, tmp_path: Path) -> None:
    path = tmp_path / "loans.toml"
    options = ("--target", "paid", "--desired", "yes", "-o", path)
    told = run("init", place / "loans.csv", *options)
    assert told.exit_code == 0, told.output
    text = path.read_text()
    assert text.startswith("# Made by p2c from a table")
    assert "# assumed up, for nobody grows younger" in text
    problem = Problem.load(path)
    assert problem.spec.source is not None
    assert problem.spec.source.origin.value == "labels"
    row = {"income": 20, "debt": 40, "job": "cook", "age": 30, "sex": "f"}
    assert problem.plan(row).status == "found"
    assert f"next: p2c lint {path}" in told.output


def test_in_a_pipe_a_missing_answer_is_an_error(place: Path, tmp_path: Path) -> None:
    with pytest.raises(P2CError, match="--target: which column holds the outcome"):
        run("init", place / "loans.csv", "-o", tmp_path / "a.toml")
    with pytest.raises(P2CError, match="desired: which class is to be reached"):
        run("fit", place / "model.skops", "--data", place / "loans.csv", "-o", tmp_path / "desk")


def talk(arguments: list[str], answers: dict[str, str]) -> str:
    """Run a command in a terminal of its own, and answer each question by how it begins."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-W", "ignore", "-m", "p2c", *arguments]
    with subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, close_fds=True
    ) as one:
        os.close(theirs)
        told, answered = "", 0
        while select.select([ours], [], [], 120)[0]:
            try:
                chunk = os.read(ours, 65_536).decode()
            except OSError:
                break
            if not chunk:
                break
            told += chunk
            if told[answered:].rstrip(" ").endswith(":") and not told.endswith("\n"):
                question = told[answered:].rsplit("\n", 1)[-1].strip()
                found = [text for start, text in answers.items() if question.startswith(start)]
                os.write(ours, f"{found[0] if found else ''}\n".encode())
                answered = len(told)
        one.wait(timeout=60)
    os.close(ours)
    assert one.returncode == 0, told
    return told


def test_in_a_terminal_it_asks_for_what_only_a_person_knows(place: Path, tmp_path: Path) -> None:
    desk = tmp_path / "desk"
    data = ["--data", str(place / "loans.csv"), "--target", "paid", "--fixed", "job"]
    answers = {"which outcome": "yes", "debt": "down", "weight": "3"}
    told = talk(["fit", str(place / "model.skops"), *data, "-o", str(desk)], answers)
    assert "job (" not in told
    features = Problem.load(desk).theory.feature
    assert features["debt"].action.value == "down"
    assert features["debt"].weight == 3
    assert features["age"].action.value == "up"
    assert 'desired = "yes"' in (desk / "problem.toml").read_text()


def test_an_edit_is_accepted_by_the_command_that_the_refusal_names(
    place: Path, tmp_path: Path
) -> None:
    desk = tmp_path / "desk"
    data: tuple[Any, ...] = ("--data", place / "loans.csv", "--target", "paid", "--desired", "yes")
    run("fit", place / "model.skops", *data, "-o", desk)
    path = desk / "problem.toml"
    path.write_text(path.read_text().replace('rules = ""', 'rules = ":- debt(X,N), N>45."'))
    with pytest.raises(P2CError, match="--accept"):
        run("lint", desk)
    told = run("lint", desk, "--accept")
    assert "accepted: problem.toml" in told.output
    assert len(Problem.load(desk).theory.constraints) == 1
    other = tmp_path / "a.toml"
    other.write_text(problem_to_toml({"goal": "a(X,1)", "rules": "", "features": {}}))
    with pytest.raises(P2CError, match="is no folder with a model"):
        run("lint", other, "--accept")


def test_catboost_is_told_what_stood_in_empty_cells_of_text_when_it_was_trained(
    tmp_path: Path,
) -> None:
    catboost = pytest.importorskip("catboost")
    table = applicants().drop(columns="number")
    table["job"] = table["job"].where(table["age"] % 5 > 0)
    table["debt"] = table["debt"].where(table["age"] % 7 > 0)
    data, model, folder = (tmp_path / each for each in ("people.csv", "model.cbm", "desk"))
    table.to_csv(data, index=False)
    rows = table.drop(columns="paid").fillna({"job": "missing"})
    quiet = {"iterations": 20, "verbose": 0, "allow_writing_files": False}
    learner = catboost.CatBoostClassifier(**quiet)
    learner.fit(rows, table["paid"], cat_features=["job", "sex"]).save_model(str(model))
    asked = ("fit", model, "--data", data, "--target", "paid", "--desired", "yes", "-o", folder)
    with pytest.raises(P2CError, match=r"column 'job': a cell is empty, .* --empty TEXT"):
        run(*asked)
    shown = run(*asked, "--empty", "missing")
    assert "read exactly" in shown.output
    next_command = shlex.split(shown.output.rpartition("next: p2c ")[2])
    assert json.loads(run(*next_command, "--json").output)["model"]["verified"]


def test_empty_cells_of_text_alone_are_filled(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("job,debt,flag\nclerk,1,true\n,,\ncook,3,false\n")
    frame = open_table(path, empty="none").frame
    assert frame["job"].tolist() == ["clerk", "none", "cook"]
    assert frame[["debt", "flag"]].isna().sum().tolist() == [1, 1]


def test_fit_learns_from_labels_where_there_is_no_model(place: Path, tmp_path: Path) -> None:
    options = ("--target", "paid", "--desired", "yes", "--yes")
    (tmp_path / "a").mkdir()
    run("init", place / "loans.csv", *options, "-o", tmp_path / "a" / "loans.toml")
    fitted = ("fit", "--data", place / "loans.csv", *options)
    told = run(*fitted, "-o", tmp_path / "loans.toml")
    assert "assumed" in told.stdout
    written = (tmp_path / "loans.toml").read_text()
    assert written == (tmp_path / "a" / "loans.toml").read_text()
    with pytest.raises(P2CError, match="expected a model file, or --target COLUMN with labels"):
        run("fit", "--data", place / "loans.csv", "-o", tmp_path / "b.toml")


def test_python_and_the_command_line_make_the_same_problem(place: Path, tmp_path: Path) -> None:
    table, path = open_table(place / "loans.csv").frame, tmp_path / "loans.toml"
    labels = ("--target", "paid", "--desired", "yes")
    run("fit", "--data", place / "loans.csv", *labels, "-o", path)
    made = Problem.from_table(table, "paid", desired="yes", name="loans")
    python = made.save(tmp_path / "python.toml").read_text()
    assert path.read_text() == python.replace('"the table"', '"loans.csv"')
    left_out = [each for each in made.assumptions if each.action == "left out"]
    assert [(each.column, each.why) for each in left_out] == [("number", Why.UNIQUE)]
    named = Problem.from_table(table, "paid", desired="yes", actions={"number": "fixed"})
    assert "number" in named.theory.feature
    model, desk = place / "points.csv", tmp_path / "points"
    run("fit", model, "--data", place / "loans.csv", "-o", desk)
    columns = table[["income", "job"]]
    by_model = Problem.from_model(model, columns, name="points")
    loaded = Problem.load(desk)
    assert loaded.spec.features == by_model.spec.features
    assert loaded.assumptions == by_model.assumptions


def test_assumptions_are_kept_with_a_folder_and_follow_its_edits(
    place: Path, tmp_path: Path
) -> None:
    desk = tmp_path / "desk"
    data: tuple[Any, ...] = ("--data", place / "loans.csv", "--target", "paid", "--desired", "yes")
    run("fit", place / "model.skops", *data, "--fixed", "job", "-o", desk)
    kept = {each.column: (each.action, each.why) for each in Problem.load(desk).assumptions}
    assert kept == {
        "income": ("free", Why.USUAL),
        "debt": ("free", Why.USUAL),
        "job": ("fixed", None),
        "age": ("up", Why.AGE),
        "sex": ("fixed", Why.BORN_WITH),
    }
    path = desk / "problem.toml"
    path.write_text(path.read_text().replace('action = "up"', 'action = "fixed"'))
    run("lint", desk, "--accept")
    (age,) = [each for each in Problem.load(desk).assumptions if each.column == "age"]
    assert (age.action, age.why) == ("fixed", None)
