"""Rules that decide: those of one outcome, the other where none holds, from wherever they come."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from p2c.learn.absent import spell_out_missing
from p2c.learn.domains import domain_from_frame
from p2c.learn.foldse import FoldSE
from p2c.learn.literals import Literal, Relation, Rule
from p2c.learn.measure import all_literals, features_read, first_rule
from p2c.learn.simplify import simplify
from p2c.learn.table import encode_table
from p2c.learn.text import to_program
from p2c.rules.render import render, render_literal, render_rule
from p2c.rules.syntax import Atom, Constant, Not, Program, Variable
from p2c.rules.syntax import Rule as TextRule

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from p2c.learn.ask import Mask
    from p2c.learn.domains import FeatureKeys
    from p2c.learn.view import View

PERSON = Variable("X")
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


@dataclass(frozen=True)
class Ruleset:
    """Rules of the outcome called `label`; `accepting` tells whether that is the desired one, `other` names the rest."""

    rules: tuple[Rule, ...]
    label: str
    other: str
    accepting: bool
    keys: Mapping[str, FeatureKeys] = field(default_factory=dict, compare=False, repr=False)
    """The features of the problem, by which to say that a value is missing."""
    target: str = "label"

    def accepts(self, table: pd.DataFrame) -> Mask:
        """Tell for each row of features whether the rules accept it."""
        return np.asarray((self.places(table) < len(self.rules)) == self.accepting)

    def places(self, table: pd.DataFrame) -> NDArray[np.intp]:
        """Return for each row the place of the first rule that holds, past the last where none does."""
        needed = features_read(self.rules)
        columns = encode_table(table, [str(name) for name in table.columns], needed=needed)
        return first_rule(self.rules, columns, len(table))

    def program(self) -> Program:
        """Return the rules as text has them; without any, the other outcome is a fact."""
        if not self.rules:
            head = Atom(self.target, (PERSON, Constant(self.other)))
            return Program((TextRule(head, ()),))
        program = to_program(self.rules, target=self.target, decimals=None)
        return spell_out_missing(program, self.keys)

    def text(self) -> str:
        """Return the rules as text."""
        return render(self.program())

    def goal(self) -> str:
        """Return the query that succeeds where a row is accepted."""
        label = self.label if self.rules else self.other
        atom = Atom(self.target, (PERSON, Constant(label)))
        holds = self.accepting == bool(self.rules)
        return render_literal(atom if holds else Not(atom))

    def rule_texts(self) -> tuple[str, ...]:
        """Return the text of each rule, exceptions aside."""
        return tuple(render_rule(rule) for rule in self.program().rules[: len(self.rules)])


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
    if len(set(refusing.tolist())) < 2:
        return sides[1] if len(set(granting.tolist())) > 1 else sides[0]
    return sides[1] if lead > CLEARLY and len(set(granting.tolist())) > 1 else sides[0]


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


def read_foldse(
    model: FoldSE, view: View, table: pd.DataFrame, *, desired: Any, other: Any
) -> Ruleset | None:
    """Return the rules of a fitted FOLD-SE model for one class, or None where a column mixes numbers and texts.

    Of several classes, the rules are read in order: a rule holds unless one of another class stands above it.
    """
    numbers = {each.feature: each.is_number for each in view.columns}
    named = [_renamed(rule, view) for rule in model.rules_]
    if not all(_fits(each, numbers) for rule in named for each in all_literals(rule)):
        return None
    keys = domain_from_frame(table)
    if len(model.classes_) <= 2:
        accepting = model.default_ != desired
        label, rest = (desired, other) if accepting else (other, desired)
        rules = tuple(replace(rule, label=str(label)) for rule in named)
        return Ruleset(rules, str(label), str(rest), accepting, keys)
    found = []
    for place, rule in enumerate(named):
        if rule.label == desired:
            above = _others(named[:place], desired)
            found.append(Rule(rule.literals, (*rule.exceptions, *above), str(desired)))
    if model.default_ == desired:
        found.append(Rule((), _others(named, desired), str(desired)))
    return Ruleset(tuple(map(simplify, found)), str(desired), str(other), True, keys)


def _others(rules: Iterable[Rule], desired: Any) -> tuple[Rule, ...]:
    return tuple(replace(rule, label=None) for rule in rules if rule.label != desired)


def _renamed(rule: Rule, view: View) -> Rule:
    literals = tuple(replace(each, feature=view.feature(each.feature)) for each in rule.literals)
    return Rule(literals, tuple(_renamed(each, view) for each in rule.exceptions), rule.label)


def _fits(literal: Literal, numbers: Mapping[str, bool]) -> bool:
    if literal.relation is Relation.EQUAL:
        return not numbers[literal.feature] or literal.value == ""
    return numbers[literal.feature]
