"""A model and a table brought together: what can be asked, what was decided, and the rules that a model has of its own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from p2c._learn.extract.ruleset import (
    Ruleset,
    WrittenRules,
    read_foldse,
    read_written,
    rules_of_tree,
)
from p2c._learn.foldse import FoldSE
from p2c._learn.model.asking import (
    AskedModel,
    ModelAnswers,
    choose_classes,
    equals,
    open_model,
    read_labels,
    trained_names,
)
from p2c._learn.tables.view import View, as_frame, view_of
from p2c._rules.syntax import Program
from p2c._spec.spec import shown_kind
from p2c.errors import P2CError

if TYPE_CHECKING:
    from p2c._learn.model.arrays import Mask
    from p2c._learn.tables.view import ColumnView


@dataclass(frozen=True)
class Source:
    """A model and a table brought together: the table as features, the model's decisions on it, and the model's own rules.

    `model` is None for recorded decisions, which cannot be asked again.
    """

    view: View
    table: pd.DataFrame
    accepted: Mask
    model: AskedModel | None
    desired: Any
    other: Any
    own_rules: Ruleset | WrittenRules | None
    reads: tuple[str, ...] | None = None
    """The features that the model reads, where it says so: rules about others would be chance."""

    def at(self, places: Any) -> Source:
        """Return the same with some rows of the table only."""
        table = self.table.iloc[places].reset_index(drop=True)
        return replace(self, table=table, accepted=self.accepted[places])


def read_source(
    model: Any,
    X: Any,
    *,
    desired: Any = None,
    threshold: float | None = None,
    view: View | None = None,
) -> Source:
    """Bring a model and a table together; `view` is how the table is seen, where its features have names of their own."""
    if pd.api.types.is_list_like(desired):
        raise P2CError(f"desired: expected one class, found {shown_kind(desired)}")
    frame = as_frame(X)
    if isinstance(model, str) and model in frame.columns:
        model, X = frame[model], frame.drop(columns=[model])
        frame = X
    view = view or view_of(X)
    table = view.table(frame)
    is_model = callable(model) or hasattr(model, "predict")
    if threshold is not None and not is_model:
        raise P2CError("threshold: rules and recorded decisions tell no probability: leave it out")
    if isinstance(model, str | Path | Program):
        return _written_source(model, view, table, desired)
    if not is_model:
        return _recorded_source(model, view, table, desired)
    asked = open_model(model, X, desired=desired, threshold=threshold)
    accepted = asked.answer(frame).accepted
    columns = _trained_on(model, X, view)
    if isinstance(model, FoldSE) and threshold is None:
        own = read_foldse(model, view, table, desired=asked.desired, other=asked.other)
    else:
        own = rules_of_tree(model, columns, table, asked, threshold)
    reads = tuple(each.feature for each in view.features if each in columns)
    return Source(view, table, accepted, asked, asked.desired, asked.other, own, reads)


def _recorded_source(decisions: Any, view: View, table: pd.DataFrame, desired: Any) -> Source:
    labels = read_labels(decisions, len(table), "model: expected one recorded decision")
    wanted, other = choose_classes(labels, desired)
    return Source(view, table, equals(labels, wanted), None, wanted, other, None)


def _written_source(model: Any, view: View, table: pd.DataFrame, desired: Any) -> Source:
    written = read_written(model, table, desired)

    def answer(rows: Any) -> ModelAnswers:
        return ModelAnswers(written.accepts(view.table(rows)))

    asked = AskedModel(answer, desired, None)
    return Source(view, table, written.accepts(table), asked, desired, None, written)


def _trained_on(model: Any, X: Any, view: View) -> tuple[ColumnView, ...]:
    """Return the columns that a model was trained on, in its order; all of them where it names none, or no frame has them."""
    names = trained_names(model, X) if view.framed else None
    by_name = {each.name: each for each in view.columns}
    return view.columns if names is None else tuple(by_name[name] for name in names)
