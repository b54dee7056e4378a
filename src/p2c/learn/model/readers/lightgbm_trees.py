"""LightGBM: doubles, `value <= bound` goes left, categories in a node's list go left, missing values as the node says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from p2c.learn.model.categories import coded_test
from p2c.learn.model.parts import DOUBLE, LOGISTIC_FUZZ, Link, Sum, Tree, Unreadable, logistic

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from p2c.learn.model.stages import Stage

Codes = dict[int, dict[str, int]]
ZERO = float(np.float32(1e-35))
"""What LightGBM takes for zero, and anything nearer to it."""


class LightGBMFile:
    """A model stored as LightGBM's text, with the methods of an estimator; its classes are 0, 1 and so on."""

    def __init__(self, booster: Any) -> None:
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
    link = _link(name, dict(each.split(":") for each in options if ":" in each), scores)
    codes = _codes(stored, stage)
    share = 1.0 / (len(stored["tree_info"]) // scores) if stored["average_output"] else 1.0
    trees = [
        _Flat(scores, each["tree_index"] % scores, codes).tree(each["tree_structure"], share)
        for each in stored["tree_info"]
    ]
    points = {
        int(column): np.arange(-1, 512, dtype=np.float64)
        for tree in trees
        for node in tree.chosen
        if (column := tree.column[node]) not in codes
    }
    found = Sum(
        classes=tuple(np.asarray(model.classes_).tolist()),
        scores=scores,
        link=link,
        ask=lambda rows: model.booster_.predict(rows, raw_score=True),
        bias=np.zeros(scores),
        trees=tuple(trees),
        points=points,
    )
    return found, stage


def _link(name: str, options: Mapping[str, str], scores: int) -> Link:
    if name in ("multiclass", "multiclassova") and scores > 1:
        return Link(fuzz=DOUBLE)
    if name != "binary":
        raise Unreadable(f"LightGBM with the objective {name!r} is not known")
    steep = float(options.get("sigmoid", 1))

    def share(score: NDArray[np.float64]) -> NDArray[np.float64]:
        return logistic(steep * score)

    return Link(share, second=lambda score: share(score) > 1 - share(score), fuzz=LOGISTIC_FUZZ)


def _codes(stored: Mapping[str, Any], stage: Stage) -> Codes:
    """Return the code of each category of the columns that were categories in the frame that the model was trained on."""
    kinds = [
        place
        for place, column in enumerate(stage.columns)
        if column.source is not None and not stage.bench.view.columns[column.source].is_number
    ]
    known = stored.get("pandas_categorical") or []
    if len(known) != len(kinds):
        if known:
            raise Unreadable(
                "the table's categorical columns are not those that LightGBM was trained on"
            )
        return {}
    return {
        place: {str(word): code for code, word in enumerate(words)}
        for place, words in zip(kinds, known, strict=True)
    }


def _past_zero(bound: float) -> float:
    """Return where a bound lies for values as LightGBM takes them: whatever is as near to zero as `ZERO` is zero."""
    if -ZERO <= bound < 0:
        return float(np.nextafter(-ZERO, -np.inf))
    return ZERO if 0 <= bound < ZERO else bound


class _Flat:
    """A tree of nested nodes as arrays; lives for one tree."""

    def __init__(self, scores: int, place: int, codes: Codes) -> None:
        self.scores, self.place, self.codes = scores, place, codes
        self.rows: list[tuple[int, float, bool]] = []
        self.values: list[float] = []
        self.children: list[tuple[int, int]] = []
        self.chosen: dict[int, Any] = {}

    def tree(self, root: Mapping[str, Any], share: float) -> Tree:
        self._add(root)
        values = np.zeros((len(self.rows), self.scores))
        values[:, self.place] = np.array(self.values) * share
        return Tree.of_nodes(self.rows, self.children, values, self.chosen)

    def _add(self, node: Mapping[str, Any]) -> int:
        place = len(self.rows)
        self.children.append((place, place))
        if "split_feature" not in node:
            if node.get("leaf_coeff"):
                raise Unreadable("LightGBM's trees with linear leaves are not read")
            self.rows.append((-1, 0.0, False))
            self.values.append(float(node["leaf_value"]))
            return place
        column = int(node["split_feature"])
        bound = 0.0
        if node["decision_type"] == "==":
            members = [int(each) for each in node["threshold"].split("||")]
            self.chosen[place] = coded_test(
                members, self.codes.get(column), inside=True, missing=False
            )
        else:
            bound = _past_zero(float(node["threshold"]))
        self.rows.append((column, bound, self._missing(node, bound)))
        self.values.append(0.0)
        self.children[place] = (self._add(node["left_child"]), self._add(node["right_child"]))
        return place

    @staticmethod
    def _missing(node: Mapping[str, Any], bound: float) -> bool:
        """Tell whether a missing value goes left: as the node says, or as zero where it knows of none."""
        match node["missing_type"]:
            case "NaN":
                return bool(node["default_left"])
            case "None":
                return bound >= 0
            case _ if bool(node["default_left"]) == (bound >= 0):
                return bound >= 0
            case _:
                raise Unreadable("LightGBM was trained with zero as a missing value")
