"""Ask whether some state satisfies conditions, exactly, by a search over boxes of cells.

A box keeps a set of cells for every feature. Conditions are evaluated on a whole box at once, in three values: true in
all of its states, false in all, or open. An open box is split at a test that is open in it. Decisions are evaluated
where they are defined, so their negation needs no normal form.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from p2c._rules.cells import Cells, cut
from p2c._rules.theory import ACCEPTED, Relation, Test
from p2c._spec.expression import text_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from p2c._rules.theory import Clause, Condition, Decision, Theory


@dataclass(frozen=True, slots=True)
class Inside:
    """A feature whose value lies in one of some cells."""

    feature: str
    cells: int


@dataclass(frozen=True, slots=True)
class Holds:
    """A formula, by its number, or its negation."""

    formula: int
    negated: bool = False


Part = Inside | Holds
Formula = tuple[tuple[Part, ...], ...]
"""A disjunction of conjunctions."""

Box = dict[str, int]


@dataclass(slots=True)
class Effort:
    """How many parts of formulas may still be evaluated before a question is left open."""

    left: int = 500_000


@dataclass
class Formulas:
    """A theory as formulas, each after those that it uses."""

    theory: Theory
    cells: dict[str, Cells] = field(init=False)
    table: list[Formula] = field(init=False, default_factory=list)
    number: dict[Decision, int] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.cells = cut(self.theory)
        for decision, clauses in self.theory.decisions:
            if decision == ACCEPTED and self.theory.model is not None:
                # What a model says is not looked into here: it may say either in every state.
                self.cells[""] = Cells(self.theory.features[0], (0, 1))
                self.number[decision] = self.add([(Inside("", 1),)])
                continue
            self.number[decision] = self.add(self.parts(clause.body) for clause in clauses)

    def add(self, formula: Iterable[tuple[Part, ...]]) -> int:
        """Keep a formula and return its number."""
        self.table.append(tuple(formula))
        return len(self.table) - 1

    def parts(self, body: Iterable[Condition]) -> tuple[Part, ...]:
        """Return a body as a conjunction."""
        return tuple([self._part(condition) for condition in body])

    def _part(self, condition: Condition) -> Part:
        if isinstance(condition, Test):
            cells = self.cells[condition.feature].passing(condition)
            return Inside(condition.feature, cells)
        if isinstance(condition, Relation):
            return self._opaque(condition)
        return Holds(self.number[condition.decision], condition.negated)

    def _opaque(self, relation: Relation) -> Inside:
        """Return an arithmetic comparison as a part that may hold or fail in every state.

        Sound because states are only added: a body that is unsatisfiable with it is so without.
        """
        left, right = text_of(relation.left), text_of(relation.right)
        key = f"{left} {relation.comparator.value} {right}"
        if key not in self.cells:
            self.cells[key] = Cells(self.theory.features[0], (0, 1))
        return Inside(key, 2 if relation.negated else 1)

    def head(self, clause: Clause) -> int:
        """Return the cells that the head of a causal rule names."""
        cells = self.cells[clause.head[0].feature]
        named = cells.present
        for test in clause.head:
            named &= cells.passing(test)
        return named

    def consistency(self) -> tuple[Part, ...]:
        """Return what holds in just the states that obey every law and constraint."""
        laws = [self._law(name, clauses) for name, clauses in self.theory.causes]
        bodies = [self.add([self.parts(each.body)]) for each in self.theory.constraints]
        return (*laws, *(Holds(number, negated=True) for number in bodies))

    def _law(self, name: str, clauses: tuple[Clause, ...]) -> Holds:
        fired = [Holds(self.add([self.parts(clause.body)])) for clause in clauses]
        heads = [self.head(clause) for clause in clauses]
        unheaded = self.cells[name].all
        for head in heads:
            unheaded &= ~head
        caused: list[tuple[Part, ...]] = [
            (rule, Inside(name, head)) for rule, head in zip(fired, heads, strict=True)
        ]
        none_fired = tuple(Holds(rule.formula, negated=True) for rule in fired)
        law = self.theory.feature[name].law
        uncaused: tuple[Part, ...] = none_fired if law.asks_for_silence else ()
        if law.asks_for_unheaded:
            uncaused = (*uncaused, Inside(name, unheaded))
        return Holds(self.add([*caused, uncaused]))


def satisfiable(formulas: Formulas, parts: tuple[Part, ...], effort: Effort) -> bool | None:
    """Tell whether some state satisfies a conjunction; None when the effort runs out."""
    if effort.left <= 0:
        return None
    needed = _needed(formulas, parts)
    boxes: list[Box] = [{name: cells.all for name, cells in formulas.cells.items()}]
    while boxes and effort.left > 0:
        box = boxes.pop()
        known: dict[int, bool | None] = {}
        for number in needed:
            known[number] = _disjunction(formulas.table[number], box, known, effort)
        truth = _conjunction(parts, box, known, effort)
        if truth is True:
            return True
        if truth is None:
            name, first, second = _split(formulas, parts, box, known)
            boxes.append({**box, name: second})
            boxes.append({**box, name: first})
    return None if boxes else False


def _needed(formulas: Formulas, parts: tuple[Part, ...]) -> list[int]:
    """Return the formulas that a conjunction uses, directly or not, each after those it uses itself."""
    found: set[int] = set()
    waiting = [part.formula for part in parts if isinstance(part, Holds)]
    while waiting:
        number = waiting.pop()
        if number not in found:
            found.add(number)
            clauses = formulas.table[number]
            waiting += [p.formula for clause in clauses for p in clause if isinstance(p, Holds)]
    return sorted(found)


def _truth(part: Part, box: Box, known: dict[int, bool | None]) -> bool | None:
    if isinstance(part, Holds):
        truth = known[part.formula]
        return truth if truth is None else truth is not part.negated
    cells = box[part.feature]
    if not cells & part.cells:
        return False
    return None if cells & ~part.cells else True


def _conjunction(
    parts: tuple[Part, ...], box: Box, known: dict[int, bool | None], effort: Effort
) -> bool | None:
    effort.left -= len(parts) + 1
    result: bool | None = True
    for part in parts:
        truth = _truth(part, box, known)
        if truth is False:
            return False
        if truth is None:
            result = None
    return result


def _disjunction(
    formula: Formula, box: Box, known: dict[int, bool | None], effort: Effort
) -> bool | None:
    result: bool | None = False
    for clause in formula:
        truth = _conjunction(clause, box, known, effort)
        if truth is True:
            return True
        if truth is None:
            result = None
    return result


def _split(
    formulas: Formulas, parts: tuple[Part, ...], box: Box, known: dict[int, bool | None]
) -> tuple[str, int, int]:
    """Return a feature and its cells in two halves, by an open test; the more hopeful half is first."""
    hopeful = True
    while True:
        part = next(each for each in parts if _truth(each, box, known) is None)
        if isinstance(part, Inside):
            cells = box[part.feature]
            halves = cells & part.cells, cells & ~part.cells
            return part.feature, *(halves if hopeful else halves[::-1])
        hopeful = hopeful is not part.negated
        unlimited = Effort()
        parts = next(
            clause
            for clause in formulas.table[part.formula]
            if _conjunction(clause, box, known, unlimited) is None
        )
