"""How learned rules fare on rows: which of them decides each row, and how well they decide."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from p2c.learn.induce import covers
from p2c.learn.literals import Literal, Quality, Rule

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from p2c.learn.columns import Column, Mask

Shares = NDArray[np.float64]

EDGE = 1e-9


def first_rule(
    rules: Sequence[Rule], columns: Mapping[str, Column], count: int
) -> NDArray[np.intp]:
    """Return for each row the place of the first rule that holds, past the last where none does."""
    verdicts = np.full(count, len(rules))
    for place in reversed(range(len(rules))):
        verdicts[covers(rules[place], columns)] = place
    return verdicts


def decided_rows(
    rules: Sequence[Rule], columns: Mapping[str, Column], count: int, *, ordered: bool
) -> list[Mask]:
    """Return the rows that each rule decides, and last those that none does."""
    verdicts = first_rule(rules, columns, count)
    if ordered:
        return [verdicts == place for place in range(len(rules) + 1)]
    return [*(covers(rule, columns) for rule in rules), verdicts == len(rules)]


def rule_quality(decided: Mask, hits: Mask) -> Quality:
    """Return how a rule fares that decides these rows, where its label has those."""
    right = int(np.count_nonzero(decided & hits))
    support = int(np.count_nonzero(decided))
    wanted = int(np.count_nonzero(hits))
    return Quality(support, right / max(support, 1), right / max(wanted, 1))


def class_shares(decided: Mask, labels: NDArray[np.intp], *, label: int, count: int) -> Shares:
    """Return the share of each class in the rows decided, that of the label always the largest."""
    shares = np.bincount(labels[decided], minlength=count).astype(np.float64)
    shares /= max(shares.sum(), 1.0)
    if not shares.any() or np.argmax(shares) != label:
        shares[label] = shares.max() + EDGE
    return np.asarray(shares / shares.sum())


def features_read(rules: Sequence[Rule]) -> frozenset[str]:
    """Return the features that the rules and their exceptions read."""
    return frozenset(literal.feature for rule in rules for literal in all_literals(rule))


def all_literals(rule: Rule) -> list[Literal]:
    """Return the literals of a rule and of its exceptions, to any depth."""
    inner = [literal for each in rule.exceptions for literal in all_literals(each)]
    return [*rule.literals, *inner]
