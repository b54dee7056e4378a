"""Columns of a model that are no features keep the row's value, behind every door, and nobody speaks of changing them."""

from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING, Any

import httpx2
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from sklearn.ensemble import GradientBoostingClassifier

from p2c._folder import accept_edit
from p2c._spec.toml import problem_to_toml
from p2c.errors import P2CError, RowError
from p2c.problem import Problem
from tests.blackbox.test_opening import PROBLEM, fitted, people, written
from tests.cli.desk import Desk
from tests.server.running import PATIENCE, running

if TYPE_CHECKING:
    from pathlib import Path

KEPT = ("job", "years")
FEWER: dict[str, Any] = {
    "features": {name: keys for name, keys in PROBLEM["features"].items() if name not in KEPT},
    "model": {"file": "model.skops", "desired": "good"},
}
"""The problem without the job and the years, which the model reads all the same."""
FIXED: dict[str, Any] = {
    "features": {
        name: {**keys, "action": "fixed"} if name in KEPT else keys
        for name, keys in PROBLEM["features"].items()
    },
    "model": PROBLEM["model"],
}
ROW = {"income": 3, "debt": 4, "job": "cook", "age": 2}


@pytest.fixture(params=["read", "asked"])
def problem(request: pytest.FixtureRequest, tmp_path: Path) -> Problem:
    return Problem.load(written(tmp_path, fitted(request.param), **FEWER))


@pytest.fixture
def desk(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Desk:
    return Desk(tmp_path, capsys, monkeypatch)


@pytest.mark.parametrize("kind", ["read", "asked"])
def test_plans_are_those_of_a_problem_in_which_the_columns_are_fixed_features(
    kind: str, tmp_path: Path
) -> None:
    model = fitted(kind)
    rows = people().iloc[::7] if kind == "read" else people().iloc[::60]
    some = Problem.load(written(tmp_path, model, **FEWER)).plan_many(rows)
    full = Problem.load(written(tmp_path, model, **FIXED)).plan_many(rows)
    assert {*full["status"]} >= {"already", "found"}
    assert some[["status", "verified"]].equals(full[["status", "verified"]])
    assert np.allclose(some["cost"].astype(float), full["cost"].astype(float), equal_nan=True)
    assert some["end_age"].dropna().tolist() == full["end_years"].dropna().tolist()


def test_every_answer_keeps_the_rows_values_and_can_be_checked(problem: Problem) -> None:
    plans = problem.nearest(ROW, 3)
    assert len(plans) == 3
    for plan in (problem.plan(ROW), *plans):
        end = plan.counterfactual
        assert end is not None
        assert (end["job"], end["age"]) == ("cook", 2)
        assert problem.check(json.loads(plan.to_json()))
        assert not problem.check({**plan.to_dict(), "initial": {**ROW, "job": "clerk"}})
    assert {"job", "age"}.isdisjoint(problem.plan(ROW).explain().split())


def test_a_column_that_the_row_lacks_is_one_line(problem: Problem) -> None:
    row = {name: value for name, value in ROW.items() if name != "age"}
    with pytest.raises(RowError) as found:
        problem.plan(row)
    assert str(found.value) == (
        "age: the model reads this column, which is no feature, and the row lacks it;"
        " null stands for unknown"
    )
    table = problem.plan_many(pd.DataFrame([row]))
    assert table["status"].tolist() == ["invalid"]


def test_nobody_may_change_such_a_column_nor_is_it_ever_a_blocker_or_a_reason(
    tmp_path: Path,
) -> None:
    problem = Problem.load(written(tmp_path, fitted("read"), **FEWER))
    for restriction in ("free", {"weight": 2}, {"lift": ["limits"]}):
        with pytest.raises(P2CError, match="job: a column that only the model reads keeps"):
            problem.restricted({"job": restriction})
    stuck = {"income": {"max": 4}, "debt": "fixed"}
    blocked = problem.plan(ROW, restrict=stuck).to_dict()
    assert blocked["status"] == "infeasible"
    assert {each["feature"] for each in blocked["blockers"]} <= {"income", "debt"}
    assert {each.feature for each in problem.reasons(ROW)} <= {"income", "debt"}


def test_no_rule_reads_a_column_that_is_no_feature(tmp_path: Path) -> None:
    rules = ":- job(X,'cook'), income(X,N), N>8."
    with pytest.raises(P2CError, match="unknown feature or decision 'job'"):
        Problem.load(written(tmp_path, fitted("read"), **FEWER, rules=rules))


def test_a_category_that_the_model_does_not_know_is_said_of_that_row_alone(
    problem: Problem,
) -> None:
    table = problem.plan_many(pd.DataFrame([ROW, {**ROW, "job": "chef"}]))
    assert table["status"].tolist() == ["found", "invalid"]
    assert "unknown categories ['chef']" in table["message"][1]


def test_a_problem_says_itself_again_with_what_it_keeps(problem: Problem, tmp_path: Path) -> None:
    problem.save(tmp_path / "again.toml")
    assert "kept = true" in (tmp_path / "again.toml").read_text()
    again = Problem.load(tmp_path / "again.toml")
    assert again.plan(ROW).to_dict() == problem.plan(ROW).to_dict()


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (
            {"type": "int", "min": 0, "max": 9, "kept": True, "action": "up"},
            "keeps the row's value",
        ),
        ({"type": "int", "min": 0, "max": 9, "kept": 1}, "features.income.kept"),
    ],
)
def test_what_contradicts_keeping_is_an_error(keys: dict[str, Any], message: str) -> None:
    data = {"goal": "income(X,N), N>5", "rules": "", "features": {"income": keys}}
    with pytest.raises(P2CError, match=message):
        Problem.from_dict(data)


