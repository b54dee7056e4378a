"""The layout of a plan's picture: states are columns, changed features are rows, and arrows lead from a cause to its effect.

This gathers what a picture shows and in which place; how it looks is the business of `picture.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING

from p2c._explain.letter import teller_in
from p2c._explain.sentences import filled
from p2c._markup import clean
from p2c._plan.outcome import DirectAction, TakenAction

if TYPE_CHECKING:
    from collections.abc import Iterable, Set

    from p2c._explain.teller import Teller
    from p2c._plan.outcome import Action, CausalAction, Plan
    from p2c._rules.theory import Theory
    from p2c._spec.feature import Value


class Sort(Enum):
    """What a cell is: the start, a value that stays, something the person does, or something that follows."""

    START = "start"
    STAYS = "stays"
    DIRECT = "direct"
    EFFECT = "effect"


@dataclass(frozen=True, slots=True)
class Cell:
    """A value at its place on the layout; what the person does has a number."""

    row: int
    column: int
    text: str
    sort: Sort
    number: int | None = None


@dataclass(frozen=True, slots=True)
class Arrow:
    """From a cause to its effect, each given by row and column."""

    source: tuple[int, int]
    target: tuple[int, int]


@dataclass(frozen=True, slots=True)
class PlanLayout:
    """All that the picture of a plan shows; `told` says it in words for those who do not see it."""

    language: str
    title: str
    told: str
    columns: tuple[str, ...]
    rows: tuple[str, ...]
    cells: tuple[Cell, ...]
    arrows: tuple[Arrow, ...]
    legend: tuple[tuple[Sort | None, str], ...]
    yes: str


def lay_out(theory: Theory, plan: Plan, *, language: str = "en") -> PlanLayout:
    """Return the layout of a plan; without steps it has neither columns nor rows."""
    builder = _Builder(teller_in(theory, language), plan)
    for column, step in enumerate(plan.steps, start=1):
        for action in step.actions:
            builder.place(action, column)
    return builder.layout()


def _touched(action: Action) -> tuple[str, ...]:
    """Return the rows that an action has in a layout."""
    changed = action.changes if isinstance(action, TakenAction) else ()
    return (action.feature, *(each.feature for each in changed))


class _Builder:
    """A layout in the making."""

    def __init__(self, teller: Teller, plan: Plan) -> None:
        self.teller = teller
        self.theory = teller.theory
        self.phrases = teller.phrases
        self.plan = plan
        actions = [action for step in plan.steps for action in step.actions]
        self.names = list(dict.fromkeys(name for action in actions for name in _touched(action)))
        taken = (each for each in actions if isinstance(each, TakenAction))
        self.taken = {each.action: teller.taken(replace(each, count=1)) for each in taken}
        self.cells: dict[tuple[int, int], Cell] = {}
        self.latest: dict[str, int] = {}
        self.arrows: dict[Arrow, None] = {}
        self.told: list[str] = []
        self.number = 0

    def place(self, action: Action, column: int) -> None:
        """Put an action on the layout, with arrows from its causes."""
        if isinstance(action, TakenAction):
            self._take(action, column)
            return
        row = self.names.index(action.feature)
        direct = isinstance(action, DirectAction)
        if isinstance(action, DirectAction):
            self.number += 1
        else:
            self._point(action, (row, column))
        text = self.value(action.feature, action.end)
        cell = Cell(
            row,
            column,
            text,
            Sort.DIRECT if direct else Sort.EFFECT,
            self.number if direct else None,
        )
        before = self.cells.get((row, column))
        if before is not None:  # changed twice within one step
            cell = replace(
                cell, text=f"{before.text} → {text}", number=before.number or cell.number
            )
        self.cells[row, column] = cell
        self.latest[action.feature] = column
        self._tell(action, direct=direct)

    def _take(self, action: TakenAction, column: int) -> None:
        """Put a named action on the layout: a row of its own, and one for each change."""
        self.number += 1
        ends = {each.feature: self.value(each.feature, each.end) for each in action.changes}
        for name, text in {action.action: f"{action.count} ×", **ends}.items():
            row, number = self.names.index(name), self.number
            self.cells[row, column] = Cell(row, column, text, Sort.DIRECT, number)
            self.latest[name] = column
        self.told.append(self.teller.sentence(self.teller.taken(action)))

    def _point(self, action: CausalAction, target: tuple[int, int]) -> None:
        """Draw arrows from what changed in the same step, or else from what changed before."""
        causes = [n for n in self._causes(action) if n in self.latest and n != action.feature]
        fresh = [name for name in causes if self.latest[name] == target[1]]
        for name in fresh or causes:
            self.arrows[Arrow((self.names.index(name), self.latest[name]), target)] = None

    def _causes(self, action: CausalAction) -> Iterable[str]:
        known = self.theory.clause_of
        rules = [known[text] for text in action.because if text in known]
        read: Set[str] = {name for clause in rules for name in self.theory.reads(clause.body)}
        return sorted(read or self.theory.parents.get(action.feature, frozenset()))

    def _tell(self, action: Action, *, direct: bool) -> None:
        frame = self.phrases.picture["direct_told" if direct else "effect_told"]
        words = {
            "label": self.label(action.feature),
            "start": self.value(action.feature, action.start),
            "end": self.value(action.feature, action.end),
        }
        self.told.append(self.teller.sentence(filled(frame, **words)))

    def label(self, name: str) -> str:
        return clean(self.taken.get(name) or self.teller.label(name))

    def value(self, name: str, value: Value) -> str:
        if name in self.taken:
            return ""
        return clean(self.teller.value(name, value))

    def layout(self) -> PlanLayout:
        """Return the layout, with the values of each state filled in."""
        words = self.phrases.picture
        states = [self.plan.question.initial, *(step.state for step in self.plan.steps)]
        for row, name in enumerate(self.names):
            for column, state in enumerate(states):
                sort = Sort.STAYS if column else Sort.START
                cell = Cell(row, column, self.value(name, state.get(name)), sort)
                self.cells.setdefault((row, column), cell)
        steps = [filled(words["step"], number=str(n)) for n in range(1, len(states))]
        return PlanLayout(
            self.phrases.language,
            words["title"],
            " ".join(self.told) or self._nothing(),
            (words["now"], *steps) if steps else (),
            tuple(map(self.label, self.names)),
            tuple(self.cells[place] for place in sorted(self.cells)),
            tuple(self.arrows),
            self._legend(),
            words["yes"],
        )

    def _nothing(self) -> str:
        already = self.plan.status == "already"
        return self.phrases.picture["nothing" if already else "no_way"]

    def _legend(self) -> tuple[tuple[Sort | None, str], ...]:
        words = self.phrases.picture
        sorts = {cell.sort for cell in self.cells.values()}
        legend: list[tuple[Sort | None, str]] = []
        if Sort.DIRECT in sorts:
            legend.append((Sort.DIRECT, words["direct"]))
        if Sort.EFFECT in sorts:
            legend.append((Sort.EFFECT, words["effect"]))
        if self.arrows:
            legend.append((None, words["cause"]))
        return tuple(legend)
