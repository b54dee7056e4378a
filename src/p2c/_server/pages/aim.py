"""The outcome that the people of a project want, as each of its pages shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from p2c._explain.sentences import filled
from p2c._learn.foldse.literals import predicate_name
from p2c._project.building import aim_of, built
from p2c._project.draft import read_draft
from p2c._rules.theory import Call
from p2c._spec.spec import BY_MODEL
from p2c.errors import P2CError

if TYPE_CHECKING:
    from pathlib import Path

    from p2c._explain.phrases import Phrases
    from p2c._project.draft import Draft
    from p2c._server.problem_store import Entry
    from p2c.problem import Problem


class Aim(NamedTuple):
    """A wanted outcome: a value of a column, or a class of the model.

    `column` is empty for a class of the model.
    """

    column: str
    outcome: str

    def told(self, phrases: Phrases) -> str:
        """Return the aim in words."""
        key = "aim_column" if self.column else "aim_model"
        return filled(phrases.pages[key], **self._asdict())

    def is_same(self, other: Aim) -> bool:
        """Tell whether another aim is equal; rules spell column names differently."""
        names = predicate_name(self.column), predicate_name(other.column)
        return names[0] == names[1] and self.outcome == other.outcome


def aim_of_draft(draft: Draft) -> Aim | None:
    """Return the outcome chosen for a project; None before the choice."""
    return Aim(*aim_of(draft)) if draft.desired else None


def aim_of_problem(problem: Problem) -> Aim | None:
    """Return the outcome that a problem's goal names; None for other kinds of goal."""
    model = problem.spec.model
    if model is not None:
        is_plain = problem.spec.goal == BY_MODEL and model.desired is not None
        return Aim("", str(model.desired)) if is_plain else None
    match problem.theory.goal:
        case (Call(negated=False, decision=decision),) if len(decision.arguments) == 1:
            return Aim(decision.predicate, str(decision.arguments[0]))
    return None


def told_aim(folder: Path, entry: Entry | None, phrases: Phrases) -> str:
    """Return the line about the wanted outcome; empty on pages about other problems.

    Of the problem that a project has made it tells that problem's own outcome, else the one that is chosen.
    """
    if entry is None:
        return _told_choice(folder, phrases)
    if entry.file != str(built(folder)):
        return ""
    aim = aim_of_problem(entry.problem)
    goal = filled(phrases.pages["card_goal"], goal=entry.problem.spec.goal)
    return aim.told(phrases) if aim else goal


def _told_choice(folder: Path, phrases: Phrases) -> str:
    try:
        draft = read_draft(folder)
    except P2CError:
        return ""  # the page of the step says what is wrong with the file
    aim = aim_of_draft(draft)
    if aim is None:
        return phrases.pages["aim_none"] if draft.table else ""
    return aim.told(phrases)
