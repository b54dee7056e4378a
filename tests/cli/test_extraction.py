"""Real models in every format become problems of rules, and plans."""

from __future__ import annotations

import json
import pickle
import re
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np
import pytest
from skl2onnx import to_onnx
from skl2onnx.common.data_types import FloatTensorType, Int64TensorType, StringTensorType
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from typer.testing import CliRunner

import p2c
from p2c._rules import parse
from p2c.cli.app import app
from p2c.errors import P2CError
from tests import lending

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    from typer.testing import Result

KINDS = {
    "income": Int64TensorType([None, 1]),
    "debt": Int64TensorType([None, 1]),
    "job": StringTensorType([None, 1]),
}


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(each) for each in arguments], catch_exceptions=False)


def loans() -> pd.DataFrame:
    table = lending.loans(400).drop(columns="age")
    good = table["income"] - table["debt"] + 20 * (table["job"] == "clerk") > 45
    return table.assign(paid=np.where(good, "yes", "no"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the data and one model, stored in every format."""
    place = tmp_path_factory.mktemp("models")
    table = loans()
    table.to_csv(place / "loans.csv", index=False)
    encoder = make_column_transformer((OneHotEncoder(), ["job"]), remainder="passthrough")
    model = make_pipeline(encoder, GradientBoostingClassifier(n_estimators=10, random_state=0))
    features = table.drop(columns="paid")
    model.fit(features, table["paid"])
    joblib.dump(model, place / "model.joblib")
    (place / "model.pkl").write_bytes(pickle.dumps(model))
    from skops import io

    io.dump(model, place / "model.skops")
    graph = to_onnx(model, initial_types=list(KINDS.items()))
    (place / "model.onnx").write_bytes(graph.SerializeToString())
    return place


def extracted(folder: Path, tmp_path: Path, name: str, *options: object) -> dict[str, Any]:
    problem, rules = tmp_path / "problem.toml", tmp_path / "rules.lp"
    files = ("-o", problem, "--rules", rules)
    wanted = ("--data", folder / "loans.csv", "--desired", "yes", "--target", "paid")
    shown = run("fit", folder / name, *wanted, *files, *options)
    assert shown.exit_code == 0, shown.output
    assert "fidelity" in shown.output
    person = tmp_path / "person.json"
    person.write_text(json.dumps({"income": 30, "debt": 20, "job": "none"}))
    plan = json.loads(run("plan", problem, person, "--json").output)
    return {"rules": rules.read_text(), "plan": plan, "output": shown.output}


def test_every_format_gives_the_same_rules_and_a_problem_that_can_be_planned(
    folder: Path, tmp_path: Path
) -> None:
    options: dict[str, tuple[object, ...]] = {
        "model.joblib": (
            "--trust",
            "pickle",
        ),
        "model.pkl": (
            "--trust",
            "pickle",
        ),
        "model.skops": (),
        "model.onnx": (),
    }
    found = {}
    for name, extra in options.items():
        place = tmp_path / name
        place.mkdir()
        found[name] = extracted(folder, place, name, *extra)
    assert len({each["rules"] for each in found.values()}) == 1
    for name, each in found.items():
        assert each["plan"]["status"] == "found"
        source = each["plan"]["source"]
        assert (source["from"], source["name"]) == ("model", name)
        assert f"{source['fidelity']:.1%}" in each["output"]
        assert parse(each["rules"]).rules
        assert "assumed free, for nothing speaks against it" in each["output"]


def test_a_pickle_stays_closed_without_a_word(folder: Path) -> None:
    for name in ("model.joblib", "model.pkl"):
        with pytest.raises(P2CError, match=r"can run any code.*--trust pickle.*\.skops"):
            run("fit", folder / name, "--data", folder / "loans.csv", "-o", folder / "no.toml")


def test_a_pickle_is_not_opened_by_being_refused(tmp_path: Path) -> None:
    proof = tmp_path / "opened"

    class Trap:
        def __reduce__(self) -> tuple[Any, ...]:
            return (type(proof).touch, (proof,))

    (tmp_path / "trap.pkl").write_bytes(pickle.dumps(Trap()))
    loans().to_csv(tmp_path / "loans.csv", index=False)
    with pytest.raises(P2CError):
        run("fit", tmp_path / "trap.pkl", "--data", tmp_path / "loans.csv", "-o", tmp_path / "a")
    assert not proof.exists()


def test_a_skops_file_names_the_types_that_are_not_known_to_be_safe(folder: Path) -> None:
    from skops import io

    table = loans().drop(columns=["paid", "job"])
    io.dump(
        KNeighborsClassifier(algorithm="kd_tree").fit(table, loans()["paid"]), folder / "k.skops"
    )
    with pytest.raises(P2CError, match=r"not known to be safe: .*--trust sklearn\.neighbors"):
        run("fit", folder / "k.skops", "--data", folder / "loans.csv", "-o", folder / "no.toml")


def test_actions_go_into_the_problem(folder: Path, tmp_path: Path) -> None:
    trust = ("--trust", "pickle", "--fixed", "job", "--up", "income", "--down", "debt")
    found = extracted(folder, tmp_path, "model.joblib", *trust)
    assert "assumed" not in found["output"]
    features = p2c.Problem.load(tmp_path / "problem.toml").theory.feature
    actions = {name: each.action.value for name, each in features.items()}
    assert actions == {"income": "up", "debt": "down", "job": "fixed"}


def test_recorded_decisions_stand_in_for_a_model(folder: Path, tmp_path: Path) -> None:
    problem = tmp_path / "p.toml"
    options = ("--target", "paid", "--desired", "yes", "-o", problem)
    shown = run("fit", "--data", folder / "loans.csv", *options)
    assert shown.exit_code == 0
    loaded = p2c.Problem.load(problem)
    assert loaded.theory.goal_text
    source = loaded.to_dict()["source"]
    assert (source["from"], source["name"]) == ("labels", "loans.csv")
    assert f"{source['fidelity']:.1%}" in shown.output


def test_the_table_is_read_and_told_as_when_a_model_is_fitted(folder: Path, tmp_path: Path) -> None:
    data, problem = tmp_path / "more.csv", tmp_path / "p.toml"
    table = loans().assign(number=range(400), sex="f", age=30)
    table.to_csv(data, index=False)
    options = ("--data", data, "--desired", "yes", "-o", problem)
    shown = run("fit", folder / "model.skops", *options, "--up", "income", "--weight", "debt=2")
    assert list(p2c.Problem.load(problem).theory.feature) == ["income", "debt", "job"]
    assert re.search(r"debt +number +0 to 49 +0 +free +2", shown.output), shown.output
    assert (
        "# number: 0 to 49\n# assumed free, for nothing speaks against it\n" in problem.read_text()
    )
    problem.unlink()
    table["age"] = [*range(20, 60)] * 10
    table.to_csv(data, index=False)
    shown = run("fit", "--target", "paid", *options)
    features = p2c.Problem.load(problem).theory.feature
    assert "number" not in features
    assert "sex" not in features
    assert features["age"].action.value == "up"
    assert "column 'number' is left out: it is different in every row" in shown.output
    problem.unlink()
    run("fit", "--target", "paid", *options, "--keep", "number")
    assert "number" in p2c.Problem.load(problem).theory.feature


def test_numbers_with_commas_are_read_or_refused(tmp_path: Path) -> None:
    data = tmp_path / "commas.csv"
    table = loans()
    table["debt"] = table["debt"].map("{},5".format)
    table.to_csv(data, index=False)
    problem = tmp_path / "p.toml"
    command = ("fit", "--data", data, "--target", "paid", "--desired", "yes", "-o", problem)
    with pytest.raises(P2CError, match="column 'debt': numbers with commas"):
        run(*command)
    shown = run(*command, "--decimal-comma")
    assert "0.5 to 49.5" in shown.output


def test_a_rules_file_is_taken_as_it_is(folder: Path, tmp_path: Path) -> None:
    rules = tmp_path / "house.lp"
    rules.write_text("refused(X) :- income(X,N), N<40.\n")
    problem = tmp_path / "house.toml"
    options = ("--ignore", "paid", "-o", problem)
    shown = run("fit", rules, "--data", folder / "loans.csv", *options)
    assert shown.exit_code == 0
    assert "these are the model's own rules" in shown.output
    assert "100.0%" in shown.output
    assert "% These are the model's own rules." in problem.read_text()
    assert "source" not in p2c.Problem.load(problem).to_dict(), "nothing was learned"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (bytes(range(256)), "cannot be read as rules: it is not UTF-8 text"),
        (b"\nrefused(X) :- income(X 5).", "line 2, column 24: expected ')' or ',', found '5'"),
    ],
)
def test_a_file_that_holds_no_rules_is_named(
    content: bytes, message: str, folder: Path, tmp_path: Path
) -> None:
    rules = tmp_path / "house.lp"
    rules.write_bytes(content)
    with pytest.raises(P2CError) as caught:
        run(
            "fit",
            rules,
            "--data",
            folder / "loans.csv",
            "--ignore",
            "paid",
            "-o",
            tmp_path / "a.toml",
        )
    assert str(caught.value) == f"{rules}: {message}"


def test_what_exists_is_left_before_anything_is_learned(folder: Path, tmp_path: Path) -> None:
    there = tmp_path / "rules.lp"
    there.write_text("% mine\n")
    with pytest.raises(P2CError, match="exists; it stays unchanged"):
        run("fit", tmp_path / "none.joblib", "--data", tmp_path / "none.csv", "-o", there)
    output = ("-o", tmp_path / "a.toml", "--rules", there)
    with pytest.raises(P2CError, match="exists; it stays unchanged"):
        run("fit", "--data", tmp_path / "none.csv", "--target", "paid", *output)
    assert there.read_text() == "% mine\n"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("model.h5", b"", r"expected a file that ends in \.joblib"),
        ("gone.onnx", None, "no such file"),
        ("torn.onnx", b"not onnx", "cannot be read as ONNX"),
        ("torn.skops", b"not zip", "cannot be read as a skops file"),
        ("torn.joblib", b"not a pickle", "cannot be unpickled"),
        ("list.pkl", pickle.dumps([1, 2]), "expected one recorded decision"),
        (
            "raw.pkl",
            pickle.dumps(LogisticRegression()),
            "the model cannot be asked: NotFittedError",
        ),
    ],
)
def test_a_file_that_is_no_model_is_one_clear_line(
    folder: Path, tmp_path: Path, name: str, content: bytes | None, message: str
) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    options = ("--ignore", "paid", "--trust", "pickle", "-o", tmp_path / "a.toml")
    with pytest.raises(P2CError, match=message) as caught:
        run("fit", path, "--data", folder / "loans.csv", *options)
    assert "\n" not in str(caught.value)


def test_an_onnx_model_that_fails_as_it_is_asked_is_one_clear_line(
    folder: Path, tmp_path: Path
) -> None:
    path = tmp_path / "one_row.onnx"
    model = joblib.load(folder / "model.joblib")
    one_row = [(name, type(kind)([1, 1])) for name, kind in KINDS.items()]
    for plain in (True, False):
        graph = to_onnx(model, initial_types=one_row, options={"zipmap": not plain})
        path.write_bytes(graph.SerializeToString())
        _refused_in_one_line(path, folder)


def _refused_in_one_line(path: Path, folder: Path) -> None:
    options = ("--ignore", "paid", "--desired", "yes", "-o", folder / "no.toml")
    with pytest.raises(P2CError, match=r"the ONNX model cannot be asked: .*dimension") as caught:
        run("fit", path, "--data", folder / "loans.csv", *options)
    assert "\n" not in str(caught.value)


def test_options_of_the_other_kind_of_learning_are_refused(folder: Path, tmp_path: Path) -> None:
    data = ("--data", folder / "loans.csv", "--target", "paid")
    for option in (("--positive", "no"), ("--keep", "debt"), ("--ratio", 1), ("--tail", 0.1)):
        with pytest.raises(P2CError, match=f"{option[0]}: says how rules are learned from labels"):
            run("fit", folder / "model.skops", *data, *option, "-o", tmp_path / "a")
    with pytest.raises(P2CError, match="labels have no probability"):
        run("fit", *data, "--threshold", 0.6, "-o", tmp_path / "a.toml")
    with pytest.raises(P2CError, match=r"expected a \.toml file"):
        run("fit", *data, "-o", tmp_path / "a")
    rules = tmp_path / "a.lp"
    rules.write_text("refused(X) :- income(X,N), N<40.\n")
    with pytest.raises(P2CError, match=r"rules are no model: -o FILE\.toml"):
        run("fit", rules, *data, "-o", tmp_path / "a")


def test_an_onnx_input_that_the_data_do_not_have_is_named(folder: Path) -> None:
    ignored = ("--ignore", "debt", "--ignore", "paid", "-o", folder / "no.toml")
    with pytest.raises(P2CError, match="an input 'debt', the data no such column"):
        run("fit", folder / "model.onnx", "--data", folder / "loans.csv", *ignored)


def test_one_wide_onnx_input_takes_the_columns_in_their_order(tmp_path: Path) -> None:
    table = loans()
    numbers = table[["income", "debt"]]
    model = LogisticRegression().fit(numbers.to_numpy(), table["paid"])
    for zipped in (True, False):
        graph = to_onnx(
            model,
            initial_types=[("X", FloatTensorType([None, 2]))],
            options={"zipmap": zipped},
        )
        path = tmp_path / f"wide-{zipped}.onnx"
        path.write_bytes(graph.SerializeToString())
        data = tmp_path / f"data-{zipped}.csv"
        table.to_csv(data, index=False)
        ignored = ("--ignore", "job", "--target", "paid", "-o", tmp_path / f"{zipped}.toml")
        shown = run("fit", path, "--data", data, "--desired", "yes", *ignored)
        assert shown.exit_code == 0
        assert "income(X" in shown.output
        with pytest.raises(P2CError, match="takes 2 columns, the data have 3"):
            run(
                "fit",
                path,
                "--data",
                data,
                "--desired",
                "yes",
                "--target",
                "paid",
                "-o",
                tmp_path / "a",
            )
        ignored = ("--ignore", "debt", "--target", "paid", "-o", tmp_path / "a")
        with pytest.raises(P2CError, match="a column of it has text: income, job"):
            run("fit", path, "--data", data, "--desired", "yes", *ignored)
