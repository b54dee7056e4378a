"""Find: an equation of one column that the rows support."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from p2c._learn.relations.verdict import agreement, convinces

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from p2c._learn.relations.columns import DataColumn, DataTable, Floats
    from p2c._learn.relations.relation import RelationKind
    from p2c._learn.relations.verdict import Judged

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
