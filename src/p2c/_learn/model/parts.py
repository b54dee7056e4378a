"""What a reader finds in a model: its parts over the columns that the model itself sees, before pipelines are looked through.

A reader turns every comparison into `value <= bound` on doubles, whatever the model's own precision and side are, so that
nothing after it has to know the library.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from p2c._learn.model.arrays import Floats, Ints, Mask
    from p2c._learn.model.blend import Term as Blended


DOUBLE = float(np.finfo(np.float64).eps)
LOGISTIC_FUZZ = DOUBLE
SINGLE = float(np.finfo(np.float32).eps)
LEAF = -1


class Unreadable(Exception):
    """Say in one sentence why a model is not parsed; it never leaves the reading.

    Attributes:
        cure: The least change that makes the model one that is parsed.
    """

    def __init__(self, reason: str, cure: str = "") -> None:
        super().__init__(reason)
        self.cure = cure


@dataclass(frozen=True, eq=False)
class Tree:
    """A tree as arrays: node `n` sends a row left where column `column[n]` is at most `bound[n]`, or where `chosen[n]` says so.

    The column of a leaf is `LEAF`. `missing_left` sends missing values. `chosen` maps a node to a test of its own on the
    values of the column, for categories; missing values are its affair too. `value[n]` has an entry for each score.
    """

    column: Ints
    bound: Floats
    left: Ints
    right: Ints
    missing_left: Mask
    value: Floats
    chosen: Mapping[int, Callable[[Any], Mask]] = field(default_factory=dict)
    zero_is_missing: bool = False
    """Whether the model does not see zeros, as XGBoost does not in a sparse matrix."""

    @classmethod
    def nested(
        cls,
        root: Any,
        below: Callable[[Any], tuple[Any, Any] | None],
        asked: Callable[[Any, int], tuple[int, float, bool]],
        value: Callable[[Any], Any],
        chosen: Mapping[int, Callable[[Any], Mask]] | None = None,
    ) -> Tree:
        """Return a tree of nodes inside nodes.

        `below` gives the two nodes that one leads to, None for a leaf; `asked` what it asks, being the node at a place: the
        column, the bound, and whether missing values go left; `value` the scores of a leaf.
        """
        rows: list[tuple[int, float, bool]] = []
        children: list[tuple[int, int]] = []
        values: list[Any] = []

        def add(node: Any) -> int:
            place, sides = len(rows), below(node)
            rows.append((LEAF, 0.0, False) if sides is None else asked(node, place))
            children.append((place, place))
            values.append(value(node) if sides is None else None)
            if sides is not None:
                children[place] = (add(sides[0]), add(sides[1]))
            return place

        add(root)
        column, bound, missing = zip(*rows, strict=True)
        left, right = (np.array(each, dtype=np.int64) for each in zip(*children, strict=True))
        nothing = np.zeros_like(next(each for each in values if each is not None))
        return cls(
            np.array(column, dtype=np.int64),
            np.array(bound, dtype=np.float64),
            left,
            right,
            np.array(missing, dtype=bool),
            np.array([nothing if each is None else each for each in values]),
            chosen or {},
        )

    def goes_left(self, node: int, values: Any) -> Mask:
        """Return which values of the node's column are sent left."""
        if node in self.chosen:
            return self.chosen[node](values)
        numbers = np.asarray(values, dtype=np.float64)
        gone = np.isnan(numbers) | (numbers == 0) if self.zero_is_missing else np.isnan(numbers)
        left = np.where(gone, self.missing_left[node], numbers <= self.bound[node])
        return np.asarray(left, dtype=bool)


@dataclass(frozen=True, eq=False)
class Term:
    """A table over the bins of one or two columns: `values[bin, …, score]`, with a function from values to bins a column."""

    columns: tuple[int, ...]
    bins: tuple[Callable[[Any], Ints], ...]
    values: Floats


@dataclass(frozen=True, eq=False)
class Link:
    """How scores become an answer.

    `share` gives the probability of a class from its own score alone, of the second class where there is one score; None
    where there is none, or where it takes the other scores too. `second` tells from a single score whether the second
    class is predicted. Of several scores the greatest wins, the first of equals. `fuzz` is how far probabilities may be
    off by rounding.
    """

    share: Callable[[Floats], Floats] | None = None
    second: Callable[[Floats], Mask] = lambda score: score > 0
    fuzz: float = 0.0
    slope: float | None = None
    """The probability for each unit of a score; None where it is no line through zero."""

    @classmethod
    def logistic(cls, scores: int) -> Link:
        """Return the link of a model whose one score is the logarithm of the odds; several have no share of their own."""
        return cls(logistic, fuzz=LOGISTIC_FUZZ) if scores == 1 else cls()


