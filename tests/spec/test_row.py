"""Rows from mappings, Series and text: each value as its feature's type, or one sentence that says what is right."""

from __future__ import annotations

import datetime
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from p2c import Problem
from p2c._spec.row import read_row, read_text_row, read_value
from p2c.errors import RowError

FEATURES = Problem.from_dict(
    {
        "goal": "age(X,5)",
        "rules": "",
        "features": {
            "age": {"type": "int", "min": -5, "max": 10**20},
            "rate": {"type": "float", "min": 0, "max": 1},
            "job": {"type": "category", "values": ["clerk", "nurse", " odd "]},
            "rooms": {"type": "ordinal", "values": [1, 2, 3]},
        },
    }
).theory.features
AGE, RATE, JOB, ROOMS = FEATURES
ROW: dict[str, Any] = {"age": 31, "rate": 0.5, "job": "clerk", "rooms": 2}


@pytest.mark.parametrize(
    "raw",
    [
        *(5, 5.0, np.int64(5), np.float32(5), np.uint8(5), np.array(5)),
        *(pd.Series([5]).iloc[0], pd.array([5], dtype="Int64")[0]),
    ],
)
def test_a_whole_number_is_read_as_an_int(raw: Any) -> None:
    value = read_value(AGE, raw)
    assert value == 5
    assert type(value) is int


@pytest.mark.parametrize("raw", [1, 1.0, np.float64(1), np.int32(1), np.float16(1)])
def test_a_number_of_a_float_feature_is_read_as_a_float(raw: Any) -> None:
    value = read_value(RATE, raw)
    assert value == 1.0
    assert type(value) is float


@pytest.mark.parametrize(
    "raw", [None, math.nan, np.nan, np.float32("nan"), pd.NA, pd.NaT, np.datetime64("NaT", "s")]
)
@pytest.mark.parametrize("feature", FEATURES)
def test_every_kind_of_missing_is_none(feature: Any, raw: Any) -> None:
    assert read_value(feature, raw) is None


def test_a_big_int_keeps_every_digit() -> None:
    assert read_value(AGE, 2**63 + 1) == 2**63 + 1


@pytest.mark.parametrize("raw", [np.str_("clerk"), "clerk"])
def test_a_name_is_read_as_plain_text(raw: Any) -> None:
    assert type(read_value(JOB, raw)) is str


def test_a_category_of_numbers_takes_the_number_in_any_type() -> None:
    assert [repr(read_value(ROOMS, raw)) for raw in (2, 2.0, np.int64(2))] == ["2", "2", "2"]


