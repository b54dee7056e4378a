"""Read models around models: pipelines, searches and thresholds."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from p2c._learn.model.grouped import own_stage
from p2c._learn.model.parts import Sum, Unreadable
from p2c._learn.model.readers import read_parts
from p2c._learn.model.readers.members import mapped
from p2c._learn.model.readers.mixing import is_mixing, unmixed
from p2c._learn.model.transformers import is_sampler, pass_through

if TYPE_CHECKING:
    from collections.abc import Callable

    from p2c._learn.model.grouped import GroupedModel
    from p2c._learn.model.stages import Stage


def read_pipeline(model: Any, stage: Stage) -> tuple[Sum, Stage]:
    """Look through the transformers, then read what stands behind them."""
    steps = [step for _, step in model.steps[:-1] if not is_sampler(step)]
    mixing = next((place for place, step in enumerate(steps) if is_mixing(step)), len(steps))
    for step in steps[:mixing]:
        stage = pass_through(step, stage)
    inner, behind = read_parts(model.steps[-1][1], stage)
    if mixing == len(steps):
        return inner, behind
    return unmixed(inner, steps[mixing:], behind), behind


def read_grouped(model: GroupedModel, stage: Stage) -> tuple[Sum, Stage]:
    """Look through the groups of columns, then read the model that takes the columns."""
    return read_parts(model.model, own_stage(model, stage))


def read_inner(model: Any, stage: Stage) -> tuple[Sum, Stage]:
    """Read the model that another only keeps, or the best model of a search."""
    return read_parts(getattr(model, "best_estimator_", model.estimator), stage)


def read_fixed_threshold(model: Any, stage: Stage) -> tuple[Sum, Stage]:
    """Read a model whose label depends on a threshold of its own."""
    inner, behind = read_parts(model.estimator_, stage)
    two_classes(model, inner)
    scorer = getattr(model, "_curve_scorer", None)
    label = model.pos_label if scorer is None else scorer._get_pos_label()
    positive = 1 if label is None else list(inner.classes).index(label)
    level = getattr(model, "best_threshold_", getattr(model, "threshold", "auto"))
    method = model.response_method
    if method == "auto":
        method = (
            "predict_proba" if hasattr(model.estimator_, "predict_proba") else "decision_function"
        )
    if level == "auto":
        level = 0.5 if method == "predict_proba" else 0.0
    if positive != 1:
        raise Unreadable(
            "a threshold of the model's own on its first class is not read",
            "set pos_label to the second class",
        )
    answer = response(inner, method)
    fuzz = inner.link.fuzz if method == "predict_proba" else 0.0
    inner = single(inner)
    return replace(
        inner, link=replace(inner.link, second=lambda score: answer(score) >= level, fuzz=fuzz)
    ), behind


def two_classes(model: Any, inner: Sum) -> None:
    if len(inner.classes) != 2:
        raise Unreadable(f"a {type(model).__name__} of {len(inner.classes)} classes is not read")


def response(inner: Sum, method: str) -> Callable[[Any], Any]:
    """Return the function from the score of a model of two classes to its answer."""
    if method == "decision_function":
        return lambda score: score
    if inner.link.share is None:
        raise Unreadable("the model has no probability that follows its score")
    return inner.link.share


def single(inner: Sum) -> Sum:
    """Return a sum of the score of the second class; blends are unchanged."""
    if inner.scores == 1 or inner.blended:
        return inner
    return mapped(inner, np.array([[0.0], [1.0]]))