def folder_without_a_feature(place: Path, name: str = "Debt now") -> Path:
    """Return a saved folder out of whose problem somebody took a feature."""
    from tests.folder.test_store import fitted as saved

    saved("array" if name == "x1" else "boosted").save(place)
    file = place / "problem.toml"
    keys = tomllib.loads(file.read_text())
    del keys["features"][{"Debt now": "debt_now"}.get(name, name)]
    keys["model"].pop("columns", None)
    file.write_text(problem_to_toml(keys | {"rules": ""}))
    assert accept_edit(place) == ["problem.toml"]
    return place


def test_a_folder_whose_problem_lost_a_feature_takes_it_from_the_row(tmp_path: Path) -> None:
    from tests.folder.test_store import table

    folder = folder_without_a_feature(tmp_path / "desk")
    problem, recourse = Problem.load(folder), Problem.load(folder)
    rows = table().head(40)
    lines = problem.plan_many(rows)
    assert {"found", "already"} <= {*lines["status"]}
    found = lines["status"] == "found"
    assert (lines["end_debt_now"][found] == rows["Debt now"][found]).all()
    assert lines["verified"][found].all()
    assert recourse.plan_many(rows)["cost"].equals(lines["cost"])
    outline = Problem.outline(folder)
    assert outline.theory.features == problem.theory.features
    with pytest.raises(RowError, match="debt_now: the model reads this column"):
        problem.plan({"income": 20, "age": 30, "job": "cook", "member": "True"})
    audit = recourse.audit(rows, by="job")
    assert audit.obstacles is None or "debt_now" not in dict(audit.obstacles.features)


def test_an_array_keeps_its_places(tmp_path: Path) -> None:
    folder = folder_without_a_feature(tmp_path / "desk", "x1")
    problem = Problem.load(folder)
    row = {"x0": 20, "x1": 10, "x2": 30}
    end = problem.plan(row).counterfactual
    assert end is not None
    assert end["x1"] == 10
    assert problem.decide(end)


def test_every_command_takes_the_column_from_the_row(desk: Desk) -> None:
    path = written(desk.folder, fitted("read"), **FEWER)
    row = desk.row(ROW)
    plan = desk.run("plan", path, row, "--json").json()
    assert plan["counterfactual"] == {"income": 6, "debt": 4, "job": "cook", "age": 2}
    assert desk.run("nearest", path, row, "-k", "2", "--json").json()[0]["steps"] == plan["steps"]
    assert "income" in desk.run("why", path, row).out
    assert desk.run("check", path, desk.write("plan.json", json.dumps(plan))).code == 0
    assert desk.run("explain", path, row).code == 0
    assert desk.run("report", path, row, "-o", desk.folder / "letter.md").code == 0
    people().head(30).to_csv(desk.folder / "people.csv", index=False)
    assert desk.run("batch", path, desk.folder / "people.csv", desk.folder / "out").code == 0
    lines = pq.read_table(next((desk.folder / "out").glob("*.parquet"))).to_pandas()
    assert lines["end_age"].notna().any()
    missing = desk.row({"income": 3, "debt": 4, "job": "cook"})
    assert "age: the model reads this column" in desk.refuses("plan", path, missing)


def test_the_service_and_its_pages_ask_for_the_column(tmp_path: Path) -> None:
    path = written(tmp_path, fitted("read"), **FEWER, name="desk")
    problem = Problem.load(path)
    with (
        running(tmp_path, str(path)) as server,
        httpx2.Client(timeout=PATIENCE, follow_redirects=True) as client,
    ):
        told = client.post(f"{server.address}/plan", json={"row": ROW})
        assert told.json() == json.loads(problem.plan(ROW).to_json())
        lacking = {name: value for name, value in ROW.items() if name != "age"}
        refused = client.post(f"{server.address}/plan", json={"row": lacking})
        assert refused.status_code == 422
        assert "age: the model reads this column" in refused.text
        values = {f"v:{name}": str(value) for name, value in ROW.items()}
        page = client.post(f"{server.address}/p/problem/plan", data=values)
        assert "The model itself was asked about the end of this way." in page.text
        form = client.post(f"{server.address}/p/problem/person", data=values).text
        assert 'name="v:age"' in form
        assert 'name="a:age"' not in form
        assert 'name="a:income"' in form


