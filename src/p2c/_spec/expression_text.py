"""Read the text of expressions; errors name the character.

>>> read_expression("if(job = 'none', 0, debt / income)").otherwise
Apply(function='/', operands=(Name(name='debt'), Name(name='income')))
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from p2c._spec.expression import (
    CALLED,
    ONE_OPERAND,
    Apply,
    Choice,
    Compare,
    Condition,
    Expression,
    Junction,
    Name,
    Number,
)
from p2c._spec.feature import is_finite
from p2c.errors import shorten

if TYPE_CHECKING:
    from collections.abc import Iterator

DEEPEST = 40
"""Maximum depth of parentheses."""
MOST_FACTORS = 10
"""Maximum number of factors and divisors in a row."""
LONGEST = 20_000
"""Maximum number of characters of an expression."""

TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[^\W\d]\w*)"
    r'|"(?P<quoted>[^"\n]+)"'
    r"|'(?P<text>(?:[^'\n]|'')*)'"
    r"|(?P<sign>==|!=|\\=|<=|=<|>=|[-+*/(),<>=]))"
)
SIGNS = {"==": "=", "\\=": "!=", "=<": "<="}
"""Other spellings of comparators."""
ORDER = ("=", "!=", "<", "<=", ">", ">=")
MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


class ExpressionError(ValueError):
    """A fault of an expression with its character, counted from zero."""

    def __init__(self, problem: str, at: int) -> None:
        self.problem = problem
        self.at = at
        super().__init__(f"character {at + 1}: {problem}")


class Token(NamedTuple):
    """A piece of the text: its kind, its text, and where it starts."""

    kind: str
    text: str
    at: int


class Relation(NamedTuple):
    """Two expressions with a comparator of `ORDER` between them."""

    left: Expression
    comparator: str
    right: Expression


def read_expression(text: str) -> Expression:
    """Return the expression of a text.

    Raises:
        ExpressionError: The text is none; it names the character.
    """
    reader = _Reader(text)
    expression = reader.sum()
    reader.end()
    return expression


def read_relation(text: str) -> Relation:
    """Return the comparison of two expressions in a rule body.

    Raises:
        ExpressionError: The text is none, or has an `if`.
    """
    reader = _Reader(text, conditions=False)
    left = reader.sum()
    comparator = reader.comparator()
    right = reader.sum()
    reader.end()
    return Relation(left, comparator, right)


class _Reader:
    """The rest of a text, token by token."""

    def __init__(self, text: str, *, conditions: bool = True) -> None:
        if len(text) > LONGEST:
            raise ExpressionError(f"longer than {LONGEST:,} characters", LONGEST)
        self.conditions = conditions
        self.tokens = list(_tokens(text))
        self.place = 0
        self.depth = 0

    @property
    def next(self) -> Token:
        return self.tokens[self.place]

    def take(self, *signs: str) -> str:
        """Step over the next sign or word if it is expected, and return it."""
        token = self.next
        if token.kind in ("sign", "name") and token.text in signs:
            self.place += 1
            return token.text
        return ""

    def expect(self, sign: str) -> None:
        if not self.take(sign):
            raise self.unexpected(f"'{sign}'")

    def unexpected(self, expected: str) -> ExpressionError:
        token = self.next
        shown = f"'{shorten(token.text)}'" if token.kind != "end" else "the end"
        return ExpressionError(f"expected {expected}, found {shown}", token.at)

    def end(self) -> None:
        if self.next.kind != "end":
            raise self.unexpected("an operator or the end")

    def comparator(self) -> str:
        sign = self.take(*ORDER)
        if not sign:
            raise self.unexpected("a comparison such as '<='")
        return sign

    def sum(self) -> Expression:
        self.depth += 1
        if self.depth > DEEPEST:
            raise ExpressionError(f"nested more than {DEEPEST} levels deep", self.next.at)
        terms = [self.product()]
        while sign := self.take("+", "-"):
            term = self.product()
            terms.append(Apply("neg", (term,)) if sign == "-" else term)
        self.depth -= 1
        return terms[0] if len(terms) == 1 else Apply("+", tuple(terms))

    def product(self) -> Expression:
        product = self.factor()
        steps = 0
        while sign := self.take("*", "/"):
            steps += 1
            if steps > MOST_FACTORS:
                raise ExpressionError(
                    f"more than {MOST_FACTORS} factors in a row: use parentheses", self.next.at
                )
            factor = self.factor()
            match product:
                case Apply("*", operands) if sign == "*":
                    product = Apply("*", (*operands, factor))
                case _:
                    product = Apply(sign, (product, factor))
        return product

    def factor(self) -> Expression:
        signs = 0
        while sign := self.take("+", "-"):
            signs += sign == "-"
        operand = self.atom()
        if signs % 2 == 0:
            return operand
        return Number(-operand.value) if isinstance(operand, Number) else Apply("neg", (operand,))

    def atom(self) -> Expression:
        token = self.next
        match token.kind:
            case "number":
                self.place += 1
                return Number(_number(token))
            case "quoted":
                self.place += 1
                return Name(token.text)
            case "name":
                return self.named(token)
            case "sign" if self.take("("):
                inner = self.sum()
                self.expect(")")
                return inner
            case _:
                raise self.unexpected("a number, a name or '('")

    def named(self, token: Token) -> Expression:
        self.place += 1
        called = self.take("(")
        if not called:
            if token.text in ("and", "or", "not", "if"):
                raise ExpressionError(f"'{token.text}' is no name here", token.at)
            return Name(token.text)
        if token.text == "if":
            return self.choice(token)
        if token.text not in CALLED:
            known = ", ".join((*CALLED, "if"))
            raise ExpressionError(
                f"unknown function '{shorten(token.text)}'; known: {known}", token.at
            )
        operands = [self.sum()]
        while self.take(","):
            operands.append(self.sum())
        self.expect(")")
        one = token.text in ONE_OPERAND
        if one != (len(operands) == 1):
            expected = "one operand" if one else "two operands or more"
            raise ExpressionError(
                f"'{token.text}' takes {expected}, found {len(operands)}", token.at
            )
        return Apply(token.text, tuple(operands))

    def choice(self, token: Token) -> Choice:
        if not self.conditions:
            raise ExpressionError(
                "'if' is not allowed in rule bodies: write two rules, or a feature with an equation",
                token.at,
            )
        self.depth += 1
        if self.depth > DEEPEST:
            raise ExpressionError(f"nested more than {DEEPEST} levels deep", token.at)
        condition = self.either()
        self.expect(",")
        then = self.sum()
        self.expect(",")
        otherwise = self.sum()
        self.expect(")")
        self.depth -= 1
        return Choice(condition, then, otherwise)

    def either(self) -> Condition:
        self.depth += 1
        if self.depth > DEEPEST:
            raise ExpressionError(f"nested more than {DEEPEST} levels deep", self.next.at)
        parts = [self.both()]
        while self.take("or"):
            parts.append(self.both())
        self.depth -= 1
        return parts[0] if len(parts) == 1 else Junction("or", tuple(parts))

    def both(self) -> Condition:
        parts = [self.negation()]
        while self.take("and"):
            parts.append(self.negation())
        return parts[0] if len(parts) == 1 else Junction("and", tuple(parts))

    def negation(self) -> Condition:
        negated = False
        while self.take("not"):
            negated = not negated
        condition = self.plain()
        return Junction("not", (condition,)) if negated else condition

    def plain(self) -> Condition:
        if self.take("("):
            condition = self.either()
            self.expect(")")
            return condition
        left = self.side()
        at = self.next.at
        comparator = self.comparator()
        right = self.side()
        if isinstance(left, Name) and not isinstance(right, Name):
            return Compare(left.name, comparator, right)
        if isinstance(right, Name) and not isinstance(left, Name):
            return Compare(right.name, MIRRORED.get(comparator, comparator), left)
        raise ExpressionError(
            "a condition compares a feature with a constant, as in job = 'none' or age >= 60", at
        )

    def side(self) -> Name | Fraction | str:
        """Return one side of a condition: a name, a number, or the text of a value."""
        negative = self.take("-") == "-"
        token = self.next
        self.place += token.kind in ("number", "name", "quoted", "text")
        match token.kind:
            case "number":
                return -_number(token) if negative else _number(token)
            case "name" | "quoted" if not negative:
                return Name(token.text)
            case "text" if not negative:
                return token.text
            case _:
                raise self.unexpected("a feature or a constant")


def _tokens(text: str) -> Iterator[Token]:
    text = text.rstrip()
    place = 0
    while place < len(text):
        match = TOKEN.match(text, place)
        if match is None or match.lastgroup is None:
            while text[place].isspace():
                place += 1
            raise ExpressionError(f"unexpected '{shorten(text[place])}'", place)
        kind = match.lastgroup
        piece = match[kind]
        at = match.start(kind)
        if kind == "sign":
            piece = SIGNS.get(piece, piece)
        elif kind == "text":
            piece = piece.replace("''", "'")
        yield Token(kind, piece, at)
        place = match.end()
    yield Token("end", "", len(text))


def _number(token: Token) -> Fraction:
    too_large = ExpressionError("a number that no float can hold", token.at)
    if len(token.text) > 400:
        raise too_large
    power = re.search(r"[eE]([+-]?[0-9]+)$", token.text)
    if power is not None and abs(int(power[1])) > 400:
        raise too_large
    number = Fraction(token.text)
    if not is_finite(number):
        raise too_large
    return number
