"""The shipped files are the published ones, byte for byte."""

from __future__ import annotations

import hashlib
import tomllib

import pytest

from p2c.datasets import load_rows, names, problem_text, raw_bytes, rows
from p2c.errors import P2CError

PUBLISHED = {
    "adult.data": "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
    "adult.test": "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
    "german.data": "b21f3d81db8071257d5ff1deaeba1fd4303b62712e6fcc9715c7a86202cb5871",
    "car.data": "b703a9ac69f11e64ce8c223c0a40de4d2e9d769f7fb20be5f8f2e8a619893d83",
}


@pytest.mark.parametrize("file", PUBLISHED)
def test_a_shipped_file_has_the_published_digest(file: str) -> None:
    assert hashlib.sha256(raw_bytes(file)).hexdigest() == PUBLISHED[file]


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
    with pytest.raises(P2CError, match="no problem 'adults'; did you mean 'adult'"):
        problem_text("adults")
    with pytest.raises(P2CError, match="no problem 'car'; did you mean 'cars'"):
        rows("car")
