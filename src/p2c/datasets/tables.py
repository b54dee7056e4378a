"""The three data sets as rows or as a frame, by name and split."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Literal, TypeAlias

from p2c.datasets.embedded import raw_lines
from p2c.datasets.german import read_german
from p2c.errors import MissingExtra, check_word

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from p2c.datasets.embedded import Row

CAR_COLUMNS = ("buying", "maint", "doors", "persons", "lug_boot", "safety", "label")
ADULT_COLUMNS = (
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education_num",
    "marital_status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital_gain_raw",
    "capital_loss",
    "hours_per_week",
    "native_country",
    "label",
)
ADULT_NUMBERS = frozenset(
    {"age", "fnlwgt", "education_num", "capital_gain_raw", "capital_loss", "hours_per_week"}
)
Split: TypeAlias = Literal["train", "all"]


def read_cars() -> list[Row]:
    """Read Car Evaluation, all 1,728 combinations of six properties; doors and persons stay words, for they mix '2' with 'more'."""
    return [dict(zip(CAR_COLUMNS, line.split(","), strict=True)) for line in raw_lines("car.data")]


def read_adult(file: str) -> list[Row]:
    """Read a file of Adult, people of the US census of 1994 with their income bracket."""
    return [_adult_row(line) for line in raw_lines(file)]


def _adult_row(line: str) -> Row:
    """Decode one line; '?' stays the value '?', as the paper's learner treats it."""
    cells = dict(zip(ADULT_COLUMNS, map(sys.intern, line.split(", ")), strict=True))
    row: Row = {}
    for name, text in cells.items():
        if name == "capital_gain_raw":
            # The authors' capital gain is what is left of it after the loss.
            row["capital_gain"] = int(text) - int(cells["capital_loss"])
        row[name] = int(text) if name in ADULT_NUMBERS else text
    # adult.test ends each label with a full stop, adult.data does not.
    row["label"] = cells["label"].removesuffix(".")
    return row


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
