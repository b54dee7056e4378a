"""Rules that decide: those of one outcome, the other where none holds, from wherever they come."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from p2c._learn.foldse.inputs import encode_table
from p2c._learn.foldse.literals import LearnedLiteral, LearnedRule, Relation, simplify
from p2c._learn.foldse.measure import all_literals, features_read, first_rule
from p2c._learn.foldse.text import name_missing, to_program
from p2c._learn.tables.domains import domain_from_frame
from p2c._rules.render import render, render_literal, render_rule
from p2c._rules.syntax import PERSON, Atom, Constant, Not, Program, Rule

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pandas as pd
    from numpy.typing import NDArray

    from p2c._learn.foldse import FoldSE
    from p2c._learn.model.arrays import Mask
    from p2c._learn.tables.domains import FeatureKeys
    from p2c._learn.tables.view import View


@dataclass(frozen=True)
class Ruleset:
    """Rules of the outcome called `label`; `accepting` tells whether that is the desired one, `other` names the rest."""

    rules: tuple[LearnedRule, ...]
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
            return Program((Rule(head, ()),))
        program = to_program(self.rules, target=self.target, decimals=None)
        return name_missing(program, self.keys)

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
            found.append(LearnedRule(rule.literals, (*rule.exceptions, *above), str(desired)))
    if model.default_ == desired:
        found.append(LearnedRule((), _others(named, desired), str(desired)))
    return Ruleset(tuple(map(simplify, found)), str(desired), str(other), True, keys)


def _others(rules: Iterable[LearnedRule], desired: Any) -> tuple[LearnedRule, ...]:
    return tuple(replace(rule, label=None) for rule in rules if rule.label != desired)


def _renamed(rule: LearnedRule, view: View) -> LearnedRule:
    literals = tuple(replace(each, feature=view.feature(each.feature)) for each in rule.literals)
    return LearnedRule(
        literals, tuple(_renamed(each, view) for each in rule.exceptions), rule.label
    )


def _fits(literal: LearnedLiteral, numbers: Mapping[str, bool]) -> bool:
    if literal.relation is Relation.EQUAL:
        return not numbers[literal.feature] or literal.value == ""
    return numbers[literal.feature]
