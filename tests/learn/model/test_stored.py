"""Models in the files of their own libraries are opened and read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from p2c._learn.model import Read, read
from p2c._learn.model.asking import open_model
from p2c._learn.model.stored import OWN_FILES, load_model
from p2c.errors import P2CError
from p2c.problem import Problem
from tests.evidence import fitted_of
from tests.learn.model.cases import CARD, CASES
from tests.learn.model.people import make_people

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("ending", ["json", "ubj"])
@pytest.mark.parametrize("three", [False, True])
def test_a_file_of_xgboost_is_opened_and_read(tmp_path: Path, ending: str, three: bool) -> None:
    case = CASES["XGBClassifier"][0](three)
    path = tmp_path / f"model.{ending}"
    case.model.save_model(path)
    found = read(load_model(path, case.table), case.table, desired=1)
    assert isinstance(found, Read), found


@pytest.mark.parametrize("three", [False, True])
def test_a_file_of_lightgbm_is_opened_and_read(tmp_path: Path, three: bool) -> None:
    case = CASES["LGBMClassifier"][0](three)
    path = tmp_path / "model.txt"
    case.model.booster_.save_model(path)
    found = read(load_model(path, case.table), case.table, desired=1)
    assert isinstance(found, Read), found


@pytest.mark.parametrize("name", ["XGBClassifier", "LightGBMFile"])
def test_categories_that_come_as_text_are_what_the_model_was_trained_on(name: str) -> None:
    case = CASES[name][0](False)
    texts = case.table.astype({"job": object})
    found = read(case.model, texts, desired=1)
    assert isinstance(found, Read), found
    typed = open_model(case.model, case.table, desired=1).answer(case.table).accepted
    assert (open_model(case.model, texts, desired=1).answer(texts).accepted == typed).all()


def test_a_file_of_catboost_is_opened_and_read(tmp_path: Path) -> None:
    case = CASES["CatBoostClassifier"][0](False)
    path = tmp_path / "model.cbm"
    case.model.save_model(str(path))
    found = read(load_model(path, case.table), case.table, desired=1)
    assert isinstance(found, Read), found


def test_a_scorecard_is_opened_and_read(tmp_path: Path) -> None:
    path = tmp_path / "card.csv"
    path.write_text(CARD)
    people = make_people(gaps=True)
    found = read(load_model(path, people), people)
    assert isinstance(found, Read), found
    assert found.conformance.unsure == 0


@pytest.mark.parametrize(
    ("ending", "library"),
    [
        ("json", "xgboost"),
        ("ubj", "xgboost"),
        ("txt", "lightgbm"),
        ("cbm", "catboost"),
        ("csv", "pandas"),
    ],
)
def test_a_file_of_something_else_is_refused_in_one_line(
    tmp_path: Path, ending: str, library: str
) -> None:
    pytest.importorskip(library)
    path = tmp_path / f"model.{ending}"
    path.write_text("no model at all")
    with pytest.raises(P2CError) as error:
        load_model(path, make_people())
    assert str(error.value).startswith(f"{path}: ")
    assert "\n" not in str(error.value)


def test_every_format_is_tried() -> None:
    by_mlflow = {".xgb", ".lgb", ".cb"}
    assert set(OWN_FILES) == {".json", ".ubj", ".txt", ".cbm", ".csv"} | by_mlflow


def test_what_xgboost_raises_is_told_without_its_stack() -> None:
    xgboost = pytest.importorskip("xgboost")
    rows = pd.DataFrame(
        {"income": range(60), "job": pd.Categorical(["clerk", "cook", "none"] * 20)}
    )
    model = xgboost.XGBClassifier(n_estimators=2, enable_categorical=True)
    model.fit(rows, rows["income"] > 30)
    odd = rows.assign(job=pd.Categorical(["clerk", "cook", "zookeeper"] * 20))
    with pytest.raises(P2CError) as found:
        Problem.from_model(model, odd)
    assert "XGBoostError: Found a category not in the training set" in str(found.value)
    assert str(found.value).endswith("`zookeeper`")


@pytest.mark.parametrize(
    ("library", "ending", "objective"),
    [
        ("lightgbm", "txt", "regression"),
        ("xgboost", "json", "reg:squarederror"),
        ("xgboost", "ubj", "count:poisson"),
        ("catboost", "cbm", "RMSE"),
    ],
)
def test_a_stored_regression_is_refused(
    library: str, ending: str, objective: str, tmp_path: Path
) -> None:
    pytest.importorskip(library)
    table = make_people()[["age"]]
    path = tmp_path / f"model.{ending}"
    _regression(library, table, objective).save_model(str(path))
    with pytest.raises(P2CError) as found:
        load_model(path, table)
    assert str(found.value) == (
        f"{path}: trained for '{objective}', it gives numbers, not classes: expected a classifier"
    )


def _regression(library: str, table: pd.DataFrame, objective: str) -> Any:
    wanted = table["age"].fillna(0) * 1.5
    if library == "lightgbm":
        import lightgbm

        settings = {"objective": objective, "verbose": -1, "num_threads": 1}
        return lightgbm.train(settings, lightgbm.Dataset(table, wanted), 2)
    if library == "xgboost":
        import xgboost

        settings = {"objective": objective, "nthread": 1}
        return xgboost.train(settings, xgboost.DMatrix(table, wanted), 2)
    import catboost

    quiet = {"verbose": 0, "allow_writing_files": False}
    return catboost.CatBoostRegressor(iterations=2, loss_function=objective, **quiet).fit(
        table, wanted
    )


@pytest.mark.parametrize("name", ["XGBClassifier", "LGBMClassifier"])
def test_a_bare_booster_is_the_classifier_that_its_file_would_be(name: str, tmp_path: Path) -> None:
    case = CASES[name][0](False)
    model = case.model
    booster = model.booster_ if name == "LGBMClassifier" else model.get_booster()
    path = tmp_path / ("model.txt" if name == "LGBMClassifier" else "model.json")
    booster.save_model(str(path))
    bare = Problem.from_model(booster, case.table)
    stored = Problem.from_model(str(path), case.table)
    assert isinstance(bare.reading, Read), bare.reading
    assert isinstance(stored.reading, Read), stored.reading
    assert (bare.decide(case.table) == stored.decide(case.table)).all()
    assert fitted_of(stored).origin == path


@pytest.mark.parametrize(
    ("library", "objective"), [("lightgbm", "huber"), ("xgboost", "reg:gamma")]
)
def test_a_bare_booster_that_gives_numbers_is_refused(library: str, objective: str) -> None:
    pytest.importorskip(library)
    table = make_people()[["age"]]
    booster = _regression(library, table.fillna(1) + 1, objective)
    with pytest.raises(P2CError, match=f"^model: trained for '{objective}', it gives numbers"):
        Problem.from_model(booster, table)
