"""CatBoost: single precision borders, `value > border` sets a bit of the leaf; categories by asking which leaf they reach."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from p2c._learn.model.floats import single_bound
from p2c._learn.model.parts import Link, Sum, Tree, Unreadable, classes_and_scores, listed_test
from p2c.errors import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from p2c._learn.model.stages import Stage

FLOAT = "FloatFeature"


def read_catboost(model: Any, stage: Stage) -> tuple[Sum, Stage]:
    """Read the trees from the model's own JSON."""
    stored = _stored(model)
    scale, bias = stored["scale_and_bias"]
    classes, scores = classes_and_scores(model)
    planter = _TreeRebuilder(model, stored, stage, scores, float(scale))
    found = Sum(
        classes,
        scores,
        Link.logistic(scores),
        ask=lambda rows: model.predict(rows, prediction_type="RawFormulaVal"),
        bias=np.zeros(scores) + np.asarray(bias, dtype=np.float64),
        trees=planter.trees(),
    )
    return found, stage


def _stored(model: Any) -> Any:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        try:
            model.save_model(str(path), format="json")
        except Exception as error:
            # The library raises a class of its own with a sentence in it.
            raise Unreadable(f"CatBoost cannot describe the model: {one_line(error)}") from None
        return json.loads(path.read_text())


class _TreeRebuilder:
    """The trees as they are put together; lives for one reading."""

    def __init__(self, model: Any, stored: Any, stage: Stage, scores: int, scale: float) -> None:
        self.model, self.stored, self.stage = model, stored, stage
        self.scores, self.scale = scores, scale
        info = stored["features_info"]
        self.floats = {each["feature_index"]: each for each in info.get("float_features") or ()}
        self.listed = {
            each["feature_index"]: each for each in info.get("categorical_features") or ()
        }
        self.counters = self._counters(info)
        self.reached: dict[int, dict[Any, NDArray[np.int64]]] = {}

    def trees(self) -> tuple[Tree, ...]:
        if "oblivious_trees" in self.stored:
            found = self.stored["oblivious_trees"]
            return tuple(self._even(tree, place) for place, tree in enumerate(found))
        return tuple(self._uneven(tree) for tree in self.stored["trees"])

    def _counters(self, info: Mapping[str, Any]) -> dict[int, list[int]]:
        """Return the categories behind each split on a statistic of them, by the split's number."""
        start = sum(len(each.get("borders") or ()) for each in info.get("float_features") or ())
        start += sum(
            len(each.get("values") or ()) for each in info.get("categorical_features") or ()
        )
        found = {}
        for each in info.get("ctrs") or ():
            parts = [part.get("cat_feature_index", -1) for part in each["elements"]]
            for _ in each["borders"]:
                found[start] = parts
                start += 1
        return found

    def _column(self, split: Mapping[str, Any]) -> int:
        """Return the model's column that a split reads."""
        if split["split_type"] == FLOAT:
            return int(self.floats[split["float_feature_index"]]["flat_feature_index"])
        if split["split_type"] == "OneHotFeature":
            return int(self.listed[split["cat_feature_index"]]["flat_feature_index"])
        parts = self.counters.get(split["split_index"], [])
        if len(parts) != 1 or parts[0] < 0:
            raise Unreadable(
                "CatBoost counts combinations of columns, which mixes them; with max_ctr_complexity=1 it does not",
                "train with max_ctr_complexity=1",
            )
        return int(self.listed[parts[0]]["flat_feature_index"])

    def _even(self, tree: Mapping[str, Any], number: int) -> Tree:
        """Return a tree that asks the same at each depth; its leaves are numbered by the answers, the first in the lowest bit."""
        splits = tree["splits"] or []
        asked = [self._asked(each) for each in splits]
        tests = {
            depth: self._by_asking(asked[depth][0], number, depth)
            for depth, each in enumerate(splits)
            if each["split_type"] != FLOAT
        }
        leaves = np.asarray(tree["leaf_values"], dtype=np.float64).reshape(-1, self.scores)
        chosen = {}

        def below(node: tuple[int, int]) -> tuple[Any, Any] | None:
            depth, leaf = node
            more = depth < len(splits)
            return ((depth + 1, leaf), (depth + 1, leaf | 1 << depth)) if more else None

        def ask(node: tuple[int, int], place: int) -> tuple[int, float, bool]:
            if node[0] in tests:
                chosen[place] = tests[node[0]]
            return asked[node[0]]

        return Tree.nested((0, 0), below, ask, lambda node: leaves[node[1]] * self.scale, chosen)

    def _asked(self, split: Mapping[str, Any]) -> tuple[int, float, bool]:
        """Return a split's column, its bound, and whether a missing value counts as at most the border."""
        column = self._column(split)
        if split["split_type"] != FLOAT:
            return column, 0.0, False
        treatment = self.floats[split["float_feature_index"]]["nan_value_treatment"]
        return column, float(single_bound(np.array([split["border"]]))[0]), treatment != "AsTrue"

    def _by_asking(self, column: int, tree: int, bit: int) -> Callable[[Any], NDArray[np.bool_]]:
        """Return the test of a split on a category: for each value, the bit of the leaf that the model says it reaches."""
        if column not in self.reached:
            self.reached[column] = self._leaves(column)
        return listed_test(
            {value: not (leaves[tree] >> bit) & 1 for value, leaves in self.reached[column].items()}
        )

    def _leaves(self, column: int) -> dict[Any, NDArray[np.int64]]:
        bench, source = self.stage.bench, self.stage.columns[column].source
        if source is None or bench.view.columns[source].is_number:
            raise Unreadable("CatBoost takes a column of numbers for categories: give them as text")
        values = [original for _, original in bench.view.columns[source].originals or ()]
        found = dict(zip(values, self._reached(source, values), strict=True))
        with contextlib.suppress(Exception):
            found[None] = self._reached(source, [bench.gap(source)])[0]
        return found

    def _reached(self, source: int, values: Sequence[Any]) -> NDArray[np.int64]:
        given: list[Any] = [None] * len(self.stage.bench.view.columns)
        given[source] = values
        rows = self.stage.run(self.stage.bench.vary(given))
        return np.asarray(self.model.calc_leaf_indexes(rows), dtype=np.int64)

    def _uneven(self, root: Mapping[str, Any]) -> Tree:
        """Return a tree of nested nodes."""

        def asked(node: Mapping[str, Any], _: int) -> tuple[int, float, bool]:
            if node["split"]["split_type"] != FLOAT:
                raise Unreadable("CatBoost's uneven trees are read without categories only")
            return self._asked(node["split"])

        return Tree.nested(
            root,
            lambda node: (node["left"], node["right"]) if "split" in node else None,
            asked,
            lambda leaf: np.zeros(self.scores) + np.asarray(leaf["value"]) * self.scale,
        )
