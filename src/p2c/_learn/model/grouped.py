"""Models asked about tables whose one-hot groups are categories."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from p2c._learn.model.asking import shaper, trained_names
from p2c._learn.model.stages import ColumnShape, StageColumn

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from p2c._learn.model.stages import Stage
    from p2c._learn.tables.grouping import Grouping

ASKED = ("predict", "predict_proba", "decision_function")
"""The methods of a model that take rows."""


class GroupedModel:
    """A model that takes rows with groups as categories."""

    def __init__(self, model: Any, grouping: Grouping, frame: pd.DataFrame) -> None:
        self.model = model
        self.grouping = grouping
        self.feature_names_in_ = list(grouping.names)
        self.shape = shaper(model, frame)
        self.columns = trained_names(model, frame) or list(grouping.columns)

    def __getattr__(self, name: str) -> Any:
        if name in ASKED:
            ask = getattr(self.model, name)
            return lambda rows: ask(self.own_rows(rows))
        if name in ("classes_", "estimator_"):
            return getattr(self.model, name)
        raise AttributeError(name)

    def own_rows(self, rows: pd.DataFrame) -> Any:
        """Return rows as the model inside takes them."""
        return self.shape(self.grouping.expand(rows))


def with_groups(model: Any, grouping: Grouping, frame: pd.DataFrame) -> Any:
    """Return a model or function that takes rows with groups as categories."""
    if hasattr(model, "predict"):
        return GroupedModel(model, grouping, frame)
    ask: Callable[[Any], Any] = model
    return lambda rows: ask(grouping.expand(rows))


def own_stage(model: GroupedModel, stage: Stage) -> Stage:
    """Return the stage of the columns that the model inside takes."""
    places = {name: place for place, name in enumerate(model.grouping.names)}
    columns = []
    for name in model.columns:
        group = model.grouping.members.get(name)
        own = stage.columns[places[name if group is None else group.name]]
        member = StageColumn(own.source, ColumnShape.LISTED)
        columns.append(own if group is None else replace(member, tried=own.tried))
    return stage.then(model.own_rows, columns)
