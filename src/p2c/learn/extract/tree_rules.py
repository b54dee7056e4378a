"""A scikit-learn decision tree as rules that decide every row just as the tree does.

The tree rounds a value to 32 bits and then asks whether it is at most the threshold. Rounding never changes the order
of two numbers, so that question is whether the value itself is at most the greatest 64-bit number that rounds to one at
most the threshold: that number is the constant of the rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, isinf
from typing import TYPE_CHECKING, Any

from sklearn.tree import DecisionTreeClassifier

from p2c.learn.foldse.columns import MISSING
from p2c.learn.foldse.literals import LearnedLiteral, LearnedRule, Relation, unite
from p2c.learn.model.floats import single_bound

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from p2c.learn.tables.view import ColumnView

MOST_LEAVES = 256
"""A tree with more leaves is asked instead of read: nobody would read its rules."""


def is_readable_tree(model: Any, columns: Sequence[ColumnView]) -> bool:
    """Tell whether a model is a fitted tree over numbers and truth values, with few enough leaves to be read."""
    if not isinstance(model, DecisionTreeClassifier) or not hasattr(model, "tree_"):
        return False
    plain = all(each.is_number or each.dtype == bool for each in columns)
    return bool(plain and model.n_outputs_ == 1 and model.get_n_leaves() <= MOST_LEAVES)


def tree_rules(
    tree: Any, columns: Sequence[ColumnView], whole: Sequence[bool], accepting: Any
) -> list[tuple[bool, tuple[LearnedLiteral, ...]]]:
    """Return one list of literals for each region of one decision, and whether it is accepted.

    `columns` are those that the tree was trained on, in its order; `whole` tells which hold whole numbers only, whose
    constants are then whole too. `accepting` maps the class shares of a leaf to the decision.
    """
    reader = _Reader(tree.tree_, columns, whole)
    decided = reader.decisions(accepting)
    return [(accepted, unite(path)) for accepted, path in reader.regions(0, (), decided)]


def as_rules(
    regions: Sequence[tuple[bool, tuple[LearnedLiteral, ...]]], *, accepted: bool, label: str
) -> tuple[LearnedRule, ...]:
    """Return the regions of one decision as rules."""
    return tuple(LearnedRule(path, (), label) for decision, path in regions if decision is accepted)


@dataclass(frozen=True)
class _Reader:
    """Walks the arrays of a fitted tree."""

    tree: Any
    columns: Sequence[ColumnView]
    whole: Sequence[bool]

    def is_leaf(self, node: int) -> bool:
        return bool(self.tree.children_left[node] == self.tree.children_right[node])

    def decisions(self, accepting: Any) -> list[bool | None]:
        """Return for each node the one decision of all leaves below it, or None where they differ."""
        found: list[bool | None] = [None] * self.tree.node_count
        # Children stand after their parents.
        for node in reversed(range(self.tree.node_count)):
            if self.is_leaf(node):
                found[node] = bool(accepting(self.tree.value[node][0]))
            else:
                left = found[self.tree.children_left[node]]
                found[node] = left if left is found[self.tree.children_right[node]] else None
        return found

    def regions(
        self, node: int, path: tuple[LearnedLiteral, ...], decided: Sequence[bool | None]
    ) -> Iterator[tuple[bool, tuple[LearnedLiteral, ...]]]:
        decision = decided[node]
        if decision is not None:
            yield decision, path
            return
        sides = (self.tree.children_left[node], self.tree.children_right[node])
        for child, literals in zip(sides, self.split(node), strict=True):
            if literals is not None:
                yield from self.regions(child, (*path, *literals), decided)

    def split(
        self, node: int
    ) -> tuple[tuple[LearnedLiteral, ...] | None, tuple[LearnedLiteral, ...] | None]:
        """Return the literals that lead left and right; None where nothing goes that way."""
        place = self.tree.feature[node]
        column = self.columns[place]
        limit = float(single_bound(self.tree.threshold[node]))
        if not column.is_number:
            return _split_texts(column, limit)
        missing_left = bool(self.tree.missing_go_to_left[node])
        if isinf(limit):
            return _split_missing(column, missing_left=missing_left, numbers_left=limit > 0)
        bound = float(floor(limit)) if self.whole[place] else limit
        # A missing value passes negated bounds only, so negation says which way it goes.
        relation = Relation.ABOVE if missing_left else Relation.AT_MOST
        plain = LearnedLiteral(column.feature, relation, bound)
        negated = plain.complement()
        return ((negated,), (plain,)) if missing_left else ((plain,), (negated,))


def _split_missing(
    column: ColumnView, *, missing_left: bool, numbers_left: bool
) -> tuple[tuple[LearnedLiteral, ...] | None, tuple[LearnedLiteral, ...] | None]:
    """Split what is missing from what is not, as a tree does with an infinite threshold."""
    if missing_left == numbers_left:
        return ((), None) if numbers_left else (None, ())
    missing = LearnedLiteral(column.feature, Relation.EQUAL, MISSING)
    sides = ((missing.complement(),), (missing,))
    return sides if numbers_left else sides[::-1]


def _split_texts(
    column: ColumnView, limit: float
) -> tuple[tuple[LearnedLiteral, ...] | None, tuple[LearnedLiteral, ...] | None]:
    """Split the truth values of a column, which a tree takes for 0 and 1."""
    left = [text for text, value in column.originals or () if float(value) <= limit]
    right = [text for text, value in column.originals or () if float(value) > limit]
    if not right:
        return (), None
    if not left:
        return None, ()
    literal = LearnedLiteral(column.feature, Relation.EQUAL, left[0])
    return (literal,), (literal.complement(),)
