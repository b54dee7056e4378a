"""Every problem loads from its file and accepts its named rows and its data."""

from __future__ import annotations

from importlib import resources

import pytest

from p2c import Problem
from p2c._rules.evaluate import goal_holds
from p2c._rules.meaning import abduce
from p2c.datasets import load_rows, names, rows


def load(name: str) -> Problem:
    file = resources.files("p2c.datasets") / "problems" / f"{name}.toml"
    with resources.as_file(file) as path:
        return Problem.load(path)


@pytest.mark.parametrize("name", names())
def test_a_problem_loads_from_its_file(name: str) -> None:
    assert load(name).name == name


@pytest.mark.parametrize(
    ("name", "person"), [(name, person) for name in names() for person in rows(name)]
)
def test_a_named_row_is_read_as_it_stands(name: str, person: str) -> None:
    row = rows(name)[person]
    assert load(name).read_row(row) == row


@pytest.mark.parametrize("name", names())
def test_only_the_row_named_already_or_a_good_paper_row_is_accepted(name: str) -> None:
    problem = load(name)
    accepted = {
        person
        for person, row in rows(name).items()
        if goal_holds(problem.theory, problem.read_row(row))
    }
    assert accepted == ({"already", "paper"} if name == "german" else {"already"})


@pytest.mark.parametrize(
    ("name", "accepted", "exceptions"),
    [("cars", 624, 0), ("adult", 7_891, 6_988), ("german", 688, 52)],
)
def test_every_row_of_the_data_is_read_and_judged(
    name: str, accepted: int, exceptions: int
) -> None:
    problem = load(name)
    states = [problem.read_row(row) for row in load_rows(name, "all")]
    assert sum(goal_holds(problem.theory, state) for state in states) == accepted
    assert sum(bool(abduce(problem.theory, state)) for state in states) == exceptions


@pytest.mark.parametrize(
    ("name", "accuracy"), [("cars", 0.939), ("adult", 0.845), ("german", 0.77)]
)
def test_the_rules_are_about_as_accurate_as_the_paper_says(name: str, accuracy: float) -> None:
    problem = load(name)
    data = load_rows(name)
    positive = {"acc", "good", "vgood", ">50K"}
    right = sum(
        goal_holds(problem.theory, problem.read_row(row)) == (row["label"] in positive)
        for row in data
    )
    # The paper's figures are of a test fold, these of the whole file.
    assert right / len(data) == pytest.approx(accuracy, abs=0.04)
