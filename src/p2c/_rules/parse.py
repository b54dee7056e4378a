"""Rule text in, syntax trees out; the grammar itself is in `grammar.lark`, and its tokens are made here.

>>> parse("reject(X) :- age(X,N), not(N=<27.0).").rules[0].head.predicate
'reject'
"""

from __future__ import annotations

import math
import re
import string
from functools import cache, lru_cache
from importlib import resources
from itertools import pairwise
from typing import NamedTuple

from lark import Lark, Token, Transformer
from lark.exceptions import UnexpectedCharacters, UnexpectedToken

from p2c._rules.mistakes import unexpected_characters, unexpected_token
from p2c._rules.render import render_atom
from p2c._rules.syntax import (
    NOWHERE,
    Arithmetic,
    Atom,
    Comparator,
    Comparison,
    Constant,
    Literal,
    Not,
    Position,
    Program,
    Rule,
    Term,
    Variable,
)
from p2c._spec.expression import CALLED
from p2c._spec.expression_text import ExpressionError, read_relation
from p2c.errors import LARGEST, RuleError, shorten

VARIABLE = r"[A-Z_]\w*"
NAME = r"(?!not\b)[^\W\dA-Z_]\w*"
NUMBER = r"[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
QUOTED = r"'(?:[^'\\\n]|''|\\[^\n])*'"
COMPARATOR = r"(?:=<|>=|\\=|<|>|=)"
TERM = rf"(?:{VARIABLE}|{NUMBER}|{NAME}|{QUOTED})"
PREDICATE = rf"(?:{NAME}|{QUOTED})"
ATOM = rf"{PREDICATE}[ \t]*\([ \t]*{TERM}(?:[ \t]*,[ \t]*{TERM})*[ \t]*\)"
PLAIN = rf"(?:{ATOM}|{TERM}\s*{COMPARATOR}\s*{TERM})"
ANY_LITERAL = rf"(?:{PLAIN}|not\b\s*{PLAIN}|not\b\s*\(\s*{PLAIN}\s*\))"
WHOLE_BODY = rf":-\s*{ANY_LITERAL}(?:\s*,\s*{ANY_LITERAL})*\s*\.(?![0-9])"

UNSIGNED = r"[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
DEEPEST = 12
"""How many parentheses may stand inside each other in a comparison of a body."""
GROUP = r"\([^()]*\)"
for _ in range(DEEPEST):
    GROUP = rf"\((?:[^()]|{GROUP})*\)"
OPERATOR = r"[-+*\/]"
PIECE = rf"(?:[+-]\s*)*(?:(?:{'|'.join(CALLED)}|if)?\s*{GROUP}|{VARIABLE}|{UNSIGNED})"
SIDE = rf"{PIECE}(?:\s*{OPERATOR}\s*{PIECE})*"
PLAIN_END = rf"(?!\w|\.[0-9]|\s*(?:{OPERATOR}|\())"
ARITHMETIC = rf"(?!{TERM}\s*{COMPARATOR}\s*{TERM}{PLAIN_END}){SIDE}\s*{COMPARATOR}\s*{SIDE}"

TOKENS = {
    "ARITHMETIC.5": ARITHMETIC,
    "WHOLE_BODY.4": WHOLE_BODY,
    "ATOM.3": ATOM,
    "PREDICATE.2": rf"{PREDICATE}\s*\(",
    "TERM": TERM,
    "COMPARATOR": COMPARATOR,
}
"""The tokens that the grammar names, with their precedence where several fit.

A body without fault or comment is one token from `:-` to the full stop, and an atom on one line is one: a token less is
time less. Every other body is read piece by piece, so that its fault is found where it stands. They are put together here
and not in the grammar: of tokens made of tokens, Lark measures every alternative, which takes it as long as all the rest.
"""


def parse(text: str) -> Program:
    """Read a whole program."""
    program = _read(text, start="program")
    assert isinstance(program, Program)
    return program


