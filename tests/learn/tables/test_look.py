"""The look at the columns: what each holds, what is left out, and what is read or refused."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from p2c._learn.tables.look import ColumnKind, look, refuse_commas, with_decimal_commas
from p2c.errors import P2CError

TWELVE = range(12)


def kind(*cells: Any, name: str = "column") -> ColumnKind:
    (found,) = look(pd.DataFrame({name: list(cells)})).columns
    return found.kind


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ([18, 40, 18] * 4, ColumnKind.NUMBER),
        ([n * 1.5 for n in TWELVE], ColumnKind.NUMBER),
        ([n * 1000 for n in TWELVE], ColumnKind.NUMBER),
        ([n + 500 for n in TWELVE], ColumnKind.NUMBER),
        ([n + 1 for n in TWELVE], ColumnKind.ID),
        ([f"A{n}" for n in TWELVE], ColumnKind.ID),
        (["a", "b"] * 6, ColumnKind.CATEGORY),
        ([True, False] * 6, ColumnKind.CATEGORY),
        (["a"] * 12, ColumnKind.CONSTANT),
        ([7] * 12, ColumnKind.CONSTANT),
        ([None] * 12, ColumnKind.EMPTY),
        (["1236,50", "12", "1.000,00"], ColumnKind.COMMA),
        (["2024-01-31", "2023-02-01"], ColumnKind.DATE),
        (["2024-01-31T10:00:00Z", "2023-02-01"], ColumnKind.DATE),
        (["31.1.2024", "01.02.23"], ColumnKind.DATE),
        (["1/31/2024", "2/1/2023"], ColumnKind.DATE),
        ([20240100 + n for n in range(1, 13)], ColumnKind.DATE),
        ([pd.Timestamp("2024-01-31"), pd.Timestamp("2024-02-01")], ColumnKind.DATE),
        (["01067", "10115"] * 6, ColumnKind.CODE),
        ([f"A{n // 2 * 2 if n < 4 else n}" for n in TWELVE], ColumnKind.CODE),
    ],
)
def test_a_column_is_seen_as_what_it_holds(cells: list[Any], expected: ColumnKind) -> None:
    assert kind(*cells) is expected


@pytest.mark.parametrize("name", ["id", "customer_id", "Customer ID", "case-no"])
def test_different_whole_numbers_under_the_name_of_an_id_are_one(name: str) -> None:
    cells = [n * 1000 for n in TWELVE]
    assert kind(*cells, name=name) is ColumnKind.ID
    assert kind(*cells[:6], *cells[:6], name=name) is ColumnKind.NUMBER


def test_range_values_and_what_is_missing_are_told() -> None:
    frame = pd.DataFrame({"age": [18, None, 40], "job": ["cook", "cook", None]})
    age, job = look(frame).columns
    assert (age.span, age.distinct, age.missing) == ("18 to 40", 2, 1)
    assert (job.span, job.missing) == ("cook", 1)


def test_a_word_among_numbers_is_named() -> None:
    (found,) = look(pd.DataFrame({"age": [*(str(n % 7) for n in range(20)), "n/a"]})).columns
    assert found.note == "numbers but for 'n/a' in 1 row, so it is text"


def test_what_is_useless_is_left_out_unless_it_is_kept() -> None:
    frame = pd.DataFrame(
        {"id": TWELVE, "day": ["2024-01-31"] * 6 + ["2024-02-01"] * 6, "x": [1, 2] * 6}
    )
    seen = look(frame)
    assert [each.name for each in seen.left_out()] == ["id", "day"]
    assert [each.name for each in seen.left_out({"day"})] == ["id"]


def test_decimal_commas_are_refused_or_read_as_asked() -> None:
    frame = pd.DataFrame({"pay": ["1236,50", None, "1.000,25", "-7"]})
    seen = look(frame)
    with pytest.raises(P2CError, match=r"column 'pay': numbers with commas, such as '1236,50'"):
        refuse_commas(seen)
    read = with_decimal_commas(frame, seen)
    assert read["pay"].tolist()[::2] == [1236.5, 1000.25]
    assert read["pay"].isna().tolist() == [False, True, False, False]
    refuse_commas(look(read))


@pytest.mark.parametrize(
    ("cells", "advice"),
    [
        (["1,550", "2,125", "950"], "such as '1,550': write 1236 where they set thousands apart"),
        (["1,250,000", "2,000,125.50"] * 6, "such as '1,250,000': write 1236 where"),
        (["1,550", "2,5"], "such as '2,5': write 1236.50 with a point"),
    ],
)
def test_nobody_is_told_to_read_thousands_as_decimals(cells: list[str], advice: str) -> None:
    with pytest.raises(P2CError, match=advice):
        refuse_commas(look(pd.DataFrame({"pay": cells})))


def test_a_word_among_decimal_commas_is_named_with_its_row() -> None:
    frame = pd.DataFrame({"pay": ["1236,50", "2,5", "none"]})
    with pytest.raises(
        P2CError, match="column 'pay', row 3: expected a number with a decimal comma"
    ):
        with_decimal_commas(frame, look(frame))
