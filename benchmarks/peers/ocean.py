"""OCEAN (Parmentier, Vidal 2021): the `oceanpy` package's exact search on the trees of the model, by constraint programming.

It reads forests, AdaBoost and XGBoost, so the model is handed over as an XGBoost model of the very same trees. It is given
our distance (numbers are divided by their range, a category's two columns count a half each), and in each question what
is fixed and what goes one way. Causal rules have no place in it. It prices a number by the threshold that it passes, not by
the whole number behind it, so each threshold is two: one just above the whole number below it, one just below the next.
"""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.peers.protocol import Aim, Answer, Compliance, Finder, Peer
from p2c._spec.feature import Action

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmarks.world import State, World

SECONDS = 20
MARGIN = 10_000
"""How far past even the vote has to be, in units of 1e-10: XGBoost's leaves have single precision."""


@dataclass(frozen=True, slots=True)
class Measure:
    """The columns of a model from 0 on and in units of their distance, with names that XGBoost takes."""

    names: tuple[tuple[str, str], ...]
    low: NDArray[np.float64]
    size: NDArray[np.float64]

    @classmethod
    def of(cls, world: World) -> Measure:
        """Return the measure of a world's columns."""
        names, low, size = [], [], []
        for place, feature in enumerate(world.features):
            if feature.is_listed:
                if feature.weight != 1:
                    raise ValueError(f"{feature.name}: OCEAN counts every change of category as 1")
                for code in range(feature.domain.size):
                    names.append((f"x{place}", str(code)))
                    low.append(0.0)
                    size.append(1.0)
            else:
                names.append((f"x{place}", ""))
                low.append(float(feature.minimum))
                size.append(float(feature.divisor) / float(feature.weight))
        return cls(tuple(names), np.array(low), np.array(size))

    def sides(self, column: int, value: float) -> tuple[float, float]:
        """Return just above the whole number that a split at a value is past, and just below the next."""
        whole = np.floor(value) - self.low[column]
        # Thresholds have single precision.
        gap = 1e-4 + 2e-7 * abs(whole)
        size = self.size[column]
        return float((whole + gap) / size), float((whole + 1 - gap) / size)


def as_booster(world: World, measure: Measure) -> Any:
    """Return the model of a world as an XGBoost model of the same trees."""
    import xgboost

    fitted = world.model.fitted
    names = [f"{name} {code}".strip() for name, code in measure.names]
    nothing = xgboost.DMatrix(np.zeros((2, len(names))), label=[0, 1], feature_names=names)
    prior = float(fitted.init_.class_prior_[1])
    shell = xgboost.train({"objective": "binary:logistic", "base_score": prior}, nothing, 1)
    document = json.loads(bytes(shell.save_raw("json")))
    model = document["learner"]["gradient_booster"]["model"]
    trees = [each.tree_ for each in fitted.estimators_[:, 0]]
    model["trees"] = [
        _tree(tree, number, measure, fitted.learning_rate) for number, tree in enumerate(trees)
    ]
    model["gbtree_model_param"]["num_trees"] = str(len(trees))
    model["iteration_indptr"] = list(range(len(trees) + 1))
    model["tree_info"] = [0] * len(trees)
    return xgboost.Booster(model_file=bytearray(json.dumps(document).encode()))


def _tree(tree: Any, number: int, measure: Measure, rate: float) -> dict[str, Any]:
    left, right = tree.children_left.tolist(), tree.children_right.tolist()
    count = len(left)
    # XGBoost marks the root by the largest number there is.
    parents = [2**31 - 1] * count
    for node in range(count):
        for child in (left[node], right[node]):
            if child >= 0:
                parents[child] = node
    leaves = [rate * float(value) for value in tree.value[:, 0, 0]]
    conditions = [
        leaves[node]
        if left[node] < 0
        else measure.sides(int(tree.feature[node]), float(tree.threshold[node]))[0]
        for node in range(count)
    ]
    nothing: list[int] = []
    return {
        "id": number, "left_children": left, "right_children": right, "parents": parents,
        "split_conditions": conditions, "base_weights": leaves,
        "split_indices": [max(int(place), 0) for place in tree.feature],
        "split_type": [0] * count, "default_left": [0] * count,
        "loss_changes": [0.0] * count, "sum_hessian": [1.0] * count,
        "categories": nothing, "categories_nodes": nothing, "categories_segments": nothing,
        "categories_sizes": nothing,
        "tree_param": {
            "num_deleted": "0", "num_feature": str(len(measure.names)), "num_nodes": str(count),
            "size_leaf_vector": "1",
        },
    }  # fmt: skip


