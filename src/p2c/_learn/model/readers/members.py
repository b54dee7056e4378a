"""Put several models that were parsed side by side into one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from p2c._learn.model.parts import Link, Sum, Unreadable
from p2c._learn.model.stages import Stage, dense

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd

    from p2c._learn.model.arrays import Floats
    from p2c._learn.model.blend import Term

MOST_BLENDED = 12
"""Number of scores that a blend may have; each is a margin of the search."""


@dataclass(frozen=True, eq=False)
class Member:
    """A parsed model of one score, with the share of its score in the total.

    Attributes:
        part: The model.
        stage: The stage before it.
        term: A function of the score that never falls; None for the score itself.
    """

    part: Sum
    stage: Stage
    term: Term | None = None


class SideBySide(tuple):  # type: ignore[type-arg]
    """Rows as several stages give them."""

    def toarray(self) -> Any:
        """Return all columns in one array."""
        return np.concatenate([dense(each) for each in self], axis=1)


def mapped(part: Sum, mix: Floats) -> Sum:
    """Return a model whose scores are mixed by a matrix; the link is left alone."""

    def bent(bend: Callable[[Floats], Floats]) -> Callable[[Floats], Floats]:
        return lambda values: np.asarray(bend(values) @ mix)

    grown = float(np.abs(mix).max())

    def sized(size: Callable[[Floats], Floats]) -> Callable[[Floats], Floats]:
        return lambda values: np.asarray(size(values) * grown)

    def ask(rows: Any) -> Floats:
        told = np.asarray(part.ask(rows), dtype=np.float64)
        return np.asarray(told.reshape(-1, part.scores) @ mix)

    return replace(
        part,
        scores=mix.shape[1],
        bias=part.bias @ mix,
        trees=tuple(replace(each, value=each.value @ mix) for each in part.trees),
        terms=tuple(replace(each, values=each.values @ mix) for each in part.terms),
        weights=None if part.weights is None else part.weights @ mix,
        bends={column: bent(bend) for column, bend in part.bends.items()},
        sizes={column: sized(size) for column, size in part.sizes.items()},
        size=part.size * max(grown, 1.0),
        ask=ask,
    )


def blended(
    classes: Sequence[Any], members: Sequence[Member], offset: float, link: Link
) -> tuple[Sum, Stage]:
    """Return the total of members; plain scores add up to a single one.

    Args:
        classes: The two classes.
        members: At least one.
        offset: A constant of the total.
        link: How the total becomes an answer.
    """
    plain = [each for each in members if each.term is None]
    bent = [each for each in members if each.term is not None]
    scores = len(bent) + bool(plain)
    if bent and scores > MOST_BLENDED:
        raise Unreadable(
            f"the model blends {scores} scores; up to {MOST_BLENDED} are parsed",
            f"train at most {MOST_BLENDED} models, or trees alone",
        )
    mixes = np.eye(scores)
    placed = [(each, mixes[[-1]]) for each in plain]
    placed += [(each, mixes[[place]]) for place, each in enumerate(bent)]
    total, stage = side_by_side(
        [mapped(each.part, mix) for each, mix in placed], [each.stage for each, _ in placed]
    )
    total = replace(total, classes=tuple(classes), link=link)
    if not bent:
        return replace(total, bias=total.bias + offset), stage
    terms = [each.term for each in bent if each.term is not None]
    if plain:
        terms.append(lambda score, way: score + offset)
    elif offset:
        first = terms[0]
        terms[0] = lambda score, way: first(score, way) + offset
    return replace(total, blended=tuple(terms)), stage


def side_by_side(parts: Sequence[Sum], stages: Sequence[Stage]) -> tuple[Sum, Stage]:
    """Return the sum of models of as many scores, over the columns of all stages."""
    every = list(dict.fromkeys(stages))
    starts = np.cumsum([0, *(len(each.columns) for each in every)])
    width, scores = int(starts[-1]), parts[0].scores
    at = [int(starts[every.index(stage)]) for stage in stages]
    weights = None
    if any(each.weights is not None for each in parts):
        weights = np.zeros((width, scores))
        for start, part in zip(at, parts, strict=True):
            if part.weights is not None:
                weights[start : start + len(part.weights)] += part.weights
    moved = list(zip(at, parts, strict=True))

    def ask(rows: Any) -> Floats:
        own = rows if len(every) > 1 else [rows]
        told = [part.ask(own[every.index(s)]) for part, s in zip(parts, stages, strict=True)]
        return np.asarray(np.sum(told, axis=0))

    joined = replace(
        parts[0],
        ask=ask,
        bias=np.sum([each.bias for each in parts], axis=0),
        trees=tuple(
            replace(tree, column=np.where(tree.column < 0, tree.column, tree.column + start))
            for start, part in moved
            for tree in part.trees
        ),
        terms=tuple(
            replace(term, columns=tuple(each + start for each in term.columns))
            for start, part in moved
            for term in part.terms
        ),
        weights=weights,
        bends=_together([_shifted(part.bends, start) for start, part in moved]),
        sizes=_together([_shifted(part.sizes, start) for start, part in moved]),
        cuts=_joined([_shifted(part.cuts, start) for start, part in moved]),
        precision=max(each.precision for each in parts),
        size=sum(each.size for each in parts),
    )
    if len(every) == 1:
        return joined, every[0]

    def run(frame: pd.DataFrame) -> SideBySide:
        return SideBySide(each.run(frame) for each in every)

    columns = tuple(column for each in every for column in each.columns)
    is_first = all(each.is_first for each in every)
    return joined, Stage(columns, run, every[0].bench, is_first=is_first)


def _shifted(by_column: Any, start: int) -> dict[int, Any]:
    return {column + start: each for column, each in by_column.items()}


def _together(groups: Sequence[dict[int, Any]]) -> dict[int, Any]:
    """Return functions of columns, added where several are of one."""
    by_column: dict[int, list[Any]] = {}
    for each in groups:
        for column, function in each.items():
            by_column.setdefault(column, []).append(function)
    return {column: _added(functions) for column, functions in by_column.items()}


def _added(functions: Sequence[Callable[[Floats], Floats]]) -> Callable[[Floats], Floats]:
    return lambda values: np.asarray(np.sum([each(values) for each in functions], axis=0))


def _joined(groups: Sequence[dict[int, Floats]]) -> dict[int, Floats]:
    by_column: dict[int, list[Floats]] = {}
    for each in groups:
        for column, cuts in each.items():
            by_column.setdefault(column, []).append(np.asarray(cuts, dtype=np.float64))
    return {column: np.concatenate(cuts) for column, cuts in by_column.items()}
