"""The features cut into cells: where the model and the transformers before it change, and nowhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from p2c._learn.model.additive import ColumnCells
from p2c._learn.model.stages import ColumnShape
from p2c._learn.model.transformers import refuse_turns

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from p2c._learn.model.arrays import Floats
    from p2c._learn.model.parts import Sum
    from p2c._learn.model.stages import Stage
    from p2c._learn.tables.view import ColumnView


class CutFeature(NamedTuple):
    """One feature cut into cells, and the model's columns for each cell, the missing value last where there is one."""

    cells: ColumnCells
    seen: NDArray[Any]


def cut_features(
    model: Sum, stage: Stage, missing: Sequence[bool], turns: Mapping[int, Floats]
) -> dict[int, CutFeature]:
    """Cut every feature that the model reads, by its place.

    Args:
        model: The model over the columns of the stage.
        stage: The stage before the model.
        missing: For each feature, whether the model takes a missing value.
        turns: The numbers at which what a feature adds turns, by its place.
    """
    bench, columns = stage.bench, stage.bench.view.columns
    uppers = {
        place: np.unique(np.floor(ends) if is_whole(columns[place]) else ends)
        for place, ends in sorted(_ends(model, stage, turns).items())
    }
    values = [
        _values(column, uppers[place], bench.base) if place in uppers else None
        for place, column in enumerate(columns)
    ]
    seen = stage.matrix(bench.vary(values))
    cuts = {}
    for place, at in uppers.items():
        own = seen[: len(values[place] or ())]
        gap = stage.values(place, [bench.gap(place)]) if missing[place] else seen[:0]
        is_told = len(gap) > 0 and not _is_lost(gap, place, model, stage)
        if is_told:
            own = np.concatenate([own, gap])
        column = columns[place]
        own, listed = (own, {}) if column.is_number else _grouped(own, place, model, stage)
        cells = ColumnCells(
            column.feature,
            len(own),
            at if column.is_number else None,
            listed,
            len(own) - 1 if is_told else None,
            is_whole(column),
        )
        cuts[place] = CutFeature(cells, own)
    return cuts


def _is_lost(gap: NDArray[Any], place: int, model: Sum, stage: Stage) -> bool:
    """Tell whether a missing value makes the whole score of a linear model one."""
    read = [
        at
        for at, column in enumerate(stage.columns)
        if column.source == place
        and (at in model.bends or (model.weights is not None and model.weights[at].any()))
    ]
    return bool(np.isnan(as_numbers(gap[:, read]).astype(np.float64)).any())


def _ends(model: Sum, stage: Stage, turns: Mapping[int, Floats]) -> dict[int, Floats]:
    """Return for each feature that the model reads the bounds of the model and of the steps before it."""
    every = model.bounds()
    refuse_turns(stage, every)
    wanted = {
        column: bounds
        for column, bounds in every.items()
        if stage.columns[column].shape is ColumnShape.MONOTONE
        and stage.columns[column].source is not None
    }
    pulled = stage.pull_back(wanted)
    ends: dict[int, list[Any]] = {}
    for place, column in enumerate(stage.columns):
        if column.source is not None:
            own = [column.breaks, pulled.get(place, ()), turns.get(column.source, ())]
            ends.setdefault(column.source, []).extend(own)
    return {place: np.concatenate(each).astype(np.float64) for place, each in ends.items()}


def is_whole(column: ColumnView) -> bool:
    """Tell whether a column can hold whole numbers only."""
    return bool(column.is_number and pd.api.types.is_integer_dtype(column.dtype))


def _grouped(
    seen: NDArray[Any], place: int, model: Sum, stage: Stage
) -> tuple[NDArray[Any], dict[str, int]]:
    """Put categories that the model cannot tell apart into one cell, and tell the cell of each; a missing value keeps its own."""
    texts = [text for text, _ in stage.bench.view.columns[place].originals or ()]
    columns = [at for at, column in enumerate(stage.columns) if column.source == place]
    signs = np.concatenate([_signs(model, at, as_numbers(seen[:, at])) for at in columns], axis=1)
    _, first, cell = np.unique(signs[: len(texts)], axis=0, return_index=True, return_inverse=True)
    kept = [*first, *range(len(texts), len(seen))]
    return seen[kept], dict(zip(texts, cell.ravel().tolist(), strict=True))


def _signs(model: Sum, column: int, values: NDArray[Any]) -> Floats:
    """Return for each value of a model's column everything that the model makes of it."""
    found: list[NDArray[Any]] = [np.zeros(len(values))]
    for tree in model.trees:
        found += [
            tree.goes_left(int(node), values) for node in np.flatnonzero(tree.column == column)
        ]
    for term in model.terms:
        at = [bins for each, bins in zip(term.columns, term.bins, strict=True) if each == column]
        found += [bins(values) for bins in at]
    weighed = model.weights is not None and model.weights[column].any()
    if weighed or column in model.bends:
        found.append(values)
    return np.column_stack([each.astype(np.float64) for each in found])


def _values(column: ColumnView, uppers: Floats, base: Mapping[Any, Any]) -> list[Any]:
    """Return a value of each cell: every category, or the upper end of each cell and a number above the last."""
    if not column.is_number:
        return [original for _, original in column.originals or ()]
    if not len(uppers):
        return [base[column.name]]
    last = uppers[-1]
    return [*uppers.tolist(), float(last + 1 if is_whole(column) else np.nextafter(last, np.inf))]


def as_numbers(values: NDArray[Any]) -> NDArray[Any]:
    """Return values as doubles where they are numbers; a text stays one, also where it looks like a number."""
    if values.dtype == object and any(isinstance(each, str) for each in values):
        return values
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError):
        return values
