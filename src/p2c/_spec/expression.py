"""Arithmetic expressions: syntax trees, their text, and their exact value.

Numbers are exact fractions. `log`, `log1p`, `exp` and `sqrt` are those of IEEE doubles: the operand is rounded to the
nearest double, and the result is the number that its shortest decimal text denotes, as everywhere in p2c.
"""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from p2c._spec.feature import exact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from p2c._spec.feature import Value


@dataclass(frozen=True, slots=True)
class Number:
    """An exact constant."""

    value: Fraction


@dataclass(frozen=True, slots=True)
class Name:
    """A feature, a resource, or in rule text a variable."""

    name: str


@dataclass(frozen=True, slots=True)
class Apply:
    """An operator or a function of `FUNCTIONS` with its operands."""

    function: str
    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """The first branch of an `if` where its condition holds, else the second."""

    condition: Condition
    then: Expression
    otherwise: Expression


@dataclass(frozen=True, slots=True)
class Compare:
    """A feature compared with a constant: a number, or the name of a value."""

    name: str
    comparator: str
    constant: Fraction | str


@dataclass(frozen=True, slots=True)
class Member:
    """A listed feature and the set of values for which a comparison holds."""

    name: str
    values: frozenset[str | int | float]
    written: Compare


@dataclass(frozen=True, slots=True)
class Junction:
    """Conditions joined by `and` or `or`, or one condition under `not`."""

    word: str
    parts: tuple[Condition, ...]


Expression = Number | Name | Apply | Choice
Condition = Compare | Member | Junction

