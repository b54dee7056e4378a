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
from p2c._spec.expression import ONE_OPERAND, Apply, Choice, Compare, Junction, Member, Name, Number
from p2c._spec.feature import Grid, Points, exact
from p2c._spec.row import omitted_in
from p2c.errors import UncertifiedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from fractions import Fraction

    from p2c._learn.model.additive import AdditiveScore, ColumnCells, Table
    from p2c._learn.model.arrays import Mask
    from p2c._learn.model.trees import Trees
    from p2c._rules.theory import Clause, Condition, Decision, Theory
    from p2c._spec.computed import Equation
    from p2c._spec.expression import Condition as Chosen
    from p2c._spec.expression import Expression
    from p2c._spec.feature import Feature, Value

FORMAT = "p2c-problem/1"


def canonical(theory: Theory) -> dict[str, Any]:
    """Return a problem in canonical form.

    Args:
        theory: The bound rules with the features and keys of one question.

    Raises:
        UncertifiedError: A black-box model decides, or a parsed one has a part that the form lacks.
    """
    decisions = [each for each in theory.called(theory.bodies) if each[0] != ACCEPTED]
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
        "equations": [
            _equation(each.name, each.equation) for each in theory.computed if each.equation
        ],
        "constraints": [
            {"body": _body(each.body), "text": _text(each)} for each in theory.constraints
        ],
        "goal": _body(theory.goal),
        "model": _model(theory),
    }


def _text(clause: Clause) -> str:
    return render_rule(clause.rule)


def canonical_row(state: Mapping[str, Value]) -> dict[str, Value]:
    """Return a person's row without the computed features that it omits."""
    omitted = omitted_in(state)
    return {name: value for name, value in state.items() if name not in omitted}


def _feature(feature: Feature) -> dict[str, Any]:
    plain: dict[str, Any] = {"name": feature.name, "type": feature.kind.value}
    plain["action"] = feature.action.value
    if feature.equation is not None:
        return plain | {"domain": None, "weight": 0, "divisor": 1}
    domain, moves = feature.domain, feature.moves_from
    listed: dict[str, Any] = {"values": list(domain.values)} if not isinstance(domain, Grid) else {}
    if isinstance(domain, Grid):
        listed, moves = {"start": domain.start, "stop": domain.stop, "step": domain.step}, None
    return {
        **plain,
        "domain": listed,
        "weight": feature.weight,
        "divisor": _fraction(feature.divisor),
        **({} if moves is None else {"moves": {str(k): list(v) for k, v in moves.items()}}),
        **_restriction(feature),
    }


def _equation(name: str, equation: Equation) -> dict[str, Any]:
    ends = {"min": equation.low, "max": equation.high, "step": equation.step}
    return {
        "feature": name,
        "text": equation.text,
        "expression": _expression(equation.expression),
        "residual": "add" if equation.keeps_residual else "none",
        **{key: None if end is None else _decimal(end) for key, end in ends.items()},
    }


def _expression(expression: Expression) -> Any:
    match expression:
        case Number(value):
            return _decimal(value)
        case Name(name):
            return name
        case Choice(condition, then, otherwise):
            return ["if", _chosen(condition), _expression(then), _expression(otherwise)]
        case Apply(function, operands):
            first, *others = map(_expression, operands)
            if function == "neg" or function in ONE_OPERAND:
                return [function, first]
            for each in others:
                first = [function, first, each]
            return first


def _chosen(condition: Chosen) -> list[Any]:
    """Return the condition of an `if`; a listed feature has one of several values."""
    match condition:
        case Member(name, values):
            return ["any", *(["test", name, "=", each] for each in sorted(values, key=str))]
        case Compare(name, comparator, constant):
            assert not isinstance(constant, str)
            sign = {"!=": "\\=", "<=": "=<"}.get(comparator, comparator)
            return ["test", name, sign, _decimal(constant)]
        case Junction(word, parts):
            return [{"and": "all", "or": "any"}.get(word, word), *map(_chosen, parts)]


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


def _decimal(number: Fraction) -> int | float:
    """Return a number as JSON holds it exactly."""
    if number.denominator == 1:
        return int(number)
    if exact(float(number)) != number:
        raise UncertifiedError(f"no certificate: {number} has too many digits")
    return float(number)


def _called(decision: Decision) -> str | None:
    if decision == ACCEPTED:
        return None
    return f"{decision.predicate}({', '.join(map(repr, decision.arguments))})"


def _body(conditions: Iterable[Condition]) -> list[list[Any]]:
    return [_condition(each) for each in conditions]


def _condition(condition: Condition) -> list[Any]:
    match condition:
        case Test(name, comparator, constant):
            plain: list[Any] = ["test", name, comparator.value, constant]
        case Call(decision):
            plain = ["call", _called(decision)]
        case Relation(left, comparator, right):
            plain = ["compare", _expression(left), comparator.value, _expression(right)]
    return ["not", plain] if condition.negated else plain


def _model(theory: Theory) -> dict[str, Any] | None:
    if theory.model is None:
        return None
    score: AdditiveScore | None = getattr(theory.model, "score", None)
    if score is None:
        raise UncertifiedError("the model is a black box: nothing about it can be certified")
    if score.blend is not None:
        raise UncertifiedError("no certificate: a blend of scores has no canonical form yet")
    planted = (_tree(score.trees, int(root)) for root in score.trees.roots)
    slopes = [getattr(line, "slope", None) for line in score.lines]
    lines = [
        {"axis": line.axis, "slope": None if slope is None else _floats(slope)}
        for line, slope in zip(score.lines, slopes, strict=True)
    ]
    return {
        "axes": [_axis(each) for each in score.axes],
        "bias": _floats(score.bias),
        "parts": [*(_table(each, _whole(each)) for each in score.tables), *planted],
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


def _table(table: Table, cells: dict[int, tuple[int, int]]) -> Any:
    """Return the cells of a table as a tree of halves."""
    for axis, (low, high) in cells.items():
        if low < high:
            middle = (low + high) // 2
            halves = ({**cells, axis: half} for half in ((low, middle), (middle + 1, high)))
            return [axis, [[low, middle]], *(_table(table, each) for each in halves)]
    return _floats(table.values[tuple(low for low, _ in cells.values())])


def _whole(table: Table) -> dict[int, tuple[int, int]]:
    sizes = zip(table.axes, table.values.shape, strict=False)
    return {int(axis): (0, size - 1) for axis, size in sizes}


def _tree(trees: Trees, node: int) -> Any:
    first, other = int(trees.left[node]), int(trees.right[node])
    if first == node:
        return _floats(trees.value[node])
    axis, test = int(trees.axis[node]), int(trees.test[node])
    size = trees.masks[axis].shape[1]
    cells = _ranges(trees.goes_left[test : test + size])
    return [axis, cells, _tree(trees, first), _tree(trees, other)]


def _ranges(mask: Mask) -> list[list[int]]:
    """Return the cells of a mask as ranges."""
    cells = [int(each) for each in np.flatnonzero(np.asarray(mask))]
    ranges: list[list[int]] = []
    for cell in cells:
        if ranges and ranges[-1][1] == cell - 1:
            ranges[-1][1] = cell
        else:
            ranges.append([cell, cell])
    return ranges
