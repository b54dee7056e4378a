"""Tests for a missing value, as the rule language can say them, right also when a domain is widened later.

FOLD-SE sees a missing value as the empty text and may ask for it: `income(X,'')`. No feature has this value, so the
question becomes one for a decision of its own. No comparison with a missing value holds, nor the contrary one, and of
any value one of the two does: that pair says it without naming the bounds or all values.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from p2c.learn.foldse.columns import MISSING
from p2c.rules.syntax import Atom, Comparator, Comparison, Constant, Not, Program, Rule, Variable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p2c.rules.syntax import Literal

PERSON = Variable("X")


def name_missing(
    program: Program, features: Mapping[str, Mapping[str, Any]], *, prefix: str = "missing"
) -> Program:
    r"""Replace every test for a missing value by a decision, and define the decisions at the end.

    >>> from p2c.rules import parse, render
    >>> asked = parse("risky(X) :- not income(X,''), job(X,'').")
    >>> job = {"type": "category", "values": ["clerk", "cook"]}
    >>> print(render(name_missing(asked, {"income": {"type": "int", "min": 5, "max": 9}, "job": job})))
    risky(X) :- not missing_income(X), missing_job(X).
    missing_income(X) :- income(X,V), not(V>=5), not(V<5).
    missing_job(X) :- job(X,V), not(V = 'clerk'), not(V \= 'clerk').
    """
    needed: dict[str, Rule] = {}

    def named(literal: Literal) -> Literal:
        inner = literal.inner if isinstance(literal, Not) else literal
        if not isinstance(inner, Atom) or inner.arguments[1:] != (Constant(MISSING),):
            return literal
        name = inner.predicate
        head = Atom(f"{prefix}_{name}", (PERSON,))
        needed.setdefault(name, Rule(head, _neither(name, features[name])))
        return Not(head) if isinstance(literal, Not) else head

    rules = [replace(rule, body=tuple(map(named, rule.body))) for rule in program.rules]
    return Program((*rules, *needed.values()))


def _neither(name: str, keys: Mapping[str, Any]) -> tuple[Literal, ...]:
    """Return a body that holds where a comparison fails and so does the contrary one."""
    value = Variable("V")
    number = keys["type"] in ("int", "float")
    constant = Constant(keys["min"] if number else keys["values"][0])
    pair = (Comparator.GE, Comparator.LT) if number else (Comparator.EQ, Comparator.NE)
    tests = tuple(Not(Comparison(value, comparator, constant)) for comparator in pair)
    return (Atom(name, (PERSON, value)), *tests)
