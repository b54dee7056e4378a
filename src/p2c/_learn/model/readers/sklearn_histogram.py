"""scikit-learn's histogram boosting: doubles compared with doubles, categories by sets, missing values by each node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from p2c._learn.model.floats import around
from p2c._learn.model.parts import Link, Sum, Tree
from p2c._learn.model.transformers import pass_through

if TYPE_CHECKING:
    from collections.abc import Callable

    from p2c._learn.model.arrays import Mask
    from p2c._learn.model.stages import Stage


def read_histogram(model: Any, stage: Stage) -> tuple[Sum, Stage]:
    """Read the trees behind the encoder that the model keeps for its categories."""
    classes = tuple(model.classes_)
    scores = int(model.n_trees_per_iteration_)
    known, places = model._bin_mapper.make_known_categories_bitsets()
    trees = [
        _tree(each, place, scores, known, places)
        for stages in model._predictors
        for place, each in enumerate(stages)
    ]
    listed = np.flatnonzero(model._bin_mapper.is_categorical_).tolist()
    cuts = dict.fromkeys(listed, around(np.arange(256)))
    start = np.asarray(model._baseline_prediction, dtype=np.float64).ravel()
    encoder = model._preprocessor
    behind = stage if encoder is None else pass_through(encoder, stage)
    ask = model.decision_function if behind is stage else _asker(model)
    return Sum(classes, scores, Link.logistic(scores), ask, start, tuple(trees), cuts=cuts), behind


def _asker(model: Any) -> Callable[[Any], Any]:
    """Return the model's scores of rows that its own encoder has already seen to."""

    def ask(rows: Any) -> Any:
        scores = np.zeros((len(rows), model.n_trees_per_iteration_), order="F")
        scores += model._baseline_prediction
        given = np.ascontiguousarray(rows, dtype=np.float64)
        model._predict_iterations(given, model._predictors, scores, False, 1)
        return scores

    return ask


def _tree(predictor: Any, place: int, scores: int, known: Any, places: Any) -> Tree:
    nodes = predictor.nodes
    values = np.zeros((len(nodes), scores))
    values[:, place] = nodes["value"]
    leaf = nodes["is_leaf"].astype(bool)
    chosen = {
        int(node): _members(
            predictor.raw_left_cat_bitsets[nodes["bitset_idx"][node]],
            known[places[nodes["feature_idx"][node]]],
            bool(nodes["missing_go_to_left"][node]),
        )
        for node in np.flatnonzero(nodes["is_categorical"].astype(bool) & ~leaf)
    }
    return Tree(
        column=np.where(leaf, -1, nodes["feature_idx"].astype(np.int64)),
        bound=nodes["num_threshold"].astype(np.float64),
        left=nodes["left"].astype(np.int64),
        right=nodes["right"].astype(np.int64),
        missing_left=nodes["missing_go_to_left"].astype(bool),
        value=values,
        chosen=chosen,
    )


def _members(left: Any, known: Any, missing_left: bool) -> Callable[[Any], Mask]:
    """Return the test of a node on categories: in the left set, else right, unknown ones as missing ones."""
    chosen, seen = (
        np.unpackbits(np.asarray(each).view(np.uint8), bitorder="little") for each in (left, known)
    )

    def test(values: Any) -> Mask:
        numbers = np.asarray(values, dtype=np.float64)
        gone = np.isnan(numbers) | (numbers < 0)
        codes = np.where(gone, 0, numbers).astype(np.int64) % 256
        inside = np.where(chosen[codes] == 1, True, np.where(seen[codes] == 1, False, missing_left))
        return np.where(gone, missing_left, inside).astype(bool)

    return test
