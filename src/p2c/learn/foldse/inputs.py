"""Whatever the caller has, a frame, an array, lists or one row, as named columns of plain values; weights of rows."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from math import ceil, log2
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.utils import check_array

from p2c.learn.foldse.columns import CodedColumn, encode
from p2c.learn.foldse.text import predicate_name

if TYPE_CHECKING:
    from p2c.learn.foldse.grid import Weights

EXCEPTION_NAME = re.compile(r"ab\d+")
PRECISION = 40
"""The sum of the weights of all rows is at most two to this power steps, far below where sums of floats begin to round."""


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
) -> dict[str, CodedColumn]:
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


def read_weights(given: Any, count: int) -> Weights | None:
    """Return a weight for each row, a multiple of one power of two; None where all rows count alike.

    With exact sums the order of the rows cannot change a score, and a row of weight 3 is the same as three rows.
    """
    if given is None:
        return None
    weights = np.asarray(given, dtype=np.float64)
    if weights.shape != (count,):
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(count,)}!")
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError("sample_weight: a weight is a finite number that is not negative")
    total = float(weights.sum())
    if not total:
        raise ValueError("sample_weight: all weights are zero, so there is nothing to learn from")
    step = 2.0 ** (ceil(log2(total)) - PRECISION)
    return np.asarray(np.round(weights / step) * step)
