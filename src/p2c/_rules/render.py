"""Syntax trees in, rule text out, in the one canonical form; `parse` undoes it.

>>> from p2c._rules.parse import parse
>>> render(parse("reject( P ):-not( age(P,N) ).   % a comment"))
'reject(P) :- not age(P,N).'
"""

from __future__ import annotations

import re

from p2c._rules.syntax import (
    Arithmetic,
    Atom,
    Comparator,
    Comparison,
    Constant,
    Literal,
    Not,
    Program,
    Rule,
    Term,
    Variable,
)
from p2c._spec.expression import text_of

PLAIN_NAME = re.compile(r"[^\W\dA-Z_]\w*")
SPACED = {Comparator.EQ, Comparator.NE}


def render(program: Program) -> str:
    """Write a program, one rule a line."""
    return "\n".join(render_rule(rule) for rule in program.rules)


def render_rule(rule: Rule) -> str:
    """Write one rule with its full stop."""
    body = render_body(rule.body)
    if rule.head is None:
        return f":- {body}."
    head = render_atom(rule.head)
    return f"{head} :- {body}." if rule.body else f"{head}."


def render_body(body: tuple[Literal, ...]) -> str:
    """Write the literals of a body or a query, separated by commas."""
    return ", ".join(render_literal(literal) for literal in body)


def render_literal(literal: Literal) -> str:
    """Write one literal; a negated comparison keeps its parentheses, as FOLD-SE prints it."""
    match literal:
        case Not(inner):
            shown = render_literal(inner)
            return f"not {shown}" if isinstance(inner, Atom) else f"not({shown})"
        case Arithmetic(expression, comparator, other):
            return f"{text_of(expression)} {comparator.value} {text_of(other)}"
        case Comparison(left, comparator, right):
            sign = f" {comparator.value} " if comparator in SPACED else comparator.value
            return f"{render_term(left)}{sign}{render_term(right)}"
        case Atom():
            return render_atom(literal)


def render_atom(atom: Atom) -> str:
    """Write a predicate with its arguments."""
    plain = PLAIN_NAME.fullmatch(atom.predicate) and atom.predicate != "not"
    name = atom.predicate if plain else quote(atom.predicate)
    return f"{name}({','.join(render_term(term) for term in atom.arguments)})"


def render_term(term: Term) -> str:
    """Write a variable as it is, a number as Python does, a name always in quotes."""
    match term:
        case Variable(name):
            return name
        case Constant(str() as text):
            return quote(text)
        case Constant(number):
            return repr(number)


def quote(text: str) -> str:
    """Write a name in single quotes."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    for character, escape in (("\n", "\\n"), ("\r", "\\r"), ("\t", "\\t")):
        escaped = escaped.replace(character, escape)
    return f"'{escaped}'"
