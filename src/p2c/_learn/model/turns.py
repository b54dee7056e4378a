"""Curves of features before a linear model, and the numbers where they turn."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from p2c._learn.model.stages import ColumnShape

if TYPE_CHECKING:
    from p2c._learn.model.arrays import Floats, Ints
    from p2c._learn.model.parts import Sum
    from p2c._learn.model.stages import Stage

CURVES = (ColumnShape.MONOTONE, ColumnShape.CURVED)
POINTS = 2_000
"""Number of values at which a curve is looked at first."""
FINER = 200
"""Number of values between the neighbours of a turn, in each round."""
WIDER = 4
ROUNDS = 7
"""Number of rounds after which the floats around a turn are neighbours."""


@dataclass(frozen=True, eq=False)
class SourceCurve:
    """The gains of a feature through columns of numbers, at least one bent."""

    model: Sum
    stage: Stage
    source: int
    columns: tuple[int, ...]
    mix: Floats

    def of(self, numbers: Floats) -> Floats:
        """Return the gains of numbers; the model's own transformers run."""
        seen = self.stage.values(self.source, numbers)[:, list(self.columns)].astype(np.float64)
        return self.added(seen)

    def sizes(self, numbers: Floats) -> Floats:
        """Return how large the terms are that the model adds for each number."""
        seen = self.stage.values(self.source, numbers)[:, list(self.columns)].astype(np.float64)
        total = np.zeros(len(seen))
        if self.model.weights is not None:
            total += np.abs(seen) @ np.abs(self.model.weights[list(self.columns)]).max(axis=1)
        for place, column in enumerate(self.columns):
            if column in self.model.bends:
                total += self.model.sizes[column](seen[:, place])
        return total

    @cached_property
    def largest(self) -> float:
        """Return the greatest size of the terms, up to `WIDER` ranges from the data."""
        low, high = self.stage.bench.ends[self.source]
        reach = WIDER * (high - low)
        numbers = np.linspace(low - reach, high + reach, FINER)
        try:
            gains = self.sizes(numbers)
        except (ValueError, TypeError, OverflowError):
            gains = self.sizes(np.linspace(low, high, FINER))
        return float(gains[np.isfinite(gains)].max(initial=0.0))

    def added(self, seen: Floats) -> Floats:
        """Return the gains of values of the columns."""
        total = np.zeros((len(seen), self.mix.shape[0]))
        if self.model.weights is not None:
            total += seen @ self.model.weights[list(self.columns)]
        for place, column in enumerate(self.columns):
            if column in self.model.bends:
                total += self.model.bends[column](seen[:, place])
        return np.asarray(total @ self.mix)


def source_curves(model: Sum, stage: Stage, mix: Floats) -> dict[int, SourceCurve]:
    """Return the curve of each feature that has one, by its place.

    It takes the feature's straight columns along.
    """
    by_source: dict[int, list[int]] = {}
    bent: set[int] = set()
    for place, column in enumerate(stage.columns):
        weighed = model.weights is not None and model.weights[place].any()
        if column.source is None or column.shape not in CURVES:
            continue
        if weighed or place in model.bends:
            by_source.setdefault(column.source, []).append(place)
            if column.affine is None or place in model.bends:
                bent.add(column.source)
    return {
        source: SourceCurve(model, stage, source, tuple(by_source[source]), mix)
        for source in sorted(bent)
    }


def turns_of(curve: SourceCurve) -> Floats:
    """Return the numbers at which a curve turns, to within neighbouring floats."""
    bench = curve.stage.bench
    low, high = bench.ends[curve.source]
    data = bench.varied(curve.source).dropna().to_numpy(dtype=np.float64)
    spread = np.unique(np.concatenate([data, np.linspace(low, high, POINTS)]))
    try:
        spread = np.unique(np.concatenate([spread, bench.ladder(curve.source)]))
        gains = curve.of(spread)
    except (ValueError, TypeError, OverflowError):
        spread = np.unique(np.concatenate([data, np.linspace(low, high, POINTS)]))
        gains = curve.of(spread)
    fits = np.isfinite(gains).all(axis=1)
    spread, gains = spread[fits], gains[fits]
    turns = [
        _narrowed(curve, spread, margin, at)
        for margin in range(gains.shape[1])
        for at in _turns(gains[:, margin])
    ]
    return np.unique(np.array(turns, dtype=np.float64))


def _turns(gains: Floats) -> Ints:
    """Return the places at which numbers turn; equal neighbours do not count."""
    moving = np.flatnonzero(np.diff(gains) != 0)
    signs = np.sign(np.diff(gains)[moving])
    return np.asarray(moving[1:][signs[1:] != signs[:-1]])


def _narrowed(curve: SourceCurve, spread: Floats, margin: int, at: int) -> float:
    """Return the number near a place at which a curve is greatest or least."""
    low, high = float(spread[max(at - 1, 0)]), float(spread[min(at + 1, len(spread) - 1)])
    ends = curve.of(np.array([low, float(spread[at]), high]))[:, margin]
    sign = 1.0 if ends[1] >= (ends[0] + ends[2]) / 2 else -1.0
    best = float(spread[at])
    for _ in range(ROUNDS):
        points = np.unique(np.linspace(low, high, FINER))
        place = int(np.argmax(sign * curve.of(points)[:, margin]))
        best = float(points[place])
        low, high = float(points[max(place - 1, 0)]), float(points[min(place + 1, len(points) - 1)])
    return best
