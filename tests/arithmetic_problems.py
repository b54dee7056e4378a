"""Small random problems with arithmetic, and rows for them."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from p2c._spec.expression_text import read_expression
from tests.oracle_arithmetic import value_of
from tests.strategies import COMPARE, random_problem

if TYPE_CHECKING:
    import random

Document = dict[str, Any]
ONE = ("abs", "floor", "ceil", "round", "sqrt", "log", "log1p", "exp")


def arithmetic_problem(rng: random.Random, *, tiny: bool = True) -> tuple[Document, Document]:
    """Return a small problem with arithmetic, and a row for it."""
    while True:
        problem, row = random_problem(rng, tiny=tiny)
        if any(each["type"] in ("int", "float") for each in problem["features"].values()):
            break
    _Author(rng, problem, row).write()
    if rng.random() < 0.1:
        problem["norm"] = "linf"
    return problem, row


class _Author:
    """Adds arithmetic to a problem."""

    def __init__(self, rng: random.Random, problem: Document, row: Document) -> None:
        self.rng, self.problem, self.row = rng, problem, row
        self.features: dict[str, Document] = problem["features"]
        self.lines = [line for line in problem["rules"].split("\n") if line]
        self.count = 0

    def write(self) -> None:
        for number in range(self.rng.choice((0, 1, 1, 1, 2, 3))):
            self._computed(f"c{number}")
        most = 2 if self.count_of_computed else 3
        for _ in range(self.rng.randint(0 if self.count_of_computed else 1, most)):
            self._place(self._relation())
        self.problem["rules"] = "\n".join(self.lines)

    @property
    def count_of_computed(self) -> int:
        return sum("equation" in each for each in self.features.values())

    def _numbers(self) -> list[str]:
        return [name for name, each in self.features.items() if each["type"] in ("int", "float")]

    # Equations.

    def _computed(self, name: str) -> None:
        numbers = self._numbers()
        depth = self.rng.choice((1, 1, 2, 2, 3))
        expression = self._expression(numbers, depth)
        kind = self.rng.choice(("int", "float", "float"))
        keys: Document = {"type": kind, "equation": expression}
        samples = self._samples(expression)
        low, high = (min(samples), max(samples)) if samples else (-2.0, 2.0)
        if self.rng.random() < 0.35:
            keys["min"] = _near(self.rng, low, high, kind)
        if self.rng.random() < 0.35:
            keys["max"] = _near(self.rng, low, high, kind)
            if "min" in keys and keys["min"] > keys["max"]:
                keys["min"], keys["max"] = keys["max"], keys["min"]
        if self.rng.random() < 0.3:
            keys["step"] = self.rng.choice((1, 2, 3) if kind == "int" else (0.5, 0.1, 0.25, 2))
        if self.rng.random() < 0.5:
            keys["residual"] = self.rng.choice(("add", "none"))
        self.features[name] = keys
        self._own(name, expression, keys)
        for _ in range(self.rng.choice((1, 1, 2))):
            self._place(self._test(name, expression, low, high))

    def _own(self, name: str, expression: str, keys: Document) -> None:
        """Choose the row of a computed feature: omitted, null, right or wrong."""
        roll = self.rng.random()
        value = self._value(expression, self.row)
        if roll < 0.35:
            return
        if roll < 0.45 or value is None:
            self.row[name] = None if self.rng.random() < 0.6 else 1
        elif roll < 0.7:
            self.row[name] = float(value)
        else:
            self.row[name] = float(value) + self.rng.choice((0.5, -1, 2, 0.25, 1e-13))
        own = self.row[name]
        if own is None:
            return
        own = min(max(own, keys.get("min", own)), keys.get("max", own))
        self.row[name] = round(own) if keys["type"] == "int" else own

    def _expression(self, numbers: list[str], depth: int) -> str:
        rng = self.rng
        if depth == 0 or rng.random() < 0.15:
            if rng.random() < 0.7:
                return _named(rng.choice(numbers))
            return str(rng.choice((1, 2, 3, 0.5, 0.1, -1, 10)))
        roll = rng.random()
        deeper = depth - 1
        if roll < 0.55:
            left, right = self._expression(numbers, deeper), self._expression(numbers, deeper)
            return f"({left} {rng.choice('+-*/')} {right})"
        if roll < 0.67:
            parts = [self._expression(numbers, deeper) for _ in range(rng.choice((2, 2, 3)))]
            return f"{rng.choice(('min', 'max'))}({', '.join(parts)})"
        if roll < 0.85:
            return f"{rng.choice(ONE)}({self._expression(numbers, deeper)})"
        condition = self._condition()
        return f"if({condition}, {self._expression(numbers, deeper)}, {self._expression(numbers, deeper)})"

    def _condition(self) -> str:
        rng = self.rng
        names = [name for name in self.features if name in self.row]
        name = rng.choice(names)
        keys = self.features[name]
        if keys["type"] in ("int", "float"):
            constant = str(rng.choice(_values(keys)))
            sign = rng.choice(("<", "<=", ">", ">=", "=", "!=", "=<", "\\="))
        else:
            value = rng.choice(keys["values"])
            constant = (
                str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"
            )
            ordered = keys["type"] == "ordinal"
            sign = rng.choice(("=", "!=", "<", ">=") if ordered else ("=", "!="))
        text = f"{_named(name)} {sign} {constant}"
        roll = rng.random()
        if roll < 0.15:
            return f"not {text}"
        if roll < 0.3:
            return f"({text} {rng.choice(('and', 'or'))} not ({text}))"
        return text

    # Literals.

    def _test(self, name: str, expression: str, low: float, high: float) -> tuple[str, bool]:
        """Return a literal about a computed feature, and its likely truth."""
        self.count += 1
        variable = f"V{self.count}"
        constant = _near(self.rng, low, high, "float")
        sign = self.rng.choice(("<", "=<", ">", ">=", ">=", "=<", "=", "\\="))
        said = f"{variable} {sign} {constant}"
        own = self.row.get(name)
        value = self._value(expression, self.row) if own is None else Fraction(own)
        true = value is not None and COMPARE[sign](value, Fraction(constant))
        if self.rng.random() < 0.2:
            said, true = f"not({said})", not true
        return f"{name}(X,{variable}), {said}", true

    def _relation(self) -> tuple[str, bool]:
        """Return an arithmetic comparison, and whether it is true of the row."""
        numbers = self._numbers()
        while True:
            expression = self._expression_of_numbers(numbers, self.rng.choice((1, 1, 2)))
            if any(_named(each) in expression for each in numbers):
                break
        samples = self._samples(expression)
        low, high = (min(samples), max(samples)) if samples else (-2.0, 2.0)
        right = str(_near(self.rng, low, high, "float"))
        if self.rng.random() < 0.4:
            right = self._expression_of_numbers(numbers, 1)
        own, other = self._value(expression, self.row), self._value(right, self.row)
        variables = {}
        texts = []
        for name in numbers:
            if _named(name) in expression or _named(name) in right:
                self.count += 1
                variables[name] = f"V{self.count}"
                texts.append(f"{_atom(name)}(X,V{self.count})")
        for name in sorted(variables, key=len, reverse=True):
            expression = expression.replace(_named(name), f"@{variables[name]}@")
            right = right.replace(_named(name), f"@{variables[name]}@")
        expression, right = expression.replace("@", ""), right.replace("@", "")
        sign = self.rng.choice(("<", "=<", ">", ">=", ">=", "=<", "=", "\\="))
        said = f"{expression} {sign} {right}"
        true = own is not None and other is not None and COMPARE[sign](own, other)
        if self.rng.random() < 0.2:
            said, true = f"not({said})", not true
        return ", ".join([*texts, said]), true

    def _expression_of_numbers(self, numbers: list[str], depth: int) -> str:
        while True:
            values = self._expression(numbers, depth)
            if "if(" not in values:
                return values

    # Places.

    def _heads(self, line: str, name: str) -> bool:
        return line.startswith(f"{_atom(name)}(")

    def _place(self, said: tuple[str, bool]) -> None:
        """Put a literal into a rule, a constraint of its own, or the goal."""
        literal, true = said
        roll = self.rng.random()
        decisions = [
            n
            for n, line in enumerate(self.lines)
            if re.match(r"(reject|accept|label|ab\d)", line) and ":-" in line
        ]
        causes = [
            n
            for n, line in enumerate(self.lines)
            if any(self._heads(line, name) for name in self.features) and ":-" in line
        ]
        if roll < (0.05 if true else 0.3):
            self.lines.append(f":- {literal}.")
        elif roll < 0.45 and causes:
            self._extend(self.rng.choice(causes), literal)
        elif roll < 0.75 and decisions:
            chosen = self.rng.choice(decisions)
            if self.rng.random() < 0.5:
                self._extend(chosen, literal)
            else:
                head = self.lines[chosen].split(":-")[0].strip()
                self.lines.append(f"{head} :- {literal}.")
        else:
            self.problem["goal"] = f"{self.problem['goal']}, {literal}"

    def _extend(self, number: int, literal: str) -> None:
        self.lines[number] = f"{self.lines[number].rstrip()[:-1]}, {literal}."

    # Values.

    def _samples(self, expression: str) -> list[float]:
        values = []
        for _ in range(12):
            state = {
                name: self.rng.choice(_values(keys))
                if "equation" not in keys
                else self.row.get(name)
                for name, keys in self.features.items()
            }
            value = self._value(expression, state)
            if value is not None and abs(value) < 10**6:
                values.append(float(value))
        return values

    def _value(self, expression: str, state: Document) -> Fraction | None:
        read = read_expression(expression)
        full = {name: state.get(name) for name in self.features}
        try:
            return value_of(_unconditional(read), full)
        except (AssertionError, TypeError, ValueError):
            return None


def _unconditional(expression: Any) -> Any:
    """Return an expression with the first branch of every condition."""
    from p2c._spec.expression import Apply, Choice

    match expression:
        case Choice(then=then):
            return _unconditional(then)
        case Apply(function=function, operands=operands):
            return Apply(function, tuple(map(_unconditional, operands)))
        case _:
            return expression


def _values(keys: Document) -> list[Any]:
    if "values" in keys:
        return list(keys["values"])
    if "equation" in keys:
        return [0, 1, 2]
    low, high, step = keys["min"], keys["max"], keys.get("step", 1)
    count = int((high - low) / step + 1e-9) + 1
    return [low + step * each for each in range(count)]


def _near(rng: random.Random, low: float, high: float, kind: str) -> float:
    number = low + (high - low) * rng.random()
    return round(number) if kind == "int" or rng.random() < 0.4 else round(number, 2)


def _named(name: str) -> str:
    return f'"{name}"' if not name.isidentifier() else name


def _atom(name: str) -> str:
    return name if re.fullmatch(r"[a-z]\w*", name) else "'" + name + "'"
