"""How people are divided."""

from __future__ import annotations

import pandas as pd
import pytest

from p2c._audit.intervals import divide, read_divisions
from p2c.errors import P2CError


def named(by: list[str], **columns: list[object]) -> dict[str, int]:
    size = len(next(iter(columns.values())))
    return {each.name: int(each.rows.sum()) for each in divide(read_divisions(by), columns, size)}


def test_everybody_comes_first_then_each_group_then_each_pair() -> None:
    found = named(["sex", "age:<30,30-50,>50"], sex=["f", "m", "f"], age=[20, 40, 60])
    assert found == {
        "": 3,
        "sex: f": 2,
        "sex: m": 1,
        "age: <30": 1,
        "age: 30-50": 1,
        "age: >50": 1,
        "sex: f, age: <30": 1,
        "sex: f, age: >50": 1,
        "sex: m, age: 30-50": 1,
    }


def test_whoever_is_in_no_band_or_lacks_a_value_is_counted_too() -> None:
    found = named(["age:<30,40-50"], age=[20, 35, float("nan"), None, pd.NA, "45", ""])
    assert found == {"": 7, "age: <30": 1, "age: 40-50": 1, "age: elsewhere": 1, "age: unknown": 4}
    assert named(["sex"], sex=["f", None, " "]) == {"": 3, "sex: f": 1, "sex: unknown": 2}


@pytest.mark.parametrize(
    ("by", "message"),
    [
        ("age:<30;>50", "by: age:<30;>50: expected bands such as <30,30-50,>50, found '<30;>50'"),
        ("age:<30,20-50", "by: age: '<30' and '20-50' overlap"),
        ("age:<=30,30-50", "by: age: '<=30' and '30-50' overlap"),
        ("age:50-30", "by: age:50-30: '50-30' ends below its start"),
        (["sex", "sex"], "by: 'sex' is given 2 times; give it once"),
    ],
)
def test_bands_that_cannot_be_are_refused_in_one_line(by: list[str], message: str) -> None:
    with pytest.raises(P2CError) as refused:
        read_divisions(by)
    assert str(refused.value) == message


def test_numbers_are_no_groups_by_themselves_and_names_have_no_bands() -> None:
    with pytest.raises(P2CError, match="age has 99 different values, at most 30 make groups"):
        named(["age"], age=list(range(99)))
    with pytest.raises(P2CError, match="by: sex: bands need numbers, found 'f'"):
        named(["sex:<3"], sex=["f"])
