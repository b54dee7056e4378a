"""Equations of one column in another: conversions, logarithms, roots."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from p2c._learn.relations.candidate import best_find
from p2c._learn.relations.expressions import DIGITS, factors_near, scaled, shifted
from p2c._learn.relations.relation import RelationKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from p2c._learn.relations.candidate import Find
    from p2c._learn.relations.columns import DataColumn, DataTable, Floats

FEWEST_VALUES = 10
"""Minimum number of distinct values in a column that is computed by arithmetic."""
DRAWN = 128
"""Number of rows through which lines are laid."""
FIRST_SHARE = 0.7
"""Least share of these rows near a line for the line to be judged on more."""

CURVES: dict[str, Callable[[Floats], Floats]] = {
    "{}": lambda values: values,
    "log({})": lambda values: np.log(np.where(values > 0, values, np.nan)),
    "log1p({})": lambda values: np.log1p(np.where(values > -1, values, np.nan)),
    "sqrt({})": lambda values: np.sqrt(np.where(values >= 0, values, np.nan)),
    "exp({})": lambda values: np.exp(np.where(values < 50, values, np.nan)),
    "{0} * {0}": lambda values: values * values,
}


def find_pairs(table: DataTable, *, threshold: float) -> Iterator[Find]:
    """Yield the columns of numbers that are a line in a function of another column."""
    targets = [each for each in table.numbers if each.distinct >= FEWEST_VALUES]
    for source in table.numbers:
        if source.distinct < FEWEST_VALUES:
            continue
        for curve, apply in CURVES.items():
            others = [each for each in targets if each is not source]
            bent = apply(source.values[table.screened])
            for line in _lines(table, bent, others):
                found = _judged(table, line, source, curve, threshold=threshold)
                if found is not None:
                    yield found


@dataclass(frozen=True, eq=False)
class Slope:
    """A column near a line."""

    target: DataColumn
    slope: float
    height: float


def _lines(table: DataTable, bent: Floats, targets: list[DataColumn]) -> Iterator[Slope]:
    """Yield the targets that most drawn rows put on one line."""
    for target in targets:
        actual = target.values[table.screened]
        usable = np.flatnonzero(np.isfinite(bent) & np.isfinite(actual) & (actual != target.mode))
        if len(usable) < 16:
            continue
        drawn = usable[:: max(len(usable) // DRAWN, 1)][:DRAWN]
        line = robust_line(bent[drawn], actual[drawn])
        if line is None:
            continue
        slope, height = line
        error = np.abs(actual[drawn] - slope * bent[drawn] - height)
        near = error <= 3 * target.tolerance(actual[drawn])
        if near.mean() >= FIRST_SHARE:
            yield Slope(target, slope, height)


def robust_line(x: Floats, y: Floats) -> tuple[float, float] | None:
    """Return slope and height of a line by medians over distant pairs.

    Returns:
        None where no two points are apart, or the line is flat.
    """
    order = np.argsort(x)
    x, y = x[order], y[order]
    half = len(x) // 2
    apart = x[half : 2 * half] - x[:half]
    usable = apart > 0
    if usable.sum() < 8:
        return None
    slope = float(np.median((y[half : 2 * half] - y[:half])[usable] / apart[usable]))
    if slope == 0 or not np.isfinite(slope):
        return None
    return slope, float(np.median(y - slope * x))


def _judged(
    table: DataTable, line: Slope, source: DataColumn, curve: str, *, threshold: float
) -> Find | None:
    apply, bent, height = CURVES[curve], curve.format(source.name), line.height

    def raw(factor: float, shift: float, rows: NDArray[np.intp] | slice) -> Floats:
        return factor * apply(source.values[rows]) + shift

    attempts = []
    for factor in dict.fromkeys(factors_near(line.slope)):
        size = max(abs(height), 1e-12)
        for shift in dict.fromkeys((0.0, float(round(height)), float(f"{height:.{DIGITS}g}"))):
            if shift and abs(shift) < 1e-9 * size:
                continue
            attempts.append((shifted(scaled(factor, bent), shift), partial(raw, factor, shift)))
    plain = curve == "{}"
    kind = RelationKind.LINEAR if plain else RelationKind.CURVE
    find = best_find(
        table, kind, line.target, (source,), attempts, effort=1 if plain else 2, threshold=threshold
    )
    if find is not None and find.text == source.name:
        return replace(find, kind=RelationKind.COPY, effort=0)
    return find
