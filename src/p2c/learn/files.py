"""A table from a CSV file, its cells read as `p2c plan` reads those of a row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from p2c.domain.spec import unreadable
from p2c.errors import P2CError, suggestion
from p2c.learn.text import predicate_name

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def read_frame(path: Path, *, without: Iterable[str] = ()) -> pd.DataFrame:
    """Return the table without some of its columns; only an empty cell is a missing value."""
    try:
        frame = pd.read_csv(
            path,
            encoding="utf-8-sig",
            skipinitialspace=True,
            keep_default_na=False,
            na_values=[""],
        )
    except (pd.errors.EmptyDataError, pd.errors.ParserError) as error:
        raise P2CError(f"{path}: not CSV: {' '.join(str(error).split())}") from None
    except (OSError, ValueError) as error:
        raise P2CError(f"{path}: cannot be read: {unreadable(error)}") from None
    frame.columns = frame.columns.str.strip()
    if frame.empty:
        raise P2CError(f"{path}: expected a line of names and rows below it, found no rows")
    return frame.drop(columns=[find_column(frame, name, source=str(path)) for name in without])


def find_column(frame: pd.DataFrame, name: str, *, source: str) -> str:
    """Return a column by its name, as it stands in the file or as rules write it."""
    for column in frame.columns:
        if column == name or predicate_name(column) == name:
            return str(column)
    raise P2CError(f"{source}: no column '{name}'; {suggestion(name, frame.columns)}")
