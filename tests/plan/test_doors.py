"""Every door leads to the same answers: one person, the nearest, a data frame and a batch of files."""

from __future__ import annotations

import json
import pickle
from random import Random
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from p2c import datasets
from p2c._engines.policy import Policy
from p2c._spec.feature import Grid
from p2c.problem import Problem
from tests.batch.people import answer, read, write_parquet
from tests.embedded import embedded
from tests.test_from_model_proved import CAUSAL, MODELS, answers, people

if TYPE_CHECKING:
    from pathlib import Path

Document = dict[str, Any]
MANY = 10_000
UNSEEN: list[Document] = [{"debt": 10**6}, {"debt": -3, "score": 9}, {"score": 40}, {"age": -1}]
"""Numbers that nobody had in the data."""


def drawn(name: str, count: int) -> list[Document]:
    """Return so many people of an embedded problem: those of its data, and others drawn from its domains."""
    problem = embedded(name)
    rng = Random(f"doors {name}")
    features = problem.theory.features
    known = [] if name == "loan" else datasets.load_rows(name)
    found = [{each.name: row[each.name] for each in features} for row in known]
    if len(found) >= count:
        return rng.sample(found, count)
    for _ in range(count - len(found)):
        found.append({each.name: _value(rng, each.domain) for each in features})
    return found


def _value(rng: Random, domain: Any) -> Any:
    """Return a value of a domain, the low ones of a wide range as likely as all others together."""
    size = domain.size
    near = isinstance(domain, Grid) and rng.random() < 0.5
    return domain.value(rng.randrange(min(size, 1000) if near else size))


def assert_doors_agree(
    problem: Problem, rows: list[Document], folder: Path, **limits: Any
) -> set[str]:
    """Compare what every door says of every person, and return how they were answered."""
    source = write_parquet(folder / "people.parquet", rows)
    answer(problem, source, folder / "answers", policy=Policy(**limits))
    many = problem.plan_many(pd.DataFrame(rows), **limits).to_dict("records")
    for row, framed, filed in zip(rows, many, read(folder / "answers"), strict=True):
        plan = problem.plan(row, **limits)
        nearest = problem.nearest(row, k=1, **limits)
        assert framed["status"] == filed["status"] == plan.status, row
        assert (filed["cost"] is None) == (plan.cost is None), row
        first = [] if plan.status == "infeasible" else [(plan.status, plan.cost)]
        assert [(each.status, each.cost) for each in nearest] == first, row
        if plan.cost is not None:
            assert [framed["cost"], filed["cost"]] == pytest.approx([plan.cost] * 2, abs=1e-9), row
        assert bool(framed["message"]) == (plan.status == "gave_up"), row
        told = {name: filed[name] or "" for name in ("actions", "steps", "exceptions", "message")}
        assert {name: framed[name] for name in told} == told, row
        end = plan.counterfactual or problem.read_row(row)
        for each in (framed, filed):
            assert {name: each[f"end_{name}"] for name in end} == end, row
    return {each["status"] for each in many}


@pytest.mark.parametrize("name", datasets.names())
def test_every_door_gives_the_same_cost(name: str, tmp_path: Path) -> None:
    assert_doors_agree(embedded(name), drawn(name, 200), tmp_path)


@pytest.mark.parametrize("limit", ["node_limit", "time_limit"])
def test_a_limit_holds_at_every_door(limit: str, tmp_path: Path) -> None:
    statuses = assert_doors_agree(embedded("loan"), drawn("loan", 30), tmp_path, **{limit: 0})
    assert statuses == {"already", "gave_up"}


@pytest.fixture(scope="module", params=["recorded decisions", "model"])
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Problem:
    """Return a problem made from data: its ranges are only what was seen."""
    table = people()
    given: Document = {
        "desired": 1,
        "actions": {"age": "fixed", "saved": "fixed"},
        "causal": CAUSAL,
    }
    if request.param == "recorded decisions":
        return Problem.from_table(table, answers(table), **given)
    folder = tmp_path_factory.mktemp("doors") / "desk"
    Problem.from_model(MODELS["tree"].fit(table, answers(table)), table, **given).save(folder)
    return Problem.load(folder)


@pytest.mark.parametrize("limits", [{}, {"node_limit": 0}, {"time_limit": 0}])
def test_people_outside_what_was_seen_are_answered_at_every_door(
    made: Problem, limits: Document, tmp_path: Path
) -> None:
    seen = json.loads(people().sample(8, random_state=0).to_json(orient="records"))
    rows = [*seen, *(seen[0] | each for each in UNSEEN)]
    statuses = assert_doors_agree(made, rows, tmp_path, **limits)
    assert statuses == {"already", *({"gave_up"} if limits else {"found", "infeasible"})}


def test_a_problem_made_from_data_is_one_in_another_process_too(made: Problem) -> None:
    sent: Problem = pickle.loads(pickle.dumps(made))
    row = {"age": 0, "debt": 10**6, "score": 3, "saved": 1}
    assert sent.plan(row) == made.plan(row)
    assert sent.check(sent.plan(row))


@pytest.mark.slow
@pytest.mark.parametrize("name", datasets.names())
def test_every_door_gives_ten_thousand_people_the_same_cost(name: str, tmp_path: Path) -> None:
    assert_doors_agree(embedded(name), drawn(name, MANY), tmp_path)
