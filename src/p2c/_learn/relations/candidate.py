"""Judge predictions of a column, and propose the equations that the rows support."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from p2c._rules.render import render_term
from p2c._rules.syntax import Constant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from p2c._learn.relations.columns import DataColumn, DataTable, Floats, Mask
    from p2c._learn.relations.relation import RelationKind


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


PLAIN_FACTORS = (1, 2, 3, 4, 5, 7, 10, 12, 24, 25, 30, 50, 52, 60, 100, 365, 1_000, 10_000, 1e6)
"""Factors, and divisors, of conversions: percent, months, thousands."""
ROUGHLY = 0.02
"""Relative distance from a measured factor within which plain factors are tried."""
DIGITS = 6


def number_text(value: float) -> str:
    """Return a number as equations write it.

    >>> number_text(12.0), number_text(0.0000025)
    ('12', '0.0000025')
    """
    if float(value).is_integer() and abs(value) < 1e15:
        return str(int(value))
    text = f"{value:.17g}" if float(f"{value:.12g}") != value else f"{value:.12g}"
    if "e" in text:
        text = f"{value:.20f}".rstrip("0")
    return text


def factors_near(measured: float) -> Iterator[float]:
    """Yield plain factors near a measured one, then its own six digits."""
    if not math.isfinite(measured) or measured == 0:
        return
    sign, size = math.copysign(1, measured), abs(measured)
    for base in (1.0, math.log(10), math.log(2)):
        for plain in PLAIN_FACTORS:
            for factor in (plain / base, 1 / plain / base):
                if abs(factor - size) <= ROUGHLY * size:
                    yield sign * factor
    yield float(f"{measured:.{DIGITS}g}")


def scaled(factor: float, text: str) -> str:
    """Return a factor times a text that is a name, a call, a product or a ratio.

    >>> scaled(1 / 12, "months"), scaled(100, "debt / income"), scaled(1, "debt / income")
    ('months / 12', '100 * debt / income', 'debt / income')
    """
    size = abs(factor)
    sign = "-" if factor < 0 else ""
    if size == 1:
        return f"{sign}{text}"
    for base, name in ((math.log(10), "log(10)"), (math.log(2), "log(2)")):
        if math.isclose(size * base, 1, rel_tol=1e-9):
            return f"{sign}{text} / {name}"
    inverse = round(1 / size)
    if size < 1 and math.isclose(1 / size, inverse, rel_tol=1e-9):
        return f"{sign}{text} / {inverse}"
    return f"{sign}{number_text(size)} * {text}"


def shifted(text: str, shift: float) -> str:
    """Return a text plus a number.

    >>> shifted("12 * a", -3), shifted("a", 0)
    ('12 * a - 3', 'a')
    """
    if shift == 0:
        return text
    return f"{text} {'+' if shift > 0 else '-'} {number_text(abs(shift))}"


def quoted(word: str) -> str:
    """Return a word as rules and conditions of equations write it."""
    return render_term(Constant(word))


WHOLE = slice(None)
"""All rows of a table."""


@dataclass(frozen=True, eq=False)
class Find:
    """An equation that the rows support.

    `effort` orders equations of the same column: the simplest is proposed.
    """

    kind: RelationKind
    target: DataColumn
    operands: tuple[DataColumn, ...]
    text: str
    effort: int
    judged: Judged

    @property
    def names(self) -> frozenset[str]:
        """Return the features of the equation."""
        return frozenset((self.target.name, *(each.name for each in self.operands)))


@dataclass(frozen=True, eq=False)
class Shape:
    """An expression to try for a column: its text and its values on rows."""

    text: str
    compute: Callable[[Floats], Floats]


def rounded_shapes(target: DataColumn, text: str) -> Iterator[Shape]:
    """Yield an expression, and its floor and ceiling for whole numbers."""
    yield Shape(text, lambda raw: raw)
    if target.is_whole:
        yield Shape(f"floor({text})", lambda raw: np.floor(raw + 1e-9))
        yield Shape(f"ceil({text})", lambda raw: np.ceil(raw - 1e-9))


def best_find(
    table: DataTable,
    kind: RelationKind,
    target: DataColumn,
    operands: tuple[DataColumn, ...],
    attempts: Iterable[tuple[str, Callable[[object], Floats]]],
    *,
    effort: int,
    threshold: float,
) -> Find | None:
    """Return the first of several expressions that fits nearly best.

    Nearly means by at most a row in 200.

    Args:
        table: The table.
        kind: The kind of relation.
        target: The computed column.
        operands: The columns that the expressions read.
        attempts: Texts, the preferred first, each with a function from rows to the raw values.
        effort: How complicated the expressions are.
        threshold: The least share of rows.
    """
    finds: list[tuple[float, int, Find]] = []
    for place, (text, raw) in enumerate(attempts):
        screened = raw(table.screened)
        for shape in rounded_shapes(target, text):
            predicted = shape.compute(screened)
            quick = agreement(target, predicted, table.screened)
            if quick.share < threshold - 0.02:
                continue
            whole = shape.compute(raw(WHOLE))
            judged = agreement(target, whole, WHOLE)
            if convinces(target, operands, judged, whole, threshold=threshold):
                made = Find(kind, target, operands, shape.text, effort, judged)
                finds.append((judged.share, place, made))
    if not finds:
        return None
    most = max(share for share, _, _ in finds)
    return next(made for share, _, made in finds if share >= most - 0.005)
