"""A table from a CSV file, its cells read as `p2c plan` reads those of a row."""

from __future__ import annotations

import math
import re
import sys
from typing import TYPE_CHECKING, Any

import pandas as pd

from p2c.domain.files import read_sheet
from p2c.domain.row import read_number
from p2c.errors import P2CError, suggestion
from p2c.learn.foldse.text import predicate_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

PADDED = re.compile(r"[+-]?0[0-9]")
TRUTHS = {"true": True, "false": False}


def read_frame(path: Path, *, without: Iterable[str] = ()) -> pd.DataFrame:
    """Return the table without some of its columns; only a blank cell, or `nan` among numbers, is a missing value."""
    sheet = read_sheet(path)
    cells = [row.cells for row in sheet.rows]
    if not cells:
        raise P2CError(f"{path}: expected a line of names and rows below it, found no rows")
    columns = zip(sheet.names, zip(*cells, strict=True), strict=True)
    frame = pd.DataFrame({name: _column(f"{path}, {name}", cells) for name, cells in columns})
    return frame.drop(columns=[find_column(frame, name, source=str(path)) for name in without])


def _column(place: str, cells: Sequence[str]) -> pd.Series:
    """Return a column as numbers or truth values where every cell that is not blank is one, else as text.

    Numbers with zeros in front, such as a postal code 01067, are text: as numbers they would lose them.
    """
    texts = [cell.strip() or None for cell in cells]
    known = {text for text in texts if text is not None}
    numbers = {text: read_number(text) for text in known}
    coded = any(PADDED.match(text) for text in known)
    if not coded and all(isinstance(number, int | float) for number in numbers.values()):
        return _numbers(place, [math.nan if text is None else numbers[text] for text in texts])
    if all(text.lower() in TRUTHS for text in known):
        return pd.Series([None if text is None else TRUTHS[text.lower()] for text in texts])
    return pd.Series(texts)


def _numbers(place: str, numbers: Sequence[Any]) -> pd.Series:
    for row, number in enumerate(numbers, start=1):
        if abs(number) > sys.float_info.max:
            raise P2CError(
                f"{place}, row {row}: a number too large; they go up to {sys.float_info.max:.1e}"
            )
    wide = any(abs(number) >= 2**63 for number in numbers)
    return pd.Series(numbers, dtype=float if wide else None)


def find_column(frame: pd.DataFrame, name: str, *, source: str) -> str:
    """Return a column by its name, as it stands in the file or as rules write it."""
    for column in frame.columns:
        if column == name or predicate_name(column) == name:
            return str(column)
    for column in frame.columns:
        if predicate_name(column) == predicate_name(name):
            return str(column)
    raise P2CError(f"{source}: no column '{name}'; {suggestion(name, frame.columns)}")
