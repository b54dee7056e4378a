"""Read results of statsmodels: a linear score behind a link."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from p2c._learn.model.parts import DOUBLE, Link, Sum
from p2c._learn.model.stages import ColumnShape, StageColumn
from p2c._learn.model.transformers import pass_through
from p2c.errors import P2CError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from p2c._learn.model.arrays import Floats
    from p2c._learn.model.stages import Stage

FUZZ = 16 * DOUBLE
"""Relative error of a link of statsmodels."""


@dataclass(frozen=True)
class StatsmodelsResult:
    """A fitted result as a classifier; its classes are 0 and 1."""

    result: Any

    @cached_property
    def design(self) -> StatsmodelsDesign:
        """Return the way from rows to the model's own columns."""
        return StatsmodelsDesign(self.result)

    @property
    def classes_(self) -> NDArray[np.int64]:
        """Return 0 and 1."""
        return np.array([0, 1])

    def link(self, scores: Any) -> Floats:
        """Return the probability of each linear score."""
        model = self.result.model
        family = getattr(model, "family", None)
        given = np.asarray(scores, dtype=np.float64)
        return np.asarray(model.cdf(given) if family is None else family.link.inverse(given))

    def predict_proba(self, rows: Any) -> Floats:
        """Return the probability of each class for each row."""
        share = self.link(self.decision_function(rows))
        return np.column_stack([1 - share, share])

    def decision_function(self, rows: Any) -> Floats:
        """Return the linear score of each row."""
        return np.asarray(self.design.transform(rows) @ np.asarray(self.result.params))

    def predict(self, rows: Any) -> NDArray[np.int64]:
        """Return the class of each row."""
        return (self.predict_proba(rows)[:, 1] > 0.5).astype(np.int64)


@dataclass(frozen=True)
class StatsmodelsDesign:
    """The columns of a model, by its formula or by their names.

    A constant needs no column.
    """

    result: Any

    def transform(self, rows: Any) -> Floats:
        """Return the design matrix of rows."""
        model = self.result.model
        if getattr(model, "formula", None) is not None:
            found, _ = self.result._transform_predict_exog(rows)
            return np.asarray(found, dtype=np.float64)
        columns = [self._column(name, rows) for name in model.exog_names]
        return np.column_stack(columns)

    def _column(self, name: str, rows: Any) -> Floats:
        if name in rows.columns:
            return np.asarray(rows[name], dtype=np.float64)
        if name == "const":
            return np.ones(len(rows))
        raise P2CError(f"the table has no column {name!r}, which the model was fitted on")


def of_statsmodels(model: Any) -> StatsmodelsResult:
    """Return a result of statsmodels as a classifier.

    Raises:
        P2CError: The model gives no probability of two outcomes.
    """
    inner = getattr(model, "model", None)
    family = getattr(inner, "family", None)
    binary = type(family).__name__ == "Binomial" or (family is None and hasattr(inner, "cdf"))
    if not binary or np.ndim(model.params) != 1:
        kind = type(inner).__name__
        raise P2CError(
            f"model: {kind} of statsmodels gives no probability of two outcomes; expected Logit, Probit or a binomial GLM"
        )
    return StatsmodelsResult(model)


def read_statsmodels(model: StatsmodelsResult, stage: Stage) -> tuple[Sum, Stage]:
    """Read parameters as weights."""
    weights = np.asarray(model.result.params, dtype=np.float64)[:, None]
    total = Sum(
        (0, 1),
        1,
        Link(model.link, second=lambda score: model.link(score) > 0.5, fuzz=FUZZ),
        ask=lambda rows: np.asarray(rows) @ weights,
        bias=np.zeros(1),
        weights=weights,
    )
    if getattr(model.result.model, "formula", None) is not None:
        return total, pass_through(model.design, stage)
    names = [str(each.name) for each in stage.bench.view.columns]
    by_name = {names[e.source]: e for e in stage.columns if e.source is not None}
    constant = StageColumn(None, ColumnShape.LISTED)
    columns = [by_name.get(name, constant) for name in model.result.model.exog_names]
    return total, stage.then(lambda rows: model.design.transform(pd.DataFrame(rows)), columns)
