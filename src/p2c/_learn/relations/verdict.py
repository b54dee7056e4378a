"""Judge predicted values of a column, also away from frequent values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from p2c._learn.relations.columns import DataColumn, Floats, Mask

FEWEST = 20
"""Minimum number of rows."""
MOST_BY_CHANCE = 0.3
"""Maximum share of rows on which shuffled values may agree with the prediction."""


@dataclass(frozen=True, eq=False)
class Judged:
    """Agreement of a prediction with a column.

    `valid` marks the rows with a value of every column, `holds` those of them on which the prediction is right.
    """

    valid: Mask
    holds: Mask

    @property
    def share(self) -> float:
        """Return the share of the valid rows on which the prediction is right."""
        return float(self.holds.sum() / max(int(self.valid.sum()), 1))


def agreement(
    target: DataColumn,
    predicted: Floats,
    rows: NDArray[np.intp] | slice,
) -> Judged:
    """Compare a column with predicted values, up to its own rounding.

    Args:
        target: The column.
        predicted: One value for each of the rows; not finite where an operand is missing.
        rows: The rows that are compared.
    """
    actual = target.values[rows]
    valid = np.isfinite(actual) & np.isfinite(predicted)
    error = np.abs(np.where(valid, actual - predicted, 0.0))
    allowed = target.tolerance(np.where(valid, predicted, 0.0))
    return Judged(valid, valid & (error <= allowed))


def convinces(
    target: DataColumn,
    operands: Sequence[DataColumn],
    judged: Judged,
    predicted: Floats,
    *,
    threshold: float,
) -> bool:
    """Tell whether a prediction is right often enough to be no coincidence.

    The share must reach the threshold also among the rows in which a column has another value than its most frequent
    one, column by column, since columns of mostly zeros satisfy many equations. Shuffled values must agree
    seldom. All rows are compared.
    """
    if judged.share < threshold:
        return False
    for column in (target, *operands):
        rare = judged.valid & (column.values != column.mode)
        count = int(rare.sum())
        if count < FEWEST or (judged.holds & rare).sum() / count < threshold:
            return False
    return by_chance(target, predicted, judged) <= MOST_BY_CHANCE


def by_chance(target: DataColumn, predicted: Floats, judged: Judged) -> float:
    """Return the share of rows on which shuffled values agree."""
    chosen = judged.valid & (target.values != target.mode)
    values, expected = target.values[chosen], predicted[chosen]
    shuffled = np.random.default_rng(0).permutation(values)
    return float(np.mean(np.abs(shuffled - expected) <= target.tolerance(expected)))


def recognizes(target: DataColumn, judged: Judged, predicted: Floats, threshold: float) -> bool:
    """Tell whether a prediction is right for every frequent value.

    Of each value the share of its rows that are predicted, and the share of its predictions that are right, must reach
    the threshold. Values with fewer than 20 rows do not count, but two values must have as many. All rows are compared.
    """
    if judged.share < threshold:
        return False
    frequent = 0
    for level in target.levels:
        own, said = judged.valid & (target.values == level), judged.valid & (predicted == level)
        count = int(own.sum())
        if count < FEWEST:
            continue
        frequent += 1
        right = int((own & said).sum())
        if right < threshold * count or right < threshold * int(said.sum()):
            return False
    return frequent > 1
