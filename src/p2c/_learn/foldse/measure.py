"""How learned rules fare on rows: which of them decides each row, and how well they decide."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from p2c._learn.foldse.induce import covers
from p2c._learn.foldse.literals import LearnedLiteral, LearnedRule, Quality

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from p2c._learn.foldse.columns import CodedColumn, Mask
    from p2c._learn.foldse.grid import Weights

Shares = NDArray[np.float64]

EDGE = 1e-9


def first_rule(
    rules: Sequence[LearnedRule], columns: Mapping[str, CodedColumn], count: int
) -> NDArray[np.intp]:
    """Return for each row the place of the first rule that holds, past the last where none does."""
    verdicts = np.full(count, len(rules))
    for place in reversed(range(len(rules))):
        verdicts[covers(rules[place], columns)] = place
    return verdicts


def decided_rows(
    rules: Sequence[LearnedRule], columns: Mapping[str, CodedColumn], count: int, *, ordered: bool
) -> list[Mask]:
    """Return the rows that each rule decides, and last those that none does."""
    verdicts = first_rule(rules, columns, count)
    if ordered:
        return [verdicts == place for place in range(len(rules) + 1)]
    return [*(covers(rule, columns) for rule in rules), verdicts == len(rules)]


def rule_quality(decided: Mask, hits: Mask, weights: Weights | None = None) -> Quality:
    """Return how a rule fares that decides these rows, where its label has those."""
    right, support, wanted = (_weigh(rows, weights) for rows in (decided & hits, decided, hits))
    return Quality(support, right / support if support else 0.0, right / wanted if wanted else 0.0)


def _weigh(rows: Mask, weights: Weights | None) -> float:
    return int(np.count_nonzero(rows)) if weights is None else float(weights[rows].sum())


def class_shares(
    decided: Mask,
    labels: NDArray[np.intp],
    *,
    label: int,
    count: int,
    weights: Weights | None = None,
) -> Shares:
    """Return the share of each class in the rows decided, that of the label always the largest."""
    heavy = None if weights is None else weights[decided]
    shares = np.bincount(labels[decided], weights=heavy, minlength=count).astype(np.float64)
    shares /= shares.sum() or 1.0
    if not shares.any() or np.argmax(shares) != label:
        shares[label] = shares.max() + EDGE
    return np.asarray(shares / shares.sum())


def features_read(rules: Sequence[LearnedRule]) -> frozenset[str]:
    """Return the features that the rules and their exceptions read."""
    return frozenset(literal.feature for rule in rules for literal in all_literals(rule))


def all_literals(rule: LearnedRule) -> list[LearnedLiteral]:
    """Return the literals of a rule and of its exceptions, to any depth."""
    inner = [literal for each in rule.exceptions for literal in all_literals(each)]
    return [*rule.literals, *inner]
