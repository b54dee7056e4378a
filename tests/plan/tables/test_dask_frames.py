"""Dask data frames: nothing is planned until it is asked for, and then every row gets the answer it gets in pandas."""

from __future__ import annotations

import pickle
from typing import Any

import pandas as pd
import pytest

from p2c.errors import RowError
from p2c.problem import Problem
from tests.loan import JOHN, LOAN

dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")

PEOPLE = [JOHN, JOHN | {"debt": 0}, JOHN | {"age": None}, JOHN | {"debt": -5}, JOHN] * 4


@pytest.fixture(scope="module")
def loan() -> Problem:
    return Problem.from_dict(LOAN)


def lazy(frame: pd.DataFrame, parts: int = 3) -> Any:
    return dd.from_pandas(frame, npartitions=parts)


def test_a_dask_frame_gets_a_lazy_frame_with_the_answers_of_pandas(loan: Problem) -> None:
    frame = pd.DataFrame(PEOPLE, index=[f"p{each:02}" for each in range(len(PEOPLE))])
    answer = loan.plan_many(lazy(frame))
    assert type(answer).__module__.startswith("dask")
    found = answer.compute(scheduler="synchronous")
    expected = loan.plan_many(frame)
    assert list(found.index) == list(expected.index)
    assert list(found.columns) == list(answer.columns) == list(expected.columns)
    for name in found.columns:
        assert found[name].dtype == answer[name].dtype
        assert found[name].astype(object).where(found[name].notna(), None).tolist() == (
            expected[name].astype(object).where(expected[name].notna(), None).tolist()
        )


def test_nothing_is_planned_before_it_is_asked_for(loan: Problem) -> None:
    def fail(part: pd.DataFrame) -> pd.DataFrame:
        raise AssertionError("read too early")

    frame = pd.DataFrame(PEOPLE)
    answer = loan.plan_many(lazy(frame).map_partitions(fail, meta=frame.iloc[:0]))
    with pytest.raises(AssertionError, match="read too early"):
        answer.compute(scheduler="synchronous")


def test_details_and_overrides_reach_every_partition(loan: Problem) -> None:
    answer = loan.plan_many(lazy(pd.DataFrame(PEOPLE)), details=False, norm="l0")
    assert "steps" not in answer.columns
    assert answer["cost"].compute(scheduler="synchronous").dropna().unique().tolist() == [2]


def test_missing_columns_are_said_at_once(loan: Problem) -> None:
    with pytest.raises(RowError, match="age: no such column"):
        loan.plan_many(lazy(pd.DataFrame(PEOPLE).drop(columns="age")))


def test_a_problem_travels_between_processes_and_is_compiled_once_there(loan: Problem) -> None:
    loan.plan(JOHN)
    text = pickle.dumps(loan)
    arrived = pickle.loads(text)
    assert arrived.to_dict() == loan.to_dict()
    assert arrived is pickle.loads(text)
    assert len(text) < 5000
