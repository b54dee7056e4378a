"""Fold steps that mix columns linearly, such as PCA, into a linear model."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from p2c._learn.model.parts import Unreadable
from p2c._learn.model.stages import dense

if TYPE_CHECKING:
    from collections.abc import Sequence

    from p2c._learn.model.arrays import Floats
    from p2c._learn.model.parts import Sum
    from p2c._learn.model.stages import Stage

MIXING = frozenset(
    [
        "PCA",
        "IncrementalPCA",
        "TruncatedSVD",
        "FactorAnalysis",
        "FastICA",
        "LinearDiscriminantAnalysis",
        "GaussianRandomProjection",
        "SparseRandomProjection",
    ]
)
"""Transformers of scikit-learn that multiply rows with a matrix."""
SCALING = frozenset(["StandardScaler", "RobustScaler", "MaxAbsScaler", "MinMaxScaler"])
MOST_CANCELLED = 1e6
"""Bound on the growth of rounding where weights of mixed columns cancel."""


def is_mixing(step: Any) -> bool:
    """Tell whether a step mixes columns linearly."""
    return _is_of(step, MIXING)


def _is_of(step: Any, names: frozenset[str]) -> bool:
    kinds = type(step).__mro__
    return any(e.__name__ in names and e.__module__.startswith("sklearn.") for e in kinds)


def unmixed(model: Sum, steps: Sequence[Any], stage: Stage) -> Sum:
    """Return a linear model over the columns before linear steps.

    Args:
        model: The model over the mixed columns.
        steps: The steps from the first mixing one to the last before the model.
        stage: The stage before these steps.
    """
    name = type(steps[0]).__name__
    if model.weights is None or model.trees or model.terms:
        raise Unreadable(
            f"{name} mixes columns, so only a linear model behind it is a sum over them",
            f"leave {name} out: trees need no such step",
        )
    for step in steps:
        scaling = _is_of(step, SCALING) and not getattr(step, "clip", False)
        if not (is_mixing(step) or scaling):
            raise Unreadable(
                f"{name} mixes columns, and {type(step).__name__} behind it is not linear",
                f"leave {type(step).__name__} out",
            )

    def run(rows: Any) -> Any:
        for step in steps:
            rows = step.transform(rows)
        return dense(rows)

    width = len(stage.columns)
    origin = np.asarray(run(np.zeros((1, width)))[0], dtype=np.float64)
    matrix = np.asarray(run(np.eye(width)), dtype=np.float64) - origin
    weights = matrix @ model.weights
    return replace(
        model,
        bias=model.bias + origin @ model.weights,
        weights=weights,
        ask=lambda rows: model.ask(run(dense(rows))),
        precision=model.precision * _cancelled(matrix, model.weights, weights),
        size=model.size + float((np.abs(origin) @ np.abs(model.weights)).max(initial=0.0)),
    )


def _cancelled(matrix: Floats, inner: Floats, weights: Floats) -> float:
    """Return the factor by which terms of mixed columns exceed their sums."""
    sizes = np.abs(matrix) @ np.abs(inner)
    largest = np.abs(weights).max(initial=0.0)
    if not largest:
        return 1.0
    ratio = sizes / np.maximum(np.abs(weights), 1e-3 * largest)
    return float(np.clip(ratio.max() * (len(inner) + 1), 1.0, MOST_CANCELLED))
