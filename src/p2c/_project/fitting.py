"""Make problems from stored models and tables, with relations found there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from p2c._from_data import (
    ABOUT_TABLE,
    DataOptions,
    Provenance,
    problem_from_model,
    with_equations,
)
from p2c._learn.causal.adopt import relation_keys, with_causes
from p2c._learn.causal.review import Review, read_review, write_review
from p2c._learn.extract.logic import describe_features, extract, outline_problem
from p2c._learn.extract.source import read_source
from p2c._learn.model.asking import known_classes, plain, trained_names
from p2c._learn.model.stored import RULES, load_model, model_file, try_model
from p2c._learn.tables.look import feature_remarks, keys_of, look
from p2c._spec.spec import read_text
from p2c.errors import P2CError
from p2c.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pandas as pd

    from p2c._learn.extract.logic import Extraction
    from p2c._learn.relations.relation import Relation
    from p2c._learn.tables.files import Table
    from p2c._spec.spec import Trust


@dataclass(frozen=True, eq=False)
class Opened:
    """A stored model, or rules, with its table."""

    model: Any
    path: Path
    table: Table
    labels: pd.Series | None
    classes: tuple[Any, ...] | None
    """The classes that the model names, where it names any."""


def open_stored(
    path: Path,
    table: Table,
    *,
    target: str | None = None,
    trust: Trust | None = None,
    known: bool = False,
) -> Opened:
    """Open a stored model for a table without labels and useless columns.

    One that is not `known` to open is tried first, in a process that may die of it.
    """
    path = model_file(path)
    labels, table = _apart(table, target)
    if not known:
        try_model(path, table.frame, trust)
    model = load_model(path, table.frame, trust)
    names = trained_names(model, table.frame)
    if names is not None:
        table = table.only([str(each) for each in names])
    classes = known_classes(model)
    told = None if classes is None else tuple(plain(each) for each in classes)
    return Opened(model, path, table, labels, told)


def _apart(table: Table, name: str | None) -> tuple[pd.Series | None, Table]:
    """Return a column, where one is named, and the table without it."""
    if name is None:
        return None, table
    column = table.column(name)
    return table.frame[column], table.without([column])


def surrogate_problem(
    opened: Opened, options: DataOptions, keys: Mapping[str, Any]
) -> tuple[Extraction, Problem]:
    """Return the rules of a model, own or learned, and the problem around them.

    Args:
        opened: The model and its table.
        options: The assumed actions are those of `options.assumptions`.
        keys: Keys of the problem.
    """
    frame = opened.table.frame
    source = read_source(opened.model, frame, desired=options.desired, threshold=options.threshold)
    extraction = extract(source, opened.labels, held_out=options.held_out, seed=options.seed)
    assumed = options.assumptions or ()
    features = describe_features(source, scale=options.scale, features=keys_of(assumed))
    names = {str(each.name): each.feature for each in source.view.columns}
    features = with_equations(names, features, options)
    outline = outline_problem(extraction, features, origin=opened.path.name) | dict(keys)
    problem = Problem.from_dict(with_causes(outline, options.causal))
    remarks = feature_remarks(opened.table.seen, assumed, features) | {(): ABOUT_TABLE}
    provenance = Provenance(assumptions=assumed, remarks=lambda: remarks)
    return extraction, replace(problem, provenance=provenance)


def read_causal(path: Path | None) -> str | Review | None:
    """Return causal rules out of a file of rules, or a review out of a file of one."""
    if path is None:
        return None
    return read_text(path) if path.suffix.lower() in RULES else read_review(path)


def shown_table(problem: Problem, table: Table) -> Table:
    """Return a table with the one-hot groups of a problem as one column each."""
    if problem.decider is None or problem.decider.source.view.grouping is None:
        return table
    frame = problem.decider.source.view.collapse(table.frame)
    return replace(table, frame=frame, seen=look(frame))


def fit_model(opened: Opened, options: DataOptions, keys: Mapping[str, Any]) -> Problem:
    """Return the problem in which an opened model decides."""
    if opened.path.suffix.lower() in RULES:
        raise P2CError(
            f"{opened.path}: rules are no model: -o FILE.toml writes a problem around them"
        )
    options = replace(options, origin=opened.path)
    frame = opened.table.frame
    return problem_from_model(Problem, opened.model, frame, options, keys, y=opened.labels)


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