COMPARATORS: dict[str, Callable[[Fraction, Fraction], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
"""The comparisons of conditions by their canonical text."""
LARGEST_INT = 2**62
"""The largest whole number that a computed feature has."""


def evaluate(expression: Expression, state: Mapping[str, Value]) -> Fraction | None:
    """Return the exact value of an expression in a state; None where it is undefined."""
    match expression:
        case Number(value):
            return value
        case Name(name):
            own = state[name]
            return None if own is None or isinstance(own, str) else exact(own)
        case Choice(condition, then, otherwise):
            return evaluate(then if holds(condition, state) else otherwise, state)
        case Apply(function, operands):
            values = []
            for each in operands:
                operand = evaluate(each, state)
                if operand is None:
                    return None
                values.append(operand)
            return FUNCTIONS[function](*values)


def holds(condition: Condition, state: Mapping[str, Value]) -> bool:
    """Tell whether a condition holds in a state.

    A comparison with a missing value is false.
    """
    match condition:
        case Member(name, values):
            own = state[name]
            return own is not None and own in values
        case Compare(name, comparator, constant):
            own = state[name]
            if own is None or isinstance(own, str) or isinstance(constant, str):
                return False
            return COMPARATORS[comparator](exact(own), constant)
        case Junction("not", parts):
            return not holds(parts[0], state)
        case Junction("and", parts):
            return all(holds(each, state) for each in parts)
        case Junction(_, parts):
            return any(holds(each, state) for each in parts)


def names(expression: Expression | Condition) -> Iterator[str]:
    """Yield the names that are read, each as often as it occurs."""
    match expression:
        case Name(name) | Compare(name, _, _) | Member(name, _, _):
            yield name
        case Choice(condition, then, otherwise):
            yield from names(condition)
            yield from names(then)
            yield from names(otherwise)
        case Apply(_, operands):
            for each in operands:
                yield from names(each)
        case Junction(_, parts):
            for part in parts:
                yield from names(part)
        case _:
            return


def conditions(expression: Expression) -> Iterator[Compare | Member]:
    """Yield the comparisons of the conditions of an expression."""
    match expression:
        case Choice(condition, then, otherwise):
            yield from _comparisons(condition)
            yield from conditions(then)
            yield from conditions(otherwise)
        case Apply(_, operands):
            for each in operands:
                yield from conditions(each)
        case _:
            return


def _comparisons(condition: Condition) -> Iterator[Compare | Member]:
    match condition:
        case Junction(_, parts):
            for each in parts:
                yield from _comparisons(each)
        case _:
            yield condition


def renamed(expression: Expression, new: Mapping[str, str]) -> Expression:
    """Return an expression without conditions, with every name replaced."""
    match expression:
        case Name(name):
            return Name(new[name])
        case Apply(function, operands):
            return Apply(function, tuple(renamed(each, new) for each in operands))
        case _:
            return expression


# Functions.


def _divided(left: Fraction, right: Fraction) -> Fraction | None:
    return left / right if right else None


def _product(*factors: Fraction) -> Fraction:
    return math.prod(factors, start=Fraction(1))


def _sum(*terms: Fraction) -> Fraction:
    return sum(terms, Fraction(0))


def _by_doubles(function: Callable[[float], float]) -> Callable[[Fraction], Fraction | None]:
    """Return a function of doubles as one of fractions.

    It is None outside its domain and range.
    """

    def apply(operand: Fraction) -> Fraction | None:
        try:
            result = function(float(operand))
        except (OverflowError, ValueError):
            return None
        return exact(result) if math.isfinite(result) else None

    return apply


FUNCTIONS: dict[str, Callable[..., Fraction | None]] = {
    "+": _sum,
    "*": _product,
    "/": _divided,
    "neg": operator.neg,
    "min": min,
    "max": max,
    "abs": abs,
    "floor": lambda operand: Fraction(math.floor(operand)),
    "ceil": lambda operand: Fraction(math.ceil(operand)),
    "round": lambda operand: Fraction(round(operand)),
    "log": _by_doubles(math.log),
    "log1p": _by_doubles(math.log1p),
    "exp": _by_doubles(math.exp),
    "sqrt": _by_doubles(math.sqrt),
}
ONE_OPERAND = ("abs", "floor", "ceil", "round", "log", "log1p", "exp", "sqrt")
CALLED = ("min", "max", *ONE_OPERAND)
"""The functions that are written with a name and parentheses, `if` aside."""


# Text.

SUM, PRODUCT, ATOM = 1, 2, 3
"""How tightly an expression binds."""


def text_of(expression: Expression) -> str:
    """Return the text of an expression; reading it gives an equal one.

    >>> from p2c._spec.expression_text import read_expression
    >>> text_of(read_expression("debt/(income+ 0.50)"))
    'debt / (income + 0.5)'
    """
    return _written(expression)[0]


def _written(expression: Expression) -> tuple[str, int]:
    match expression:
        case Number(value):
            return decimal_text(value), ATOM if value >= 0 else PRODUCT
        case Name(name):
            return name_text(name), ATOM
        case Choice(condition, then, otherwise):
            parts = condition_text(condition), text_of(then), text_of(otherwise)
            return f"if({', '.join(parts)})", ATOM
        case Apply("+", operands):
            return "".join(_terms(operands)), SUM
        case Apply("neg", operands):
            return f"-{_within(operands[0], ATOM)}", PRODUCT
        case Apply("*" | "/" as sign, operands):
            first, *rest = operands
            shown = [_within(first, PRODUCT), *(_within(each, ATOM) for each in rest)]
            return f" {sign} ".join(shown), PRODUCT
        case Apply(function, operands):
            return f"{function}({', '.join(map(text_of, operands))})", ATOM


def _terms(operands: tuple[Expression, ...]) -> Iterator[str]:
    for place, each in enumerate(operands):
        if place and isinstance(each, Apply) and each.function == "neg":
            yield f" - {_within(each.operands[0], PRODUCT)}"
        else:
            yield f"{' + ' if place else ''}{_within(each, PRODUCT)}"


def _within(expression: Expression, least: int) -> str:
    text, tightness = _written(expression)
    return text if tightness >= least else f"({text})"


def condition_text(condition: Condition) -> str:
    """Return the text of a condition."""
    match condition:
        case Member(_, _, written):
            return condition_text(written)
        case Compare(name, comparator, constant):
            return f"{name_text(name)} {comparator} {_constant_text(constant)}"
        case Junction("not", parts):
            return f"not ({condition_text(parts[0])})"
        case Junction(word, parts):
            return f" {word} ".join(
                f"({condition_text(each)})" if isinstance(each, Junction) else condition_text(each)
                for each in parts
            )


def _constant_text(constant: Fraction | str) -> str:
    if isinstance(constant, str):
        return "'{}'".format(constant.replace("'", "''"))
    return decimal_text(constant)


def name_text(name: str) -> str:
    """Return a name as expressions have it, in double quotes where needed."""
    return name if name.isidentifier() and name not in RESERVED else f'"{name}"'


RESERVED = frozenset({"if", "and", "or", "not", *CALLED})
"""Words that name no feature unless they stand in double quotes."""


def decimal_text(value: Fraction) -> str:
    """Return a decimal number, exactly.

    >>> decimal_text(Fraction(-5, 4))
    '-1.25'
    """
    digits = 0
    rest = value.denominator
    while rest % 10 == 0:
        rest, digits = rest // 10, digits + 1
    while rest % 2 == 0:
        rest, digits = rest // 2, digits + 1
    while rest % 5 == 0:
        rest, digits = rest // 5, digits + 1
    assert rest == 1, "constants are decimals"
    whole = value * 10**digits
    text = str(abs(whole.numerator // whole.denominator)).rjust(digits + 1, "0")
    sign = "-" if value < 0 else ""
    if not digits:
        return f"{sign}{text}"
    fraction = text[-digits:].rstrip("0")
    return f"{sign}{text[:-digits]}" + (f".{fraction}" if fraction else "")