def prepare(world: World) -> Finder:
    """Return the exact search on a world's model, built once."""
    import ocean

    coder, measure = world.coder, Measure.of(world)
    explainer = ocean.ConstraintProgrammingExplainer(
        as_booster(world, measure), mapper=_mapper(world, measure), epsilon=MARGIN
    )
    _leave_out_gaps(explainer, measure)

    def find(person: State) -> Answer:
        row = coder.spread(coder.codes([person]))[0]
        own = (row - measure.low) / measure.size
        _limit(explainer, world, own)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = explainer.explain(own, y=1, norm=1, max_time=SECONDS, num_workers=1)
        status = explainer.get_solving_status()
        if found is None:
            return Answer(None, status == "INFEASIBLE", note=status.lower())
        end = np.where(found.x == own, row, found.x * measure.size + measure.low)
        return Answer(
            coder.gathered(coder.away(row, end)), status == "OPTIMAL", note=status.lower()
        )

    return find


def _mapper(world: World, measure: Measure) -> Any:
    import ocean
    import pandas as pd

    kinds = ocean.feature.Feature.Type
    known = {}
    for place, feature in enumerate(world.features):
        if feature.is_listed:
            codes = [str(code) for code in range(feature.domain.size)]
            known[f"x{place}"] = ocean.feature.Feature(kinds.ONE_HOT_ENCODED, codes=codes)
        else:
            column = measure.names.index((f"x{place}", ""))
            # An interval holds its upper end and not its lower one.
            ends = (float(feature.minimum - 1), float(feature.maximum))
            levels = [measure.sides(column, end)[0] for end in ends]
            levels += [measure.sides(column, split)[1] for split in _splits(world, column)]
            known[f"x{place}"] = ocean.feature.Feature(kinds.CONTINUOUS, levels=levels)
    return ocean.abc.Mapper(known, columns=pd.MultiIndex.from_tuples(measure.names))


def _splits(world: World, column: int) -> set[float]:
    """Return where the trees of a model divide a column."""
    trees = [each.tree_ for each in world.model.fitted.estimators_[:, 0]]
    return {float(cut) for tree in trees for cut in tree.threshold[tree.feature == column]}


def _leave_out_gaps(explainer: Any, measure: Measure) -> None:
    """Forbid the stretches that hold no whole number."""
    for column, (name, code) in enumerate(measure.names):
        if not code:
            levels = explainer.mapper[name].levels * measure.size[column]
            for place, whole in enumerate(np.diff(np.floor(levels))):
                if not whole:
                    explainer.Add(explainer.vget(column) != place)


def _limit(explainer: Any, world: World, own: NDArray[np.float64]) -> None:
    """Keep to what is fixed and what goes one way from a person's columns, for one question."""
    column = 0
    for feature in world.features:
        width = feature.domain.size if feature.is_listed else 1
        for place in range(column, column + width):
            term, value = explainer.vget(place), int(own[place])
            if not feature.is_listed:
                levels = explainer.mapper[explainer.mapper.names[place]].levels
                value = int(np.searchsorted(levels, own[place])) - 1
            ways = {Action.FIXED: term == value}
            if not feature.is_listed:
                ways |= {Action.UP: term >= value, Action.DOWN: term <= value}
            if feature.action in ways:
                explainer.add_garbage(explainer.Add(ways[feature.action]))
        column += width


PEER = Peer(
    "OCEAN", Aim.MODEL, Compliance.NO, prepare, needs=("ocean", "xgboost"), python=(3, 12)
)  # fmt: skip
