"""A model and a table become a `Recourse`, a table alone a problem: what was read, what is asked, what was assumed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from p2c.errors import P2CError
from p2c.learn.causal.adopt import with_causal_rules
from p2c.learn.causal.review import Review, read_review
from p2c.learn.decision import describe_problem, learn_decision
from p2c.learn.foldse.text import predicate_name
from p2c.learn.model.asking import known_classes, plain, trained_names
from p2c.learn.model.mlflow_folder import model_file
from p2c.learn.model.stored import RULES, load_model
from p2c.learn.tables.look import USELESS
from p2c.problem import Problem
from p2c.project.assumptions import actions_of, keys_of
from p2c.recourse import Recourse

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pandas as pd

    from p2c.domain.spec import Trust
    from p2c.learn.decision import Learned
    from p2c.learn.tables.domains import Scale
    from p2c.learn.tables.files import Table
    from p2c.project.assumptions import Assumption


@dataclass(frozen=True, eq=False)
class Opened:
    """A stored model with the table as the model is asked about it."""

    model: Any
    path: Path
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
    name: str = "recourse"
    budget: int = 2_000
    seed: int = 0
    keys: Mapping[str, Any] = field(default_factory=dict)
    """Further keys of the problem, such as `norm`."""


@dataclass(frozen=True, eq=False)
class Fit:
    """A model that answers, and what to say about how it came to be."""

    recourse: Recourse
    table: Table
    request: FitRequest

    @property
    def remarks(self) -> dict[tuple[str, ...], str]:
        """Return the comments of `problem.toml`."""
        told: dict[tuple[str, ...], str] = {
            ("features", each.feature): each.name for each in self.recourse.source.view.features
        }
        return feature_remarks(self.table, self.request.assumptions, told) | {
            (): "Made by p2c fit. Edit it, then accept the edit with p2c lint FOLDER --accept.\n"
            'action: "free", "up", "down" or "fixed" says who may change a feature; weight says at what effort.\n'
            "rules: what follows from what (causal rules) and what may never be (constraints)."
        }


def open_stored(
    path: Path, table: Table, *, target: str | None = None, trust: Trust | None = None
) -> Opened:
    """Open a stored model for a table, without the column of true labels and without what neither model nor rules need."""
    path = model_file(path)
    if path.suffix.lower() in RULES:
        raise P2CError(f"{path}: rules are no model: p2c extract writes a problem around them")
    labels = None
    if target is not None:
        column = table.column(target)
        labels, table = table.frame[column], table.without([column])
    model = load_model(path, table.frame, trust)
    names = trained_names(model, table.frame)
    if names is not None:
        table = table.only([str(each) for each in names])
    classes = known_classes(model)
    told = None if classes is None else tuple(plain(each) for each in classes)
    return Opened(model, path, table, labels, told)


def read_causal(path: Path | None) -> str | Review | None:
    """Return causal rules out of a file of rules, or a review out of a file of one."""
    if path is None:
        return None
    if path.suffix.lower() not in RULES:
        return read_review(path)
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise P2CError(f"{path}: cannot be read: {error}") from None


def fit_model(opened: Opened, request: FitRequest) -> Fit:
    """Read the model where it can be read, extract rules that stand in for it, and put the problem around it."""
    recourse = Recourse.fit(
        opened.model,
        opened.table.frame,
        y=opened.labels,
        causal=request.causal,
        actions=actions_of(request.assumptions),
        features=keys_of(request.assumptions),
        desired=request.desired,
        threshold=request.threshold,
        scale=request.scale,
        budget=request.budget,
        seed=request.seed,
        name=request.name,
        **dict(request.keys),
    )
    if recourse.fitted is not None:
        fitted = replace(recourse.fitted, origin=opened.path)
        recourse = replace(recourse, fitted=fitted)
    return Fit(recourse, opened.table, request)


def learn_problem(
    table: Table,
    target: str,
    *,
    wanted: str | None = None,
    assumptions: tuple[Assumption, ...] = (),
    causal: str | Review | None = None,
    scale: Scale = "range",
    name: str = "problem",
    seed: int = 0,
) -> tuple[Learned, dict[str, Any]]:
    """Learn rules from labels by FOLD-SE, and return them with the problem around them; the goal is the class wanted."""
    column = table.column(target)
    several = table.frame[column].nunique() > 2
    learned = learn_decision(table.frame, column, positive=wanted if several else None, seed=seed)
    described = describe_problem(
        learned,
        table.frame.drop(columns=column),
        name=name,
        wanted=wanted,
        scale=scale,
        actions={key: value for key, value in actions_of(assumptions).items() if key != column},
        origin=table.source.rpartition("/")[2],
    )
    for each, keys in keys_of(assumptions).items():
        described["features"][predicate_name(each)].update(keys)
    if isinstance(causal, Review):
        described = with_causal_rules(described, causal)
    elif causal:
        described["rules"] = f"{causal.rstrip()}\n{described['rules']}"
    Problem.from_dict(described)
    return learned, described


def useful(table: Table, keep: frozenset[str] = frozenset()) -> Table:
    """Return a table without what surely helps no rule, but for the columns to keep."""
    return table.without(
        [each.name for each in table.seen.columns if each.kind in USELESS and each.name not in keep]
    )


def feature_remarks(
    table: Table, assumptions: tuple[Assumption, ...], columns: Mapping[tuple[str, ...], str]
) -> dict[tuple[str, ...], str]:
    """Return a comment for each feature, by its table in the problem: what its column holds, and what was assumed."""
    seen = {each.name: each for each in table.seen.columns}
    assumed = {each.column: each for each in assumptions}
    found = {}
    for place, name in columns.items():
        each, said = seen[name], assumed.get(name)
        missing = f", {each.missing:,} missing" if each.missing else ""
        note = f"; {each.note}" if each.note else ""
        found[place] = f"{each.kind.value}: {each.span}{missing}{note}"
        if said is not None and said.why:
            found[place] += f"\nassumed {said.action}, for {said.why}"
    return found
