"""Whatever the caller has, a frame, an array, lists or one row, as named columns of plain values."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import check_array

from p2c.learn.foldse.columns import Column, encode
from p2c.learn.foldse.text import predicate_name

EXCEPTION_NAME = re.compile(r"ab\d+")


def as_table(X: Any) -> Any:
    """Return a frame as it is and anything else as an array of two dimensions, without mixing up its types."""
    if isinstance(X, pd.DataFrame):
        if not X.shape[0] or not X.shape[1]:
            raise ValueError(
                f"Found array with {X.shape[0]} sample(s) and {X.shape[1]} feature(s) "
                f"(shape={X.shape}) while a minimum of 1 is required."
            )
        return X
    if isinstance(X, list | tuple):
        # Left to itself, numpy makes strings of the numbers that stand beside strings.
        X = np.array(X, dtype=object)
    return check_array(X, dtype=None, ensure_all_finite="allow-nan")


def encode_table(
    table: Any, names: Sequence[str], *, needed: Collection[str] | None = None
) -> dict[str, Column]:
    """Code the columns of a table, all of them or those that are needed."""
    columns = (each for _, each in table.items()) if isinstance(table, pd.DataFrame) else table.T
    pairs = zip(names, columns, strict=True)
    return {name: encode(column) for name, column in pairs if needed is None or name in needed}


def read_row(row: Any, names: Sequence[str], *, needed: Collection[str]) -> dict[str, float | str]:
    """Return the plain values that are needed of one row: a mapping, a series, a frame of one row, or a sequence."""
    if isinstance(row, pd.DataFrame):
        if len(row) != 1:
            raise ValueError(f"expected one row, found {len(row)}: pass frame.iloc[[place]]")
        row = row.iloc[0]
    if not isinstance(row, Mapping | pd.Series):
        values = np.asarray(row, dtype=object).ravel()
        if len(values) != len(names):
            raise ValueError(f"expected {len(names)} values, found {len(values)}")
        row = dict(zip(names, values, strict=True))
    absent = [name for name in names if name in needed and name not in row]
    if absent:
        raise ValueError(f"the row has no {', '.join(map(repr, absent))}, which the rules read")
    columns = {name: encode(pd.Series([row[name]])) for name in names if name in needed}
    return {name: column.value(0) for name, column in columns.items()}


def check_names(names: Sequence[str], *, target: str) -> None:
    """Refuse columns that a program about the target could not tell apart."""
    owners = {predicate_name(target): "the target"}
    for name in names:
        predicate = predicate_name(name)
        if EXCEPTION_NAME.fullmatch(predicate):
            raise ValueError(f"column {name!r} has the name of an exception: rename it")
        if predicate in owners:
            other = owners[predicate]
            raise ValueError(f"column {name!r} and {other} are both called {predicate}: rename one")
        owners[predicate] = f"column {name!r}"
