"""Tests for a missing value that stay right when a feature's domain is widened later.

FOLD-SE writes "is missing" as the text '', which no feature has for a value. No comparison with a missing value holds,
nor the contrary one, and of any value one of the two does: that pair says it without naming the bounds or all values.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from p2c.learn.columns import MISSING
from p2c.rules.syntax import Atom, Comparator, Comparison, Constant, Not, Program, Rule, Variable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p2c.rules.syntax import Literal

PERSON = Variable("X")


def spell_out_missing(program: Program, features: Mapping[str, Mapping[str, Any]]) -> Program:
    """Replace every test for a missing value by a decision, and define the decisions at the end.

    >>> from p2c.rules import parse, render
    >>> asked = parse("risky(X) :- not income(X,'').")
    >>> print(render(spell_out_missing(asked, {"income": {"type": "int", "min": 5, "max": 9}})))
    risky(X) :- not missing_income(X).
    missing_income(X) :- income(X,V), not(V>=5), not(V<5).
    """
    needed: dict[str, Rule] = {}

    def spelled(literal: Literal) -> Literal:
        inner = literal.inner if isinstance(literal, Not) else literal
        if not isinstance(inner, Atom) or inner.arguments[1:] != (Constant(MISSING),):
            return literal
        name = inner.predicate
        head = Atom(f"missing_{name}", (PERSON,))
        needed.setdefault(name, Rule(head, _body(name, features[name])))
        return Not(head) if isinstance(literal, Not) else head

    rules = [replace(rule, body=tuple(map(spelled, rule.body))) for rule in program.rules]
    return Program((*rules, *needed.values()))


def _body(name: str, keys: Mapping[str, Any]) -> tuple[Literal, ...]:
    value = Variable("V")
    number = keys["type"] in ("int", "float")
    constant = Constant(keys["min"] if number else keys["values"][0])
    pair = (Comparator.GE, Comparator.LT) if number else (Comparator.EQ, Comparator.NE)
    tests = tuple(Not(Comparison(value, comparator, constant)) for comparator in pair)
    return (Atom(name, (PERSON, value)), *tests)
