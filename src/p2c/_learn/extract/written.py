"""Rules that somebody wrote, or a learner printed, taken as the model: text or a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from p2c._learn.tables.domains import domain_from_frame
from p2c._rules.bind import build_theory
from p2c._rules.evaluate import clause_fires, goal_holds
from p2c._rules.parse import parse, parse_query
from p2c._rules.render import render, render_atom, render_literal, render_rule
from p2c._rules.syntax import Atom, Constant, Not, Program, bare
from p2c._spec.row import read_row
from p2c._spec.spec import read_spec, unreadable
from p2c.errors import Fault, P2CError, ProblemError, RuleError

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd
    from numpy.typing import NDArray

    from p2c._learn.model.arrays import Mask
    from p2c._rules.theory import Clause, Theory
    from p2c._spec.row import State


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
