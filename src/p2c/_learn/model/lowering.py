"""From the parts of a model, over its own columns, to a sum over the cells of the features."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from p2c._learn.model.additive import AdditiveScore, Curve, ScoreLine, Table
from p2c._learn.model.cutting import as_numbers, cut_features
from p2c._learn.model.parts import DOUBLE, Unreadable
from p2c._learn.model.stages import ColumnShape
from p2c._learn.model.trees import plant
from p2c._learn.model.turns import source_curves, turns_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from p2c._learn.model.arrays import Floats
    from p2c._learn.model.cutoff import Cutoff
    from p2c._learn.model.cutting import CutFeature
    from p2c._learn.model.parts import Sum, Tree
    from p2c._learn.model.stages import Stage
    from p2c._learn.model.turns import SourceCurve


MOST_LEAVES = 200_000
"""A model with more leaves is not read: neither memory nor time would be enough to prove anything with it."""
SPARE = 8
"""Roundings that a sum has beyond one for each term."""


def lower(model: Sum, stage: Stage, cutoff: Cutoff, missing: Sequence[bool]) -> AdditiveScore:
    """Return a model as a sum over cells; `missing` tells for each feature whether the model takes a missing value."""
    leaves = sum(int((tree.column < 0).sum()) for tree in model.trees)
    if leaves > MOST_LEAVES:
        raise Unreadable(f"the model has {leaves:,} leaves; up to {MOST_LEAVES:,} are read")
    curves = source_curves(model, stage, cutoff.mix)
    turns = {source: turns_of(curve) for source, curve in curves.items()}
    cuts = cut_features(model, stage, missing, turns)
    return _ScoreBuilder(model, stage, cutoff, cuts, curves).build()


class _ScoreBuilder:
    """The sum as it is put together; lives for one lowering."""

    def __init__(
        self,
        model: Sum,
        stage: Stage,
        cutoff: Cutoff,
        cuts: Mapping[int, CutFeature],
        curves: Mapping[int, SourceCurve],
    ) -> None:
        self.model, self.stage, self.cutoff, self.curves = model, stage, cutoff, curves
        self.cuts = list(cuts.values())
        self.order = {place: axis for axis, place in enumerate(cuts)}
        self.margins = cutoff.mix.shape[1]
        self.bias = np.asarray(model.bias, dtype=np.float64) @ cutoff.mix
        self.single = {
            axis: np.zeros((len(cut.seen), self.margins)) for axis, cut in enumerate(self.cuts)
        }
        self.pairs: dict[tuple[int, int], Floats] = {}
        self.lines: list[ScoreLine | Curve] = []
        self.size = float(np.abs(model.bias).sum()) + model.size
        self.terms = 1
        self.known: dict[int, NDArray[Any]] = {}

    def build(self) -> AdditiveScore:
        self._add_weights()
        self._add_terms()
        several = [tree for tree in self.model.trees if not self._add_stump(tree)]
        trees = plant(
            several,
            self.columns,
            self.axis_of,
            self.cutoff.mix,
            [len(cut.seen) for cut in self.cuts],
        )
        for tree in self.model.trees:
            self._count(tree.value[tree.column < 0])
        used = {axis: table for axis, table in self.single.items() if table.any()}
        tables = [Table((axis,), values) for axis, values in used.items()]
        tables += [Table(axes, values) for axes, values in self.pairs.items()]
        unit = (self.terms + SPARE) * max(self.model.precision, DOUBLE) * 2
        return AdditiveScore(
            axes=tuple(cut.cells for cut in self.cuts),
            bias=self.bias,
            refused_below=self.cutoff.refused_below,
            accepted_from=self.cutoff.accepted_from,
            tables=tuple(tables),
            trees=trees,
            lines=tuple(self.lines),
            blend=self.cutoff.blend,
            rounding=0.0 if self._is_exact() else unit,
            magnitude=self.size,
        )

    def columns(self, column: int) -> NDArray[Any]:
        """Return the values of a model's column in each cell of its feature."""
        if column not in self.known:
            axis = self.axis_of(column)
            found = (
                self.constant[column : column + 1]
                if axis is None
                else self.cuts[axis].seen[:, column]
            )
            self.known[column] = as_numbers(found)
        return self.known[column]

    def axis_of(self, column: int) -> int | None:
        """Return the axis of a model's column, None where it is constant."""
        source = self.stage.columns[column].source
        return None if source is None else self.order[source]

    @cached_property
    def constant(self) -> NDArray[Any]:
        return np.asarray(
            self.stage.matrix(self.stage.bench.vary([None] * len(self.stage.bench.view.columns)))[0]
        )

    def _count(self, values: Floats) -> None:
        """Take the greatest size of a term into account."""
        self.terms += 1
        self.size += float(np.abs(values).max(initial=0.0)) * (
            2 if self.margins > 1 or self.model.scores > 1 else 1
        )

    def _add_stump(self, tree: Tree) -> bool:
        """Add a tree that reads at most one feature to the table of that feature."""
        read = (self.axis_of(int(column)) for column in np.unique(tree.column[tree.column >= 0]))
        axes = {axis for axis in read if axis is not None}
        if len(axes) > 1:
            return False
        added = self._by_cell(tree, 0) @ self.cutoff.mix
        if axes:
            self.single[axes.pop()] += added
        else:
            self.bias = self.bias + added[0]
        return True

    def _by_cell(self, tree: Tree, node: int) -> Floats:
        """Return what a tree that reads one feature gives from a node on, in each cell of the feature."""
        if tree.column[node] < 0:
            return tree.value[node : node + 1]
        left = tree.goes_left(node, self.columns(int(tree.column[node])))
        sides = (self._by_cell(tree, int(side[node])) for side in (tree.left, tree.right))
        return np.asarray(np.where(left[:, None], *sides))

    def _add_terms(self) -> None:
        """Add tables over the bins of one or two columns."""
        for term in self.model.terms:
            axes = [self.axis_of(column) for column in term.columns]
            bins = [
                each(self.columns(column))
                for each, column in zip(term.bins, term.columns, strict=True)
            ]
            values = term.values[np.ix_(*bins)] @ self.cutoff.mix
            self._count(term.values)
            kept = tuple(axis for axis in axes if axis is not None)
            values = values.reshape(
                *(len(each) for each, axis in zip(bins, axes, strict=True) if axis is not None),
                self.margins,
            )
            self._add_table(kept, values)

    def _add_table(self, axes: tuple[int, ...], values: Floats) -> None:
        match axes:
            case ():
                self.bias = self.bias + values
            case (axis,):
                self.single[axis] += values
            case (first, second) if first == second:
                self.single[first] += np.einsum("iim->im", values)
            case (first, second):
                ordered = values if first < second else values.swapaxes(0, 1)
                key = (min(first, second), max(first, second))
                self.pairs[key] = self.pairs.get(key, 0.0) + ordered
            case _:
                raise Unreadable("a term of the model reads more than two features")

    def _add_weights(self) -> None:
        """Add the lines, the curves, and a table for each column with steps."""
        nothing = np.zeros((len(self.stage.columns), self.margins))
        weights = nothing if self.model.weights is None else self.model.weights @ self.cutoff.mix
        along = {column for curve in self.curves.values() for column in curve.columns}
        for place, column in enumerate(self.stage.columns):
            self.terms += 1
            if place in along or not (weights[place].any() or place in self.model.bends):
                continue
            axis = self.axis_of(place)
            values = self.columns(place).astype(np.float64)
            added = values[:, None] * weights[place]
            if place in self.model.bends:
                added = added + self.model.bends[place](values) @ self.cutoff.mix
            if axis is None:
                self._shift(added[0])
            elif column.shape is ColumnShape.MONOTONE:
                self._add_line(axis, place, values, weights[place])
            else:
                self._add_single(axis, added)
        for source, curve in self.curves.items():
            self._add_curve(self.order[source], curve)

    def _shift(self, by: Floats) -> None:
        self.bias = self.bias + by
        self.size += float(np.abs(by).max(initial=0.0))

    def _add_single(self, axis: int, values: Floats) -> None:
        self.single[axis] += values
        self.size += float(np.abs(values).max(initial=0.0))

    def _add_line(self, axis: int, place: int, values: Floats, weight: Floats) -> None:
        affine = self.stage.columns[place].affine
        assert affine is not None
        slope, offset = float(affine[0]) * weight, float(affine[1]) * weight
        self._shift(offset)
        self._at_missing(axis, values[-1] * weight - offset)
        for at, line in enumerate(self.lines):
            if isinstance(line, ScoreLine) and line.axis == axis:
                self.lines[at] = ScoreLine(axis, line.slope + slope)
                return
        self.lines.append(ScoreLine(axis, slope))

    def _at_missing(self, axis: int, value: Floats) -> None:
        """Say what a missing value adds in the place of a line or curve."""
        if self.cuts[axis].cells.missing is not None:
            self.single[axis][-1] += value
            self.size += float(np.abs(value).max(initial=0.0))

    def _add_curve(self, axis: int, curve: SourceCurve) -> None:
        seen = self.cuts[axis].seen[-1:, list(curve.columns)].astype(np.float64)
        self._at_missing(axis, curve.added(seen)[0])
        self.size += curve.largest
        self.lines.append(Curve(axis, curve.of, self.margins, curve.sizes))

    def _is_exact(self) -> bool:
        """Tell whether every sum of the model is exact: all terms are multiples of one power of two, and few enough."""
        if self.lines or self.model.weights is not None or self.model.bends or self.model.blended:
            return False
        leaves = [tree.value[tree.column < 0].ravel() for tree in self.model.trees]
        leaves += [term.values.ravel() for term in self.model.terms]
        if len(leaves) == 1 and not self.model.bias.any():
            return True
        values = np.concatenate([self.model.bias.ravel(), *leaves])
        unit = _unit(values[values != 0])
        return bool(self.size < unit / self.model.precision / 4)


def _unit(values: Floats) -> float:
    """Return the greatest power of two that every value is a multiple of."""
    if not len(values):
        return 1.0
    fraction, exponent = np.frexp(values)
    whole = np.abs(fraction * 2.0**53).astype(np.int64)
    lowest = (whole & -whole).astype(np.float64)
    return float((lowest * 2.0 ** (exponent.astype(np.float64) - 53)).min())
