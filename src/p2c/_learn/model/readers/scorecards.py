"""Scorecards: those of optbinning, and plain tables of points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from p2c._learn.model.floats import below
from p2c._learn.model.parts import Link, Sum, Term, Unreadable
from p2c._learn.model.readers import read_parts
from p2c._learn.model.stages import ColumnShape
from p2c._learn.model.transformers import stepped

if TYPE_CHECKING:
    from p2c._learn.model.points import PointsTable
    from p2c._learn.model.stages import Stage


def read_optbinning(model: Any, stage: Stage) -> tuple[Sum, Stage]:
    """Read the estimator behind the bins; each bin of a column has a value of its own."""
    process = model.binning_process_
    names = list(process.get_support(names=True))
    view = stage.bench.view
    by_name = {
        view.columns[column.source].name: column
        for column in stage.columns
        if column.source is not None
    }
    columns = []
    for name in names:
        if name not in by_name:
            raise Unreadable(f"the table has no column {name!r}, which the scorecard reads")
        fitted = process.get_binned_variable(name)
        column = by_name[name]
        edges: list[float] = []
        if column.shape is ColumnShape.MONOTONE:
            if fitted.dtype == "categorical":
                raise Unreadable(
                    f"the scorecard takes the numbers of {name!r} for categories: give them as text"
                )
            edges = sorted({*np.asarray(fitted.splits).tolist(), *below(fitted.splits).tolist()})
        columns.append(stepped(column, edges))

    def bins(frame: Any) -> Any:
        return model._transform(
            X=frame,
            metric=None,
            metric_special=model._metric_special,
            metric_missing=model._metric_missing,
        )

    return read_parts(model.estimator_, stage.then(bins, columns))


def read_points(model: PointsTable, stage: Stage) -> tuple[Sum, Stage]:
    """Read a table of points: the sum of them is the score, accepted from its cutoff on."""
    view = stage.bench.view
    places = {
        view.columns[column.source].name: place
        for place, column in enumerate(stage.columns)
        if column.source is not None
    }
    terms, cuts = [], {}
    for part in model.parts:
        place = places[part.column]
        values = np.array([*part.points, part.otherwise if part.otherwise is not None else 0.0])
        terms.append(Term((place,), (part.bins,), values[:, None]))
        cuts[place] = part.uppers
    link = Link(second=lambda score: score >= model.cutoff)
    start = np.array([model.base])
    return Sum((False, True), 1, link, model.score, start, terms=tuple(terms), cuts=cuts), stage
