"""Every way in which a column may come, and the values it stands for."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from p2c._learn.foldse.columns import encode
from p2c._learn.foldse.literals import LearnedLiteral, Relation


def decoded(values: Any) -> list[float | str]:
    column = encode(values)
    return [column.value(int(code)) for code in column.codes]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (np.array([3, 1, 2]), [3.0, 1.0, 2.0]),
        (np.array([2.5, np.nan], dtype=np.float32), [2.5, ""]),
        (np.array(["b", "a"]), ["b", "a"]),
        (np.array([True, False]), ["True", "False"]),
        (np.array([1, "1", True, None, 1.0], dtype=object), [1.0, "1", "True", "", 1.0]),
        (pd.Series(["x", None, ""]), ["x", "", ""]),
        (pd.Series([1, None], dtype="Int64"), [1.0, ""]),
        (pd.Series([True, None], dtype="boolean"), ["True", ""]),
        (pd.Series(["b", None, "a"], dtype="category"), ["b", "", "a"]),
        (pd.Series([2, 1], dtype=pd.CategoricalDtype([1, 2, 3])), [2.0, 1.0]),
        (pd.Series([Decimal("1.5"), "n/a"], dtype=object), [1.5, "n/a"]),
        (pd.Series([3, float("nan"), 2.5], dtype=object), [3.0, "", 2.5]),
        (pd.Series([date(2024, 5, 1), None], dtype=object), ["2024-05-01", ""]),
        (pd.Series([None, None], dtype=object), ["", ""]),
    ],
)
def test_a_column_keeps_its_values(values: Any, expected: list[float | str]) -> None:
    assert decoded(values) == expected


def test_an_unused_category_is_no_value() -> None:
    assert encode(pd.Series(["b"], dtype=pd.CategoricalDtype(["a", "b"]))).strings == ("b",)


@pytest.mark.parametrize("cell", [{"a": 1}, (1, 2), object()])
def test_anything_but_numbers_and_strings_is_refused(cell: object) -> None:
    values = pd.Series([cell, "a"], dtype=object)
    with pytest.raises(TypeError, match="must be a string or a number"):
        encode(values)


@given(
    arrays.arrays(np.float64, st.integers(1, 50), elements=st.floats(-1e6, 1e6) | st.just(np.nan))
)
def test_numbers_are_ranked_alike_by_sorting_and_by_hashing(values: np.ndarray[Any, Any]) -> None:
    column = encode(values)
    expected = ["" if np.isnan(value) else value for value in values.tolist()]
    assert [column.value(int(code)) for code in column.codes] == expected
    assert (np.diff(column.numbers) > 0).all()
    again = encode(np.repeat(values, 3))
    assert again.codes[::3].tolist() == column.codes.tolist()


@given(
    st.lists(st.sampled_from([0.0, 1.0, 2.5, "a", "b", ""]), min_size=1),
    st.sampled_from(Relation),
    st.sampled_from([-1.0, 0.0, 1.5, 2.5, 9.0]),
    st.sampled_from(["", "a", "c"]),
    st.booleans(),
)
def test_a_literal_holds_of_a_column_as_of_each_value(
    cells: list[Any], relation: Relation, bound: float, name: str, negated: bool
) -> None:
    wanted = name if relation is Relation.EQUAL else bound
    literal = LearnedLiteral("f", relation, wanted, negated)
    column = encode(pd.Series(cells, dtype=object))
    assert column.holds(literal).tolist() == [literal.holds(cell) for cell in cells]
