"""The three data sets as rows or as a frame, by name and split."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from p2c.datasets.adult import read_adult
from p2c.datasets.cars import read_cars
from p2c.datasets.german import read_german
from p2c.errors import Fault, MissingExtra, ProblemError, suggestion

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from p2c.datasets.archive import Row

Split: TypeAlias = Literal["train", "all"]

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
    if (name, split) in TABLES:
        return TABLES[name, split]()
    known = {table for table, _ in TABLES}
    if name in known:
        fault = f"no split '{split}': {suggestion(split, {part for _, part in TABLES})}"
    else:
        fault = f"no data set '{name}': {suggestion(name, known)}"
    raise ProblemError([Fault("datasets", fault)])


def load_frame(name: str, split: Split = "train") -> pd.DataFrame:
    """Return the rows of a data set as a pandas frame, in the order of the file."""
    try:
        import pandas as pd
    except ImportError as error:
        raise MissingExtra("pandas", extra="pandas") from error
    return pd.DataFrame.from_records(load_rows(name, split))
