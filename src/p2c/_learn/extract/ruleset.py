"""Rules that decide: written, learned, or those of a decision tree."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import floor, isinf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from p2c._learn.foldse.columns import encode_table
from p2c._learn.foldse.induce import all_literals, features_read, first_rule
from p2c._learn.foldse.literals import (
    MISSING,
    LearnedLiteral,
    LearnedRule,
    Relation,
    name_missing,
    simplify,
    to_program,
    unite,
)
from p2c._learn.model.parts import LEAF
from p2c._learn.model.readers.sklearn_trees import shares_of, tree_of
from p2c._learn.tables.domains import domain_from_frame
from p2c._rules.bind import build_theory
from p2c._rules.evaluate import clause_fires, goal_holds
from p2c._rules.parse import parse, parse_query
from p2c._rules.render import render, render_atom, render_literal, render_rule
from p2c._rules.syntax import PERSON, Atom, Constant, Not, Program, Rule, bare
from p2c._spec.row import read_row
from p2c._spec.spec import read_spec, unreadable
from p2c.errors import Fault, P2CError, ProblemError, RuleError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from p2c._learn.foldse import FoldSE
    from p2c._learn.model.arrays import Mask
    from p2c._learn.model.asking import AskedModel
    from p2c._learn.model.parts import Tree
    from p2c._learn.tables.domains import FeatureKeys
    from p2c._learn.tables.view import ColumnView, View
    from p2c._rules.theory import Clause, Theory
    from p2c._spec.row import State

    TreePath = tuple[LearnedLiteral, ...]
    Sides = tuple[TreePath | None, TreePath | None]
    """The literals that lead left and right; None where nothing goes that way."""


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


@dataclass(frozen=True)
class WrittenRules:
    """A program with a goal, bound to the features of a table."""

    theory: Theory
    target: str

    def accepts(self, table: pd.DataFrame) -> Mask:
        """Tell for each row of features whether the goal query succeeds."""
        return np.array([goal_holds(self.theory, row) for row in self._rows(table)], dtype=bool)

    def places(self, table: pd.DataFrame) -> NDArray[np.intp]:
        """Return for each row the place of the first rule of the decision that fires, past the last where none does."""
        clauses = self._clauses
        return np.array([self._place(clauses, row) for row in self._rows(table)], dtype=np.intp)

    def text(self) -> str:
        """Return the rules as text."""
        return render(self.theory.program)

    def goal(self) -> str:
        """Return the goal query."""
        return self.theory.goal_text

    def rule_texts(self) -> tuple[str, ...]:
        """Return the text of each rule of the decision."""
        return tuple(render_rule(clause.rule) for clause in self._clauses)

    @property
    def _clauses(self) -> list[Clause]:
        groups = [
            clauses for name, clauses in self.theory.decisions if name.predicate == self.target
        ]
        return [clause for clauses in groups for clause in clauses]

    def _place(self, clauses: list[Clause], row: State) -> int:
        fires = (
            place for place, each in enumerate(clauses) if clause_fires(self.theory, each, row)
        )
        return next(fires, len(clauses))

    def _rows(self, table: pd.DataFrame) -> Iterable[State]:
        for record in table.to_dict("records"):
            yield read_row(self.theory.features, {str(key): value for key, value in record.items()})


def read_written(model: Program | str | Path, table: pd.DataFrame, desired: Any) -> WrittenRules:
    """Bind rules to the features of a table; `desired` is a goal query, a label, or None for "not refused".

    With None the program has one decision that no other rule calls, and the goal is that it fails.
    """
    text = render(model) if isinstance(model, Program) else _text(model)
    keys = domain_from_frame(table)
    file = str(model) if isinstance(model, Path) else ""
    try:
        program = parse(text)
    except RuleError as error:
        raise ProblemError([Fault("", str(error))], source=file) from error
    goal = _goal(program, set(keys), desired)
    spec = read_spec({"goal": goal, "rules": text, "features": keys})
    literal = parse_query(goal)[0]
    inner = bare(literal)
    target = inner.predicate if isinstance(inner, Atom) else ""
    return WrittenRules(build_theory(spec, source=file), target)


def _text(model: str | Path) -> str:
    if isinstance(model, str) and (":-" in model or model.rstrip().endswith(".")):
        return model
    try:
        return Path(model).read_text(encoding="utf-8-sig")
    except OSError as error:
        message = (
            f"model: {str(model)!r} is neither rules, nor a column, nor a file: {unreadable(error)}"
        )
        raise P2CError(message) from None
    except ValueError as error:
        raise P2CError(f"{model}: cannot be read as rules: {unreadable(error)}") from None


def _goal(program: Program, features: set[str], desired: Any) -> str:
    heads = [
        rule.head for rule in program.rules if rule.head and rule.head.predicate not in features
    ]
    called = {
        inner.predicate
        for rule in program.rules
        for inner in map(bare, rule.body)
        if isinstance(inner, Atom)
    }
    top = list(dict.fromkeys(head for head in heads if head.predicate not in called))
    if desired is None:
        if len(top) != 1:
            shown = ", ".join(map(render_atom, top)) or "none"
            raise P2CError(
                f"desired: say which decision is wanted, as a goal query; there are {shown}"
            )
        return render_literal(Not(top[0]))
    for head in top:
        if Constant(str(desired)) in head.arguments[1:]:
            return render_atom(head)
    if len(top) == 1 and len(top[0].arguments) == 2 and not _is_query(desired):
        return render_literal(Not(top[0]))
    return str(desired)


def _is_query(desired: Any) -> bool:
    try:
        literals = parse_query(str(desired))
    except RuleError:
        return False
    return any(isinstance(each, Atom | Not) for each in literals)


MOST_LEAVES = 256
"""A tree with more leaves is asked instead of read: nobody would read its rules."""


def rules_of_tree(
    model: Any,
    columns: tuple[ColumnView, ...],
    table: pd.DataFrame,
    asked: AskedModel,
    threshold: float | None,
) -> Ruleset | None:
    """Return the rules of a model that is a tree small enough; `columns` are those that it was trained on."""
    if not _is_plain_tree(model, columns):
        return None
    tree = tree_of(model, shares_of(model))
    place = np.asarray(model.classes_).tolist().index(asked.desired)
    likely = tree.value.argmax(axis=1) == place
    accepted = likely if threshold is None else tree.value[:, place] >= threshold
    keys = domain_from_frame(table)
    whole = [each.is_number and keys[each.feature]["type"] == "int" for each in columns]
    regions = _regions(tree, accepted, columns, whole)
    fewer = sum(decision for decision, _ in regions) * 2 < len(regions)
    names = (str(asked.desired), str(asked.other))
    label, other = names if fewer else names[::-1]
    rules = (LearnedRule(path, (), label) for decision, path in regions if decision is fewer)
    return Ruleset(tuple(rules), label, other, fewer, keys)


def _is_plain_tree(model: Any, columns: tuple[ColumnView, ...]) -> bool:
    """Tell whether a model is a fitted tree over numbers and truth values, with few enough leaves to be read."""
    if not isinstance(model, DecisionTreeClassifier) or not hasattr(model, "tree_"):
        return False
    plain = all(each.is_number or each.dtype == bool for each in columns)
    small = model.n_outputs_ == 1 and model.get_n_leaves() <= MOST_LEAVES
    return bool(plain and small and model.n_features_in_ == len(columns))


def _regions(
    tree: Tree, accepted: Mask, columns: Sequence[ColumnView], whole: Sequence[bool]
) -> list[tuple[bool, TreePath]]:
    """Return one list of literals for each region of one decision, and whether it is accepted.

    `accepted` tells of each node what it decides where it is a leaf. `columns` are those that the tree was trained on, in
    its order; `whole` tells which hold whole numbers only, whose constants are then whole too.
    """
    decided: list[bool | None] = [bool(each) for each in accepted]
    # Children stand after their parents.
    for node in reversed(np.flatnonzero(tree.column != LEAF)):
        left = decided[tree.left[node]]
        decided[node] = left if left is decided[tree.right[node]] else None
    reader = _Reader(tree, columns, whole, decided)
    return [(decision, unite(path)) for decision, path in reader.regions(0, ())]


@dataclass(frozen=True)
class _Reader:
    """Walks a tree; `decided` has for each node the one decision of all leaves below it, None where they differ."""

    tree: Tree
    columns: Sequence[ColumnView]
    whole: Sequence[bool]
    decided: Sequence[bool | None]

    def regions(self, node: int, path: TreePath) -> Iterator[tuple[bool, TreePath]]:
        decision = self.decided[node]
        if decision is not None:
            yield decision, path
            return
        children = (int(self.tree.left[node]), int(self.tree.right[node]))
        for child, literals in zip(children, self.split(node), strict=True):
            if literals is not None:
                yield from self.regions(child, (*path, *literals))

    def split(self, node: int) -> Sides:
        place = self.tree.column[node]
        column, limit = self.columns[place], float(self.tree.bound[node])
        if not column.is_number:
            return self.split_texts(node, column)
        missing_left = bool(self.tree.missing_left[node])
        if isinf(limit):
            return _split_missing(column, missing_left=missing_left, numbers_left=limit > 0)
        bound = float(floor(limit)) if self.whole[place] else limit
        # A missing value passes negated bounds only, so negation says which way it goes.
        relation = Relation.ABOVE if missing_left else Relation.AT_MOST
        plain = LearnedLiteral(column.feature, relation, bound)
        negated = plain.complement()
        return ((negated,), (plain,)) if missing_left else ((plain,), (negated,))

    def split_texts(self, node: int, column: ColumnView) -> Sides:
        """Split the truth values of a column, which a tree takes for 0 and 1."""
        texts, values = zip(*(column.originals or ()), strict=True)
        left = self.tree.goes_left(node, values)
        if left.all():
            return (), None
        if not left.any():
            return None, ()
        literal = LearnedLiteral(column.feature, Relation.EQUAL, texts[int(left.argmax())])
        return (literal,), (literal.complement(),)


def _split_missing(column: ColumnView, *, missing_left: bool, numbers_left: bool) -> Sides:
    """Split what is missing from what is not, as a tree does with an infinite threshold."""
    if missing_left == numbers_left:
        return ((), None) if numbers_left else (None, ())
    missing = LearnedLiteral(column.feature, Relation.EQUAL, MISSING)
    sides = ((missing.complement(),), (missing,))
    return sides if numbers_left else sides[::-1]
