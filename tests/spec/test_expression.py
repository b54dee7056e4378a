"""Expressions: reading, exact values, text, and faults."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest

from p2c._spec.expression import evaluate, names, text_of
from p2c._spec.expression_text import ExpressionError, read_expression

if TYPE_CHECKING:
    from p2c._spec.feature import Value

STATE: dict[str, Value] = {"a": 3, "b": 0.1, "z": 0, "none": None, "Credit Score": 7}

VALUES = [
    ("a + 2 * b", Fraction(32, 10)),
    ("a - 1 - 1", Fraction(1)),
    ("-a * -2", Fraction(6)),
    ("8 / 2 / 2", Fraction(2)),
    ("1 / 3 * 3", Fraction(1)),
    ("b + b + b", Fraction(3, 10)),
    ("min(a, 2, 5) + max(1, b)", Fraction(3)),
    ("abs(-a) + floor(-1.5) + ceil(-1.5)", Fraction(0)),
    ("round(2.5) + round(3.5) + round(-0.5)", Fraction(6)),
    ("sqrt(0.01)", Fraction(1, 10)),
    ("log1p(0) + exp(0) + log(1)", Fraction(1)),
    ('"Credit Score" * 1e2', Fraction(700)),
    ("if(a >= 3 and not (z = 1 or z > 2), 10, 1 / z)", Fraction(10)),
    ("if(none = 1, 1, 2)", Fraction(2)),
    ("if(not none = 1, 1, 2)", Fraction(1)),
    ("if(3 =< a, 1, 2) + if(a \\= 3, 10, 20)", Fraction(21)),
]

UNDEFINED = ["a / z", "none + 1", "0 * none", "log(z)", "log(-1)", "log1p(-1)", "sqrt(-1)"]
UNDEFINED += ["exp(1e300)", "min(none, 1)", "if(a = 3, 1 / z, 5)"]

FAULTS = [
    ("a +", "character 4: expected a number, a name or '(', found the end"),
    ("a $ b", "character 3: unexpected '$'"),
    ("foo(a)", "character 1: unknown function 'foo'; known: min, max, abs"),
    ("min(a)", "character 1: 'min' takes two operands or more, found 1"),
    ("abs(a, b)", "character 1: 'abs' takes one operand, found 2"),
    ("(a", "character 3: expected ')', found the end"),
    ("a b", "character 3: expected an operator or the end, found 'b'"),
    ("if(a, 1, 2)", "character 5: expected a comparison such as '<=', found ','"),
    ("if(a = b, 1, 2)", "character 6: a condition compares a feature with a constant"),
    ("1e999", "character 1: a number that no float can hold"),
    ("(" * 100 + "a" + ")" * 100, "nested more than 40 levels deep"),
    ("a" + "/a" * 30, "more than 10 factors in a row"),
]


@pytest.mark.parametrize(("text", "value"), VALUES)
def test_an_expression_has_its_exact_value(text: str, value: Fraction) -> None:
    assert evaluate(read_expression(text), STATE) == value


@pytest.mark.parametrize("text", UNDEFINED)
def test_what_has_no_value_is_undefined(text: str) -> None:
    assert evaluate(read_expression(text), STATE) is None


@pytest.mark.parametrize(("text", "message"), FAULTS)
def test_a_fault_is_told_with_its_character(text: str, message: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        read_expression(text)
    assert message in str(caught.value)


def test_the_text_of_an_expression_reads_as_an_equal_one() -> None:
    rng = random.Random("texts")
    for _ in range(500):
        expression = read_expression(_random(rng, 4))
        assert read_expression(text_of(expression)) == expression
        assert set(names(expression)) <= {"a", "b", "Credit Score"}


def _random(rng: random.Random, depth: int) -> str:
    if depth == 0:
        return rng.choice(("a", "b", '"Credit Score"', "2", "0.50", "-3", "1e-7"))
    parts = [_random(rng, depth - 1) for _ in range(2)]
    roll = rng.random()
    if roll < 0.4:
        return f" {rng.choice('+-*/')} ".join(parts)
    if roll < 0.6:
        return f"({parts[0]}) {rng.choice('+-*/')} ({parts[1]})"
    if roll < 0.7:
        return f"-({parts[0]})"
    if roll < 0.8:
        return f"max({parts[0]}, {parts[1]})"
    if roll < 0.9:
        return f"log1p({parts[0]})"
    return f"if(a > 1 or not b = 2 and a < 5, {parts[0]}, {parts[1]})"
