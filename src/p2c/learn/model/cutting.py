"""The features cut into cells: where the model and the transformers before it change, and nowhere else."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from p2c.learn.model.stages import ColumnShape

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from p2c.learn.model.arrays import Floats
    from p2c.learn.model.parts import Sum
    from p2c.learn.model.stages import Stage
    from p2c.learn.tables.view import ColumnView


@dataclass(frozen=True, eq=False)
class CutFeature:
    """One feature cut into cells, with a value of each cell, and what the model's columns are there."""

    column: ColumnView
    uppers: Floats | None
    has_missing: bool
    seen: NDArray[Any]
    """The model's columns for each cell, the missing value last where there is one."""
    places: Mapping[str, int] = field(default_factory=dict)
    """The cell of each category."""


def cut_features(model: Sum, stage: Stage, missing: Sequence[bool]) -> list[CutFeature | None]:
    """Cut every feature that the model reads; `missing` tells for each whether the model takes a missing value."""
    cuts = _cut(model, stage, missing)
    return [_grouped(cut, place, model, stage) if cut else cut for place, cut in enumerate(cuts)]


def _cut(model: Sum, stage: Stage, missing: Sequence[bool]) -> list[CutFeature | None]:
    """Cut every feature that the model reads at the bounds of the model and of the steps before it."""
    view = stage.bench.view
    wanted = {
        column: bounds
        for column, bounds in model.bounds().items()
        if stage.columns[column].shape is ColumnShape.MONOTONE
        and stage.columns[column].source is not None
    }
    pulled = stage.pull_back(wanted)
    uppers: dict[int, list[float]] = {}
    for place, column in enumerate(stage.columns):
        if column.source is not None:
            found = uppers.setdefault(column.source, [])
            found.extend(column.breaks)
            found.extend(pulled.get(place, ()))
    cells: list[list[Any] | None] = [
        _cells(view.columns[place], uppers.get(place), stage) if place in uppers else None
        for place in range(len(view.columns))
    ]
    seen = stage.matrix(stage.bench.vary(cells))
    found_cuts: list[CutFeature | None] = []
    for place, values in enumerate(cells):
        if values is None:
            found_cuts.append(None)
            continue
        own = seen[: len(values)]
        if missing[place]:
            own = np.concatenate([own, stage.values(place, [stage.bench.gap(place)])])
        at = _uppers(view.columns[place], uppers[place]) if view.columns[place].is_number else None
        found_cuts.append(CutFeature(view.columns[place], at, missing[place], own))
    return found_cuts


def _uppers(column: ColumnView, found: Sequence[float]) -> Floats:
    """Return the upper ends of the cells, whole where the table has whole numbers only."""
    ends = np.array(found, dtype=np.float64)
    return np.unique(np.floor(ends) if is_whole(column) else ends)


def is_whole(column: ColumnView) -> bool:
    """Tell whether a column can hold whole numbers only."""
    return bool(column.is_number and pd.api.types.is_integer_dtype(column.dtype))


def _grouped(cut: CutFeature, place: int, model: Sum, stage: Stage) -> CutFeature:
    """Put categories that the model cannot tell apart into one cell; a missing value keeps its own."""
    if cut.uppers is not None:
        return cut
    known = len(cut.column.originals or ())
    columns = [at for at, column in enumerate(stage.columns) if column.source == place]
    signs = np.concatenate(
        [_signs(model, at, as_numbers(cut.seen[:, at])) for at in columns], axis=1
    )
    _, first, cell = np.unique(signs[:known], axis=0, return_index=True, return_inverse=True)
    kept = [*first, *range(known, len(cut.seen))]
    texts = (text for text, _ in cut.column.originals or ())
    return replace(
        cut, seen=cut.seen[kept], places=dict(zip(texts, cell.ravel().tolist(), strict=True))
    )


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
    if model.weights is not None and model.weights[column].any():
        found.append(values)
    return np.column_stack([each.astype(np.float64) for each in found])


def _cells(column: ColumnView, uppers: list[float] | None, stage: Stage) -> list[Any]:
    """Return a value of each cell: every category, or the upper end of each cell and a number above the last."""
    if not column.is_number:
        return [original for _, original in column.originals or ()]
    at = _uppers(column, uppers or [])
    if not len(at):
        return [stage.bench.base[column.name]]
    return [*at.tolist(), float(at[-1] + 1 if is_whole(column) else np.nextafter(at[-1], np.inf))]


def as_numbers(values: NDArray[Any]) -> NDArray[Any]:
    """Return values as doubles where they are numbers; a text stays one, also where it looks like a number."""
    if values.dtype == object and any(isinstance(each, str) for each in values):
        return values
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError):
        return values