@pytest.mark.parametrize(
    ("feature", "raw", "message"),
    [
        (AGE, True, "expected a whole number, found True"),
        (AGE, np.bool_(True), "expected a whole number, found True"),
        (AGE, "5", "expected a whole number, found '5'"),
        (AGE, 5.5, "expected a whole number, found 5.5"),
        (AGE, math.inf, "expected a whole number, found inf"),
        (AGE, [5], "expected a whole number, found [5]"),
        (AGE, -6, "-6 is outside its range, -5 to 100000000000000000000"),
        (
            AGE,
            10**400,
            "a number of more than 30 digits is outside its range, -5 to 1000000000000000",
        ),
        (RATE, 10**400, "a number of more than 30 digits is outside its range, 0.0 to 1.0"),
        (RATE, datetime.date(2020, 1, 1), "expected a number, found datetime.date(2020, 1, 1)"),
        (RATE, np.array([1, 2]), "expected one value, found 2"),
        (JOB, "clark", "'clark' is not one of its values; did you mean 'clerk'?"),
        (JOB, "clerk ", "'clerk ' is not one of its values; did you mean 'clerk'?"),
        (JOB, ["clerk"], "['clerk'] is not one of its values; did you mean 'clerk'?"),
        (ROOMS, True, "True is not one of its values; known: '1', '2', '3'"),
        (ROOMS, 4, "4 is not one of its values; known: '1', '2', '3'"),
    ],
)
def test_a_wrong_value_is_refused_with_what_is_right(feature: Any, raw: Any, message: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the whole message is compared
        read_value(feature, raw)
    assert str(caught.value).startswith(message)


def test_a_number_too_long_to_print_is_refused_in_words() -> None:
    for feature in FEATURES:
        with pytest.raises(ValueError, match="a number of more than 30 digits"):
            read_value(feature, 10**5000)


def test_a_series_is_read_like_a_mapping() -> None:
    row: Any = pd.DataFrame([ROW]).iloc[0]
    state = read_row(FEATURES, row)
    assert state == ROW
    assert [type(each) for each in state.values()] == [int, float, str, int]


def test_a_series_of_floats_gives_ints_back() -> None:
    row: Any = pd.Series({"age": 31.0, "rate": 0.5, "rooms": np.nan, "job": None})
    assert read_row(FEATURES, row) == {"age": 31, "rate": 0.5, "job": None, "rooms": None}


def test_a_state_is_in_the_problem_s_order_and_leaves_other_keys_aside() -> None:
    row: dict[Any, Any] = {"extra": 1, **dict(reversed(ROW.items())), 5: "x"}
    assert list(read_row(iter(FEATURES), row)) == list(ROW)


def test_many_missing_features_are_one_list() -> None:
    with pytest.raises(RowError) as caught:
        read_row(FEATURES, {"other": 3})
    assert str(caught.value) == (
        "age, rate, job, rooms: these features are missing from the row; null stands for unknown"
    )


def test_all_faults_of_a_row_are_reported_in_one_line() -> None:
    with pytest.raises(RowError) as caught:
        read_row(FEATURES, {"ages": 3, "rate": "x", "job": "clerk"})
    assert str(caught.value) == (
        "age: this feature is missing from the row, which has 'ages' instead;"
        " rate: expected a number, found 'x';"
        " rooms: this feature is missing from the row; null stands for unknown"
    )


@pytest.mark.parametrize("row", [None, 5, "age", [1, 2]])
def test_a_row_is_a_mapping(row: Any) -> None:
    with pytest.raises(RowError, match="expected a row of values by feature"):
        read_row(FEATURES, row)


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("31", 31),
        (" 31 ", 31),
        ("+5", 5),
        ("31.0", 31),
        ("3.1e1", 31),
        ("", None),
        ("  ", None),
        ("NaN", None),
    ],
)
def test_a_cell_of_text_is_read_as_a_number(cell: str, value: Any) -> None:
    state = read_text_row(FEATURES, {"age": cell, "rate": "0.5", "job": "clerk", "rooms": "2"})
    assert state["age"] == value
    assert type(state["age"]) is type(value)


@pytest.mark.parametrize("cell", ["1_000", "٣", "0x1f", "1,5", "True", "one", "inf", "1 0"])
def test_a_cell_that_only_looks_like_a_number_is_refused(cell: str) -> None:
    with pytest.raises(RowError, match="age: expected a whole number"):
        read_text_row(FEATURES, {"age": cell, "rate": "0.5", "job": "clerk", "rooms": "2"})


@pytest.mark.parametrize("cell", ["9" * 5000, "-" + "9" * 5000, "1e999", "9" * 5000 + ".5"])
def test_a_cell_with_a_number_that_no_float_holds_is_outside_its_range(cell: str) -> None:
    with pytest.raises(RowError) as caught:
        read_text_row(FEATURES, {"age": cell, "rate": "0.5", "job": "clerk", "rooms": "2"})
    assert str(caught.value) == (
        "age: a number of more than 30 digits is outside its range, -5 to 100000000000000000000"
    )


def test_a_cell_of_text_is_a_category_as_it_stands_or_without_its_blanks() -> None:
    cells = {"age": "1", "rate": ".5", "job": " odd ", "rooms": " 2.0"}
    state = read_text_row(FEATURES, cells)
    assert (state["rate"], state["job"], state["rooms"]) == (0.5, " odd ", 2)
    assert read_text_row(FEATURES, cells | {"job": " clerk "})["job"] == "clerk"


def test_a_range_that_was_only_seen_bounds_no_row_but_costs_and_columns_do() -> None:
    seen = replace(AGE, maximum=9, bounded=False)
    assert [read_value(seen, raw) for raw in (-8, 10**6, 2**62)] == [-8, 10**6, 2**62]
    assert read_value(replace(RATE, bounded=False), -1e30) == -1e30
    for feature, raw in ((seen, 10**30), (replace(RATE, bounded=False), 1e200)):
        with pytest.raises(ValueError, match="outside its range"):
            read_value(feature, raw)
