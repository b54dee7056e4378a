"""Learned rules as a logic program, in the form in which FOLD-SE prints them.

The rules of the classes come first, then those of the exceptions `ab1`, `ab2`, …, inner ones numbered first and equal
ones once. A feature keeps its variable N1, N2, … through the whole program, numbered as they are first printed.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from p2c.learn.foldse.literals import LearnedLiteral, LearnedRule, Relation
from p2c.rules import syntax

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

PERSON = syntax.Variable("X")
COMPARATORS = {Relation.AT_MOST: syntax.Comparator.LE, Relation.ABOVE: syntax.Comparator.GT}


def to_program(
    rules: Sequence[LearnedRule], *, target: str = "label", decimals: int | None = 3
) -> syntax.Program:
    """Write simplified rules as a program about `target`, thresholds rounded unless `decimals` is None."""
    return _ProgramWriter(target, decimals).program(rules)


def count_literals(program: syntax.Program) -> tuple[int, int]:
    """Return how many rules a learned program has, exceptions too, and how many literals, calls of those aside."""
    heads = {rule.head.predicate for rule in program.rules if rule.head}
    tests = [_tested(literal) for rule in program.rules for literal in rule.body]
    count = sum(isinstance(test, syntax.Comparison) or _is_name_test(test, heads) for test in tests)
    return len(program.rules), count


def predicate_name(name: str) -> str:
    """Return the predicate of a column: lower case, with underscores for spaces and dashes.

    >>> predicate_name("Capital-gain")
    'capital_gain'
    """
    return name.strip().lower().replace(" ", "_").replace("-", "_")


class _ProgramWriter:
    """Numbers the exceptions and the variables while one program is written."""

    def __init__(self, target: str, decimals: int | None) -> None:
        self.target = predicate_name(target)
        self.decimals = decimals
        self.exceptions: dict[LearnedRule, str] = {}
        self.variables: dict[str, syntax.Variable] = {}

    def program(self, rules: Sequence[LearnedRule]) -> syntax.Program:
        for rule in rules:
            self._number_exceptions(rule)
        heads = [syntax.Atom(self.target, (PERSON, syntax.Constant(str(r.label)))) for r in rules]
        written = [self._rule(head, rule) for head, rule in zip(heads, rules, strict=True)]
        inner = [self._rule(_exception_atom(name), rule) for rule, name in self.exceptions.items()]
        return syntax.Program((*written, *inner))

    def _number_exceptions(self, rule: LearnedRule) -> None:
        for exception in rule.exceptions:
            self._number_exceptions(exception)
            self.exceptions.setdefault(exception, f"ab{len(self.exceptions) + 1}")

    def _rule(self, head: syntax.Atom, rule: LearnedRule) -> syntax.Rule:
        names = [each for each in rule.literals if each.relation is Relation.EQUAL]
        bounds = [each for each in rule.literals if each.relation is not Relation.EQUAL]
        body: list[syntax.Literal] = [_name_literal(each) for each in names]
        for feature, group in groupby(bounds, key=lambda bound: bound.feature):
            body += self._bounds(feature, group)
        body += [syntax.Not(_exception_atom(self.exceptions[each])) for each in rule.exceptions]
        return syntax.Rule(head, tuple(body))

    def _bounds(self, feature: str, bounds: Iterable[LearnedLiteral]) -> list[syntax.Literal]:
        fresh = syntax.Variable(f"N{len(self.variables) + 1}")
        variable = self.variables.setdefault(feature, fresh)
        written: list[syntax.Literal] = [syntax.Atom(predicate_name(feature), (PERSON, variable))]
        for bound in bounds:
            value = syntax.Constant(self._rounded(float(bound.value)))
            comparison = syntax.Comparison(variable, COMPARATORS[bound.relation], value)
            written.append(syntax.Not(comparison) if bound.negated else comparison)
        return written

    def _rounded(self, value: float) -> float:
        return value if self.decimals is None else round(value, self.decimals)


def _name_literal(literal: LearnedLiteral) -> syntax.Literal:
    value = syntax.Constant(str(literal.value))
    atom = syntax.Atom(predicate_name(literal.feature), (PERSON, value))
    return syntax.Not(atom) if literal.negated else atom


def _exception_atom(name: str) -> syntax.Atom:
    return syntax.Atom(name, (PERSON, syntax.Constant("True")))


def _tested(literal: syntax.Literal) -> syntax.Atom | syntax.Comparison:
    return literal.inner if isinstance(literal, syntax.Not) else literal


def _is_name_test(atom: syntax.Atom, heads: set[str]) -> bool:
    return atom.predicate not in heads and isinstance(atom.arguments[1], syntax.Constant)
