"""Learned rules as they are read: short exceptions folded into the body, the bounds of a feature drawn together.

Both steps keep the meaning, on strings and missing values too, so the rules that predict are the rules that are shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from p2c.learn.foldse.literals import Literal, Relation, Rule

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def simplify(rule: Rule) -> Rule:
    """Fold every exception of one literal, negated, into the body and unite the bounds of each feature."""
    exceptions = [simplify(exception) for exception in rule.exceptions]
    folded = [each.literals[0].complement() for each in exceptions if _is_literal(each)]
    kept = tuple(each for each in exceptions if not _is_literal(each))
    return Rule(unite([*rule.literals, *folded]), kept, rule.label)


def unite(literals: Iterable[Literal]) -> tuple[Literal, ...]:
    """Put strings first, then numbers by feature, with at most one bound on either side of each.

    >>> unite([Literal("age", Relation.AT_MOST, 60.0), Literal("age", Relation.AT_MOST, 27.0, negated=True)])
    ... # doctest: +NORMALIZE_WHITESPACE
    (Literal(feature='age', relation=<Relation.ABOVE: '>'>, value=27.0, negated=False),
     Literal(feature='age', relation=<Relation.AT_MOST: '=<'>, value=60.0, negated=False))
    """
    names: list[Literal] = []
    bounds: dict[str, list[Literal]] = {}
    for literal in dict.fromkeys(literals):
        if literal.relation is Relation.EQUAL:
            names.append(literal)
        else:
            bounds.setdefault(literal.feature, []).append(literal)
    return (*names, *(each for group in bounds.values() for each in _unite_bounds(group)))


def _unite_bounds(bounds: Sequence[Literal]) -> list[Literal]:
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
    united = [Literal(feature, above, max(lower), negated)] if lower else []
    return united + ([Literal(feature, below, min(upper), negated)] if upper else [])


def _is_upper(bound: Literal) -> bool:
    return (bound.relation is Relation.AT_MOST) != bound.negated


def _is_literal(exception: Rule) -> bool:
    return len(exception.literals) == 1 and not exception.exceptions
