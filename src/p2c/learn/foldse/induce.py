"""FOLD-SE itself (Wang and Gupta, 2024): default rules, their exceptions, the exceptions of those.

`learn_rule_set` covers one class with alternatives; `learn_rule_list` covers several classes with rules that are read
in order, after FOLD-RM (Wang, Shakerin and Gupta, 2022).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from p2c.learn.foldse.choose import best_literal
from p2c.learn.foldse.grid import CountGrid, Examples, build_grids
from p2c.learn.foldse.literals import LearnedLiteral, LearnedRule

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from p2c.learn.foldse.columns import CodedColumn, Mask, Rows
    from p2c.learn.foldse.grid import Weights


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """The training data and the two settings that end the growth of a rule."""

    columns: Mapping[str, CodedColumn]
    grids: Sequence[CountGrid]
    ratio: float
    fewest: int
    weights: Weights | None = None

    def examples(self, rows: Rows) -> Examples:
        """Return the rows as examples."""
        return Examples(self.grids, rows, self.weights)


def learn_rules(
    columns: Mapping[str, CodedColumn],
    positive: Mask,
    *,
    ratio: float,
    tail: float,
    weights: Weights | None = None,
) -> tuple[LearnedRule, ...]:
    """Learn the rules of one class against all the rest."""
    task = _prepare(columns, len(positive), ratio, tail, weights)
    covered, rest = (
        task.examples(np.flatnonzero(positive)),
        task.examples(np.flatnonzero(~positive)),
    )
    return learn_rule_set(task, covered, rest)


def learn_rule_list(
    columns: Mapping[str, CodedColumn],
    labels: NDArray[np.intp],
    *,
    ratio: float,
    tail: float,
    weights: Weights | None = None,
) -> tuple[tuple[int, LearnedRule], ...]:
    """Learn ordered rules for several classes: the most frequent class left, one rule at a time."""
    task = _prepare(columns, len(labels), ratio, tail, weights)
    rows = np.arange(len(labels))
    learned: list[tuple[int, LearnedRule]] = []
    while len(rows):
        heavy = None if weights is None else weights[rows]
        label = int(np.argmax(np.bincount(labels[rows], weights=heavy)))
        of_label = labels[rows] == label
        positive, negative = task.examples(rows[of_label]), task.examples(rows[~of_label])
        rule = learn_rule(task, positive, negative, ())
        if rule is None or not covers(rule, columns, positive.rows).any():
            break
        learned.append((label, rule))
        rows = rows[~covers(rule, columns, rows)]
    return tuple(learned)


def learn_rule_set(
    task: Task, positive: Examples, negative: Examples, used: tuple[LearnedLiteral, ...] = ()
) -> tuple[LearnedRule, ...]:
    """Learn alternatives until no positive is left, a rule is dropped, or one covers nothing new."""
    rules: list[LearnedRule] = []
    while len(positive):
        rule = learn_rule(task, positive, negative, used)
        if rule is None:
            break
        left = positive.keep(~covers(rule, task.columns, positive.rows))
        if len(left) == len(positive):
            break
        rules.append(rule)
        positive = left
    return tuple(rules)


def learn_rule(
    task: Task, positive: Examples, negative: Examples, used: tuple[LearnedLiteral, ...]
) -> LearnedRule | None:
    """Learn one rule and its exceptions; None where it falls into the long tail or no literal can start it."""
    literals: tuple[LearnedLiteral, ...] = ()
    while not literals or negative.weight > task.ratio * positive.weight:
        literal = best_literal(positive, negative, used + literals)
        if literal is None:
            return LearnedRule(literals) if literals else None
        literals += (literal,)
        column = task.columns[literal.feature]
        positive = positive.keep(column.holds(literal, positive.rows))
        negative = negative.keep(column.holds(literal, negative.rows))
        if positive.weight < task.fewest:
            return None
    exceptions = learn_rule_set(task, negative, positive, used + literals)
    return LearnedRule(literals, exceptions)


def covers(rule: LearnedRule, columns: Mapping[str, CodedColumn], rows: Rows | None = None) -> Mask:
    """Tell for each row, or each of `rows`, whether the rule holds."""
    first, *others = rule.literals
    holds = columns[first.feature].holds(first, rows)
    for literal in others:
        holds &= columns[literal.feature].holds(literal, rows)
    for exception in rule.exceptions:
        holds &= ~covers(exception, columns, rows)
    return holds


def _prepare(
    columns: Mapping[str, CodedColumn],
    count: int,
    ratio: float,
    tail: float,
    weights: Weights | None,
) -> Task:
    total = count if weights is None else float(weights.sum())
    return Task(columns, build_grids(columns), ratio, int(tail * total), weights)
