"""A table out of a file, CSV or Parquet, with what each of its columns holds.

The cells of CSV are read as `p2c plan` reads those of a row.
"""

from __future__ import annotations

import math
import re
import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pandas as pd
from pandas.api.types import infer_dtype

from p2c._learn.foldse.literals import predicate_name
from p2c._learn.tables.look import look, refuse_commas, with_decimal_commas
from p2c._spec.files import read_sheet
from p2c._spec.row import read_number
from p2c.errors import MissingExtra, P2CError, one_line, suggestion

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from pathlib import Path

    from p2c._learn.tables.look import ColumnLook, TableLook

PADDED = re.compile(r"[+-]?0[0-9]")
TRUTHS = {"true": True, "false": False}


def read_frame(path: Path, *, without: Iterable[str] = ()) -> pd.DataFrame:
    """Return the table of a file without some of its columns."""
    frame = _read_parquet(path) if path.suffix.lower() == ".parquet" else _read_csv(path)
    return frame.drop(columns=[find_column(frame, name, source=str(path)) for name in without])


def _read_csv(path: Path) -> pd.DataFrame:
    """Read CSV; only a blank cell, or `nan` among numbers, is a missing value."""
    sheet = read_sheet(path)
    cells = [row.cells for row in sheet.rows]
    if not cells:
        raise P2CError(f"{path}: expected a line of names and rows below it, found no rows")
    columns = zip(sheet.names, zip(*cells, strict=True), strict=True)
    return pd.DataFrame({name: _column(f"{path}, {name}", cells) for name, cells in columns})


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


@dataclass(frozen=True, eq=False)
class Table:
    """Rows and what their columns hold; `source` is what errors call the file."""

    frame: pd.DataFrame
    seen: TableLook
    source: str
    unread: tuple[ColumnLook, ...] = ()
    """Columns of the file that the model does not read."""
    left_out: tuple[ColumnLook, ...] = ()
    """Columns of the file that surely help no rule."""

    def column(self, name: str) -> str:
        """Return a column by its name, as it stands in the file or as rules write it."""
        try:
            return find_column(self.frame, name, source=self.source)
        except P2CError:
            known = {predicate_name(each.name) for each in self.unread}
            if predicate_name(name) not in known:
                raise
        raise P2CError(
            f"{self.source}: the model does not read the column '{name}', so nothing is to be said of it"
        )

    def without(self, names: Iterable[str]) -> Table:
        """Return the table without some of its columns."""
        gone = {self.column(name) for name in names}
        kept = tuple(each for each in self.seen.columns if each.name not in gone)
        return replace(
            self, frame=self.frame.drop(columns=sorted(gone)), seen=replace(self.seen, columns=kept)
        )

    def useful(self, keep: Collection[str] = ()) -> Table:
        """Return the table without what surely helps no rule, but for the columns to keep."""
        gone = self.seen.left_out(keep)
        return replace(self.without(each.name for each in gone), left_out=gone)

    def only(self, names: Iterable[str]) -> Table:
        """Return the table with just the columns that a model names, called as the model does.

        Some libraries store names with `_` in the place of other signs, so that counts as the same name.
        """
        wanted = {self.column(name): name for name in names}
        frame = self.frame[list(wanted)].rename(columns=wanted)
        looks = {each.name: each for each in self.seen.columns}
        seen = tuple(replace(looks[column], name=name) for column, name in wanted.items())
        unread = tuple(each for each in self.seen.columns if each.name not in wanted)
        return replace(self, frame=frame, seen=replace(self.seen, columns=seen), unread=unread)


def open_table(
    path: Path,
    *,
    ignore: Iterable[str] = (),
    decimal_comma: bool = False,
    empty: str | None = None,
) -> Table:
    """Read a CSV or Parquet file and look at its columns; numbers with commas are read or refused, never guessed at.

    `empty` is written into the empty cells of columns of text.
    """
    frame = read_frame(path, without=ignore)
    if empty is not None:
        texts = [name for name in frame.columns if infer_dtype(frame[name]) == "string"]
        frame = frame.assign(**{name: frame[name].fillna(empty) for name in texts})
    seen = look(frame)
    if decimal_comma:
        frame = with_decimal_commas(frame, seen)
        seen = look(frame)
    refuse_commas(seen)
    return Table(frame, seen, str(path))


def _read_parquet(path: Path) -> pd.DataFrame:
    try:
        frame = pd.read_parquet(path)
    except ImportError as error:
        raise MissingExtra("pyarrow", extra="batch") from error
    except Exception as error:
        # Whatever a torn file makes the reader raise, it is no table.
        raise P2CError(f"{path}: cannot be read as Parquet: {one_line(error)}") from None
    if frame.empty:
        raise P2CError(f"{path}: expected rows and columns, found none")
    return frame
