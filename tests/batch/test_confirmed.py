"""Batches with a model: every plan is the library's, the model says yes to all of them, and a killed run goes on to the same bytes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from hashlib import sha256
from io import StringIO
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow.parquet as pq
import pytest
from rich.console import Console

from p2c._audit.reasons import Catalogue
from p2c._batch import Options, confirmed, part, plan_files
from p2c._batch.confirmed import ModelPlanner
from p2c._batch.show import show_summary
from p2c._engines.policy import Policy
from p2c._plan.outcome import Found
from p2c.errors import P2CError
from p2c.problem import Problem
from tests.folder.test_store import fitted, table
from tests.test_from_model_proved import CAUSAL, MODELS, answers
from tests.test_from_model_proved import people as combinations

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa


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
        if plan.end is not None:
            ends = {name: line[f"end_{name}"] for name in problem.theory.feature}
            assert ends == plan.end
            assert problem.decide(ends)


def test_the_summary_says_what_the_model_and_not_what_rules_say(desk: Path, tmp_path: Path) -> None:
    people().to_csv(tmp_path / "people.csv", index=False)
    summary = plan_files(Problem.load(desk), tmp_path / "people.csv", tmp_path / "out")
    console = Console(file=StringIO(), width=200)
    show_summary(console, summary)
    told = console.file.getvalue()  # type: ignore[attr-defined]
    proof = "proved against it" if desk.name == "boosted" else "not proved to be the cheapest"
    assert f"The model itself says yes to the end of each; they are {proof}." in told
    assert "given by rules" not in told


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


def test_threads_of_a_models_library_keep_no_worker_waiting(tmp_path: Path) -> None:
    lightgbm = pytest.importorskip("lightgbm")
    rows = pd.DataFrame({"a": range(60), "b": [each % 7 for each in range(60)]})
    model = lightgbm.LGBMClassifier(n_estimators=5, min_child_samples=3, n_jobs=2, verbose=-1)
    Problem.from_model(model.fit(rows, rows.a > 30), rows, desired=True).save(tmp_path / "desk")
    rows.to_csv(tmp_path / "people.csv", index=False)
    command = [sys.executable, "-m", "p2c", "batch", "desk", "people.csv", "out", "--workers", "2"]
    done = subprocess.run(command, cwd=tmp_path, timeout=300, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert pq.read_table(tmp_path / "out").num_rows == 60


@pytest.fixture(scope="module")
def bound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder in which some people have no way."""
    everybody = combinations()
    model = MODELS["boosted"].fit(everybody, answers(everybody))
    actions = {"age": "fixed", "saved": "fixed"}
    recourse = Problem.from_model(model, everybody, desired=1, actions=actions, causal=CAUSAL)
    folder = tmp_path_factory.mktemp("bound") / "desk"
    recourse.save(folder)
    return folder


def test_the_summary_names_what_blocks_people_without_a_way(bound: Path, tmp_path: Path) -> None:
    everybody = combinations().sample(150, random_state=0)
    everybody.to_parquet(tmp_path / "people.parquet", row_group_size=40, index=False)
    problem, source = Problem.load(bound), tmp_path / "people.parquet"
    summary = plan_files(problem, source, tmp_path / "out", Options(part_rows=40))
    expected: Counter[str] = Counter()
    for row in everybody.to_dict("records"):
        plan = problem.plan({str(name): value for name, value in row.items()}).to_dict()
        if plan["status"] == "infeasible":
            words = [f"{each['feature']} {each['restriction']}" for each in plan["blockers"]]
            expected[" + ".join(words)] += 1
    assert expected
    assert Counter(summary.blockers) == expected
    silent = plan_files(problem, source, tmp_path / "silent", blockers=False)
    assert silent.blockers == {"not asked": expected.total()}


def changes(plan: Found) -> dict[str, Any]:
    """Return the values that a plan changes."""
    before = plan.question.initial
    return {name: end for name, end in plan.end.items() if end != before[name]}


