"""Equations of one column in two others: sums, products and ratios."""

from __future__ import annotations

from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from p2c._learn.relations.candidate import best_find
from p2c._learn.relations.expressions import factors_near, scaled
from p2c._learn.relations.pairs import FEWEST_VALUES
from p2c._learn.relations.relation import RelationKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from p2c._learn.relations.candidate import Find
    from p2c._learn.relations.columns import DataColumn, DataTable, Floats

    Rows = NDArray[np.intp] | slice

DRAWN = 32
"""Number of rows on which all pairs of columns are tried."""
FEWEST_DRAWN = 12
FIRST_SHARE = 0.7
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
                find = _judged(table, target, (left, right), name, threshold)
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
    return usable[:: max(len(usable) // DRAWN, 1)][:DRAWN]


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
    return [tuple(ordered[at].tolist()) for at in best if share[at] >= FIRST_SHARE]


def _judged(
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
