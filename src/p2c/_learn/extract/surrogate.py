"""Rules that FOLD-SE learns in the place of a model, from its answers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from sklearn.model_selection import StratifiedKFold

from p2c._learn.extract.ruleset import Ruleset
from p2c._learn.foldse import FoldSE
from p2c._learn.tables.domains import domain_from_frame

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from p2c._learn.model.arrays import Mask

LEAST_SHARE = 0.25
"""Where one outcome is so rare that no rule tells it apart, its rows are repeated up to this share."""
SIDES = (False, True)
"""Rules of the refused are learned first, then those of the accepted."""
CLEARLY = 0.01
"""By so much of the rows must rules of the accepted agree more often to be taken."""
RATIOS = (0.5, 0.25, 0.75, 1.0)
FOLDS = 4
MOST_ROWS = 20_000
"""On so many rows the ratio is chosen."""


def learn_ruleset(
    table: pd.DataFrame, accepted: Mask, *, desired: str, other: str, seed: int = 0
) -> Ruleset:
    """Learn rules of the outcome that is not desired, as the paper does, or of the desired one where those fit better.

    FOLD-SE's `ratio` is the one whose rules agree best with the decisions on rows kept apart from their learning.
    """
    if accepted.all():
        return Ruleset((), other, desired, accepting=False)
    if not accepted.any():
        return Ruleset((), desired, other, accepting=True)
    ratio = _best_ratio(table, accepted, seed)
    sides = [_side(table, accepted, accepting, desired, other, ratio=ratio) for accepting in SIDES]
    if not any(each.rules for each in sides):
        rows = _balanced(accepted, seed)
        repeated = table.iloc[rows]
        sides = [
            _side(repeated, accepted[rows], accepting, desired, other, tail=0.0)
            for accepting in SIDES
        ]
        return max(sides, key=lambda each: _balance(each.accepts(table), accepted))
    return _better(sides, table, accepted)


def _better(sides: Sequence[Ruleset], table: pd.DataFrame, accepted: Mask) -> Ruleset:
    """Return the first side, unless it decides all rows alike or the second agrees clearly more often."""
    refusing, granting = (each.accepts(table) for each in sides)
    lead = float((granting == accepted).mean() - (refusing == accepted).mean())
    first_tells, second_tells = (len(np.unique(told)) > 1 for told in (refusing, granting))
    return sides[second_tells and (not first_tells or lead > CLEARLY)]


def _best_ratio(table: pd.DataFrame, accepted: Mask, seed: int) -> float:
    """Return the ratio whose rules of the refused agree best on rows that they were not learned from."""
    rows = np.random.default_rng(seed).permutation(len(table))[:MOST_ROWS]
    table, refused = table.iloc[rows], ~accepted[rows]
    if min(refused.sum(), (~refused).sum()) < 2 * FOLDS:
        return RATIOS[0]
    agreed = dict.fromkeys(RATIOS, 0)
    for train, test in StratifiedKFold(FOLDS).split(table, refused):
        for ratio in RATIOS:
            learner = FoldSE(ratio, positive=True).fit(table.iloc[train], refused[train])
            agreed[ratio] += int((learner.predict(table.iloc[test]) == refused[test]).sum())
    return max(agreed, key=lambda ratio: agreed[ratio])


def _side(
    table: pd.DataFrame,
    accepted: Mask,
    accepting: bool,
    desired: str,
    other: str,
    *,
    ratio: float = 0.5,
    tail: float = 0.005,
) -> Ruleset:
    learner = FoldSE(ratio, tail, positive="rule")
    learner.fit(table, np.where(accepted == accepting, "rule", "rest"))
    label, rest = (desired, other) if accepting else (other, desired)
    rules = tuple(replace(rule, label=label) for rule in learner.rules_)
    return Ruleset(rules, label, rest, accepting, domain_from_frame(table))


def _balance(found: Mask, wanted: Mask) -> float:
    """Return the mean of the shares of both outcomes that were found right."""
    return float(np.mean([(found == wanted)[wanted == side].mean() for side in (False, True)]))


def _balanced(accepted: Mask, seed: int) -> NDArray[np.intp]:
    rare = accepted if accepted.mean() < 0.5 else ~accepted
    few, many = np.flatnonzero(rare), np.flatnonzero(~rare)
    count = max(int(LEAST_SHARE / (1 - LEAST_SHARE) * len(many)), len(few))
    drawn = (
        np.random.default_rng(seed).choice(few, count - len(few)) if count > len(few) else few[:0]
    )
    return np.sort(np.concatenate([few, drawn, many]))
