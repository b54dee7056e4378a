"""Tests for a missing value, as the rule language can say them.

FOLD-SE sees a missing value as the empty string and may ask for it: `income(X,'')`. No feature has this value, so the
question becomes one for a decision of its own, which holds where every value of the feature fails.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from p2c.learn.columns import MISSING
from p2c.rules.syntax import (
    Atom,
    Comparator,
    Comparison,
    Constant,
    Literal,
    Not,
    Program,
    Rule,
    Variable,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

PERSON = Variable("X")


def name_missing(
    program: Program, features: Mapping[str, Mapping[str, Any]], *, prefix: str = "missing"
) -> Program:
    """Replace every test for a missing value by a decision, and define the decisions at the end.

    >>> from p2c.rules import parse, render
    >>> asked = parse("risky(X) :- not job(X,'').")
    >>> print(render(name_missing(asked, {"job": {"type": "category", "values": ["clerk", "cook"]}})))
    risky(X) :- not missing_job(X).
    missing_job(X) :- not job(X,'clerk'), not job(X,'cook').
    """
    found: dict[str, Atom] = {}

    def renamed(literal: Literal) -> Literal:
        if isinstance(literal, Not):
            inner = renamed(literal.inner)
            assert not isinstance(inner, Not)
            return replace(literal, inner=inner)
        if isinstance(literal, Atom) and literal.arguments[1:] == (Constant(MISSING),):
            name = literal.predicate
            return found.setdefault(name, Atom(f"{prefix}_{name}", (PERSON,)))
        return literal

    rules = [replace(rule, body=tuple(map(renamed, rule.body))) for rule in program.rules]
    defined = [Rule(atom, _all_fail(name, features[name])) for name, atom in found.items()]
    return Program((*rules, *defined))


def _all_fail(name: str, keys: Mapping[str, Any]) -> tuple[Literal, ...]:
    if keys["type"] in ("int", "float"):
        variable = Variable("N")
        lowest = Comparison(variable, Comparator.GE, Constant(keys["min"]))
        return Atom(name, (PERSON, variable)), Not(lowest)
    return tuple(Not(Atom(name, (PERSON, Constant(value)))) for value in keys["values"])
