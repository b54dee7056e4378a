"""Equations of one column as a sum of several others, each times a factor."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from p2c._learn.relations.candidate import best_find
from p2c._learn.relations.expressions import DIGITS, factors_near, scaled, shifted
from p2c._learn.relations.pairs import FEWEST_VALUES
from p2c._learn.relations.relation import RelationKind

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from numpy.typing import NDArray

    from p2c._learn.relations.candidate import Find
    from p2c._learn.relations.columns import DataColumn, DataTable, Floats

DRAWN = 800
"""Number of rows that a sum is fitted to; more if there are many columns."""
ROUNDS = 8
"""How often the worst rows are left out and the sum is fitted again."""
KEPT = 0.88
"""The share of rows that each fit keeps."""
RIDGE = 1e-10
HOPELESS = 0.1
"""Ratio of median error to deviation from which on a fit is given up."""
MOST_MISSING = 0.3
MOST_TERMS = 12


def find_sums(table: DataTable, taken: Collection[str], *, threshold: float) -> Iterator[Find]:
    """Yield the columns that are a weighted sum of at least two others.

    Args:
        table: The table.
        taken: Columns that other equations compute; they are neither sums nor terms.
        threshold: The least share of rows.
    """
    computed = set(taken)
    columns = [
        each
        for each in table.numbers
        if np.isnan(each.values).mean() <= MOST_MISSING and each.name not in computed
    ]
    for target in columns:
        if target.distinct < FEWEST_VALUES:
            continue
        terms = [each for each in columns if each is not target and each.name not in computed]
        find = _sum_of(table, target, terms, threshold) if len(terms) > 1 else None
        if find is not None:
            computed.add(target.name)
            yield find


def _sum_of(
    table: DataTable, target: DataColumn, terms: list[DataColumn], threshold: float
) -> Find | None:
    rows = table.screened[np.isfinite(target.values[table.screened])]
    rows = rows[:: max(len(rows) // max(DRAWN, 12 * len(terms)), 1)]
    actual = target.values[rows]
    matrix = np.column_stack([_filled(each.values[rows]) for each in terms])
    fit = _trimmed_fit(matrix, actual)
    allowed = float(np.median(target.tolerance(actual)))
    if fit is None or np.median(np.abs(fit.residual)) > 3 * allowed:
        return None
    spread = matrix.std(axis=0)
    needed = np.flatnonzero(np.abs(fit.factors) * spread > max(3 * allowed, 1e-6 * actual.std()))
    if not 2 <= len(needed) <= MOST_TERMS:
        return None
    again = _trimmed_fit(matrix[:, needed], actual)
    if again is None:
        return None
    chosen = tuple(terms[at] for at in needed)
    plain = [next(factors_near(each)) for each in again.factors]
    fine = [float(f"{each:.{DIGITS}g}") for each in again.factors]
    finds = []
    for factors in (plain, fine):
        height = float(np.median(actual - matrix[:, needed] @ np.array(factors)))
        for turned in _turned(Line(target, chosen, tuple(factors), height)):
            judged = _judged(table, turned, threshold)
            if judged is not None:
                finds.append(judged)
        if finds:
            break
    return min(finds, key=lambda each: (each.effort, -each.judged.share), default=None)


@dataclass(frozen=True, eq=False)
class Line:
    """A column as a sum of others, each times a factor, and a constant."""

    target: DataColumn
    terms: tuple[DataColumn, ...]
    factors: tuple[float, ...]
    shift: float

    @property
    def effort(self) -> int:
        """Return how complicated the sum is; subtracting counts more than fractions."""
        odd = sum(2 * (each < 0) + (not float(each).is_integer()) for each in self.factors)
        return len(self.terms) + 2 + odd


def _turned(line: Line) -> Iterator[Line]:
    """Yield a sum, and the same solved for each of its terms."""
    yield line
    for place, (term, factor) in enumerate(zip(line.terms, line.factors, strict=True)):
        rest = [
            (each, -own / factor)
            for at, (each, own) in enumerate(zip(line.terms, line.factors, strict=True))
            if at != place
        ]
        terms = (line.target, *(each for each, _ in rest))
        factors = (1 / factor, *(own for _, own in rest))
        plain = (next(factors_near(each)) for each in factors)
        yield Line(term, terms, tuple(plain), -line.shift / factor)


def _judged(table: DataTable, line: Line, threshold: float) -> Find | None:
    if line.target.distinct < FEWEST_VALUES:
        return None
    shifts = (0.0, float(round(line.shift)), float(f"{line.shift:.{DIGITS}g}"))
    attempts = [
        (_sum_text(line, each), partial(_raw, line, each)) for each in dict.fromkeys(shifts)
    ]
    return best_find(
        table,
        RelationKind.SUM,
        line.target,
        line.terms,
        attempts,
        effort=line.effort,
        threshold=threshold,
    )


def _raw(line: Line, shift: float, rows: NDArray[np.intp] | slice) -> Floats:
    columns = np.column_stack([each.values[rows] for each in line.terms])
    total: Floats = columns @ np.array(line.factors) + shift
    return total


def _sum_text(line: Line, shift: float) -> str:
    pairs = sorted(zip(line.factors, line.terms, strict=True), key=lambda pair: pair[0] < 0)
    text = ""
    for factor, each in pairs:
        term = scaled(abs(factor), each.name)
        sign = "-" if factor < 0 else "+"
        text += f" {sign} {term}" if text else ("-" if factor < 0 else "") + term
    return shifted(text, shift)


@dataclass(frozen=True, eq=False)
class _Fit:
    """Factors of a sum, and the error of each row."""

    factors: Floats
    residual: Floats


def _trimmed_fit(matrix: Floats, actual: Floats) -> _Fit | None:
    """Fit a sum by least squares, leaving out the rows that it fits worst."""
    centre, spread = matrix.mean(axis=0), matrix.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    scaled_matrix = np.column_stack([(matrix - centre) / spread, np.ones(len(actual))])
    kept = np.ones(len(actual), dtype=np.bool_)
    residual, solved = actual, np.zeros(scaled_matrix.shape[1])
    for count in range(ROUNDS):
        part = scaled_matrix[kept]
        gram = part.T @ part + RIDGE * len(part) * np.eye(part.shape[1])
        solved = np.linalg.solve(gram, part.T @ actual[kept])
        residual = np.abs(actual - scaled_matrix @ solved)
        if count == 2 and np.median(residual) > HOPELESS * actual.std():
            return None
        limit = np.quantile(residual, KEPT)
        fresh = residual <= limit
        if (fresh == kept).all():
            break
        kept = fresh
    if kept.sum() < scaled_matrix.shape[1] + 2:
        return None
    return _Fit(solved[:-1] / spread, residual)


def _filled(values: Floats) -> Floats:
    return np.where(np.isfinite(values), values, np.nanmedian(values))
