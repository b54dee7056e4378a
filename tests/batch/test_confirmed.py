"""Batches with a model: every plan is the library's, the model says yes to all of them, and a killed run goes on to the same bytes."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow.parquet as pq
import pytest

from p2c.batch import Options, plan_files
from p2c.errors import P2CError
from p2c.problem import Problem
from tests.folder.test_store import fitted, table

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module", params=["boosted", "kernel"])
def desk(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("desks") / str(request.param)
    fitted(request.param).save(folder)
    return folder


def people() -> pd.DataFrame:
    some = table().head(24)
    return pd.concat([some, some.head(6)], ignore_index=True).assign(who=range(30))


def digests(folder: Path) -> dict[str, str]:
    found = folder.glob("part-*.parquet")
    return {each.name: sha256(each.read_bytes()).hexdigest() for each in found}


def test_every_answer_is_the_librarys_and_confirmed(desk: Path, tmp_path: Path) -> None:
    people().to_csv(tmp_path / "people.csv", index=False)
    problem = Problem.load(desk)
    options = Options(keep=("who",))
    summary = plan_files(problem, tmp_path / "people.csv", tmp_path / "out", options)
    assert summary.to_dict()["rows"] == 30
    found = pq.read_table(tmp_path / "out").to_pylist()
    rows: list[dict[str, Any]] = json.loads(people().to_json(orient="records"))
    for row, line in zip(rows, found, strict=True):
        plan = problem.plan(row)
        assert (line["status"], line["cost"]) == (plan.status, plan.cost)
        assert line["verified"] is plan.to_dict()["model"]["verified"]
        assert int(line["who"]) == row["who"]
        if plan.counterfactual is not None:
            ends = {name: line[f"end_{name}"] for name in problem.theory.feature}
            assert ends == plan.counterfactual
            assert problem.decide(ends)


def test_workers_and_a_second_run_give_the_same_bytes(desk: Path, tmp_path: Path) -> None:
    people().drop(columns="member").assign(member="True").to_parquet(tmp_path / "people.parquet")
    problem = Problem.load(desk)
    source, options = tmp_path / "people.parquet", Options(part_rows=10)
    plan_files(problem, source, tmp_path / "one", options)
    before = digests(tmp_path / "one")
    assert before
    plan_files(problem, source, tmp_path / "two", options, executor="processes", workers=2)
    assert digests(tmp_path / "two") == before
    gone = next(iter(before))
    (tmp_path / "one" / gone).unlink()
    plan_files(problem, source, tmp_path / "one", options)
    assert digests(tmp_path / "one") == before


def test_another_model_does_not_go_on_with_the_answers_of_one(desk: Path, tmp_path: Path) -> None:
    if desk.name != "boosted":
        pytest.skip("one kind of model is enough")
    people().head(3).to_csv(tmp_path / "people.csv", index=False)
    plan_files(Problem.load(desk), tmp_path / "people.csv", tmp_path / "out")
    fitted("kernel").save(tmp_path / "other")
    with pytest.raises(P2CError, match="problem"):
        plan_files(Problem.load(tmp_path / "other"), tmp_path / "people.csv", tmp_path / "out")


def test_a_row_that_does_not_fit_is_invalid_and_stops_nobody(desk: Path, tmp_path: Path) -> None:
    wrong = people().head(4).astype(object)
    wrong.loc[1, "job"] = "astronaut"
    wrong.to_csv(tmp_path / "people.csv", index=False)
    plan_files(Problem.load(desk), tmp_path / "people.csv", tmp_path / "out")
    found = pq.read_table(tmp_path / "out").to_pylist()
    assert [line["status"] == "invalid" for line in found] == [False, True, False, False]
    assert "astronaut" in found[1]["message"]
