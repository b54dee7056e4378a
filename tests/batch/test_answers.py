"""The answers of a batch: each row's is the one that it gets in a data frame, however rows repeat and are typed."""

from __future__ import annotations

import json
import math
import random
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from p2c._batch import Options
from p2c._batch import answers as answers_module
from p2c._batch.answers import Planner
from p2c.problem import Problem
from tests.batch.people import PEOPLE, Document, loan, typed_person
from tests.loan import JOHN, category, whole
from tests.plan.tables.test_class_routes import widened
from tests.strategies import random_problem

if TYPE_CHECKING:
    from p2c._batch.answers import Answers


def table_of(rows: list[Document]) -> pa.Table:
    return pa.Table.from_pylist(rows)


def whole_table(answers: Answers) -> pa.Table:
    return pa.concat_tables(answers.tables())


def assert_alike(problem: Problem, rows: list[Document], found: pa.Table) -> None:
    """Compare with what a data frame of the same rows gets."""
    frame = pd.DataFrame({key: pd.Series([r[key] for r in rows], dtype=object) for key in rows[0]})
    expected = problem.plan_many(frame).to_dict("records")
    for row, mine, other in zip(rows, found.to_pylist(), expected, strict=True):
        told = {str(key): _plain(value) for key, value in other.items()}
        actions = json.loads(told["actions"] or "[]")
        first = json.dumps(actions[0], ensure_ascii=False) if actions else None
        assert mine == {**told, "first": first}, row


def _plain(value: Any) -> Any:
    return None if value == "" or (isinstance(value, float) and math.isnan(value)) else value


def assert_batch(seed: int) -> None:
    rng = random.Random(seed)
    document, _ = random_problem(rng)
    if seed % 2:
        document = widened(document)
    problem = Problem.from_dict(document)
    rows = [typed_person(problem.theory, rng) for _ in range(20)]
    rows += rng.choices(rows, k=20)
    planner = Planner(problem)
    assert_alike(problem, rows, whole_table(planner.answer(table_of(rows))))
    again = rng.choices(rows, k=30)
    assert_alike(problem, again, whole_table(planner.answer(table_of(again))))


@pytest.fixture(autouse=True)
def _few_rows_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers_module, "ROWS", 7)


@pytest.mark.parametrize("seed", range(40))
def test_every_row_gets_the_answer_that_it_gets_in_a_frame(seed: int) -> None:
    assert_batch(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 1600))
def test_every_row_of_many_more_gets_the_answer_that_it_gets_in_a_frame(seed: int) -> None:
    assert_batch(seed)


@pytest.mark.parametrize(
    "kind",
    [
        pa.int8(),
        pa.uint16(),
        pa.int32(),
        pa.int64(),
        pa.uint64(),
        pa.float32(),
        pa.decimal128(9, 2),
    ],
)
def test_numbers_of_any_type_are_read_alike(kind: pa.DataType) -> None:
    features = {"n": whole(0, 9), "c": {"type": "category", "values": [1, 2]}}
    problem = Problem.from_dict({"goal": "n(X,N), N>=5", "rules": "", "features": features})
    rows: list[Document] = [{"n": each, "c": 1} for each in (1, 7, None, 50, 1)]
    table = pa.table({"n": pa.array([row["n"] for row in rows], kind), "c": [1, 2, 1, 9, 1]})
    found = whole_table(Planner(problem).answer(table)).to_pylist()
    assert [each["status"] for each in found] == ["found", "already", "found", "invalid", "found"]
    assert [each["end_n"] for each in found] == [5, 7, 5, None, 5]
    assert [each["end_c"] for each in found] == [1, 2, 1, None, 1]


