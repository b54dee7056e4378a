"""Scorecards as plain tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from p2c._learn.model.points import load_points
from p2c.errors import P2CError

if TYPE_CHECKING:
    from pathlib import Path

CARD = """feature,from,to,points
,100,,20
age,,30,10
age,30,,55
home,owner,,30
home,,,5
"""


def _write(folder: Path, text: str) -> Path:
    path = folder / "card.csv"
    path.write_text(text)
    return path


def test_points_are_added_and_accepted_from_the_cutoff_on(tmp_path: Path) -> None:
    card = load_points(_write(tmp_path, CARD))
    rows = pd.DataFrame({"age": [29.9, 30, 30, 64], "home": ["owner", "rented", "owner", np.nan]})
    assert card.score(rows).tolist() == [60, 80, 105, 80]
    assert card.predict(rows).tolist() == [False, False, True, False]


def test_a_column_may_have_the_same_points_whatever_its_value_is(tmp_path: Path) -> None:
    card = load_points(_write(tmp_path, CARD + "town,,,7\n"))
    rows = pd.DataFrame({"age": [40, 40], "home": ["owner", "rented"], "town": ["Ulm", np.nan]})
    assert card.score(rows).tolist() == [112, 87]


def test_a_value_without_a_line_is_named(tmp_path: Path) -> None:
    card = load_points(_write(tmp_path, CARD.replace("home,,,5\n", "")))
    with pytest.raises(P2CError, match="home: the scorecard has no line for 'rented'"):
        card.predict(pd.DataFrame({"age": [40], "home": ["rented"]}))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("age,25,40,3", "line 7: 'age': 25 is in another line too"),
        ("home,owner,,1", "line 7: 'home': a second line for 'owner'"),
        ("home,,,1", "line 7: 'home': a second line for all other values"),
        ("debt,,100,1", "'debt' has no line from 100 to inf: add it, or one with neither end"),
        ("debt,,100,1\ndebt,100,,many", "line 8: 'debt': expected a number, found 'many'"),
        (",1,,1", "expected one line without a feature"),
    ],
)
def test_a_table_that_contradicts_itself_is_refused(
    tmp_path: Path, line: str, message: str
) -> None:
    with pytest.raises(P2CError, match=message):
        load_points(_write(tmp_path, f"{CARD}{line}\n"))


def test_the_line_of_a_fault_is_that_of_the_file(tmp_path: Path) -> None:
    blank = CARD.replace("age,,30,10", '\n"ho\nme",,,5\n\nage,,30,ten')
    with pytest.raises(P2CError, match=r"card.csv, line 7: 'age': expected a number, found 'ten'"):
        load_points(_write(tmp_path, blank))


def test_a_scorecard_is_read_by_the_rules_of_every_table(tmp_path: Path) -> None:
    with pytest.raises(
        P2CError, match=r"card.csv: row 2, line 3: expected 4 cells as in the header"
    ):
        load_points(_write(tmp_path, "feature,from,to,points\n,100,,20\nage,,30\n"))
    with pytest.raises(P2CError, match=r"card.csv: cannot be read"):
        load_points(tmp_path / "none" / "card.csv")


def test_a_table_with_other_columns_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        P2CError, match="expected the columns feature, from, to, points, found a, b"
    ):
        load_points(_write(tmp_path, "a,b\n1,2\n"))
