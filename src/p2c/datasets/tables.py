"""The three data sets as rows or as a frame, by name and split."""

from __future__ import annotations

import sys
import tomllib
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from p2c.datasets.embedded import raw_lines
from p2c.errors import MissingExtra, check_word

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from p2c.datasets.embedded import Row

Split: TypeAlias = Literal["train", "all"]


@cache
def layout() -> dict[str, Any]:
    """Return the columns and codes of the published files."""
    text = resources.files(__package__).joinpath("columns.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def read_cars() -> list[Row]:
    """Read Car Evaluation, all 1,728 combinations of six properties.

    Doors and persons stay words, for they mix '2' with 'more'.
    """
    return [_cells("cars", line.split(",")) for line in raw_lines("car.data")]


def read_adult(file: str) -> list[Row]:
    """Read a file of Adult, people of the US census of 1994 with their income bracket."""
    return [_adult_row(line) for line in raw_lines(file)]


def read_german() -> list[Row]:
    """Read Statlog German Credit: 1,000 loans of a German bank, decoded."""
    codes, labels = layout()["german"]["codes"], layout()["german"]["labels"]
    rows = [_cells("german", line.split()) for line in raw_lines("german.data")]
    decoded = [{name: codes.get(each, each) for name, each in row.items()} for row in rows]
    return [row | {"label": labels[row["label"]]} for row in decoded]


def _cells(name: str, texts: list[str]) -> Row:
    columns, numbers = layout()[name]["columns"], layout()[name]["numbers"]
    pairs = zip(columns, map(sys.intern, texts), strict=True)
    return {column: int(text) if column in numbers else text for column, text in pairs}


def _adult_row(line: str) -> Row:
    """Decode one line; '?' stays the value '?', as the paper's learner treats it."""
    row: Row = {}
    for name, value in _cells("adult", line.split(", ")).items():
        if name == "capital_gain_raw":
            # The authors' capital gain is what is left of it after the loss.
            row["capital_gain"] = 0
        row[name] = value
    gain, loss = row["capital_gain_raw"], row["capital_loss"]
    assert isinstance(gain, int)
    assert isinstance(loss, int)
    # adult.test ends each label with a full stop, adult.data does not.
    return row | {"capital_gain": gain - loss, "label": str(row["label"]).removesuffix(".")}


# Only Adult was published in two files; of the others, "train" is all there is.
TABLES: dict[tuple[str, str], Callable[[], list[Row]]] = {
    ("cars", "train"): read_cars,
    ("cars", "all"): read_cars,
    ("adult", "train"): lambda: read_adult("adult.data"),
    ("adult", "all"): lambda: read_adult("adult.data") + read_adult("adult.test"),
    ("german", "train"): read_german,
    ("german", "all"): read_german,
}


def load_rows(name: str, split: Split = "train") -> list[Row]:
    """Return the rows of a data set, features by readable names and the class as `label`.

    `train` is the file that the paper splits; `all` adds Adult's second file, `adult.test`.

    >>> load_rows("cars")[0]["safety"]
    'low'
    """
    check_word("datasets: no data set", name, {known for known, _ in TABLES})
    check_word("datasets: no split", split, {part for _, part in TABLES})
    return TABLES[name, split]()


def load_frame(name: str, split: Split = "train") -> pd.DataFrame:
    """Return the rows of a data set as a pandas frame, in the order of the file.

    >>> load_frame("german").shape
    (1000, 21)
    """
    try:
        import pandas as pd
    except ImportError as error:
        raise MissingExtra("pandas", extra="pandas") from error
    return pd.DataFrame.from_records(load_rows(name, split))
