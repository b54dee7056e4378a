"""Folders as MLflow writes them, with the files of the libraries themselves: opened without MLflow, pickles on request only."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
import yaml
from sklearn.ensemble import GradientBoostingClassifier
from skops import io

from p2c._learn.model.stored import model_file
from p2c._learn.model.tree_checks import CHECKED
from p2c._spec.spec import Trust
from p2c._spec.toml import problem_to_toml
from p2c.errors import P2CError
from p2c.problem import Problem
from tests.cli.desk import Desk
from tests.evidence import evidence_of

if TYPE_CHECKING:
    from pathlib import Path

ROW = {"income": 2, "debt": 4}


def people() -> pd.DataFrame:
    return pd.DataFrame({"income": np.arange(600) % 10, "debt": np.arange(600) // 10 % 6})


def labels() -> Any:
    return (people()["income"] - people()["debt"] >= 3).astype(int)


def described(folder: Path, flavour: str, **keys: str) -> Path:
    """Write what MLflow 3 says of a model besides the model: its flavours, the general one among them."""
    file = keys.get("data", keys.get("pickled_model", ""))
    general = {
        "data": file,
        "env": {"conda": "conda.yaml", "virtualenv": "python_env.yaml"},
        "loader_module": f"mlflow.{flavour}",
        "python_version": "3.11.7",
    }
    flavours = {flavour: {"code": None, **keys}, "python_function": general}
    told = {"flavors": flavours, "mlflow_version": "3.17.2", "model_id": None, "prompts": None}
    (folder / "MLmodel").write_text(yaml.safe_dump(told))
    for name in ("conda.yaml", "python_env.yaml", "requirements.txt"):
        (folder / name).write_text("")
    return folder


def fitted(kind: str) -> Any:
    """Return a model of the library, or of scikit-learn."""
    library = kind.partition("-")[0]
    if library == "xgboost":
        model = pytest.importorskip(library).XGBClassifier(n_estimators=8)
    elif library == "lightgbm":
        model = pytest.importorskip(library).LGBMClassifier(n_estimators=8, verbose=-1)
    elif library == "catboost":
        quiet = {"verbose": 0, "allow_writing_files": False}
        model = pytest.importorskip(library).CatBoostClassifier(iterations=8, **quiet)
    else:
        model = GradientBoostingClassifier(n_estimators=8, random_state=0)
    model.fit(people(), labels())
    if library == "onnx":
        to_onnx = pytest.importorskip("skl2onnx").to_onnx
        rows = people().astype(np.float32).to_numpy()
        return to_onnx(model, rows, options={"zipmap": False})
    return model.booster_ if kind == "lightgbm-booster" else model


def stored(folder: Path, kind: str) -> Path:
    """Return a folder with a fitted model, as MLflow's function for the library leaves it."""
    folder.mkdir()
    model = fitted(kind)
    match kind.split("-"):
        case "xgboost", file:
            # As the format is called, so the name ends; what is inside of the last is the second.
            model.save_model(folder / f"model.{'ubj' if file == 'xgb' else file}")
            next(folder.iterdir()).rename(folder / f"model.{file}")
            return described(folder, "xgboost", data=f"model.{file}", model_format=file)
        case "catboost", file:
            model.save_model(folder / "model.cb", format=file)
            return described(folder, "catboost", data="model.cb", save_format=file)
        case "lightgbm", "booster":
            model.save_model(folder / "model.lgb")
            return described(folder, "lightgbm", data="model.lgb")
        case "onnx", _:
            (folder / "model.onnx").write_bytes(model.SerializeToString())
            return described(folder, "onnx", data="model.onnx")
        case flavour, "skops":
            io.dump(model, folder / "model.skops")
            place = "pickled_model" if flavour == "sklearn" else "data"
            keys = {place: "model.skops", "serialization_format": "skops"}
            return described(folder, flavour, **keys)
    (folder / "model.pkl").write_bytes(pickle.dumps(model))
    return described(
        folder, "sklearn", pickled_model="model.pkl", serialization_format="cloudpickle"
    )


def saved_by_mlflow(folder: Path, kind: str) -> Path:
    """Return what MLflow itself makes of the same model."""
    flavour, form = kind.split("-")
    library = pytest.importorskip(f"mlflow.{flavour}", reason="MLflow is not installed")
    model = fitted(kind)
    how: dict[str, dict[str, Any]] = {
        "xgboost": {"model_format": form},
        "catboost": {"format": form},
        "sklearn": {"serialization_format": form, "skops_trusted_types": list(CHECKED)},
    }
    library.save_model(model, folder, **how.get(flavour, {}))
    return folder


FORMS = (
    *("sklearn-skops", "lightgbm-skops", "lightgbm-booster", "onnx-file"),
    *("xgboost-ubj", "xgboost-json", "xgboost-xgb", "catboost-cbm", "catboost-json"),
)


