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

from p2c.domain.spec import Trust
from p2c.domain.toml import problem_to_toml
from p2c.errors import P2CError
from p2c.learn.model.mlflow_folder import model_file
from p2c.problem import Problem
from p2c.recourse import Recourse
from tests.cli.desk import Desk

if TYPE_CHECKING:
    from pathlib import Path

ROW = {"income": 2, "debt": 4}


def people() -> pd.DataFrame:
    return pd.DataFrame({"income": np.arange(600) % 10, "debt": np.arange(600) // 10 % 6})


def labels() -> Any:
    return (people()["income"] - people()["debt"] >= 3).astype(int)


def described(folder: Path, flavour: str, **keys: str) -> Path:
    """Write what MLflow says of a model besides the model: its flavours, the general one among them."""
    folder.mkdir(exist_ok=True)
    general = {"env": {"conda": "conda.yaml"}, "loader_module": f"mlflow.{flavour}"}
    told = {"artifact_path": "model", "flavors": {"python_function": general, flavour: keys}}
    (folder / "MLmodel").write_text(yaml.safe_dump(told))
    return folder


def stored(folder: Path, kind: str) -> Path:
    """Return a folder with a fitted model, as MLflow's function for the library leaves it."""
    folder.mkdir()
    if kind == "xgboost":
        xgboost = pytest.importorskip("xgboost")
        model = xgboost.XGBClassifier(n_estimators=8).fit(people(), labels())
        model.save_model(folder / "model.ubj")
        (folder / "model.ubj").rename(folder / "model.xgb")
        return described(folder, kind, data="model.xgb", model_format="xgb")
    if kind == "lightgbm":
        lightgbm = pytest.importorskip("lightgbm")
        model = lightgbm.LGBMClassifier(n_estimators=8, verbose=-1).fit(people(), labels())
        model.booster_.save_model(folder / "model.lgb")
        return described(folder, kind, data="model.lgb", model_class="lightgbm.basic.Booster")
    model = GradientBoostingClassifier(n_estimators=8, random_state=0).fit(people(), labels())
    if kind == "onnx":
        to_onnx = pytest.importorskip("skl2onnx").to_onnx
        graph = to_onnx(model, people().astype(np.float32).to_numpy(), options={"zipmap": False})
        (folder / "model.onnx").write_bytes(graph.SerializeToString())
        return described(folder, kind, data="model.onnx")
    if kind == "skops":
        io.dump(model, folder / "model.skops")
        return described(
            folder, "sklearn", pickled_model="model.skops", serialization_format="skops"
        )
    (folder / "model.pkl").write_bytes(pickle.dumps(model))
    return described(
        folder, "sklearn", pickled_model="model.pkl", serialization_format="cloudpickle"
    )


@pytest.mark.parametrize("kind", ["skops", "xgboost", "lightgbm", "onnx"])
def test_a_folder_is_a_model_for_recourse_and_for_a_problem_file(kind: str, tmp_path: Path) -> None:
    folder = stored(tmp_path / "model", kind)
    recourse = Recourse.fit(str(folder), people(), desired=1)
    answer = recourse.plan(ROW)
    assert answer.verified
    recourse.save(tmp_path / "desk")
    assert Recourse.load(tmp_path / "desk").plan(ROW).to_dict() == answer.to_dict()
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
    folder = stored(tmp_path / "model", "skops")
    data = ("--data", tmp_path / "people.csv", "--desired", "1", "-o", tmp_path / "desk")
    assert desk.run("fit", folder, *data).code == 0
    assert Problem.load(tmp_path / "desk").plan(ROW).to_dict()["model"]["verified"]
    pickled = stored(tmp_path / "pickled", "pickle")
    shown = desk.refuses("fit", pickled, *data[:-1], tmp_path / "other")
    assert "add --trust pickle" in shown


def test_a_pickle_inside_is_opened_on_request_only(tmp_path: Path) -> None:
    folder = stored(tmp_path / "model", "pickle")
    with pytest.raises(P2CError, match="can run any code as it is opened"):
        Recourse.fit(folder, people(), desired=1)
    trusted = Recourse.fit(folder, people(), desired=1, trust=Trust(pickle=True))
    assert trusted.plan(ROW).verified


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
