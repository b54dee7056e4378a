"""Read frames, arrays and lists as named columns, and the weights of rows."""

from __future__ import annotations

import re
from math import ceil, log2
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.utils import check_array

from p2c._learn.foldse.columns import CodedColumn, encode
from p2c._learn.foldse.literals import predicate_name

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from p2c._learn.foldse.columns import Weights

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
