"""Explainable boosting machines: a table for each feature and for each pair of features that interact."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from p2c._learn.model.floats import around, below
from p2c._learn.model.parts import Link, Sum, Term, Unreadable, classes_and_scores

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from p2c._learn.model.arrays import Ints
    from p2c._learn.model.stages import Stage


def read_ebm(model: Any, stage: Stage) -> tuple[Sum, Stage]:
    """Read the terms over the bins that the model cuts its columns into."""
    classes, scores = classes_and_scores(model)
    if scores == 1 and model.link_ != "logit":
        raise Unreadable(
            f"an explainable boosting machine with the link {model.link_!r} is not known"
        )
    terms: list[Term] = []
    cuts: dict[int, NDArray[np.float64]] = {}
    for columns, values in zip(model.term_features_, model.term_scores_, strict=True):
        if len(columns) > 2:
            raise Unreadable("a term of the model reads more than two features")
        levels = [
            model.bins_[each][min(len(model.bins_[each]), len(columns)) - 1] for each in columns
        ]
        table = np.asarray(values, dtype=np.float64)
        table = table[..., None] if scores == 1 else table
        bins = tuple(
            _binner(level, size) for level, size in zip(levels, table.shape[:-1], strict=True)
        )
        terms.append(Term(tuple(map(int, columns)), bins, table))
        for column, level in zip(columns, levels, strict=True):
            ends = around(_numbers(level)) if isinstance(level, dict) else below(level)
            cuts[int(column)] = np.union1d(cuts.get(int(column), np.zeros(0)), ends)
    found = Sum(
        classes,
        scores,
        Link.logistic(scores),
        model.decision_function,
        bias=np.zeros(scores) + np.asarray(model.intercept_, dtype=np.float64),
        terms=tuple(terms),
        cuts=cuts,
    )
    return found, stage


def _numbers(level: Mapping[str, int]) -> NDArray[np.float64]:
    """Return the categories of a column that are numbers."""
    found = pd.to_numeric(pd.Series(list(level), dtype=object), errors="coerce")
    return np.asarray(found.dropna(), dtype=np.float64)


def _binner(level: Any, size: int) -> Callable[[Any], Ints]:
    """Return the function from values to bins: missing ones in the first, unknown ones in the last."""
    if isinstance(level, dict):
        return lambda values: np.array(
            [_listed(value, level, size) for value in values], dtype=np.int64
        )

    def binned(values: Any) -> Ints:
        numbers = np.asarray(values, dtype=np.float64)
        found = np.searchsorted(level, numbers, side="right") + 1
        return np.where(np.isnan(numbers), 0, found).astype(np.int64)

    return binned


def _listed(value: Any, level: Mapping[str, int], size: int) -> int:
    if value is None or pd.isna(value):
        return 0
    if isinstance(value, float) and value.is_integer() and str(value) not in level:
        value = int(value)
    return level.get(str(value), size - 1)
