"""Learned rules as they are read: short exceptions folded into the body, the bounds of a feature drawn together.

Both steps keep the meaning, on strings and missing values too, so the rules that predict are the rules that are shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from p2c.learn.foldse.literals import LearnedLiteral, LearnedRule, Relation

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


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
