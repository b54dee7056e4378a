"""A problem's `[model]` opened: the file, rows to ask it about, what is read of it, and the rules that stand in."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING, Any

import pandas as pd

from p2c.confirm.decider import Decider
from p2c.errors import Fault, ProblemError
from p2c.learn.extract.source import read_source
from p2c.learn.model.asking import trained_names
from p2c.learn.model.reading import read
from p2c.learn.model.stored import RULES, load_model
from p2c.learn.tables.view import as_frame, view_of
from p2c.rules.bind import build_theory

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from p2c.domain.feature import Feature, Value
    from p2c.domain.spec import ProblemSpec, Trust
    from p2c.learn.tables.view import View

ROWS = 1_000
"""How many rows are drawn over the domains of the features where there is no table."""


@dataclass(frozen=True)
class UnopenedModel:
    """Stands for a model while only the problem around it is looked at; it cannot decide anything."""

    reads: tuple[str, ...] = ()

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"the model is not open, and {name} was asked for")


def open_decider(
    spec: ProblemSpec,
    folder: Path,
    *,
    trust: Trust | None = None,
    sample: Any = None,
    stand_in: str = "",
    tried: int | None = None,
    seed: int = 0,
) -> Decider:
    """Open the model of a problem; `sample` are rows of the table that the problem was made from, by the model's columns.

    Without them rows are drawn over the domains of the features. What is read of the model is `tried` on so many of them.
    """
    assert spec.model is not None
    file = folder / spec.model.file
    if file.suffix.lower() in RULES:
        message = "rules are no model: give them as 'rules' or 'rules_file'"
        raise ProblemError([Fault("model.file", message)])
    columns = {name: spec.model.columns.get(name, name) for name in spec.features}
    table = _drawn_rows(spec, columns) if sample is None else sample
    frame = as_frame(table)
    model = load_model(file, frame, trust)
    _refuse_other_columns(model, frame)
    decider = decide(
        model,
        table,
        desired=spec.model.desired,
        threshold=spec.model.threshold,
        stand_in=stand_in,
        view=view_of(table, {column: name for name, column in columns.items()}),
        tried=tried,
        seed=seed,
    )
    return replace(decider, made_from_data=sample is not None)


def decide(
    model: Any,
    X: Any,
    *,
    desired: Any = None,
    threshold: float | None = None,
    stand_in: str = "",
    seed: int = 0,
    view: View | None = None,
    tried: int | None = None,
) -> Decider:
    """Bring a model and a table together: asked, read where it can be, with its own rules where it has any."""
    source = read_source(model, X, desired=desired, threshold=threshold, view=view)
    view = source.view if view is None else view
    reading = read(model, X[:tried], desired=desired, threshold=threshold, seed=seed, view=view)
    own = source.own_rules
    if own is not None:
        stand_in = standing_rules(own.text(), own.goal())
    return Decider(source, reading, stand_in, exact=own is not None, seed=seed)


def standing_rules(program: str, goal: str) -> str:
    """Return rules in the place of a model as a definition of its decision.

    >>> print(standing_rules("label(X,'no') :- age(X,N), N<18.", "not label(X,'no')"), end="")
    accepted(X) :- not label(X,'no').
    label(X,'no') :- age(X,N), N<18.
    """
    return f"accepted(X) :- {goal.strip().removeprefix('?-').strip().rstrip('.')}.\n{program.rstrip()}\n"


def _drawn_rows(spec: ProblemSpec, columns: Mapping[str, str]) -> pd.DataFrame:
    """Return rows over the domains of the features: one of all first values, one of all last, and others by chance."""
    features = build_theory(spec, model=UnopenedModel()).features
    draw = Random(spec.name)
    return pd.DataFrame({columns[each.name]: _drawn(each, draw) for each in features})


def _drawn(feature: Feature, draw: Random) -> pd.Series:
    last = feature.domain.size - 1
    places = [0, last, *(draw.randint(0, last) for _ in range(ROWS - 2))]
    values: list[Value] = [feature.domain.value(place) for place in places]
    texts = any(isinstance(value, str) for value in values)
    return pd.Series(values, dtype=object if texts else None)


def _refuse_other_columns(model: Any, frame: pd.DataFrame) -> None:
    """Refuse a model that reads a column which no feature has."""
    other = [each for each in trained_names(model, frame) or () if each not in frame.columns]
    if other:
        message = (
            f"the model reads the column '{other[0]}', which is no feature: add it, with action = \"fixed\""
            " where nothing changes it, or name its feature in 'model.columns'"
        )
        raise ProblemError([Fault("model", message)])
