"""A decision tree, as it was read, as rules that decide every row just as the tree does."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, isinf
from typing import TYPE_CHECKING

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from p2c._learn.extract.ruleset import Ruleset
from p2c._learn.foldse.columns import MISSING
from p2c._learn.foldse.literals import LearnedLiteral, LearnedRule, Relation, unite
from p2c._learn.model.parts import LEAF
from p2c._learn.model.readers.sklearn_trees import shares_of, tree_of
from p2c._learn.tables.domains import domain_from_frame

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    import pandas as pd

    from p2c._learn.model.arrays import Mask
    from p2c._learn.model.asking import AskedModel
    from p2c._learn.model.parts import Tree
    from p2c._learn.tables.view import ColumnView

    Path = tuple[LearnedLiteral, ...]
    Sides = tuple[Path | None, Path | None]
    """The literals that lead left and right; None where nothing goes that way."""


MOST_LEAVES = 256
"""A tree with more leaves is asked instead of read: nobody would read its rules."""


def rules_of_tree(
    model: Any,
    columns: tuple[ColumnView, ...],
    table: pd.DataFrame,
    asked: AskedModel,
    threshold: float | None,
) -> Ruleset | None:
    """Return the rules of a model that is a tree small enough; `columns` are those that it was trained on."""
    if not _is_plain_tree(model, columns):
        return None
    tree = tree_of(model, shares_of(model))
    place = np.asarray(model.classes_).tolist().index(asked.desired)
    likely = tree.value.argmax(axis=1) == place
    accepted = likely if threshold is None else tree.value[:, place] >= threshold
    keys = domain_from_frame(table)
    whole = [each.is_number and keys[each.feature]["type"] == "int" for each in columns]
    regions = _regions(tree, accepted, columns, whole)
    fewer = sum(decision for decision, _ in regions) * 2 < len(regions)
    names = (str(asked.desired), str(asked.other))
    label, other = names if fewer else names[::-1]
    rules = (LearnedRule(path, (), label) for decision, path in regions if decision is fewer)
    return Ruleset(tuple(rules), label, other, fewer, keys)


def _is_plain_tree(model: Any, columns: tuple[ColumnView, ...]) -> bool:
    """Tell whether a model is a fitted tree over numbers and truth values, with few enough leaves to be read."""
    if not isinstance(model, DecisionTreeClassifier) or not hasattr(model, "tree_"):
        return False
    plain = all(each.is_number or each.dtype == bool for each in columns)
    small = model.n_outputs_ == 1 and model.get_n_leaves() <= MOST_LEAVES
    return bool(plain and small and model.n_features_in_ == len(columns))


def _regions(
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