def test_boosters_tell_their_categories(tmp_path: Path) -> None:
    table = people().assign(job=people()["job"].astype("category"))
    good = (table["income"] - table["debt"] + 3 * (table["job"] == "clerk") >= 3).astype(int)
    lightgbm, xgboost = pytest.importorskip("lightgbm"), pytest.importorskip("xgboost")
    light = lightgbm.LGBMClassifier(n_estimators=10, verbose=-1).fit(table, good)
    light.booster_.save_model(tmp_path / "model.txt")
    boost = xgboost.XGBClassifier(n_estimators=10, enable_categorical=True).fit(table, good)
    boost.save_model(tmp_path / "model.ubj")
    for file, model in (("model.txt", light), ("model.ubj", boost)):
        path = tmp_path / "problem.toml"
        path.write_text(problem_to_toml({**FEWER, "model": {"file": file, "desired": 1}}))
        problem = Problem.load(path)
        assert problem.spec.features["job"].values == ["clerk", "cook"]
        plan = problem.plan({**ROW, "income": 0})
        assert plan.to_dict()["model"]["verified"]
        assert plan.to_dict()["model"]["proved"], problem.decider
        end = pd.DataFrame([plan.counterfactual]).astype({"job": table["job"].dtype})
        assert model.predict(end[list(table)]) == [1]


def test_a_graph_tells_its_inputs(tmp_path: Path) -> None:
    to_onnx = pytest.importorskip("skl2onnx")
    from skl2onnx.common.data_types import FloatTensorType, StringTensorType

    model = fitted("read")
    text, number = StringTensorType([None, 1]), FloatTensorType([None, 1])
    kinds = [(name, text if name == "job" else number) for name in people()]
    graph = to_onnx.convert_sklearn(model, initial_types=kinds, options={"zipmap": False})
    (tmp_path / "model.onnx").write_bytes(graph.SerializeToString())
    path = tmp_path / "problem.toml"
    table = {**FEWER["model"], "file": "model.onnx"}
    path.write_text(problem_to_toml({**FEWER, "model": table}))
    with pytest.raises(P2CError, match=r"the model reads job, age besides .* with its values"):
        Problem.load(path)
    features = {**FEWER["features"], "job": PROBLEM["features"]["job"]}
    path.write_text(problem_to_toml({"features": features, "model": table}))
    end = Problem.load(path).plan(ROW).counterfactual
    assert end is not None
    assert model.predict(pd.DataFrame([end])[list(people())]) == ["good"]


def test_a_scorecard_has_lines_for_what_it_does_not_name(tmp_path: Path) -> None:
    (tmp_path / "points.csv").write_text(
        "feature,from,to,points\n,60,,20\nincome,,3,10\nincome,3,7,25\nincome,7,,45\njob,cook,,5\njob,,,15\n"
    )
    path = tmp_path / "problem.toml"
    income = {"income": {"type": "int", "min": 0, "max": 10}}
    path.write_text(problem_to_toml({"model": {"file": "points.csv"}, "features": income}))
    problem = Problem.load(path)
    for job, least in (("cook", 7), ("clerk", 3), ("pilot", 3)):
        plan = problem.plan({"income": 1, "job": job})
        assert plan.counterfactual == {"income": least, "job": job}
        assert plan.to_dict()["model"]["proved"]


def test_a_number_of_which_nothing_is_known_is_read_over_all_its_cuts(tmp_path: Path) -> None:
    chance = np.random.default_rng(0)
    table = pd.DataFrame(
        {"income": chance.integers(0, 9, 400), "rent": chance.normal(900, 300, 400)}
    )
    wanted = np.where(table["income"] * 150 > table["rent"], "good", "bad")
    model = GradientBoostingClassifier(n_estimators=10, random_state=0).fit(table, wanted)
    income = {"income": {"type": "int", "min": 0, "max": 9}}
    problem = Problem.load(written(tmp_path, model, features=income, model=FEWER["model"]))
    for rent in (-5.0, 612.25, 900, 1e9):
        row = {"income": 0, "rent": rent}
        ends = pd.DataFrame({"income": range(10), "rent": rent})
        good = ends["income"][model.predict(ends) == "good"]
        plan = problem.plan(row)
        assert plan.to_dict()["model"]["proved"]
        found = plan.counterfactual or {"income": None}
        assert found["income"] == (None if good.empty else good.min())
