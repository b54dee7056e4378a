"""Sample rows of a model's table as CSV, read back with their types."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from pydantic import (
    BaseModel,
    ConfigDict,
    SerializerFunctionWrapHandler,
    StrictBool,
    StrictStr,
    model_serializer,
)

from p2c._learn.tables.domains import is_number, tidy_frame
from p2c._learn.tables.view import is_gone
from p2c.errors import P2CError, one_line

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

MOST_ROWS = 50_000
"""Number of sample rows, without rows for ranges and categories."""


class SampleColumn(BaseModel):
    """One column: its name, its pandas type, and the values behind its texts."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: StrictStr
    dtype: StrictStr
    categories: tuple[Any, ...] | None = None
    ordered: StrictBool = False
    originals: dict[StrictStr, Any] | None = None
    gap: StrictStr | None = None
    """The text of the missing value, if it differs from the type's own."""

    @model_serializer(mode="wrap")
    def _written(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out absent keys."""
        written: dict[str, Any] = write(self)
        return {key: each for key, each in written.items() if key != "gap" or each is not None}

    @property
    def missing(self) -> Any:
        """Return the missing value of the column."""
        usual = None if self.dtype == "object" else np.nan
        return usual if self.gap is None else GAPS[self.gap]


GAPS = {str(each): each for each in (None, np.nan, pd.NA, pd.NaT, "")}
"""Missing values by their texts."""


def sample_rows(frame: pd.DataFrame, *, seed: int = 0, most: int = MOST_ROWS) -> NDArray[np.intp]:
    """Return the rows to keep: extremes and categories first, then random rows."""
    needed = dict.fromkeys(row for name in frame.columns for row in _needed(frame[name]))
    others = np.random.default_rng(seed).permutation(len(frame))
    room = max(most - len(needed), 0)
    chosen = [row for row in others.tolist() if row not in needed][:room]
    return np.array([*needed, *chosen], dtype=np.intp)


def _needed(column: pd.Series) -> list[int]:
    tidy = tidy_frame(column.to_frame("x"))["x"]
    gone: list[int] = np.flatnonzero(column.isna().to_numpy())[:1].tolist()
    if is_number(tidy):
        values = tidy.to_numpy(dtype=np.float64, na_value=np.nan)
        if np.isnan(values).all():
            return gone
        return [int(np.nanargmin(values)), int(np.nanargmax(values)), *gone]
    first: list[int] = np.flatnonzero(~column.astype(object).duplicated().to_numpy()).tolist()
    return [*first, *gone]


def write_sample(frame: pd.DataFrame, path: Path) -> tuple[SampleColumn, ...]:
    """Write rows as CSV and return how to read them again."""
    columns = tuple(_described(name, frame[name]) for name in frame.columns)
    # Python before 3.13 leaves a lone CR in a cell without the quotes that it needs.
    frame.to_csv(path, index=False, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    return columns


def _described(name: Any, column: pd.Series) -> SampleColumn:
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        kinds = tuple(_plain(name, each) for each in dtype.categories)
        return SampleColumn(
            name=str(name), dtype="category", categories=kinds, ordered=bool(dtype.ordered)
        )
    if pd.api.types.is_object_dtype(dtype):
        known = {str(each): _plain(name, each) for each in column.dropna().unique()}
        odd = {text: each for text, each in known.items() if not isinstance(each, str)}
        return SampleColumn(name=str(name), dtype="object", originals=odd or None, gap=_gap(column))
    texts = pd.api.types.is_string_dtype(dtype)
    return SampleColumn(name=str(name), dtype=str(dtype), gap=_gap(column) if texts else None)


def _gap(column: pd.Series) -> str | None:
    """Return the missing value of a text column, if it differs from the type's own."""
    first = next(iter(column[is_gone(column)]), None)
    told = first is not None and (isinstance(first, str) or column.dtype == object)
    return str(first) if told else None


def _plain(name: Any, value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    if not isinstance(value, str | int | float | bool):
        raise P2CError(
            f"column '{name}': a {type(value).__name__} cannot be kept in a table of text: make it a number or text"
        )
    return value


def read_sample(path: Path, columns: tuple[SampleColumn, ...]) -> pd.DataFrame:
    """Return the rows that were written, typed as they were."""
    try:
        texts = pd.read_csv(path, dtype=str, keep_default_na=False)
        if list(texts.columns) != [each.name for each in columns]:
            raise ValueError("its columns are not those of the manifest")
        typed = {each.name: _typed(texts[each.name], each) for each in columns}
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise P2CError(f"{path}: cannot be read: {one_line(error)}") from None
    return pd.DataFrame(typed)


def _typed(texts: pd.Series, column: SampleColumn) -> pd.Series:
    plain = texts.astype(object)
    known = plain.where(plain != "", None)
    if column.dtype == "category":
        kinds = {str(each): each for each in column.categories or ()}
        values = [None if each is None else kinds[each] for each in known]
        return pd.Series(
            values, dtype=pd.CategoricalDtype(list(kinds.values()), ordered=column.ordered)
        )
    if column.dtype == "object":
        odd = column.originals or {}
        values = [column.missing if each is None else odd.get(each, each) for each in known]
        return pd.Series(values, dtype=object)
    if column.dtype in ("bool", "boolean"):
        truths = {"True": True, "False": False}
        values = [None if each is None else truths[each] for each in known]
        return pd.Series(values, dtype=column.dtype)
    kind: Any = pd.api.types.pandas_dtype(column.dtype)
    if pd.api.types.is_string_dtype(kind):
        found: pd.Series = pd.Series(
            [column.missing if each is None else each for each in known], dtype=kind
        )
        return found
    return _numbers(known, kind)


def _numbers(known: pd.Series, kind: Any) -> pd.Series:
    whole = pd.api.types.is_integer_dtype(kind)
    values = [None if each is None else int(each) if whole else float(each) for each in known]
    found: pd.Series = pd.Series(values, dtype=kind)
    return found