@pytest.mark.parametrize("kind", FORMS)
def test_the_folders_of_these_tests_are_laid_out_as_those_of_mlflow(
    kind: str, tmp_path: Path
) -> None:
    theirs, ours = saved_by_mlflow(tmp_path / "theirs", kind), stored(tmp_path / "ours", kind)
    assert model_file(theirs).name == model_file(ours).name
    assert {each.name for each in theirs.iterdir()} == {each.name for each in ours.iterdir()}
    assert evidence_of(Problem.from_model(theirs, people(), desired=1).plan(ROW)).verified


@pytest.mark.parametrize("kind", FORMS)
def test_a_folder_is_a_model_for_recourse_and_for_a_problem_file(kind: str, tmp_path: Path) -> None:
    folder = stored(tmp_path / "model", kind)
    recourse = Problem.from_model(str(folder), people(), desired=1)
    answer = recourse.plan(ROW)
    assert evidence_of(answer).verified
    recourse.save(tmp_path / "desk")
    assert Problem.load(tmp_path / "desk").plan(ROW).to_dict() == answer.to_dict()
    spans = {"income": 9, "debt": 5}
    features = {name: {"type": "int", "min": 0, "max": top} for name, top in spans.items()}
    path = tmp_path / "problem.toml"
    path.write_text(
        problem_to_toml({"model": {"file": "model", "desired": 1}, "features": features})
    )
    problem = Problem.load(path)
    assert problem.plan(ROW).cost == pytest.approx(answer.cost)
    assert Problem.from_message(problem.to_message()).plan(ROW) == problem.plan(ROW)


def test_p2c_fit_takes_a_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = Desk(tmp_path, capsys, monkeypatch)
    people().to_csv(tmp_path / "people.csv", index=False)
    folder = stored(tmp_path / "model", "sklearn-skops")
    data = ("--data", tmp_path / "people.csv", "--desired", "1", "-o", tmp_path / "desk")
    assert desk.run("fit", folder, *data).code == 0
    assert Problem.load(tmp_path / "desk").plan(ROW).to_dict()["model"]["verified"]
    pickled = stored(tmp_path / "pickled", "sklearn-pickle")
    shown = desk.refuses("fit", pickled, *data[:-1], tmp_path / "other")
    assert "add --trust pickle" in shown


def test_a_pickle_inside_is_opened_on_request_only(tmp_path: Path) -> None:
    folder = stored(tmp_path / "model", "sklearn-pickle")
    with pytest.raises(P2CError, match="can run any code as it is opened"):
        Problem.from_model(folder, people(), desired=1)
    trusted = Problem.from_model(folder, people(), desired=1, trust=Trust(pickle=True))
    assert evidence_of(trusted.plan(ROW)).verified


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("flavors: {keras: {data: a}}", "expected one of the flavours sklearn, .* found keras"),
        ("flavors: [a]", "expected a table of 'flavors'"),
        ("a: [", "not YAML"),
        ("!!python/object:os.system {}", "not YAML"),
        ("flavors: {onnx: {data: ../secret.onnx}}", "expected a file of the folder"),
        ("flavors: {onnx: {data: none.onnx}}", "expected a file of the folder"),
        ("flavors: {onnx: {}}", "expected a file of the folder, found None"),
    ],
)
def test_what_is_wrong_with_a_description_is_one_line(
    text: str, message: str, tmp_path: Path
) -> None:
    (tmp_path / "secret.onnx").write_bytes(b"")
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "MLmodel").write_text(text)
    with pytest.raises(P2CError, match=message) as found:
        model_file(tmp_path / "model")
    assert "\n" not in str(found.value)


def test_an_onnx_model_with_its_numbers_in_another_file_is_refused_as_it_is_saved(
    tmp_path: Path,
) -> None:
    onnx = pytest.importorskip("onnx")
    helper, kind = onnx.helper, onnx.TensorProto.FLOAT
    weights = onnx.numpy_helper.from_array(np.array([[1], [-1]], dtype=np.float32), "W")
    nodes = [helper.make_node("MatMul", "XW", "S"), helper.make_node("Sigmoid", "S", "P")]
    ends = [
        helper.make_tensor_value_info(name, kind, [None, n]) for name, n in (("X", 2), ("P", 1))
    ]
    graph = helper.make_graph(nodes, "lone", ends[:1], ends[1:], [weights])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    (tmp_path / "model").mkdir()
    path = tmp_path / "model" / "model.onnx"
    onnx.save_model(model, path, save_as_external_data=True, size_threshold=0, location="W.data")
    folder = described(tmp_path / "model", "onnx", data="model.onnx")
    recourse = Problem.from_model(folder, people(), desired=1)
    assert evidence_of(recourse.plan(ROW)).verified
    with pytest.raises(P2CError, match=r"numbers lie in other files .* save_as_external_data"):
        recourse.save(tmp_path / "desk")
    assert not (tmp_path / "desk").exists()
