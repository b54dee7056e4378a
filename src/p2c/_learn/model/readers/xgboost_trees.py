"""XGBoost: single precision throughout, `value < bound` goes left, categories in a node's list go right.

What a sparse matrix leaves out is missing to it: behind an encoder that makes one, a zero is a missing value.
"""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from p2c._learn.model.floats import around, single_bound
from p2c._learn.model.parts import (
    SINGLE,
    Link,
    Sum,
    Tree,
    Unreadable,
    classes_and_scores,
    coded_test,
    logistic,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from p2c._learn.model.stages import Stage

OBJECTIVES = ("binary:logistic", "multi:softprob", "multi:softmax")

Codes = dict[int, dict[str, int]]


def read_xgboost(model: Any, stage: Stage) -> tuple[Sum, Stage]:
    """Read the trees that the model predicts with, from its own JSON."""
    booster = model.get_booster()
    learner = json.loads(bytes(booster.save_raw("json")))["learner"]
    name = learner["objective"]["name"]
    if name not in OBJECTIVES:
        raise Unreadable(f"XGBoost with the objective {name!r} is not known")
    missing = getattr(model, "missing", np.nan)
    if missing is not None and not np.isnan(missing):
        raise Unreadable(
            f"XGBoost takes {missing!r} for a missing value, which is an ordinary number",
            "write missing values as empty cells",
        )
    classes, scores = classes_and_scores(model)
    trees, cuts = _trees(model, learner, stage, scores)
    if stage.is_sparse:
        trees = tuple(replace(tree, zero_is_missing=True) for tree in trees)
        cuts = {int(column): around([0]) for tree in trees for column in tree.column if column >= 0}
    share = (
        (lambda score: logistic(score).astype(np.float32).astype(np.float64))
        if scores == 1
        else None
    )
    link = Link(share, second=lambda score: logistic(score).astype(np.float32) > 0.5, fuzz=SINGLE)
    found = Sum(
        classes,
        scores,
        link,
        ask=lambda rows: model.predict(rows, output_margin=True),
        bias=_base(learner, scores),
        trees=trees,
        precision=SINGLE,
        cuts=cuts,
    )
    return found, stage


def _base(learner: Mapping[str, Any], scores: int) -> NDArray[np.float64]:
    """Return the score that boosting starts from; it is stored as a probability where there are two classes."""
    stored = json.loads(learner["learner_model_param"]["base_score"])
    base = np.zeros(scores) + np.asarray(stored, dtype=np.float32)
    return np.asarray(np.log(base / (1 - base)) if scores == 1 else base, dtype=np.float64)


def _trees(
    model: Any, learner: Mapping[str, Any], stage: Stage, scores: int
) -> tuple[tuple[Tree, ...], dict[int, NDArray[np.float64]]]:
    booster = learner["gradient_booster"]
    if booster["name"] not in ("gbtree", "dart"):
        raise Unreadable(f"XGBoost's {booster['name']} is not a sum of trees")
    inner = booster["model"] if booster["name"] == "gbtree" else booster["gbtree"]["model"]
    weights = booster.get("weight_drop", [1.0] * len(inner["trees"]))
    end = len(inner["trees"])
    best = getattr(model, "best_iteration", None) if _stopped_early(model) else None
    if best is not None:
        end = inner["iteration_indptr"][best + 1]
    codes = _categories(inner.get("cats"), stage)
    trees = []
    cuts: dict[int, NDArray[np.float64]] = {}
    for tree, place, weight in zip(inner["trees"][:end], inner["tree_info"], weights, strict=False):
        trees.append(_tree(tree, int(place), scores, float(weight), codes))
        for node in tree["categories_nodes"]:
            column = tree["split_indices"][node]
            if column not in codes:
                cuts[column] = around(np.arange(-1, 64 * 8))
    return tuple(trees), cuts


def _stopped_early(model: Any) -> bool:
    return "best_iteration" in model.get_booster().attributes()


def _categories(stored: Any, stage: Stage) -> Codes:
    """Return the code of each category of the columns that the model knows as such: as stored, else as in the table."""
    found: Codes = {}
    for place, entry in enumerate((stored or {}).get("enc", ())):
        if entry.get("values") and _is_told_whole(entry):
            found[place] = {word: code for code, word in enumerate(_words(entry))}
    for place, column in enumerate(stage.columns):
        if place not in found and column.source is not None:
            kind = stage.bench.view.columns[column.source].dtype
            if hasattr(kind, "categories"):
                found[place] = {str(word): code for code, word in enumerate(kind.categories)}
    return found


def _is_told_whole(entry: Mapping[str, Any]) -> bool:
    """Tell whether words can be cut apart: XGBoost counts characters, and what has more bytes than these is stored in part."""
    return not entry.get("offsets") or all(0 <= value < 128 for value in entry["values"])


def _words(entry: Mapping[str, Any]) -> list[str]:
    ends = entry.get("offsets")
    if not ends:
        return [str(value) for value in entry["values"]]
    raw = bytes(value % 256 for value in entry["values"])
    return [raw[start:stop].decode() for start, stop in itertools.pairwise(ends)]


def _tree(stored: Mapping[str, Any], place: int, scores: int, weight: float, codes: Codes) -> Tree:
    if int(stored["tree_param"]["size_leaf_vector"]) > 1:
        raise Unreadable("XGBoost's trees with several values in a leaf are not read")
    left = np.array(stored["left_children"], dtype=np.int64)
    leaf = left < 0
    conditions = np.array(stored["split_conditions"], dtype=np.float32)
    values = np.zeros((len(left), scores))
    values[leaf, place] = conditions[leaf] * np.float32(weight)
    column = np.where(leaf, -1, np.array(stored["split_indices"], dtype=np.int64))
    default_left = np.array(stored["default_left"], dtype=bool)
    chosen = {}
    segments = zip(
        stored["categories_nodes"],
        stored["categories_segments"],
        stored["categories_sizes"],
        strict=True,
    )
    for node, start, size in segments:
        right = stored["categories"][start : start + size]
        chosen[node] = coded_test(
            right, codes.get(int(column[node])), inside=False, missing=bool(default_left[node])
        )
    return Tree(
        column=column,
        bound=single_bound(np.nextafter(conditions, np.float32(-np.inf)).astype(np.float64)),
        left=left,
        right=np.array(stored["right_children"], dtype=np.int64),
        missing_left=default_left,
        value=values,
        chosen=chosen,
    )
