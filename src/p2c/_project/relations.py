"""Relations of a new problem, found in its table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from p2c._learn.causal.adopt import relation_keys
from p2c._learn.causal.review import Review, write_review

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from p2c._learn.relations.relation import Relation
    from p2c.problem import Problem

REVIEW = "relations.review"
"""The review of relations in the folder of a problem."""


def review_beside(output: Path) -> Path:
    """Return where the review of a problem's relations is written.

    Args:
        output: The problem: a folder, or a TOML or JSON file.
    """
    is_file = output.suffix.lower() in (".toml", ".json")
    return output.with_suffix(".review") if is_file else output / REVIEW


def with_found_relations(
    problem: Problem, frame: pd.DataFrame, causal: object
) -> tuple[Problem, tuple[Relation, ...]]:
    """Return a problem that names the relations in its table, and these relations.

    Relations whose computed feature has causal rules or an equation, that relate the features of one equation, or that
    the review of the problem has, are left out.

    Args:
        problem: The new problem.
        frame: Its table.
        causal: The causal rules or the review that the problem was made with.
    """
    reviewed = causal.candidates if isinstance(causal, Review) else {}
    theory = problem.theory
    effects = {name for name, _ in theory.causes} | {each.name for each in theory.computed}
    stated = {theory.upstream[each.name] | {each.name} for each in theory.computed}
    fresh = tuple(
        each
        for each in problem.relations(frame)
        if each.id not in reviewed and each.feature not in effects
        if frozenset(each.features) not in stated
    )
    if not fresh:
        return problem, ()
    keys = {each.id: relation_keys(each) for each in fresh}
    return problem.with_relations(keys), fresh


def write_relations(path: Path, relations: tuple[Relation, ...], frame: pd.DataFrame) -> None:
    """Put relations into a review file, a new one or one in use."""
    if relations:
        write_review(path, relations, features=frame)
