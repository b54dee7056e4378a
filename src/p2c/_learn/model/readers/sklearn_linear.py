"""scikit-learn's linear models: a weight for each column, whatever they were trained with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from p2c._learn.model.parts import DOUBLE, LOGISTIC_FUZZ, SINGLE, Link, Sum, logistic

if TYPE_CHECKING:
    from collections.abc import Callable

    from p2c._learn.model.stages import Stage


def read_linear(model: Any, stage: Stage) -> tuple[Sum, Stage]:
    """Read weights and intercepts; of two classes the second wins above zero."""
    weights = np.atleast_2d(np.asarray(model.coef_, dtype=np.float64)).T
    scores = weights.shape[1]
    bias = np.zeros(scores) + np.asarray(model.intercept_, dtype=np.float64)
    single = np.asarray(model.coef_).dtype == np.float32
    found = Sum(
        classes=tuple(model.classes_),
        scores=scores,
        link=Link(_share(model), fuzz=LOGISTIC_FUZZ) if scores == 1 else Link(),
        ask=model.decision_function,
        bias=bias,
        weights=weights,
        precision=SINGLE if single else DOUBLE,
    )
    return found, stage


def _share(model: Any) -> Callable[[Any], Any] | None:
    """Return the probability that a model gives a score, None where it gives none."""
    if not hasattr(model, "predict_proba"):
        return None
    if getattr(model, "loss", "log_loss") == "modified_huber":
        return lambda score: (np.clip(score, -1, 1) + 1.0) / 2.0
    return logistic
