"""The canonical JSON form of a problem and a parsed model for the checker.

The form has no rule text to parse and no variables: bodies are lists of tests on features and calls of decisions. Two
parts are trusted: the rule parser, which made these tests, and the model reader, which made the leaves and lines.
"""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from p2c._rules.render import render_rule
from p2c._rules.theory import ACCEPTED, Call, Relation, Test
from p2c._spec.feature import Grid, Points
from p2c.errors import UncertifiedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from p2c._learn.model.additive import AdditiveScore, ColumnCells
    from p2c._rules.theory import Clause, Condition, Decision, Theory
    from p2c._spec.feature import Feature

FORMAT = "p2c-problem/1"


def canonical(theory: Theory) -> dict[str, Any]:
    """Return a problem in canonical form.

    Args:
        theory: The bound rules with the features and keys of one question.

    Raises:
        UncertifiedError: A black-box model decides, or a parsed one has a part that the form lacks.
    """
    decisions = [each for each in theory.called(theory.bodies) if each[0] != ACCEPTED]
    if theory.computed:
        raise UncertifiedError("no certificate: equations have no canonical form yet")
    return {
        "format": FORMAT,
        "name": theory.name,
        "norm": theory.norm.value,
        "minimize": theory.minimize.value,
        "exceptions": theory.exceptions.value,
        "effects": theory.effects.value,
        "features": [_feature(each) for each in theory.features],
        "decisions": [
            {"name": _called(decision), "rules": [_body(each.body) for each in clauses]}
            for decision, clauses in decisions
        ],
        "causes": [
            {
                "feature": name,
                "law": theory.feature[name].law.value,
                "rules": [
                    {"head": _body(each.head), "body": _body(each.body), "text": _text(each)}
                    for each in clauses
                ],
            }
            for name, clauses in theory.causes
        ],
        "constraints": [
            {"body": _body(each.body), "text": _text(each)} for each in theory.constraints
        ],
        "goal": _body(theory.goal),
        "model": _model(theory),
    }


def _text(clause: Clause) -> str:
    return render_rule(clause.rule)


def _feature(feature: Feature) -> dict[str, Any]:
    domain = feature.domain
    grid = isinstance(domain, Grid)
    moves = feature.moves_from
    return {
        "name": feature.name,
        "type": feature.kind.value,
        "domain": {"start": domain.start, "stop": domain.stop, "step": domain.step}
        if isinstance(domain, Grid)
        else {"values": list(domain.values)},
        "action": feature.action.value,
        "weight": feature.weight,
        "divisor": _fraction(feature.divisor),
        **({} if moves is None or grid else {"moves": {str(k): list(v) for k, v in moves.items()}}),
        **_restriction(feature),
    }


def _restriction(feature: Feature) -> dict[str, Any]:
    """Return one person's restrictions and the problem's own action.

    The ends of changes are ranges; effects follow the problem's own action.
    """
    restriction: dict[str, Any] = {}
    match feature.targets:
        case Grid(start, stop, _):
            restriction["targets"] = [[start, stop]]
        case Points(values):
            restriction["targets"] = [[value, value] for value in values]
    if feature.effect_action is not None:
        restriction["effect_action"] = feature.effect_action.value
    return restriction


def _fraction(number: Any) -> int | str:
    whole = number.denominator == 1
    return int(number) if whole else f"{number.numerator}/{number.denominator}"


def _called(decision: Decision) -> str | None:
    if decision == ACCEPTED:
        return None
    return f"{decision.predicate}({', '.join(map(repr, decision.arguments))})"


def _body(conditions: Iterable[Condition]) -> list[list[Any]]:
    return [_condition(each) for each in conditions]


def _condition(condition: Condition) -> list[Any]:
    match condition:
        case Test(name, comparator, constant, negated):
            return ["test", name, comparator.value, constant, negated]
        case Call(decision, negated):
            return ["call", _called(decision), negated]
        case Relation():
            raise UncertifiedError(
                "no certificate: arithmetic comparisons have no canonical form yet"
            )


def _model(theory: Theory) -> dict[str, Any] | None:
    if theory.model is None:
        return None
    score: AdditiveScore | None = getattr(theory.model, "score", None)
    if score is None:
        raise UncertifiedError("the model is a black box: nothing about it can be certified")
    if score.blend is not None:
        raise UncertifiedError("no certificate: a blend of scores has no canonical form yet")
    slopes = [getattr(line, "slope", None) for line in score.lines]
    lines = [
        {"axis": line.axis, "slope": None if slope is None else _floats(slope)}
        for line, slope in zip(score.lines, slopes, strict=True)
    ]
    return {
        "axes": [_axis(each) for each in score.axes],
        "bias": _floats(score.bias),
        "parts": [*_tables(score), *_trees(score)],
        "lines": lines,
        "accepted_from": _floats(np.broadcast_to(score.accepted_from, score.bias.shape)),
        "refused_below": _floats(np.broadcast_to(score.refused_below, score.bias.shape)),
        "rounding": float(score.rounding),
        "magnitude": float(score.magnitude),
    }


def _floats(values: Any) -> list[float]:
    most = sys.float_info.max
    numbers = [float(each) for each in np.asarray(values, dtype=np.float64).ravel()]
    if any(math.isnan(each) for each in numbers):
        raise UncertifiedError("the model has a value that is not a number")
    return [min(max(each, -most), most) for each in numbers]


def _axis(axis: ColumnCells) -> dict[str, Any]:
    return {
        "feature": axis.feature,
        "size": int(axis.size),
        "uppers": None if axis.uppers is None else _floats(axis.uppers),
        "places": {name: int(place) for name, place in axis.places.items()},
        "missing": None if axis.missing is None else int(axis.missing),
        "whole": bool(axis.whole),
    }


Leaf = list[Any]


def _tables(score: AdditiveScore) -> list[list[Leaf]]:
    parts = []
    for table in score.tables:
        sizes = table.values.shape[: len(table.axes)]
        parts.append(
            [
                [
                    _floats(table.values[cells]),
                    [
                        [int(axis), [[int(cell), int(cell)]]]
                        for axis, cell in zip(table.axes, cells, strict=True)
                    ],
                ]
                for cells in np.ndindex(*sizes)
            ]
        )
    return parts


def _trees(score: AdditiveScore) -> list[list[Leaf]]:
    trees = score.trees
    parts = []
    ranges: dict[tuple[int, int], list[list[int]]] = {}
    for axis, number in {(a, int(n)) for row in trees.leaf_masks for a, n in enumerate(row) if n}:
        ranges[axis, number] = _ranges(trees.masks[axis][number])
    for first, last in zip(trees.starts[:-1], trees.starts[1:], strict=True):
        part = []
        for leaf in range(int(first), int(last)):
            tests = [
                [axis, ranges[axis, int(number)]]
                for axis, number in enumerate(trees.leaf_masks[leaf])
                if number
            ]
            if all(cells for _, cells in tests):
                part.append([_floats(trees.leaf_values[leaf]), tests])
        parts.append(part)
    return parts


def _ranges(mask: Sequence[bool]) -> list[list[int]]:
    """Return the cells of a mask as ranges."""
    cells = [int(each) for each in np.flatnonzero(np.asarray(mask))]
    ranges: list[list[int]] = []
    for cell in cells:
        if ranges and ranges[-1][1] == cell - 1:
            ranges[-1][1] = cell
        else:
            ranges.append([cell, cell])
    return ranges
