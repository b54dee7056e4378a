"""Literals, rules with exceptions, and both as the text of a program."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from itertools import groupby
from typing import TYPE_CHECKING, Any

from p2c._rules.syntax import (
    PERSON,
    Atom,
    Comparator,
    Comparison,
    Constant,
    Not,
    Program,
    Rule,
    Variable,
    bare,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from p2c._rules.syntax import Literal

MISSING = ""


class Relation(Enum):
    """The three tests of a value; with their negations, the six kinds of literal."""

    AT_MOST = "=<"
    ABOVE = ">"
    EQUAL = "="


@dataclass(frozen=True, slots=True)
class LearnedLiteral:
    """A test of one feature, or its negation.

    A number is never equal to a string and neither at most nor above one, so the negations hold there: on a feature
    that mixes both, `not(=<5)` and `>5` are two literals. A missing value is the string ''.

    >>> LearnedLiteral("age", Relation.AT_MOST, 27.0).complement().holds("")
    True
    """

    feature: str
    relation: Relation
    value: float | str
    negated: bool = False

    def complement(self) -> LearnedLiteral:
        """Return the literal that holds exactly where this one fails."""
        return LearnedLiteral(self.feature, self.relation, self.value, not self.negated)

    def holds(self, value: float | str) -> bool:
        """Tell whether the literal holds of one value."""
        return self._plain_holds(value) != self.negated

    def _plain_holds(self, value: float | str) -> bool:
        if self.relation is Relation.EQUAL:
            return value == self.value
        if isinstance(value, str) or isinstance(self.value, str):
            return False
        return value <= self.value if self.relation is Relation.AT_MOST else value > self.value


@dataclass(frozen=True, slots=True)
class LearnedRule:
    """A default: it holds where all its literals hold and none of its exceptions does.

    `label` is the class that the rule concludes, None for an exception.
    """

    literals: tuple[LearnedLiteral, ...]
    exceptions: tuple[LearnedRule, ...] = ()
    label: object = None


@dataclass(frozen=True, slots=True)
class Quality:
    """How a rule fared on the training rows.

    `support` counts the rows it decides, `precision` is the share of them that have its label, `recall` the share of
    its label's rows that it decides. The rules of two classes are alternatives, and each decides every row it covers;
    those of several classes are read in order, and each decides what the ones above it leave. Rows with weights are
    not counted but weighed.
    """

    support: float
    precision: float
    recall: float


def simplify(rule: LearnedRule) -> LearnedRule:
    """Fold every exception of one literal, negated, into the body and unite the bounds of each feature."""
    exceptions = [simplify(exception) for exception in rule.exceptions]
    folded = [each.literals[0].complement() for each in exceptions if _is_literal(each)]
    kept = tuple(each for each in exceptions if not _is_literal(each))
    return LearnedRule(unite([*rule.literals, *folded]), kept, rule.label)


def unite(literals: Iterable[LearnedLiteral]) -> tuple[LearnedLiteral, ...]:
    """Put strings first, then numbers by feature, with at most one bound on either side of each.

    >>> unite([LearnedLiteral("age", Relation.AT_MOST, 60.0), LearnedLiteral("age", Relation.AT_MOST, 27.0, negated=True)])
    ... # doctest: +NORMALIZE_WHITESPACE
    (LearnedLiteral(feature='age', relation=<Relation.ABOVE: '>'>, value=27.0, negated=False),
     LearnedLiteral(feature='age', relation=<Relation.AT_MOST: '=<'>, value=60.0, negated=False))
    """
    names: list[LearnedLiteral] = []
    bounds: dict[str, list[LearnedLiteral]] = {}
    for literal in dict.fromkeys(literals):
        if literal.relation is Relation.EQUAL:
            names.append(literal)
        else:
            bounds.setdefault(literal.feature, []).append(literal)
    return (*names, *(each for group in bounds.values() for each in _unite_bounds(group)))


def _unite_bounds(bounds: Sequence[LearnedLiteral]) -> list[LearnedLiteral]:
    """Return the tightest bound from below and from above.

    A plain bound holds of numbers only, so beside one a negated bound says the same as its plain counterpart. Where
    all are negated they stay so: strings satisfy them.
    """
    negated = all(bound.negated for bound in bounds)
    upper = [bound.value for bound in bounds if _is_upper(bound)]
    lower = [bound.value for bound in bounds if not _is_upper(bound)]
    below, above = Relation.AT_MOST, Relation.ABOVE
    if negated:
        below, above = above, below
    feature = bounds[0].feature
    united = [LearnedLiteral(feature, above, max(lower), negated)] if lower else []
    return united + ([LearnedLiteral(feature, below, min(upper), negated)] if upper else [])


def _is_upper(bound: LearnedLiteral) -> bool:
    return (bound.relation is Relation.AT_MOST) != bound.negated


def _is_literal(exception: LearnedRule) -> bool:
    return len(exception.literals) == 1 and not exception.exceptions


COMPARATORS = {Relation.AT_MOST: Comparator.LE, Relation.ABOVE: Comparator.GT}


def to_program(
    rules: Sequence[LearnedRule], *, target: str = "label", decimals: int | None = 3
) -> Program:
    """Write simplified rules as a program about `target`, thresholds rounded unless `decimals` is None."""
    return _ProgramWriter(target, decimals).program(rules)


def count_literals(program: Program) -> tuple[int, int]:
    """Return how many rules a learned program has, exceptions too, and how many literals, calls of those aside."""
    heads = {rule.head.predicate for rule in program.rules if rule.head}
    tests = [bare(literal) for rule in program.rules for literal in rule.body]
    count = sum(not isinstance(test, Atom) or _is_name_test(test, heads) for test in tests)
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
        self.variables: dict[str, Variable] = {}

    def program(self, rules: Sequence[LearnedRule]) -> Program:
        for rule in rules:
            self._number_exceptions(rule)
        heads = [Atom(self.target, (PERSON, Constant(str(r.label)))) for r in rules]
        written = [self._rule(head, rule) for head, rule in zip(heads, rules, strict=True)]
        inner = [self._rule(_exception_atom(name), rule) for rule, name in self.exceptions.items()]
        return Program((*written, *inner))

    def _number_exceptions(self, rule: LearnedRule) -> None:
        for exception in rule.exceptions:
            self._number_exceptions(exception)
            self.exceptions.setdefault(exception, f"ab{len(self.exceptions) + 1}")

    def _rule(self, head: Atom, rule: LearnedRule) -> Rule:
        names = [each for each in rule.literals if each.relation is Relation.EQUAL]
        bounds = [each for each in rule.literals if each.relation is not Relation.EQUAL]
        body: list[Literal] = [_name_literal(each) for each in names]
        for feature, group in groupby(bounds, key=lambda bound: bound.feature):
            body += self._bounds(feature, group)
        body += [Not(_exception_atom(self.exceptions[each])) for each in rule.exceptions]
        return Rule(head, tuple(body))

    def _bounds(self, feature: str, bounds: Iterable[LearnedLiteral]) -> list[Literal]:
        fresh = Variable(f"N{len(self.variables) + 1}")
        variable = self.variables.setdefault(feature, fresh)
        written: list[Literal] = [Atom(predicate_name(feature), (PERSON, variable))]
        for bound in bounds:
            value = Constant(self._rounded(float(bound.value)))
            comparison = Comparison(variable, COMPARATORS[bound.relation], value)
            written.append(Not(comparison) if bound.negated else comparison)
        return written

    def _rounded(self, value: float) -> float:
        return value if self.decimals is None else round(value, self.decimals)


def _name_literal(literal: LearnedLiteral) -> Literal:
    value = Constant(str(literal.value))
    atom = Atom(predicate_name(literal.feature), (PERSON, value))
    return Not(atom) if literal.negated else atom


def _exception_atom(name: str) -> Atom:
    return Atom(name, (PERSON, Constant("True")))


def _is_name_test(atom: Atom, heads: set[str]) -> bool:
    return atom.predicate not in heads and isinstance(atom.arguments[1], Constant)


def name_missing(
    program: Program, features: Mapping[str, Mapping[str, Any]], *, prefix: str = "missing"
) -> Program:
    r"""Replace every test for a missing value by a decision, and define the decisions at the end.

    FOLD-SE sees a missing value as the empty text and may ask for it: `income(X,'')`. No feature has this value. No comparison
    with a missing value holds, nor the contrary one, and of any value one of the two does: that pair says it without naming
    the bounds or all values, and stays right when a domain is widened later.

    >>> from p2c._rules import parse, render
    >>> asked = parse("risky(X) :- not income(X,''), job(X,'').")
    >>> job = {"type": "category", "values": ["clerk", "cook"]}
    >>> print(render(name_missing(asked, {"income": {"type": "int", "min": 5, "max": 9}, "job": job})))
    risky(X) :- not missing_income(X), missing_job(X).
    missing_income(X) :- income(X,V), not(V>=5), not(V<5).
    missing_job(X) :- job(X,V), not(V = 'clerk'), not(V \= 'clerk').
    """
    needed: dict[str, Rule] = {}

    def named(literal: Literal) -> Literal:
        inner = bare(literal)
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
