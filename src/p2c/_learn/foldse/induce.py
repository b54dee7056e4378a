"""FOLD-SE itself (Wang and Gupta, 2024): default rules, their exceptions, the exceptions of those.

`learn_rule_set` covers one class with alternatives; `learn_rule_list` covers several classes with rules that are read
in order, after FOLD-RM (Wang, Shakerin and Gupta, 2022).

The best literal over all features at once has the least magic Gini impurity. A grid counts the positives and negatives of
every value; prefix sums then give the score of every literal. A literal and its negation have the same impurity to the last
bit, and at least one of them is never ruled out, so one number a value and direction is enough to find the winner; only there
are the candidates told apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, sqrt
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from p2c._learn.foldse.columns import CountGrid, Examples, build_grids
from p2c._learn.foldse.literals import LearnedLiteral, LearnedRule, Quality, Relation

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from p2c._learn.foldse.columns import CodedColumn, Counts, Mask, Rows, Weights


Scores = NDArray[np.float64]


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


def prepare(
    columns: Mapping[str, CodedColumn],
    count: int,
    *,
    ratio: float,
    tail: float,
    weights: Weights | None = None,
) -> Task:
    """Lay out so many rows for learning."""
    total = count if weights is None else float(weights.sum())
    return Task(columns, build_grids(columns), ratio, int(tail * total), weights)


def learn_rules(task: Task, positive: Mask) -> tuple[LearnedRule, ...]:
    """Learn the rules of one class against all the rest."""
    covered, rest = (task.examples(np.flatnonzero(side)) for side in (positive, ~positive))
    return learn_rule_set(task, covered, rest)


def learn_rule_list(task: Task, labels: NDArray[np.intp]) -> tuple[tuple[int, LearnedRule], ...]:
    """Learn ordered rules for several classes: the most frequent class left, one rule at a time."""
    rows = np.arange(len(labels))
    learned: list[tuple[int, LearnedRule]] = []
    while len(rows):
        heavy = None if task.weights is None else task.weights[rows]
        label = int(np.argmax(np.bincount(labels[rows], weights=heavy)))
        of_label = labels[rows] == label
        positive, negative = task.examples(rows[of_label]), task.examples(rows[~of_label])
        rule = learn_rule(task, positive, negative, ())
        if rule is None or not covers(rule, task.columns, positive.rows).any():
            break
        learned.append((label, rule))
        rows = rows[~covers(rule, task.columns, rows)]
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


def score(tp: float, fn: float, tn: float, fp: float) -> float:
    """Return the negated magic Gini impurity of a literal, minus infinity for one that errs more than not."""
    if tp + tn < fp + fn:
        return -inf
    return -(sqrt(tp * fp) + sqrt(tn * fn)) / (tp + fn + tn + fp)


def best_literal(
    positive: Examples, negative: Examples, used: Iterable[LearnedLiteral]
) -> LearnedLiteral | None:
    """Return the first literal with the strictly highest score, None where none is left to try."""
    taken = frozenset(used)
    totals = positive.weight, negative.weight
    best: tuple[float, int] = (-inf, 0)
    chosen = None
    for place, grid in enumerate(positive.grids):
        counts = slot_counts(grid, positive.tally(place), negative.tally(place), totals)
        found = counts.best(taken)
        if found is not None and found[:2] > best:
            best, chosen = found[:2], found[2]
    return chosen


def slot_counts(
    grid: CountGrid, pos: Counts, neg: Counts, totals: tuple[float, float]
) -> SlotCounts:
    """Sum up the counts of a grid."""
    counts = np.stack((pos, neg))
    sums = np.zeros((2, grid.size + 1), dtype=counts.dtype)
    np.cumsum(counts, axis=1, out=sums[:, 1:])
    before = sums[:, grid.starts]
    numbers = sums[:, grid.ends_of_numbers] - before
    return SlotCounts(grid, totals, counts=counts, sums=sums[:, 1:], before=before, numbers=numbers)


class SlotCounts:
    """Counts of some slots of a grid, positives above negatives, from which the score of any literal can be read off.

    `covered` holds for each value that occurs the rows that are at most it or, for a string, equal to it; `numbers`
    holds for each column the rows that have a number there.
    """

    def __init__(
        self,
        grid: CountGrid,
        totals: tuple[float, float],
        *,
        counts: Counts,
        sums: Counts,
        before: Counts,
        numbers: Counts,
    ) -> None:
        self.grid = grid
        self.totals = totals
        self.numbers = numbers
        present = np.flatnonzero(counts[0] + counts[1])
        self.places = present
        self.owners = grid.owners[self.places]
        self.numeric = self.places < grid.ends_of_numbers[self.owners]
        at_most = sums[:, present] - before[:, self.owners]
        self.covered = np.where(self.numeric, at_most, counts[:, present])

    def best(self, used: frozenset[LearnedLiteral]) -> tuple[float, int, LearnedLiteral] | None:
        """Return the best score, minus the rank of its feature in the order of trial, and the literal."""
        if not len(self.places):
            return None
        scores = self._scores(self.covered)
        self._raise_to_above(scores)
        for place in self._places_of(used):
            left = (value for value, literal in self._candidates(place) if literal not in used)
            scores[place] = max(left, default=-inf)
        place = int(scores.argmax())
        for value, literal in self._candidates(place):
            if value == scores[place] > -inf and literal not in used:
                return value, -self.grid.ranks[self.owners[place]], literal
        return None

    def _scores(self, covered: Counts) -> Scores:
        positives, negatives = self.totals
        tp, fp = covered
        impurity = np.sqrt(tp * fp) + np.sqrt((negatives - fp) * (positives - tp))
        return np.asarray(-impurity / (positives + negatives))

    def _raise_to_above(self, scores: Scores) -> None:
        """Raise the scores where `>v` beats `=<v`, which can only be where strings stand beside numbers."""
        counted = self.numbers.sum(axis=0)
        mixed = (counted > 0) & (counted < sum(self.totals))
        if mixed.any():
            places = np.flatnonzero(self.numeric & mixed[self.owners])
            above = self.numbers[:, self.owners[places]] - self.covered[:, places]
            scores[places] = np.maximum(scores[places], self._scores(above))

    def _places_of(self, used: Iterable[LearnedLiteral]) -> Iterable[int]:
        for literal in used:
            if literal.feature in self.grid.features:
                owner = self.grid.features.index(literal.feature)
                slot = self.grid.starts[owner] + self.grid.columns[owner].code(literal.value)
                place = int(self.places.searchsorted(slot))
                if place < len(self.places) and self.places[place] == slot:
                    yield place

    def _candidates(self, place: int) -> list[tuple[float, LearnedLiteral]]:
        """Return the literals on one value in the order of trial, each after its score."""
        owner = int(self.owners[place])
        value = self.grid.columns[owner].value(int(self.places[place] - self.grid.starts[owner]))
        tests = [(Relation.EQUAL, self.covered[:, place])]
        if self.numeric[place]:
            above = self.numbers[:, owner] - self.covered[:, place]
            tests = [(Relation.AT_MOST, self.covered[:, place]), (Relation.ABOVE, above)]
        candidates = []
        for relation, covered in tests:
            tp, fp = covered.tolist()
            fn, tn = self.totals[0] - tp, self.totals[1] - fp
            literal = LearnedLiteral(self.grid.features[owner], relation, value)
            candidates.append((score(tp, fn, tn, fp), literal))
            candidates.append((score(fn, tp, fp, tn), literal.complement()))
        return candidates


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
