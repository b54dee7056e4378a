"""Equations of one column in others: lines, curves, operations, weighted sums."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from p2c._learn.relations.candidate import DIGITS, best_find, factors_near, scaled, shifted
from p2c._learn.relations.relation import RelationKind

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from numpy.typing import NDArray

    from p2c._learn.relations.candidate import Find
    from p2c._learn.relations.columns import DataColumn, DataTable, Floats

    Rows = NDArray[np.intp] | slice


FEWEST_VALUES = 10
"""Minimum number of distinct values in a column that is computed by arithmetic."""
DRAWN_FOR_LINE = 128
"""Number of rows through which lines are laid."""
NEAR_SHARE = 0.7
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
                found = _judged_line(table, line, source, curve, threshold=threshold)
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
        drawn = usable[:: max(len(usable) // DRAWN_FOR_LINE, 1)][:DRAWN_FOR_LINE]
        line = robust_line(bent[drawn], actual[drawn])
        if line is None:
            continue
        slope, height = line
        error = np.abs(actual[drawn] - slope * bent[drawn] - height)
        near = error <= 3 * target.tolerance(actual[drawn])
        if near.mean() >= NEAR_SHARE:
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


def _judged_line(
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


DRAWN_FOR_PAIRS = 32
"""Number of rows on which all pairs of columns are tried."""
FEWEST_DRAWN = 12
NEAR_SHARE_OF_PAIR = 0.7
MOST_TRIED = 40
"""Maximum number of pairs that are judged on more rows for one column."""
FEWEST_OPERANDS = 3
"""Minimum number of distinct values in an operand."""


def _divided(left: Floats, right: Floats) -> Floats:
    return np.where(right != 0, left, np.nan) / np.where(right != 0, right, 1.0)


OPERATIONS: dict[str, tuple[RelationKind, Callable[[Floats, Floats], Floats]]] = {
    "{} + {}": (RelationKind.SUM, np.add),
    "{} * {}": (RelationKind.PRODUCT, np.multiply),
    "{} / {}": (RelationKind.RATIO, _divided),
}


def find_triples(table: DataTable, *, threshold: float) -> Iterator[Find]:
    """Yield the columns that are a sum, difference, product or ratio of two others.

    Products and ratios may be multiplied by a factor.
    """
    operands = [each for each in table.numbers if each.distinct >= FEWEST_OPERANDS]
    pairs = np.array(list(combinations(range(len(operands)), 2)), dtype=np.intp).reshape(-1, 2)
    for target in table.numbers:
        if target.distinct < FEWEST_VALUES or len(pairs) == 0:
            continue
        rows = _drawn_rows(table, target)
        if len(rows) < FEWEST_DRAWN:
            continue
        values = np.array([each.values[rows] for each in operands])
        for name in OPERATIONS:
            for place in _promising(name, target, rows, values, pairs):
                left, right = (operands[at] for at in place)
                if target in (left, right):
                    continue
                find = _judged_pair(table, target, (left, right), name, threshold)
                if find is not None:
                    yield find
                    if find.kind is RelationKind.SUM:
                        yield from differences(table, find, threshold=threshold)


def differences(table: DataTable, total: Find, *, threshold: float) -> Iterator[Find]:
    """Yield a sum of two columns, solved for each term."""
    for part, other in (total.operands, total.operands[::-1]):
        whole = total.target
        attempt = (f"{whole.name} - {other.name}", partial(_difference, whole, other))
        find = best_find(
            table, RelationKind.SUM, part, (whole, other), [attempt], effort=3, threshold=threshold
        )
        if find is not None:
            yield find


def _difference(left: DataColumn, right: DataColumn, rows: Rows) -> Floats:
    return left.values[rows] - right.values[rows]


def _drawn_rows(table: DataTable, target: DataColumn) -> NDArray[np.intp]:
    actual = target.values[table.screened]
    usable: NDArray[np.intp] = table.screened[
        np.isfinite(actual) & (actual != target.mode) & (actual != 0)
    ]
    return usable[:: max(len(usable) // DRAWN_FOR_PAIRS, 1)][:DRAWN_FOR_PAIRS]


def _promising(
    name: str,
    target: DataColumn,
    rows: NDArray[np.intp],
    values: Floats,
    pairs: NDArray[np.intp],
) -> Sequence[tuple[int, int]]:
    """Return the pairs of operands that fit the drawn rows, the best first."""
    ordered = pairs if name != "{} / {}" else np.concatenate([pairs, pairs[:, ::-1]])
    apply = OPERATIONS[name][1]
    actual = target.values[rows]
    raw = apply(values[ordered[:, 0]], values[ordered[:, 1]])
    usable = np.isfinite(raw) & (raw != 0)
    counts = usable.sum(axis=1)
    if name == "{} + {}":
        predicted = raw
    else:
        quotient = np.where(usable, actual / np.where(usable, raw, 1.0), np.inf)
        middle = np.sort(quotient, axis=1)[np.arange(len(ordered)), counts // 2]
        predicted = np.where(np.isfinite(middle), middle, np.nan)[:, None] * raw
    error = np.abs(actual - np.where(usable, predicted, np.inf))
    near = error <= 3 * target.tolerance(actual)
    share = np.where(counts >= FEWEST_DRAWN, near.sum(axis=1) / np.maximum(counts, 1), 0.0)
    best = np.argsort(-share, kind="stable")[:MOST_TRIED]
    return [tuple(ordered[at].tolist()) for at in best if share[at] >= NEAR_SHARE_OF_PAIR]


def _judged_pair(
    table: DataTable,
    target: DataColumn,
    operands: tuple[DataColumn, DataColumn],
    name: str,
    threshold: float,
) -> Find | None:
    kind, apply = OPERATIONS[name]
    left, right = operands
    text = name.format(left.name, right.name)

    def raw(factor: float, rows: Rows) -> Floats:
        return factor * apply(left.values[rows], right.values[rows])

    factors = [1.0]
    if kind is not RelationKind.SUM:
        screened = raw(1.0, table.screened)
        usable = np.isfinite(screened) & (screened != 0)
        usable &= np.isfinite(target.values[table.screened])
        if not usable.any():
            return None
        quotient = target.values[table.screened][usable] / screened[usable]
        factors = [*factors_near(float(np.median(quotient)))]
    attempts = [(scaled(each, text), partial(raw, each)) for each in dict.fromkeys(factors)]
    return best_find(table, kind, target, operands, attempts, effort=3, threshold=threshold)


DRAWN_FOR_SUM = 800
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
    rows = rows[:: max(len(rows) // max(DRAWN_FOR_SUM, 12 * len(terms)), 1)]
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
            judged = _judged_sum(table, turned, threshold)
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


def _judged_sum(table: DataTable, line: Line, threshold: float) -> Find | None:
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