def parse_query(text: str) -> tuple[Literal, ...]:
    """Read a goal such as `not reject_loan(X)`; `?-` and the full stop may be left out."""
    body = _read(text, start="query")
    assert isinstance(body, tuple)
    return body


def _read(text: str, *, start: str) -> object:
    try:
        return _parser().parse(text, start=start)
    except UnexpectedToken as error:
        raise unexpected_token(error, text, goal=start == "query") from None
    except UnexpectedCharacters as error:
        raise unexpected_characters(error, text) from None
    except _BadToken as error:
        line, column = error.at
        raise RuleError(error.problem, line=line, column=column, source=text) from None


@cache
def _parser() -> Lark:
    grammar = resources.files("p2c._rules").joinpath("grammar.lark").read_text(encoding="utf-8")
    tokens = "\n".join(f"{name}: /{pattern}/" for name, pattern in TOKENS.items())
    return Lark(
        f"{grammar}\n{tokens}\n",
        parser="lalr",
        lexer="basic",
        start=["program", "query"],
        transformer=_Build(),
    )


class _BadToken(Exception):
    """A token that the grammar takes but the language does not."""

    def __init__(self, problem: str, at: Position = NOWHERE) -> None:
        self.problem = problem
        self.at = at


class _Written(NamedTuple):
    """A rule as it stands in the text: where it ends, and whether a full stop closes it."""

    rule: Rule
    closed: bool
    end: Position


class _Build(Transformer[Token, object]):
    """Build the tree while the parser runs, so that no parse tree is kept."""

    def program(self, clauses: list[_Written]) -> Program:
        for one, following in pairwise(clauses):
            starts_new_line = following.rule.at.line > one.end.line
            if not one.closed and not (following.rule.body and starts_new_line):
                head = following.rule.head
                found = shorten(render_atom(head)) if head else ":-"
                raise _BadToken(f"expected ',' or '.', found '{found}'", following.rule.at)
        return Program(tuple([each.rule for each in clauses]))

    def query(self, parts: list[Token | list[Literal]]) -> tuple[Literal, ...]:
        return next(tuple(each) for each in parts if isinstance(each, list))

    def fact(self, parts: tuple[Atom, Token]) -> _Written:
        head, _ = parts
        return _Written(Rule(head, (), head.at), True, head.at)

    def rule(self, parts: tuple[Atom | None, Token, list[Literal], Token | None]) -> _Written:
        head, sign, body, stop = parts
        at = head.at if head else _position(sign)
        return _Written(Rule(head, tuple(body), at), stop is not None, body[-1].at)

    def first(self, parts: list[Literal]) -> list[Literal]:
        return parts

    def more(self, parts: tuple[list[Literal], Token, Literal]) -> list[Literal]:
        parts[0].append(parts[2])
        return parts[0]

    def negative(self, parts: list[Token | Atom | Comparison | Arithmetic]) -> Not:
        sign, *rest = parts
        assert isinstance(sign, Token)
        inner = next(each for each in rest if not isinstance(each, Token))
        return Not(inner, _position(sign))

    def arithmetic(self, parts: tuple[Token]) -> Arithmetic:
        token = parts[0]
        at = _position(token)
        try:
            left, sign, right = read_relation(str(token))
        except ExpressionError as error:
            raise _BadToken(error.problem, _inside(str(token), at, error.at)) from None
        return Arithmetic(left, FROM_EXPRESSIONS[sign], right, at)

    def compared(self, parts: tuple[Token, Token, Token]) -> Comparison:
        left, sign, right = parts
        at = _position(left)
        return Comparison(_term(left, at), COMPARATORS[sign], _term(right, at), at)

    def atom(self, parts: list[Token]) -> Atom:
        at = _position(parts[0])
        terms = [_term(each, at) for each in parts[1:] if each.type == "TERM"]
        return Atom(_name(parts[0][:-1].rstrip(), at), tuple(terms), at)

    def whole_atom(self, parts: tuple[Token]) -> Atom:
        at = _position(parts[0])
        name, *arguments = PIECES.findall(parts[0])
        return Atom(_name(name, at), tuple([_term(each, at) for each in arguments]), at)

    def whole_rule(self, parts: tuple[Atom | None, Token]) -> _Written:
        head, body = parts
        at = head.at if head else _position(body)
        return _Written(Rule(head, _whole_body(body), at), True, at)


