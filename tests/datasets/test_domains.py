"""Every number and value in the problems comes from the data."""

from __future__ import annotations

import statistics
import tomllib
from typing import TYPE_CHECKING, Any

import pytest

from p2c._rules.evaluate import goal_holds
from p2c.datasets import load_rows, problem_text
from p2c.problem import Problem

if TYPE_CHECKING:
    from p2c.datasets.embedded import Row

DATA = {name: load_rows(name, "all") for name in ("cars", "adult", "german")}
FEATURES = [
    (name, feature, spec)
    for name in DATA
    for feature, spec in tomllib.loads(problem_text(name))["features"].items()
]


def numbers(name: str, feature: str) -> list[int]:
    column = [row[feature] for row in DATA[name]]
    return [value for value in column if isinstance(value, int)]


@pytest.mark.parametrize(
    ("name", "feature", "spec"),
    [each for each in FEATURES if each[2]["type"] == "int"],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bounds_and_scale_are_those_of_the_data(
    name: str, feature: str, spec: dict[str, Any]
) -> None:
    column = numbers(name, feature)
    assert len(column) == len(DATA[name])
    assert (spec["min"], spec["max"]) == (min(column), max(column))
    assert spec["scale"] == round(statistics.stdev(column), 2)


@pytest.mark.parametrize(
    ("name", "feature", "spec"),
    [each for each in FEATURES if each[2]["type"] in {"category", "ordinal"}],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_values_are_those_of_the_data(name: str, feature: str, spec: dict[str, Any]) -> None:
    assert len(spec["values"]) == len(set(spec["values"]))
    assert set(spec["values"]) == {row[feature] for row in DATA[name]}


def test_moves_lead_from_every_status_to_known_ones() -> None:
    status = tomllib.loads(problem_text("adult"))["features"]["marital_status"]
    assert set(status["moves"]) == set(status["values"])
    for start, targets in status["moves"].items():
        assert set(targets) <= set(status["values"]) - {start}


def test_the_moves_that_the_authors_forbid_do_not_exist() -> None:
    moves = tomllib.loads(problem_text("adult"))["features"]["marital_status"]["moves"]
    sources = {to: {start for start in moves if to in moves[start]} for to in moves}
    assert not sources["Never-married"]
    assert not sources["Divorced"] & {"Widowed", "Never-married"}
    assert not sources["Separated"] & {"Widowed", "Never-married", "Divorced"}


@pytest.mark.parametrize(
    ("name", "wanted"),
    [("adult", {">50K"}), ("german", {"good"}), ("cars", {"acc", "good", "vgood"})],
)
def test_the_rules_agree_with_the_labels_as_often_as_their_source_says(
    name: str, wanted: set[str]
) -> None:
    problem = Problem.from_dict(tomllib.loads(problem_text(name)))
    source, theory = problem.theory.source, problem.theory
    rows = DATA[name]
    states = [{key: row[key] for key in theory.feature} for row in rows]
    agreed = sum(
        goal_holds(theory, state) == (row["label"] in wanted)
        for state, row in zip(states, rows, strict=True)
    )
    assert source is not None
    assert source.rows == len(rows)
    assert source.fidelity == round(agreed / len(rows), 4)


def married(row: Row) -> bool:
    return row["relationship"] in {"Husband", "Wife"}


def test_the_counts_in_the_comments_on_adult_hold() -> None:
    people = DATA["adult"]
    husbands = [row for row in people if row["relationship"] == "Husband"]
    soldiers = [row for row in people if row["marital_status"] == "Married-AF-spouse"]
    unwed = [row for row in people if row["marital_status"] == "Never-married"]
    assert (len(husbands), sum(row["sex"] == "Male" for row in husbands)) == (19_716, 19_715)
    assert (len(soldiers), sum(married(row) for row in soldiers)) == (37, 35)
    assert sum(int(row["age"] or 0) > 29 for row in unwed) == 5_319
    assert sum(int(row["age"] or 0) <= 27 for row in husbands) == 1_298


def test_the_counts_in_the_comments_on_german_hold() -> None:
    jobless = "unemployed/unskilled-non_resident"
    odd = [
        row
        for row in DATA["german"]
        if (row["job"] == jobless) != (row["present_employment_since"] == "unemployed")
    ]
    managers = [row for row in odd if str(row["job"]).startswith("management")]
    assert (len(odd), len(managers)) == (52, 33)
