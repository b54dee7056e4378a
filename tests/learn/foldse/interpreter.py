"""What a printed program says of a row, straight from its syntax tree: the text must mean what the model predicts."""

from __future__ import annotations

from typing import Any

from p2c._rules.syntax import (
    Atom,
    Comparator,
    Comparison,
    Constant,
    Literal,
    Not,
    Program,
    Variable,
)

Row = dict[str, Any]


def first_label(program: Program, row: Row, *, default: str) -> str:
    """Return what the first label rule that holds concludes."""
    for rule in program.rules:
        assert rule.head is not None
        if rule.head.predicate == "label" and body_holds(program, rule.body, row):
            value = rule.head.arguments[1]
            assert isinstance(value, Constant)
            return str(value.value)
    return default


def body_holds(program: Program, body: tuple[Literal, ...], row: Row) -> bool:
    bound: Row = {}
    for literal in body:
        if isinstance(literal, Atom) and isinstance(literal.arguments[1], Variable):
            bound[literal.arguments[1].name] = row[literal.predicate]
        elif not literal_holds(program, literal, row, bound):
            return False
    return True


def literal_holds(program: Program, literal: Literal, row: Row, bound: Row) -> bool:
    match literal:
        case Not(inner):
            return not literal_holds(program, inner, row, bound)
        case Comparison(Variable(name), comparator, Constant(wanted)):
            value = bound[name]
            if isinstance(value, str):
                return False
            assert not isinstance(wanted, str)
            return bool(value <= wanted if comparator is Comparator.LE else value > wanted)
        case Atom(predicate, (_, Constant("True"))) if predicate.startswith("ab"):
            rules = [
                each for each in program.rules if each.head and each.head.predicate == predicate
            ]
            return any(body_holds(program, rule.body, row) for rule in rules)
        case Atom(predicate, (_, Constant(wanted))):
            return bool(row[predicate] == wanted)
        case _:
            raise AssertionError(f"FOLD-SE never prints {literal}")
