"""LightGBM: doubles, `value <= bound` goes left, categories in a node's list go left, missing values as the node says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from p2c._learn.model.asking import kept_categories, numbers_alone
from p2c._learn.model.parts import (
    DOUBLE,
    LOGISTIC_FUZZ,
    Link,
    Sum,
    Tree,
    Unreadable,
    coded_test,
    logistic,
)
from p2c.errors import P2CError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from p2c._learn.model.arrays import Mask
    from p2c._learn.model.stages import Stage
    from p2c._learn.tables.view import ColumnView

Codes = dict[int, dict[str, int]]
ZERO = float(np.float32(1e-35))
"""What LightGBM takes for zero, and anything nearer to it."""


NUMBERS = frozenset(
    [
        "regression",
        "regression_l1",
        "huber",
        "fair",
        "poisson",
        "quantile",
        "mape",
        "gamma",
        "tweedie",
        "lambdarank",
        "rank_xendcg",
    ]
)
"""The objectives under which a model gives numbers that are no probabilities."""


class LightGBMFile:
    """A model stored as LightGBM's text, with the methods of an estimator; its classes are 0, 1 and so on."""

    def __init__(self, booster: Any) -> None:
        objective = booster.dump_model(num_iteration=1).get("objective", "").partition(" ")[0]
        if objective in NUMBERS:
            raise P2CError(numbers_alone(objective))
        self.booster_ = booster
        self.feature_names_in_ = np.array(booster.feature_name(), dtype=object)
        self.classes_ = np.arange(max(booster.dump_model(num_iteration=1)["num_class"], 2))

    def predict_proba(self, rows: Any) -> NDArray[np.float64]:
        """Return the probability of each class for each row."""
        told = np.asarray(self.booster_.predict(rows))
        return told if told.ndim == 2 else np.column_stack([1.0 - told, told])

    def predict(self, rows: Any) -> NDArray[Any]:
        """Return the class of each row."""
        return np.asarray(self.classes_[self.predict_proba(rows).argmax(axis=1)])


def read_lightgbm(model: Any, stage: Stage) -> tuple[Sum, Stage]:
    """Read the trees that the model predicts with, from its own description."""
    stored = model.booster_.dump_model()
    name, *options = stored["objective"].split()
    scores = int(stored["num_tree_per_iteration"])
    # Of a forest, probabilities are those of the mean, but its raw scores are sums.
    rounds = len(stored["tree_info"]) // scores if stored["average_output"] else 1
    told = dict(each.split(":") for each in options if ":" in each)
    link = _link(name, float(told.get("sigmoid", 1)) / rounds, scores)
    flat = _Flat(scores, _codes(model.booster_, stage))
    trees = [
        flat.tree(each["tree_structure"], each["tree_index"] % scores)
        for each in stored["tree_info"]
    ]
    found = Sum(
        classes=tuple(np.asarray(model.classes_).tolist()),
        scores=scores,
        link=link,
        ask=lambda rows: model.booster_.predict(rows, raw_score=True),
        bias=np.zeros(scores),
        trees=tuple(trees),
        cuts={column: np.array(sorted(each)) for column, each in flat.cuts.items()},
    )
    return found, stage


def _link(name: str, steep: float, scores: int) -> Link:
    if name in ("multiclass", "multiclassova") and scores > 1:
        return Link(fuzz=DOUBLE)
    if name != "binary":
        raise Unreadable(f"LightGBM with the objective {name!r} is not known")

    def share(score: NDArray[np.float64]) -> NDArray[np.float64]:
        return logistic(steep * score)

    return Link(share, second=lambda score: share(score) > 1 - share(score), fuzz=LOGISTIC_FUZZ)


def _codes(booster: Any, stage: Stage) -> Codes:
    """Return the code of each category of the columns that were categories in the frame that the model was trained on."""
    kinds = [
        place
        for place, column in enumerate(stage.columns)
        if column.source is not None and _is_text(stage.bench.view.columns[column.source])
    ]
    known = kept_categories(booster, kinds)
    if booster.pandas_categorical and not known:
        raise Unreadable(
            "the table's categorical columns are not those that LightGBM was trained on"
        )
    return {
        place: {str(word): code for code, word in enumerate(words)}
        for place, words in known.items()
    }


def _is_text(column: ColumnView) -> bool:
    """Tell whether a column holds neither numbers nor truth values, which are numbers to LightGBM."""
    return not column.is_number and not pd.api.types.is_bool_dtype(column.dtype)


def _past_zero(bound: float) -> float:
    """Return where a bound lies for values as LightGBM takes them: whatever is as near to zero as `ZERO` is zero."""
    if -ZERO <= bound < 0:
        return float(np.nextafter(-ZERO, -np.inf))
    return ZERO if 0 <= bound < ZERO else bound


def _zero_test(bound: float, *, zero_left: bool) -> Callable[[Any], Mask]:
    """Return the test of a node to which zero is a missing value."""

    def test(values: Any) -> Mask:
        numbers = np.asarray(values, dtype=np.float64)
        gone = np.isnan(numbers) | (np.abs(numbers) <= ZERO)
        return np.where(gone, zero_left, numbers <= bound)

    return test


def _below(node: Mapping[str, Any]) -> tuple[Any, Any] | None:
    return (node["left_child"], node["right_child"]) if "split_feature" in node else None


class _Flat:
    """Makes arrays of trees of nested nodes, one after the other, and keeps where tests of their own change."""

    def __init__(self, scores: int, codes: Codes) -> None:
        self.scores, self.codes = scores, codes
        self.cuts: dict[int, set[float]] = {}

    def tree(self, root: Mapping[str, Any], place: int) -> Tree:
        self.chosen: dict[int, Callable[[Any], Mask]] = {}

        def value(leaf: Mapping[str, Any]) -> NDArray[np.float64]:
            if leaf.get("leaf_coeff"):
                raise Unreadable("LightGBM's trees with linear leaves are not read")
            return np.asarray(np.eye(self.scores)[place] * float(leaf["leaf_value"]))

        return Tree.nested(root, _below, self._asked, value, self.chosen)

    def _asked(self, node: Mapping[str, Any], place: int) -> tuple[int, float, bool]:
        """Return the column, the bound, and whether a missing value goes left: as zero where the node knows of none."""
        column, left = int(node["split_feature"]), bool(node["default_left"])
        if node["decision_type"] == "==":
            members = [int(each) for each in node["threshold"].split("||")]
            codes = self.codes.get(column)
            self.chosen[place] = coded_test(
                members, codes, inside=True, missing=False, truncated=True
            )
            if codes is None:
                ends = {float(each + step) for each in members for step in (0, 1)}
                self._cut(column, {-1.0, *np.nextafter(list(ends), -np.inf).tolist()})
            return column, 0.0, False
        bound = _past_zero(float(node["threshold"]))
        if node["missing_type"] == "Zero":
            self.chosen[place] = _zero_test(bound, zero_left=left)
            self._cut(column, {bound, ZERO, float(np.nextafter(-ZERO, -np.inf))})
        return column, bound, left if node["missing_type"] == "NaN" else bound >= 0

    def _cut(self, column: int, bounds: set[float]) -> None:
        self.cuts.setdefault(column, set()).update(bounds)
