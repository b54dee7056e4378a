"""A table out of a file, CSV or Parquet, with what each of its columns holds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pandas as pd

from p2c.errors import MissingExtra, P2CError
from p2c.learn.tables.files import find_column, read_frame
from p2c.learn.tables.look import look, refuse_commas, with_decimal_commas

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from p2c.learn.tables.look import TableLook


@dataclass(frozen=True, eq=False)
class Table:
    """Rows and what their columns hold; `source` is what errors call the file."""

    frame: pd.DataFrame
    seen: TableLook
    source: str

    def column(self, name: str) -> str:
        """Return a column by its name, as it stands in the file or as rules write it."""
        return find_column(self.frame, name, source=self.source)

    def without(self, names: Iterable[str]) -> Table:
        """Return the table without some of its columns."""
        gone = {self.column(name) for name in names}
        kept = tuple(each for each in self.seen.columns if each.name not in gone)
        return replace(
            self, frame=self.frame.drop(columns=sorted(gone)), seen=replace(self.seen, columns=kept)
        )

    def only(self, names: Iterable[str]) -> Table:
        """Return the table with just the columns that a model names, called as the model does.

        Some libraries store names with `_` in the place of other signs, so that counts as the same name.
        """
        wanted = {self.column(name): name for name in names}
        frame = self.frame[list(wanted)].rename(columns=wanted)
        looks = {each.name: each for each in self.seen.columns}
        seen = tuple(replace(looks[column], name=name) for column, name in wanted.items())
        return replace(self, frame=frame, seen=replace(self.seen, columns=seen))


def open_table(path: Path, *, ignore: Iterable[str] = (), decimal_comma: bool = False) -> Table:
    """Read a CSV or Parquet file and look at its columns; numbers with commas are read or refused, never guessed at."""
    frame = _read_parquet(path) if path.suffix.lower() == ".parquet" else read_frame(path)
    seen = look(frame)
    if decimal_comma:
        frame = with_decimal_commas(frame, seen)
        seen = look(frame)
    refuse_commas(seen)
    return Table(frame, seen, str(path)).without(ignore)


def _read_parquet(path: Path) -> pd.DataFrame:
    try:
        frame = pd.read_parquet(path)
    except ImportError as error:
        raise MissingExtra("pyarrow", extra="batch") from error
    except Exception as error:
        # Whatever a torn file makes the reader raise, it is no table.
        raise P2CError(
            f"{path}: cannot be read as Parquet: {' '.join(str(error).split())}"
        ) from None
    if frame.empty:
        raise P2CError(f"{path}: expected rows and columns, found none")
    return frame
