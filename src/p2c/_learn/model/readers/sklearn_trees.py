"""scikit-learn's trees and the ensembles of them: values are compared in single precision, sums are in double."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from p2c._learn.model.floats import single_bound
from p2c._learn.model.parts import LOGISTIC_FUZZ, Link, Sum, Tree, Unreadable, logistic

if TYPE_CHECKING:
    from p2c._learn.model.arrays import Floats
    from p2c._learn.model.stages import Stage


def tree_of(fitted: Any, values: Floats) -> Tree:
    """Return a `tree_` with some values at its nodes; the nodes keep their places."""
    arrays = fitted.tree_
    return Tree(
        column=np.where(arrays.children_left < 0, -1, arrays.feature).astype(np.int64),
        bound=single_bound(arrays.threshold),
        left=arrays.children_left.astype(np.int64),
        right=arrays.children_right.astype(np.int64),
        missing_left=arrays.missing_go_to_left.astype(bool),
        value=values,
    )


def shares_of(fitted: Any) -> Floats:
    """Return the share of each class at each node."""
    if fitted.n_outputs_ != 1:
        raise Unreadable("the model decides several things at once")
    return np.asarray(fitted.tree_.value[:, 0, :], dtype=np.float64)


def read_tree(model: Any, stage: Stage) -> tuple[Sum, Stage]:
    """Read a single tree: its shares are the probabilities."""
    tree = tree_of(model, shares_of(model))
    classes = tuple(model.classes_)
    link = Link(share=lambda score: score, slope=1.0)
    bias = np.zeros(len(classes))
    return Sum(classes, len(classes), link, model.predict_proba, bias, (tree,)), stage


def read_forest(model: Any, stage: Stage) -> tuple[Sum, Stage]:
    """Read a forest: the shares of its trees are added, then divided by their number."""
    count = len(model.estimators_)
    trees = tuple(tree_of(each, shares_of(each)) for each in model.estimators_)
    classes = tuple(model.classes_)
    link = Link(share=lambda score: score / count, slope=1.0 / count)

    def ask(rows: Any) -> Floats:
        return np.asarray(model.predict_proba(rows)) * count

    return Sum(classes, len(classes), link, ask, np.zeros(len(classes)), trees), stage


def read_boosting(model: Any, stage: Stage) -> tuple[Sum, Stage]:
    """Read gradient boosting: what it starts from, and the trees times the learning rate."""
    if model.loss not in ("log_loss", "exponential"):
        raise Unreadable(f"gradient boosting with the loss {model.loss!r} is not known")
    classes = tuple(model.classes_)
    scores = model.estimators_.shape[1]
    trees = []
    for stages in model.estimators_:
        for place, each in enumerate(stages):
            values = np.zeros((each.tree_.node_count, scores))
            values[:, place] = model.learning_rate * each.tree_.value[:, 0, 0]
            trees.append(tree_of(each, values))
    start = _start(model, scores)
    factor = 1.0 if model.loss == "log_loss" else 2.0
    share = (lambda score: logistic(factor * score)) if scores == 1 else None
    link = Link(share, second=lambda score: score >= 0, fuzz=LOGISTIC_FUZZ if scores == 1 else 0.0)
    return Sum(classes, scores, link, model.decision_function, start, tuple(trees)), stage


def _start(model: Any, scores: int) -> Floats:
    """Return the constant that boosting starts from; a model of the caller's as the start is not read."""
    if isinstance(model.init_, str) or model.init_ == "zero":
        return np.zeros(scores)
    if type(model.init_).__name__ != "DummyClassifier":
        raise Unreadable("gradient boosting that starts from a model of its own is not read")
    origin = np.zeros((1, model.n_features_in_), dtype=np.float32)
    return np.asarray(np.asarray(model._raw_predict_init(origin), dtype=np.float64)[0])


def read_adaboost(model: Any, stage: Stage) -> tuple[Sum, Stage]:
    """Read AdaBoost over trees: each tree votes with its weight for the class that it predicts."""
    classes = tuple(model.classes_)
    count, total = len(classes), float(np.sum(model.estimator_weights_))
    trees = []
    for each, weight in zip(model.estimators_, model.estimator_weights_, strict=True):
        if not hasattr(each, "tree_"):
            raise Unreadable(f"AdaBoost over {type(each).__name__} is not a sum of trees")
        named = each.classes_[shares_of(each).argmax(axis=1)]
        votes = np.where(named[:, None] == model.classes_, weight, -weight / (count - 1)) / total
        values = votes if count > 2 else votes[:, 1:] - votes[:, :1]
        trees.append(tree_of(each, values))
    scores, ask = 1 if count == 2 else count, model.decision_function
    return Sum(classes, scores, Link.logistic(scores), ask, np.zeros(scores), tuple(trees)), stage