@dataclass(frozen=True, eq=False)
class Sum:
    """A model as a sum over its columns, with a score for each class, or a single one for the second of two.

    `cuts` names for each column further bounds at which trees and terms change. `ask` gives the model's own scores for what it
    is given, to compare with.
    """

    classes: tuple[Any, ...]
    scores: int
    link: Link
    ask: Callable[[Any], Any]
    bias: Floats
    trees: tuple[Tree, ...] = ()
    terms: tuple[Term, ...] = ()
    weights: Floats | None = None
    bends: Mapping[int, Callable[[Floats], Floats]] = field(default_factory=dict)
    """Scores that a column of numbers adds along a curve, by number."""
    sizes: Mapping[int, Callable[[Floats], Floats]] = field(default_factory=dict)
    """How large the terms of each such column are, which may cancel in the scores."""
    precision: float = DOUBLE
    cuts: Mapping[int, Floats] = field(default_factory=dict)
    blended: tuple[Blended, ...] = ()
    """The share of each score in the total behind the link; empty where scores have none."""
    size: float = 0.0
    """How large sums inside the model are that cancel in bias and weights."""

    def bounds(self) -> dict[int, Floats]:
        """Return for each column every bound at which the sum can change."""
        found: dict[int, list[Floats]] = {}
        for tree in self.trees:
            inner = tree.column >= 0
            if tree.chosen:
                inner = inner.copy()
                inner[list(tree.chosen)] = False
            for column in np.unique(tree.column[inner]):
                found.setdefault(int(column), []).append(
                    tree.bound[inner & (tree.column == column)]
                )
        for column, cuts in self.cuts.items():
            found.setdefault(column, []).append(np.asarray(cuts, dtype=np.float64))
        return {column: np.unique(np.concatenate(each)) for column, each in found.items()}


def classes_and_scores(model: Any) -> tuple[tuple[Any, ...], int]:
    """Return the classes of a model, and how many scores a boosted one has: one for the second of two, else one each."""
    classes = tuple(np.asarray(model.classes_).tolist())
    return classes, 1 if len(classes) == 2 else len(classes)


def logistic(score: Floats) -> Floats:
    """Return the logistic function of scores, without overflow.

    >>> logistic(np.array([0.0, -1000.0])).tolist()
    [0.5, 0.0]
    """
    small = np.exp(-np.abs(score))
    return np.where(score >= 0, 1 / (1 + small), small / (1 + small))


def coded_test(
    members: Collection[int],
    codes: Mapping[str, int] | None,
    *,
    inside: bool,
    missing: bool,
    truncated: bool = False,
) -> Callable[[Any], Mask]:
    """Return the test of a node that sends its members left where `inside`, else right, and missing values as told.

    `codes` gives the number that stands for each category; without them the values are such numbers themselves. A value
    without a number counts as missing, and so does one below zero, but where it is `truncated` to zero first.

    >>> coded_test([1], {"a": 0, "b": 1}, inside=True, missing=False)(["a", "b", None]).tolist()
    [False, True, False]
    """
    chosen = set(members)

    def test(values: Any) -> Mask:
        return np.array(
            [
                missing if code is None else (code in chosen) == inside
                for code in map(code_of, values)
            ],
            dtype=bool,
        )

    def code_of(value: Any) -> int | None:
        if value is None or pd.isna(value):
            return None
        if codes is not None:
            # Among other numbers, a whole one that is a category comes as 5.0.
            whole = isinstance(value, float) and value.is_integer()
            return codes.get(str(value), codes.get(str(int(value))) if whole else None)
        return None if (int(value) if truncated else value) < 0 else int(value)

    return test


def listed_test(left: Mapping[Any, bool]) -> Callable[[Any], Mask]:
    """Return a test by a list of values; None stands for a missing one."""

    def test(values: Any) -> Mask:
        return np.array([left[None if pd.isna(value) else value] for value in values], dtype=bool)

    return test