@pytest.mark.parametrize(
    "kind",
    [pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())],
)
def test_names_of_any_type_are_read_alike(kind: pa.DataType) -> None:
    features = {"c": category("naïve", "b c")}
    problem = Problem.from_dict({"goal": "c(X,'naïve')", "rules": "", "features": features})
    column = pa.array(["b c", "naïve", None, "?", "b c"], pa.string()).cast(kind)
    found = whole_table(Planner(problem).answer(pa.table({"c": column}))).to_pylist()
    assert [each["status"] for each in found] == ["found", "already", "found", "invalid", "found"]
    assert found[3]["message"].startswith("c: '?' is not one of its values")


def test_a_column_without_any_value_is_one_of_missing_values() -> None:
    problem = loan()
    table = table_of([JOHN]).set_column(0, "age", pa.nulls(1))
    assert whole_table(Planner(problem).answer(table))["status"].to_pylist() == ["found"]


def test_numbers_wider_than_a_key_are_told_apart() -> None:
    names = [f"f{each}" for each in range(6)]
    features = {name: whole(0, 10**15) for name in names}
    problem = Problem.from_dict({"goal": "f0(X,N), N>=5", "rules": "", "features": features})
    rng = random.Random(1)
    rows: list[Document] = [{name: rng.randrange(10**15) for name in names} for _ in range(50)]
    assert_alike(problem, rows * 2, whole_table(Planner(problem).answer(table_of(rows * 2))))


@pytest.mark.parametrize("limit", [2**62, 2**63, 10**30])
def test_numbers_wider_than_the_machine_become_text(limit: int) -> None:
    features = {"n": whole(-limit, limit)}
    problem = Problem.from_dict({"goal": "n(X,N), N>=5", "rules": "", "features": features})
    table = pa.table({"n": pa.array([3, -(2**61), 2**62], pa.int64())})
    found = whole_table(Planner(problem).answer(table))
    assert found["status"].to_pylist()[::2] == ["found", "already"]
    assert found["end_n"].to_pylist()[0] == "5"


def counts(answers: Answers) -> tuple[dict[str, int], dict[float, int], list[int]]:
    found = answers.counts
    return found.statuses, found.costs, [each.count for each in found.classes]


def test_people_are_counted_by_status_cost_and_class() -> None:
    rows = PEOPLE * 3
    found = Planner(loan()).answer(table_of(rows))
    assert counts(found) == (
        {"found": 9, "already": 3, "infeasible": 3, "invalid": 3},
        {0.00502: 9},
        [3],
    )
    assert found.counts.classes[0].state["credit_score"] == 599


def test_costs_are_counted_to_three_digits() -> None:
    cost = np.array([0.0, float("nan"), 0.1, 0.100049, 0.9996, 1.0, 123456.0])
    times = np.array([1, 1, 2, 3, 1, 4, 1])
    assert answers_module._rounded(cost, times) == {0.1: 5, 1.0: 5, 123000.0: 1}


def test_alternatives_are_the_next_cheapest_end_states_that_differ_in_kind() -> None:
    keys = {
        "goal": "fine(X)",
        "rules": "fine(X) :- saved(X,N), N>=60.\nfine(X) :- job(X,b).",
        "features": {"saved": whole(0, 100), "job": category("a", "b")},
    }
    rows = [{"saved": 0, "job": "a"}, {"saved": 70, "job": "a"}]
    planner = Planner(Problem.from_dict(keys), Options(alternatives=2))
    poor, accepted = whole_table(planner.answer(table_of(rows))).to_pylist()
    assert (poor["end_saved"], poor["end_job"]) == (60, "a")
    assert json.loads(poor["alternatives"]) == [
        {"cost": 1.0, "end": {"job": "b"}, "actions": [{"feature": "job", "to": "b"}]}
    ]
    assert accepted["alternatives"] is None


def test_what_is_remembered_is_forgotten_before_it_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers_module, "CLASSES", 0)
    planner = Planner(loan(), Options(alternatives=1))
    one = whole_table(planner.answer(table_of(PEOPLE)))
    before = planner.space
    assert whole_table(planner.answer(table_of(PEOPLE))).equals(one)
    assert planner.space is not before