def test_alternatives_of_a_model_are_the_librarys_with_what_to_do(
    desk: Path, tmp_path: Path
) -> None:
    problem = Problem.load(desk)
    people().to_csv(tmp_path / "people.csv", index=False)
    options = Options(alternatives=2)
    plan_files(problem, tmp_path / "people.csv", tmp_path / "out", options, blockers=False)
    lines = pq.read_table(tmp_path / "out").to_pylist()
    rows = json.loads(people().drop(columns="who").to_json(orient="records"))
    assert any(json.loads(line["alternatives"] or "[]") for line in lines)
    for row, line in zip(rows, lines, strict=True):
        if line["status"] == "found":
            nearest = problem.nearest(row, 3, distinct="cells")[1:]
            plans = [each for each in nearest if isinstance(each, Found)]
            told = [(each["cost"], each["end"]) for each in json.loads(line["alternatives"])]
            assert told == [(each.cost, changes(each)) for each in plans]
            acts = [each["actions"] for each in json.loads(line["alternatives"])]
            expected = [[(act.feature, act.end) for act in each.actions] for each in plans]
            assert [[(act["feature"], act["to"]) for act in each] for each in acts] == expected


def test_reasons_of_a_batch_are_those_of_the_library(desk: Path, tmp_path: Path) -> None:
    people().to_csv(tmp_path / "people.csv", index=False)
    problem = Problem.load(desk)
    names = problem.theory.reads(problem.theory.goal)
    codes = Catalogue(tuple((name, "", f"R-{name}", "a reason") for name in sorted(names)))
    plan_files(problem, tmp_path / "people.csv", tmp_path / "out", Options(reasons=codes))
    lines = pq.read_table(tmp_path / "out").to_pylist()
    rows: list[dict[str, Any]] = json.loads(people().to_json(orient="records"))
    assert any(line["reasons"] for line in lines)
    for row, line in zip(rows, lines, strict=True):
        expected = problem.reasons(row, codes=codes)
        told = json.loads(line["reasons"] or "[]")
        assert told == [each.to_dict() for each in expected]


class Spy:
    """Counts the people whom a planner had to plan for, and ends it after so many times."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, times: int = 1_000) -> None:
        part._planner.cache_clear()
        self.people, self.times = 0, times
        planned = ModelPlanner._answers

        def counted(planner: ModelPlanner, people: pa.Table) -> pa.Table:
            if self.times == 0:
                raise KeyboardInterrupt
            self.times -= 1
            self.people += len(people)
            return planned(planner, people)

        monkeypatch.setattr(ModelPlanner, "_answers", counted)


def test_nobody_is_planned_for_twice_in_a_batch(
    bound: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem, source = Problem.load(bound), tmp_path / "people.parquet"
    drawn = combinations().head(60).sample(200, replace=True, random_state=0)
    drawn.to_parquet(source, row_group_size=70, index=False)
    options = Options(part_rows=70)
    spy = Spy(monkeypatch)
    plan_files(problem, source, tmp_path / "out", options)
    assert len(digests(tmp_path / "out")) == 3
    assert spy.people == len(drawn.drop_duplicates())
    # Each part by itself, by a worker that remembers nothing, is the same.
    before = digests(tmp_path / "out")
    for name in before:
        part._planner.cache_clear()
        (tmp_path / "out" / name).unlink()
        plan_files(problem, source, tmp_path / "out", options)
    assert digests(tmp_path / "out") == before


def test_what_a_run_has_planned_before_it_ended_is_known_to_the_next(
    bound: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confirmed, "AT_A_TIME", 8)
    source, everybody = tmp_path / "people.parquet", combinations().head(60)
    everybody.to_parquet(source)
    problem = Problem.load(bound)
    plan_files(problem, source, tmp_path / "whole")
    Spy(monkeypatch, times=3)
    with pytest.raises(KeyboardInterrupt):
        plan_files(problem, source, tmp_path / "out")
    assert not digests(tmp_path / "out")
    monkeypatch.undo()
    spy = Spy(monkeypatch)
    plan_files(problem, source, tmp_path / "out")
    assert spy.people == len(everybody) - 3 * 8
    assert digests(tmp_path / "out") == digests(tmp_path / "whole")
    assert not (tmp_path / "out" / part.WORKSHOP).exists()


def test_an_engine_that_cannot_hold_the_model_is_refused_before_anything_is_written(
    bound: Path, tmp_path: Path
) -> None:
    source = tmp_path / "people.parquet"
    combinations().head(3).to_parquet(source)
    with pytest.raises(P2CError, match=r"cannot hold a model, which decides here: use native$"):
        plan_files(Problem.load(bound), source, tmp_path / "out", Options(policy=Policy("clingo")))
    assert not (tmp_path / "out").exists()
