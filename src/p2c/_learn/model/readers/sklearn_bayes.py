"""Read scikit-learn's naive Bayes: each column adds to the log-likelihood."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from p2c._learn.model.floats import below
from p2c._learn.model.parts import DOUBLE, LOGISTIC_FUZZ, Link, Sum, Term, Unreadable, logistic

if TYPE_CHECKING:
    from collections.abc import Callable

    from p2c._learn.model.arrays import Floats, Ints
    from p2c._learn.model.stages import Stage


def read_bernoulli(model: Any, stage: Stage) -> tuple[Sum, Stage]:
    """Read the two values of a column that is on or off."""
    on, off = model.feature_log_prob_, np.log1p(-np.exp(model.feature_log_prob_))
    if model.binarize is None:
        raise Unreadable("BernoulliNB without binarize takes any number as a share")
    level = float(model.binarize)
    terms = [
        Term(
            (column,),
            (lambda values: _above(values, level),),
            np.stack([off[:, column], on[:, column]]),
        )
        for column in range(on.shape[1])
    ]
    cuts = {column: np.array([level]) for column in range(on.shape[1])}
    return _bayes(model, model.class_log_prior_, stage, terms=tuple(terms), cuts=cuts)


def _above(values: Any, level: float) -> Ints:
    return (np.asarray(values, dtype=np.float64) > level).astype(np.int64)


def read_multinomial(model: Any, stage: Stage) -> tuple[Sum, Stage]:
    """Read weights of counts."""
    return _bayes(model, model.class_log_prior_, stage, weights=model.feature_log_prob_.T)


def read_complement(model: Any, stage: Stage) -> tuple[Sum, Stage]:
    """Read weights of counts; the prior counts for a single class only."""
    bias = np.zeros(len(model.classes_))
    return _bayes(model, bias, stage, weights=model.feature_log_prob_.T)


def read_gaussian(model: Any, stage: Stage) -> tuple[Sum, Stage]:
    """Read a parabola for each column and class."""
    scale = -0.5 / model.var_
    bias = np.log(model.class_prior_) - 0.5 * np.log(2 * np.pi * model.var_).sum(axis=1)
    bends = {
        column: _parabola(model.theta_[:, column], scale[:, column])
        for column in range(model.theta_.shape[1])
    }
    return _bayes(model, bias, stage, bends=bends)


def _parabola(centre: Floats, scale: Floats) -> Callable[[Floats], Floats]:
    return lambda values: np.asarray(scale * (np.asarray(values)[:, None] - centre) ** 2)


def _sized(bend: Callable[[Floats], Floats]) -> Callable[[Floats], Floats]:
    return lambda values: np.asarray(np.abs(bend(values)).sum(axis=1))


def _apart(bend: Callable[[Floats], Floats], apart: Floats) -> Callable[[Floats], Floats]:
    return lambda values: np.asarray(bend(values) @ apart)


def read_categorical(model: Any, stage: Stage) -> tuple[Sum, Stage]:
    """Read a table for each column of codes."""
    terms, cuts = [], {}
    for column, shares in enumerate(model.feature_log_prob_):
        count = shares.shape[1]
        terms.append(Term((column,), (_coder(count),), shares.T))
        cuts[column] = below(np.arange(1, count))
    return _bayes(model, model.class_log_prior_, stage, terms=tuple(terms), cuts=cuts)


def _coder(count: int) -> Callable[[Any], Ints]:
    """Return the function from values to codes."""

    def code(values: Any) -> Ints:
        return np.clip(np.trunc(np.asarray(values, dtype=np.float64)), 0, count - 1).astype(
            np.int64
        )

    return code


def _bayes(model: Any, prior: Any, stage: Stage, **parts: Any) -> tuple[Sum, Stage]:
    """Return the sum of a model; of two classes the difference."""
    bias = np.asarray(prior, dtype=np.float64)
    classes = tuple(model.classes_)
    size = float(np.abs(bias).sum())

    def ask(rows: Any) -> Floats:
        return np.asarray(model.predict_joint_log_proba(rows))

    bends = parts.get("bends", {})
    if bends:
        parts["sizes"] = {column: _sized(bend) for column, bend in bends.items()}
    if len(classes) != 2:
        return Sum(classes, len(classes), Link(), ask, bias, size=size, **parts), stage
    apart = np.array([[-1.0], [1.0]])
    if "terms" in parts:
        size += sum(float(np.abs(each.values).max()) for each in parts["terms"])
        parts["terms"] = tuple(
            Term(each.columns, each.bins, each.values @ apart) for each in parts["terms"]
        )
    elif bends:
        parts["bends"] = {column: _apart(bend, apart) for column, bend in bends.items()}
    else:
        parts["precision"] = _spread(parts["weights"]) * DOUBLE
        parts["weights"] = parts["weights"] @ apart
    apart_sum = Sum(
        classes,
        1,
        Link(logistic, fuzz=4 * LOGISTIC_FUZZ),
        ask=lambda rows: ask(rows) @ apart,
        bias=bias @ apart,
        size=size,
        **parts,
    )
    return apart_sum, stage


def _spread(weights: Floats) -> float:
    """Return the factor by which weights exceed their differences."""
    apart = np.abs(weights[:, 1] - weights[:, 0])
    most = float(apart.max(initial=0.0))
    if not most:
        return 1.0
    sizes = np.abs(weights).max(axis=1)
    return float(np.clip((sizes / np.maximum(apart, 1e-3 * most)).max(), 1.0, 1e6))
