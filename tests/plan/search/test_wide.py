"""Ranges and values wider than any machine number, and scales that no cost could bear, behind every door."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from p2c import Problem
from p2c._batch import plan_files
from p2c.errors import ProblemError
from tests.batch.people import read
from tests.loan import whole

if TYPE_CHECKING:
    from pathlib import Path

RULES = """
bad(X) :- income(X,N), N<50.
bad(X) :- score(X,N), N<5.
score(X,N) :- income(X,M), M>=20, N>=5.
"""
LIMITS = [2 * 10**19, 10**30, 10**300]
PEOPLE: list[dict[str, Any]] = [
    {"income": 10, "score": 1},
    {"income": None, "score": 1},
    {"income": 60, "score": 9},
    {"income": 2 * 10**19, "score": None},
]


def wide(limit: int, **keys: Any) -> Problem:
    features = {
        "income": {"type": "int", "min": -limit, "max": limit, **keys},
        "score": {"type": "int", "min": 0, "max": limit},
    }
    return Problem.from_dict({"goal": "not bad(X)", "rules": RULES, "features": features})


@pytest.mark.parametrize("limit", LIMITS)
def test_a_range_wider_than_any_machine_number_is_planned_for_one_and_many(
    tmp_path: Path, limit: int
) -> None:
    problem = wide(limit)
    alone = [problem.plan(row) for row in PEOPLE]
    frame = pd.DataFrame(
        {name: pd.Series([row[name] for row in PEOPLE], dtype=object) for name in PEOPLE[0]}
    )
    table = problem.plan_many(frame)
    assert list(table["status"]) == [plan.status for plan in alone]
    assert list(table["cost"]) == pytest.approx(
        [float("nan") if plan.cost is None else plan.cost for plan in alone], nan_ok=True
    )
    lines = [",".join("" if each is None else str(each) for each in row.values()) for row in PEOPLE]
    (tmp_path / "in.csv").write_text("\n".join(["income,score", *lines]))
    plan_files(problem, tmp_path / "in.csv", tmp_path / "out")
    found = read(tmp_path / "out")
    assert [row["status"] for row in found] == list(table["status"])
    assert [row["unknown"] or "" for row in found] == list(table["unknown"])


@pytest.mark.parametrize("limit", LIMITS)
def test_the_space_the_nearest_and_a_report_of_a_wide_range_are_told(limit: int) -> None:
    problem = wide(limit)
    assert f"{limit}" in str(problem.space().to_dict())
    for row in PEOPLE:
        for distinct in ("points", "cells"):
            ways = problem.nearest(row, k=3, distinct=distinct)
            assert ways[:1] == [problem.plan(row)]
        problem.report(row)


@pytest.mark.parametrize("value", [2 * 10**19, -(2 * 10**19), 10**400])
def test_a_value_past_every_machine_number_is_outside_and_no_more(
    tmp_path: Path, value: int
) -> None:
    problem = wide(1000)
    frame = pd.DataFrame({"income": pd.Series([10, value], dtype=object), "score": 1})
    assert list(problem.plan_many(frame)["status"]) == ["found", "invalid"]
    (tmp_path / "in.csv").write_text(f"income,score\n10,1\n{value},1\n")
    plan_files(problem, tmp_path / "in.csv", tmp_path / "out")
    assert [row["status"] for row in read(tmp_path / "out")] == ["found", "invalid"]


@pytest.mark.parametrize(
    ("keys", "place"),
    [
        ({"scale": 1e-320}, "features.income.scale"),
        ({"scale": 1e-200}, "features.income.scale"),
        ({"weight": 1e308}, "features.income.weight"),
    ],
)
def test_a_scale_whose_costs_would_be_no_numbers_is_refused_at_loading(
    keys: dict[str, float], place: str
) -> None:
    with pytest.raises(ProblemError) as refused:
        wide(100, **keys)
    assert str(refused.value).startswith(
        f"{place}: a change over the whole range would cost more than 1e+300"
    )


def test_a_small_scale_whose_costs_are_numbers_is_taken() -> None:
    features = {"income": whole(0, 100) | {"scale": 1e-140}}
    problem = Problem.from_dict(
        {"goal": "not bad(X)", "rules": "bad(X) :- income(X,N), N<50.", "features": features}
    )
    for norm in ("l0", "l1", "l2", "linf"):
        assert problem.plan({"income": 10}, norm=norm).status == "found"
