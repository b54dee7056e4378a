"""A table seen as features: the same values, typed and named as rules can read them, and the way back to the model.

A column of numbers stays one. Any other column becomes a category of texts, with the original value kept beside each,
so that a model that was trained on truth values or categoricals is asked about just those.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from p2c._learn.foldse.columns import EXCEPTION_NAME
from p2c._learn.foldse.literals import predicate_name
from p2c._learn.tables.domains import is_number, tidy_frame
from p2c._rules.theory import ACCEPTED
from p2c._spec.row import refuse_absent
from p2c.errors import P2CError, shown, suggestion

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from p2c._learn.tables.grouping import Grouping

RESERVED = frozenset({"label", "not", "", ACCEPTED.predicate})
"""Names that mean something else in rules."""
FITTING: dict[str, tuple[type, ...]] = {
    "i": (int, np.integer),
    "f": (int, float, np.integer, np.floating),
}
"""The values that fit a column of each kind as they are."""


@dataclass(frozen=True)
class ColumnView:
    """One column: its name in the table, the feature that rules call it, and its texts with their originals."""

    name: Any
    feature: str
    dtype: Any
    originals: tuple[tuple[str, Any], ...] | None
    gaps: tuple[Any, ...] = (np.nan,)
    """What the table has in the place of missing values, each kind once: to a model, None and NaN may be two words."""

    @property
    def gap(self) -> Any:
        """Return a missing value as the table writes it, NaN where it lacks none."""
        return self.gaps[0]

    def missing_as(self, raw: Any) -> Any:
        """Return a missing value as it is where the table has such ones too, else as the table writes it."""
        return raw if isinstance(raw, tuple(map(type, self.gaps))) else self.gap

    @property
    def is_number(self) -> bool:
        """Tell whether the column holds numbers."""
        return self.originals is None

    @property
    def is_empty(self) -> bool:
        """Tell whether the column has no value at all, so that it is no feature."""
        return self.originals == ()

    @cached_property
    def original(self) -> dict[str, Any]:
        """Return the value in the table that each text stands for."""
        return dict(self.originals or ())


@dataclass(frozen=True)
class View:
    """The columns of a table as features; `framed` tells whether it came as a frame or as an array."""

    columns: tuple[ColumnView, ...]
    framed: bool
    grouping: Grouping | None = None
    """The one-hot groups of the table, each of which is one column here."""

    def collapse(self, X: Any) -> pd.DataFrame:
        """Return rows as a frame with each one-hot group as one column."""
        frame = as_frame(X)
        return frame if self.grouping is None else self.grouping.collapse(frame)

    def collapse_row(self, row: Mapping[str, Any] | pd.Series) -> Mapping[str, Any]:
        """Return one person's row as a mapping with each one-hot group as one value."""
        if isinstance(row, pd.Series):
            row = dict(zip(row.index, row.array, strict=True))
        return row if self.grouping is None else self.grouping.collapse_row(row)

    @cached_property
    def features(self) -> tuple[ColumnView, ...]:
        """Return the columns that are features: those with a value."""
        return tuple(each for each in self.columns if not each.is_empty)

    @cached_property
    def _features(self) -> dict[Any, str]:
        return {each.name: each.feature for each in self.features}

    def feature(self, name: Any) -> str:
        """Return the feature that a column, or already a feature, goes by."""
        known = self._features
        if name in known:
            return known[name]
        if name in known.values():
            return str(name)
        hint = suggestion(str(name), map(str, known))
        raise P2CError(f"no column is called {name!r}; {hint}")

    def table(self, X: Any) -> pd.DataFrame:
        """Return rows as features, tidy."""
        frame = self.collapse(X)
        refuse_twice(frame.columns)
        absent = [each.name for each in self.columns if each.name not in frame.columns]
        if absent:
            raise P2CError(f"the table has no column {', '.join(map(repr, absent))}")
        columns = {each.feature: frame[each.name] for each in self.features}
        return tidy_frame(pd.DataFrame(columns, index=frame.index)).set_axis(list(columns), axis=1)

    def refuse_absent(self, frame: pd.DataFrame, features: Collection[str]) -> None:
        """Refuse a table that lacks one of some features, by the name of its column and by its own, or has one twice."""
        refuse_twice(frame.columns)
        given = {*map(str, self.collapse(frame).columns)}
        named = (each for each in self.features if each.feature in features)
        refuse_absent([str(each.name) for each in named if each.feature not in given], given)

    def named(self, row: Any) -> Mapping[str, Any] | pd.Series:
        """Return one person's row by names: a mapping or series as it is, a table of one row, or values in order."""
        if hasattr(row, "to_pandas"):
            row = row.to_pandas()
        if isinstance(row, pd.DataFrame):
            if len(row) != 1:
                raise P2CError(f"expected one row, found {len(row)}: use plan_many for a table")
            row = row.iloc[0]
        if isinstance(row, pd.Series):
            refuse_twice(row.index)
        if hasattr(row, "keys"):
            return row if self.grouping is None else self.collapse_row(row)
        if not pd.api.types.is_list_like(row, allow_sets=False):
            raise P2CError(f"expected a row of {len(self.columns)} values, found {shown(row)}")
        values = list(row)
        names = [each.name for each in self.columns]
        if self.grouping is not None and len(values) == len(self.grouping.columns):
            return self.collapse_row(dict(zip(self.grouping.columns, values, strict=True)))
        if len(values) != len(names):
            raise P2CError(f"expected {len(names)} values, found {len(values)}")
        return dict(zip(names, values, strict=True))

    def row(self, row: Mapping[str, Any] | pd.Series) -> dict[str, Any]:
        """Return one person's row by feature; what is no column is left aside."""
        row = self.collapse_row(row)
        given = {}
        for each in self.features:
            if each.name in row or each.feature in row:
                value = row[each.name] if each.name in row else row[each.feature]
                given[each.feature] = value if each.is_number else _text(value)
        return given

    def ask(
        self, row: Mapping[str, Any] | pd.Series, states: Sequence[Mapping[str, Any]]
    ) -> pd.DataFrame:
        """Return states as rows of the table; what did not change keeps the very value that the person's row has."""
        return self.frame(self.cells(row, states))

    def cells(
        self, row: Mapping[str, Any] | pd.Series, states: Sequence[Mapping[str, Any]]
    ) -> list[list[Any]]:
        """Return states as the cells of each column of the table, not yet of its type; what did not change keeps the person's value."""
        row = self.collapse_row(row)
        start = self.row(row)
        columns = []
        for each in self.columns:
            raw = row[each.name] if each.name in row else row.get(each.feature)
            own = start.get(each.feature)
            columns.append([_cell(each, state.get(each.feature), own, raw) for state in states])
        return columns

    def as_columns(self, start: Mapping[str, Any], end: Mapping[str, Any]) -> dict[Any, Any]:
        """Return an end state by the model's own columns, typed as they are.

        Args:
            start: The initial state; what did not change is missing as it was there.
            end: The end state.
        """
        cells = self.cells(start, [end])
        row = {
            each.name: _column(own, each.dtype).tolist()[0]
            for each, own in zip(self.columns, cells, strict=True)
        }
        return row if self.grouping is None else self.grouping.expand_row(row)

    def frame(self, cells: Sequence[list[Any]]) -> pd.DataFrame:
        """Return cells of each column as a table of their types."""
        return _table(
            {e.name: _column(own, e.dtype) for e, own in zip(self.columns, cells, strict=True)}
        )

    def people(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return the columns of the table out of rows about people, what is missing written as the table does."""
        refuse_twice(rows.columns)
        rows = self.collapse(rows)
        found = rows[[each.name for each in self.columns]]
        texts = [each for each in self.columns if pd.api.types.is_string_dtype(each.dtype)]
        filled = {each.name: _filled(each, found[each.name]) for each in texts}
        return pd.DataFrame({name: filled.get(name, found[name]) for name in found.columns})

    def column(self, place: int, cells: list[Any]) -> pd.Series | np.ndarray:
        """Return cells of one column in its type."""
        return _column(cells, self.columns[place].dtype)

    def ends(
        self,
        rows: pd.DataFrame,
        starts: Sequence[Mapping[str, Any]],
        states: Sequence[Mapping[str, Any]],
    ) -> pd.DataFrame:
        """Return one state for each row of the table, from what was read of it, in the same way."""
        rows, columns = self.collapse(rows), {}
        for each in self.columns:
            name = each.name if each.name in rows.columns else each.feature
            is_given = name in rows.columns
            raw = rows[name].tolist() if is_given else [None] * len(rows)
            own = [start.get(each.feature) if is_given else None for start in starts]
            cells = [
                _cell(each, state.get(each.feature), start, cell)
                for cell, start, state in zip(raw, own, states, strict=True)
            ]
            columns[each.name] = _column(cells, each.dtype)
        return _table(columns)


def view_of(X: Any, features: Mapping[str, str] | None = None) -> View:
    """Return how a frame or an array is seen; `features` names the feature of each column, else the column does."""
    frame = as_frame(X)
    if not len(frame) or not len(frame.columns):
        raise P2CError(
            "the table has no rows or no columns: give the rows that the model decides on"
        )
    refuse_twice(frame.columns)
    names = feature_names(frame.columns)
    if features is not None:
        names = [
            features.get(str(name), own) for name, own in zip(frame.columns, names, strict=True)
        ]
    columns = [
        ColumnView(name, feature, frame[name].dtype, _originals(frame[name]), _gaps(frame[name]))
        for name, feature in zip(frame.columns, names, strict=True)
    ]
    return View(tuple(columns), isinstance(X, pd.DataFrame) or hasattr(X, "to_pandas"))


def refuse_twice(names: pd.Index) -> None:
    """Refuse a table with two columns of one name: nobody can tell which of them is meant."""
    twice = names[names.duplicated()]
    if len(twice):
        raise P2CError(f"the table has two columns called {twice[0]!r}: rename one of them")


def by_name(X: Any) -> bool:
    """Tell whether a table is a list of rows that go by names."""
    return isinstance(X, list) and bool(X) and all(isinstance(each, dict) for each in X)


def as_frame(X: Any) -> pd.DataFrame:
    """Return a table as a pandas frame: any frame, a list of rows by name, or an array, whose columns are called `x0`, `x1` and so on."""
    if hasattr(X, "to_pandas"):
        X = X.to_pandas()
    if by_name(X):
        X = pd.DataFrame(X)
    if isinstance(X, pd.DataFrame):
        return X
    array = X if isinstance(X, np.ndarray) else np.array(X, dtype=object)
    if array.ndim != 2:
        raise P2CError(f"expected a table of rows and columns, found {array.ndim} dimension(s)")
    frame = pd.DataFrame(array, columns=[f"x{place}" for place in range(array.shape[1])])
    return frame.infer_objects()


def feature_names(names: Iterable[Any]) -> list[str]:
    """Return a distinct feature for each column, as FOLD-SE prints names.

    >>> feature_names(["Capital-gain", "capital gain", "ab1", "accepted"])
    ['capital_gain', 'capital_gain_2', 'ab1_2', 'accepted_2']
    """
    taken: set[str] = set(RESERVED)
    found = []
    for name in names:
        plain = predicate_name(str(name))
        feature, number = plain, 1
        while feature in taken or EXCEPTION_NAME.fullmatch(feature):
            number += 1
            feature = f"{plain}_{number}"
        taken.add(feature)
        found.append(feature)
    return found


def _originals(column: pd.Series) -> tuple[tuple[str, Any], ...] | None:
    present = column.dropna()
    if len(present) and is_number(tidy_frame(column.to_frame("x"))["x"]):
        return None
    found: dict[str, Any] = {}
    try:
        distinct = present.unique()
    except TypeError:
        kind = type(present.iloc[0]).__name__
        raise P2CError(
            f"column {column.name!r}: expected numbers or text, found a {kind}"
        ) from None
    for value in distinct:
        if str(value):
            found.setdefault(str(value), value)
    return tuple(sorted(found.items()))


def _gaps(column: pd.Series) -> tuple[Any, ...]:
    found: dict[type, Any] = {}
    for cell in column[is_gone(column)]:
        found.setdefault(type(cell), cell)
    return tuple(found.values()) or (np.nan,)


def _filled(column: ColumnView, cells: pd.Series) -> pd.Series:
    """Return texts of people with what is missing as the table writes it."""
    gone = is_gone(cells)
    if not gone.any():
        return cells
    found = [
        column.missing_as(cell) if out else cell for cell, out in zip(cells, gone, strict=True)
    ]
    filled: pd.Series = pd.Series(found, index=cells.index, dtype=column.dtype)
    return filled


def is_gone(column: pd.Series) -> pd.Series:
    """Tell of each cell whether it is missing; the empty text is, as it is for FOLD-SE."""
    return column.isna() | (column == "")


def _text(value: Any) -> Any:
    """Return a value as text; the empty text counts as missing, as it does for FOLD-SE."""
    missing = value is None or (not isinstance(value, str) and pd.isna(value))
    return None if missing else str(value) or None


def _cell(column: ColumnView, value: Any, own: Any, raw: Any) -> Any:
    gone = pd.isna(own)
    if value is None and gone:
        return column.missing_as(raw)
    if not gone and value == own:
        # A row that was read before has the text in the place of a truth value.
        return column.original.get(raw, raw) if isinstance(raw, str) else raw
    return value if column.is_number else column.original.get(value, value)


def _table(columns: dict[Any, pd.Series | np.ndarray]) -> pd.DataFrame:
    """Return columns as a table; those of one type are put together at once, for pandas takes its time with each."""
    arrays = [each for each in columns.values() if isinstance(each, np.ndarray)]
    if len(arrays) == len(columns) and len({each.dtype for each in arrays}) == 1:
        return pd.DataFrame(np.stack(arrays, axis=1), columns=list(columns))
    return pd.DataFrame(columns)


def _column(cells: list[Any], dtype: Any) -> pd.Series | np.ndarray:
    """Return cells as the type that the table has, where they fit it; numbers stay wider where whole ones cannot hold them."""
    fitting = FITTING.get(dtype.kind) if isinstance(dtype, np.dtype) else None
    plain = fitting and all(
        issubclass(each, fitting) and each is not bool for each in set(map(type, cells))
    )
    try:
        if plain:
            return np.array(cells, dtype=dtype)
        # Left to itself, pandas takes None for NaN as soon as a word or a number stands beside it.
        wide = pd.Series(cells, dtype=object if pd.api.types.is_object_dtype(dtype) else None)
        typed = wide.astype(dtype)
    except OverflowError:
        return pd.Series(cells, dtype=np.float64)
    except (TypeError, ValueError):
        # Of cells that are all empty nothing tells pandas that they stand for numbers.
        empty = pd.api.types.is_numeric_dtype(dtype) and wide.isna().all()
        return wide.astype(np.float64) if empty else pd.Series(cells)
    if dtype == np.dtype(bool) and wide.isna().any():
        # A truth value cannot be missing; pandas would take it for True.
        return wide.astype(np.float64)
    cut = pd.api.types.is_integer_dtype(dtype) and pd.api.types.is_float_dtype(wide.dtype)
    return wide if cut and (typed != wide).any() else typed
