"""What FOLD-SE learns: literals over the features of a row, rules of them, exceptions to those; and rules made short.

Making them short keeps the meaning, on strings and missing values too, so the rules that predict are the rules that are shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


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