COMPARATORS = {each.value: each for each in Comparator}
FROM_EXPRESSIONS = COMPARATORS | {"!=": Comparator.NE, "<=": Comparator.LE}
PIECES = re.compile(r"'(?:[^'\\]|''|\\.)*'|(?:[^\s,()'=<>\\.]|\.(?=[0-9]))+")
LITERAL = re.compile(
    rf"(?P<negation>not\b[\s(]*)?(?P<first>{PIECES.pattern})\s*"
    rf"(?:\((?P<arguments>(?:{PIECES.pattern}|[\s,])*)\)"
    rf"|(?P<comparator>[=<>\\]+)\s*(?P<last>{PIECES.pattern}))"
)


def _whole_body(token: Token) -> tuple[Literal, ...]:
    """Take a body apart that the grammar has found sound."""
    text = str(token)
    start = _position(token)
    literals: list[Literal] = []
    for match in LITERAL.finditer(text, 2):
        at = _inside(text, start, match.start())
        negation, first, arguments, comparator, last = match.groups()
        inner: Atom | Comparison
        if comparator is None:
            terms = [_term(each, at) for each in PIECES.findall(arguments)]
            inner = Atom(_name(first, at), tuple(terms), at)
        else:
            inner = Comparison(_term(first, at), COMPARATORS[comparator], _term(last, at), at)
        literals.append(Not(inner, at) if negation else inner)
    return tuple(literals)


def _inside(text: str, start: Position, offset: int) -> Position:
    """Return the place of a character of a text that starts at a place."""
    last_break = text.rfind("\n", 0, offset)
    if last_break < 0:
        return Position(start.line, start.column + offset)
    return Position(start.line + text.count("\n", 0, offset), offset - last_break)


def _position(token: Token) -> Position:
    return Position(token.line or 0, token.column or 0)


def _name(text: str, at: Position) -> str:
    term = _term(text, at)
    assert isinstance(term, Constant)
    return str(term.value)


def _term(text: str, at: Position) -> Term:
    try:
        return _known_term(text)
    except _BadToken as error:
        raise _BadToken(error.problem, at) from None


@lru_cache(maxsize=65_536)
def _known_term(text: str) -> Term:
    first = text[0]
    if first in VARIABLE_STARTS:
        return Variable(str(text))
    if first in NUMBER_STARTS:
        return Constant(_number(text))
    return Constant(_unquote(text) if first == "'" else str(text))


VARIABLE_STARTS = frozenset(string.ascii_uppercase + "_")
NUMBER_STARTS = frozenset(string.digits + "+-")
ESCAPES = {"\\": "\\", "'": "'", "n": "\n", "r": "\r", "t": "\t"}


def _unquote(quoted: str) -> str:
    inner = str(quoted[1:-1])
    if "'" not in inner and "\\" not in inner:
        return inner

    def replace(match: re.Match[str]) -> str:
        if match[0] == "''":
            return "'"
        if match[1] not in ESCAPES:
            known = " ".join(f"\\{character}" for character in ESCAPES)
            shown = shorten(match[0])
            raise _BadToken(f"unknown escape '{shown}' in a quoted name; known: {known}")
        return ESCAPES[match[1]]

    return re.sub(r"''|\\(.)", replace, inner)


def _number(text: str) -> int | float:
    try:
        number = float(text) if re.search(r"[.eE]", text) else int(text)
        finite = math.isfinite(number)
    except (ValueError, OverflowError):
        finite = False
    if not finite:
        raise _BadToken(f"the number '{shorten(text)}' is too large; {LARGEST}")
    return number
