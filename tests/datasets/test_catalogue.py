"""Every problem has its text and its example rows."""

from __future__ import annotations

import tomllib

import pytest

from p2c.datasets import load_rows, names, problem_text, rows
from p2c.errors import P2CError


def test_the_problems_are_listed_simplest_first() -> None:
    assert names() == ("loan", "cars", "adult", "german")


@pytest.mark.parametrize("name", names())
def test_a_problem_is_named_after_its_file(name: str) -> None:
    assert tomllib.loads(problem_text(name))["name"] == name


@pytest.mark.parametrize("name", names())
def test_an_example_row_gives_exactly_the_features_in_their_order(name: str) -> None:
    features = list(tomllib.loads(problem_text(name))["features"])
    assert rows(name)
    for row in rows(name).values():
        assert list(row) == features


@pytest.mark.parametrize("name", ["adult", "german", "cars"])
def test_an_example_row_is_a_row_of_the_data(name: str) -> None:
    data = load_rows(name, "all")
    for example in rows(name).values():
        assert any(all(row[key] == value for key, value in example.items()) for row in data)


def test_an_unknown_problem_is_answered_with_the_nearest_known_one() -> None:
    with pytest.raises(P2CError, match="no problem 'adults': did you mean 'adult'"):
        problem_text("adults")
    with pytest.raises(P2CError, match="no problem 'car': did you mean 'cars'"):
        rows("car")
