"""A decision tree, as it was read, as rules that decide every row just as the tree does."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, isinf
from typing import TYPE_CHECKING

import numpy as np

from p2c.learn.foldse.columns import MISSING
from p2c.learn.foldse.literals import LearnedLiteral, Relation, unite
from p2c.learn.model.parts import LEAF

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from p2c.learn.model.parts import Mask, Tree
    from p2c.learn.tables.view import ColumnView

    Path = tuple[LearnedLiteral, ...]
    Sides = tuple[Path | None, Path | None]
    """The literals that lead left and right; None where nothing goes that way."""


def tree_rules(
    tree: Tree, accepted: Mask, columns: Sequence[ColumnView], whole: Sequence[bool]
) -> list[tuple[bool, Path]]:
    """Return one list of literals for each region of one decision, and whether it is accepted.

    `accepted` tells of each node what it decides where it is a leaf. `columns` are those that the tree was trained on, in
    its order; `whole` tells which hold whole numbers only, whose constants are then whole too.
    """
    decided: list[bool | None] = [bool(each) for each in accepted]
    # Children stand after their parents.
    for node in reversed(np.flatnonzero(tree.column != LEAF)):
        left = decided[tree.left[node]]
        decided[node] = left if left is decided[tree.right[node]] else None
    reader = _Reader(tree, columns, whole, decided)
    return [(decision, unite(path)) for decision, path in reader.regions(0, ())]


@dataclass(frozen=True)
class _Reader:
    """Walks a tree; `decided` has for each node the one decision of all leaves below it, None where they differ."""

    tree: Tree
    columns: Sequence[ColumnView]
    whole: Sequence[bool]
    decided: Sequence[bool | None]

    def regions(self, node: int, path: Path) -> Iterator[tuple[bool, Path]]:
        decision = self.decided[node]
        if decision is not None:
            yield decision, path
            return
        children = (int(self.tree.left[node]), int(self.tree.right[node]))
        for child, literals in zip(children, self.split(node), strict=True):
            if literals is not None:
                yield from self.regions(child, (*path, *literals))

    def split(self, node: int) -> Sides:
        place = self.tree.column[node]
        column, limit = self.columns[place], float(self.tree.bound[node])
        if not column.is_number:
            return self.split_texts(node, column)
        missing_left = bool(self.tree.missing_left[node])
        if isinf(limit):
            return _split_missing(column, missing_left=missing_left, numbers_left=limit > 0)
        bound = float(floor(limit)) if self.whole[place] else limit
        # A missing value passes negated bounds only, so negation says which way it goes.
        relation = Relation.ABOVE if missing_left else Relation.AT_MOST
        plain = LearnedLiteral(column.feature, relation, bound)
        negated = plain.complement()
        return ((negated,), (plain,)) if missing_left else ((plain,), (negated,))

    def split_texts(self, node: int, column: ColumnView) -> Sides:
        """Split the truth values of a column, which a tree takes for 0 and 1."""
        texts, values = zip(*(column.originals or ()), strict=True)
        left = self.tree.goes_left(node, values)
        if left.all():
            return (), None
        if not left.any():
            return None, ()
        literal = LearnedLiteral(column.feature, Relation.EQUAL, texts[int(left.argmax())])
        return (literal,), (literal.complement(),)


def _split_missing(column: ColumnView, *, missing_left: bool, numbers_left: bool) -> Sides:
    """Split what is missing from what is not, as a tree does with an infinite threshold."""
    if missing_left == numbers_left:
        return ((), None) if numbers_left else (None, ())
    missing = LearnedLiteral(column.feature, Relation.EQUAL, MISSING)
    sides = ((missing.complement(),), (missing,))
    return sides if numbers_left else sides[::-1]
