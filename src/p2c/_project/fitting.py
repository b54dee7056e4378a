"""Make problems from stored models and tables."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from p2c._from_data import DataOptions, learn_keys, problem_from_model
from p2c._learn.causal.review import read_review
from p2c._learn.extract.logic import describe_features, extract, outline_problem
from p2c._learn.extract.source import read_source
from p2c._learn.model.asking import known_classes, plain, trained_names
from p2c._learn.model.stored import RULES, load_model, model_file, try_model
from p2c._learn.tables.assumptions import keys_of
from p2c._learn.tables.look import ColumnKind
from p2c._spec.spec import read_text
from p2c.errors import P2CError
from p2c.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pandas as pd

    from p2c._learn.causal.review import Review
    from p2c._learn.decision import Learned
    from p2c._learn.extract.logic import Extraction
    from p2c._learn.tables.assumptions import Assumption
    from p2c._learn.tables.domains import Scale
    from p2c._learn.tables.files import Table
    from p2c._spec.spec import Trust


@dataclass(frozen=True, eq=False)
class Opened:
    """A stored model, rules or recorded decisions, with the table as they are asked about it."""

    model: Any
    path: Path
    """The file of the model, or of the table that the decisions stand in."""
    table: Table
    labels: pd.Series | None
    classes: tuple[Any, ...] | None
    """The classes that the model names, where it names any."""


@dataclass(frozen=True)
class FitRequest:
    """What somebody says of a model: the class that is wanted, who may change what, and what follows from what."""

    desired: Any = None
    threshold: float | None = None
    assumptions: tuple[Assumption, ...] = ()
    causal: str | Review | None = None
    scale: Scale = "range"
    name: str = "problem"
    budget: int = 2_000
    seed: int = 0
    keys: Mapping[str, Any] = field(default_factory=dict)
    """Further keys of the problem, such as `norm`."""


@dataclass(frozen=True, eq=False)
class Fit:
    """A model that answers, and what to say about how it came to be."""

    problem: Problem
    table: Table
    request: FitRequest

    @property
    def remarks(self) -> dict[tuple[str, ...], str]:
        """Return the comments of `problem.toml`."""
        assert self.problem.decider is not None
        features = (each.feature for each in self.problem.decider.source.view.features)
        return feature_remarks(self.table, self.request.assumptions, features) | {
            (): "Made by p2c fit. Edit it, then accept the edit with p2c lint FOLDER --accept.\n"
            'action: "free", "up", "down" or "fixed" says who may change a feature; weight says at what effort.\n'
            "rules: what follows from what (causal rules) and what may never be (constraints)."
        }


def open_stored(
    path: Path,
    table: Table,
    *,
    target: str | None = None,
    trust: Trust | None = None,
    known: bool = False,
) -> Opened:
    """Open a stored model for a table, without the column of true labels and without what neither model nor rules need.

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


def open_recorded(
    table: Table, decisions: str, *, target: str | None = None, keep: Iterable[str] = ()
) -> Opened:
    """Take a column of recorded decisions for a model, over the columns that can be in a rule and those to keep."""
    labels, table = _apart(table, target)
    model, table = _apart(table, decisions)
    table = table.useful(set(map(table.column, keep)))
    return Opened(model, Path(table.source), table, labels, None)


def _apart(table: Table, name: str | None) -> tuple[pd.Series | None, Table]:
    """Return a column, where one is named, and the table without it."""
    if name is None:
        return None, table
    column = table.column(name)
    return table.frame[column], table.without([column])


def extract_problem(
    opened: Opened, request: FitRequest, *, held_out: float = 0.2
) -> tuple[Extraction, dict[str, Any]]:
    """Return the rules of a model or those that stand in for it, and the problem around them."""
    source = read_source(
        opened.model, opened.table.frame, desired=request.desired, threshold=request.threshold
    )
    found = extract(source, opened.labels, held_out=held_out, seed=request.seed)
    features = describe_features(source, scale=request.scale, features=keys_of(request.assumptions))
    described = outline_problem(found, features, name=request.name, origin=opened.path.name)
    Problem.from_dict(described)
    return found, described


def read_causal(path: Path | None) -> str | Review | None:
    """Return causal rules out of a file of rules, or a review out of a file of one."""
    if path is None:
        return None
    return read_text(path) if path.suffix.lower() in RULES else read_review(path)


def fit_model(opened: Opened, request: FitRequest) -> Fit:
    """Read the model where it can be read, extract rules that stand in for it, and put the problem around it."""
    if opened.path.suffix.lower() in RULES:
        raise P2CError(
            f"{opened.path}: rules are no model: p2c extract writes a problem around them"
        )
    options = DataOptions(
        causal=request.causal,
        desired=request.desired,
        threshold=request.threshold,
        scale=request.scale,
        budget=request.budget,
        seed=request.seed,
        origin=opened.path,
        assumptions=request.assumptions,
    )
    keys = {"name": request.name, **request.keys}
    problem = problem_from_model(
        Problem, opened.model, opened.table.frame, options, keys, y=opened.labels
    )
    return Fit(problem, opened.table, replace(request, assumptions=problem.assumptions))


def learn_problem(table: Table, target: str, request: FitRequest) -> tuple[Learned, dict[str, Any]]:
    """Learn rules for the wanted class by FOLD-SE and define the problem for it."""
    options = DataOptions(
        causal=request.causal,
        desired=request.desired,
        scale=request.scale,
        seed=request.seed,
        assumptions=request.assumptions,
    )
    made = learn_keys(table, target, options, {"name": request.name})
    Problem.from_dict(made.keys)
    return made.learned, made.keys


def feature_remarks(
    table: Table, assumptions: tuple[Assumption, ...], features: Iterable[str]
) -> dict[tuple[str, ...], str]:
    """Return a comment for each feature, by its table in the problem: what its column holds, and what was assumed."""
    assumed = {each.column: each for each in assumptions}
    seen = (each for each in table.seen.columns if each.kind is not ColumnKind.EMPTY)
    found: dict[tuple[str, ...], str] = {}
    for name, each in zip(features, seen, strict=True):
        said = assumed.get(each.name)
        missing = f", {each.missing:,} missing" if each.missing else ""
        note = f"; {each.note}" if each.note else ""
        why = (
            f"\nassumed {said.action}, for {said.why.value}"
            if said is not None and said.why
            else ""
        )
        found["features", name] = f"{each.kind.value}: {each.span}{missing}{note}{why}"
    return found
