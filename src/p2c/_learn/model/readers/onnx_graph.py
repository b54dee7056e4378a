"""Read ONNX graphs that end in an ensemble of trees or a linear model.

Nodes before that are run by the graph itself.

The node's own scores are compared with the reading: a copy of the graph gives them before any link.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from p2c._learn.model.floats import single_bound
from p2c._learn.model.onnx_model import open_session
from p2c._learn.model.parts import SINGLE, Link, Sum, Tree, Unreadable, logistic
from p2c._learn.model.transformers import pass_through

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from p2c._learn.model.arrays import Floats
    from p2c._learn.model.onnx_model import OnnxModel
    from p2c._learn.model.stages import Stage

    Run = Callable[[Any], Any]

TREES = ("TreeEnsembleClassifier", "TreeEnsembleRegressor")
LINEAR = ("LinearClassifier", "LinearRegressor")
MODES = ("BRANCH_LEQ", "BRANCH_LT", "LEAF")
"""Nodes that are read: comparisons that go to the true child, and leaves."""


def read_onnx(model: OnnxModel, stage: Stage) -> tuple[Sum, Stage]:
    """Read the node that decides, over the columns that reach it."""
    graph = _Graph(model)
    node = graph.node
    classes = tuple(model.classes_)
    if node.labels and len(classes) != node.labels:
        raise Unreadable("the classes of the ONNX graph are not those of its last model")
    is_bare = len(model.feeds) == 1 and model.feeds[0].name == graph.entry
    scaler = graph.scaler
    behind = stage if is_bare or scaler else pass_through(graph.steps, stage)
    bias, weights = node.bias, node.weights
    if scaler and weights is not None:
        scale, offset = (np.broadcast_to(each, len(weights)) for each in scaler)
        bias, weights = bias - (offset * scale) @ weights, weights * scale[:, None]
    elif scaler:
        behind = pass_through(graph.steps, stage)
    total = Sum(
        classes,
        len(bias),
        _link(node, len(classes)),
        ask=graph.until(node.output, bare=True) if behind is stage else graph.alone,
        bias=bias,
        trees=node.trees(),
        weights=weights,
        precision=SINGLE,
        size=float(np.abs(bias).sum()),
    )
    return total, behind


def _link(node: _Node, classes: int) -> Link:
    if len(node.bias) == 1 and node.link == "LOGISTIC" and classes == 2:

        def share(score: Floats) -> Floats:
            return logistic(score).astype(np.float32).astype(np.float64)

        return Link(share, second=lambda score: share(score) > 0.5, fuzz=SINGLE)
    if len(node.bias) == 1 and node.link == "NONE" and classes == 2 and not node.weights_negative:
        return Link(lambda score: score, second=lambda score: score > 0.5, fuzz=SINGLE)
    if len(node.bias) == classes and node.link in ("NONE", "SOFTMAX", "LOGISTIC"):
        return Link((lambda score: score) if node.link == "NONE" else None, fuzz=SINGLE)
    raise Unreadable(f"an ONNX {node.kind} with the link {node.link} is not known")


class _Node:
    """The last model of a graph, as arrays."""

    def __init__(self, node: Any) -> None:
        self.kind, self.output = node.op_type, node.output[-1]
        self.keys = {each.name: _value(each) for each in node.attribute}
        self.link = self.keys.get("post_transform", b"NONE").decode()
        names = [each for each in self.keys if each.startswith("classlabels")]
        self.labels = max((len(self.keys[each]) for each in names), default=0)
        self.weights: Floats | None = None
        self.weights_negative = True
        if self.kind in LINEAR:
            start = np.asarray(self.keys["intercepts"], dtype=np.float64)
            rows = np.asarray(self.keys["coefficients"], dtype=np.float64).reshape(len(start), -1)
            two = len(start) == 2 and np.array_equal(rows[0], -rows[1]) and start[0] == -start[1]
            self.bias, self.weights = (start[1:], rows[1:].T) if two else (start, rows.T)
            self.keeps_last = two
            return
        self.keeps_last = True
        self.which = "class" if self.kind == TREES[0] else "target"
        places = np.asarray(self.keys[f"{self.which}_ids"])
        single = self.labels == 2 and len(np.unique(places)) == 1
        scores = 1 if single or not self.labels else self.labels
        self.weights_negative = min(self.keys[f"{self.which}_weights"]) < 0
        self.bias = np.zeros(scores) + np.asarray(self.keys.get("base_values") or [0.0])
        if set(self.keys["nodes_modes"]) - {each.encode() for each in MODES}:
            raise Unreadable("the ONNX trees compare in a way that is not known")
        if self.keys.get("aggregate_function", b"SUM") != b"SUM":
            raise Unreadable("the ONNX trees are not added up")

    def trees(self) -> tuple[Tree, ...]:
        """Return the trees of an ensemble; none of a linear model."""
        if self.kind in LINEAR:
            return ()
        keys = self.keys
        of, number = (np.asarray(keys[f"nodes_{each}"]) for each in ("treeids", "nodeids"))
        starts = np.flatnonzero(np.diff(of, prepend=of[0] - 1))
        ends = [*starts[1:].tolist(), len(of)]
        leaves: dict[tuple[int, int], Floats] = {}
        kinds = (keys[f"{self.which}_{each}"] for each in ("treeids", "nodeids", "ids", "weights"))
        for tree, node, place, weight in zip(*kinds, strict=True):
            values = leaves.setdefault((tree, node), np.zeros(len(self.bias)))
            values[0 if len(self.bias) == 1 else place] += weight
        return tuple(
            self._tree(
                slice(start, end), {int(number[at]): at - start for at in range(start, end)}, leaves
            )
            for start, end in zip(starts.tolist(), ends, strict=True)
        )

    def _tree(
        self,
        part: slice,
        place: Mapping[int, int],
        leaves: Mapping[tuple[int, int], Floats],
    ) -> Tree:
        nodes = {key: all_[part] for key, all_ in self.keys.items() if key.startswith("nodes_")}
        modes = np.array([each.decode() for each in nodes["nodes_modes"]])
        bound = np.asarray(nodes["nodes_values"], dtype=np.float32)
        strict = modes == "BRANCH_LT"
        bound = np.where(strict, np.nextafter(bound, np.float32(-np.inf)), bound)
        leaf = modes == "LEAF"
        tree = nodes["nodes_treeids"][0]
        own = np.arange(len(modes))
        sides = [
            np.where(leaf, own, [place.get(int(each), 0) for each in nodes[f"nodes_{side}nodeids"]])
            for side in ("true", "false")
        ]
        nothing = np.zeros(len(self.bias))
        tracks = nodes.get("nodes_missing_value_tracks_true") or np.zeros(len(modes))
        return Tree(
            column=np.where(leaf, -1, np.asarray(nodes["nodes_featureids"], dtype=np.int64)),
            bound=single_bound(bound.astype(np.float64)),
            left=sides[0].astype(np.int64),
            right=sides[1].astype(np.int64),
            missing_left=np.asarray(tracks, dtype=bool),
            value=np.array(
                [leaves.get((tree, number), nothing) for number in nodes["nodes_nodeids"]]
            ),
        )


def _value(attribute: Any) -> Any:
    import onnx

    return onnx.helper.get_attribute_value(attribute)


@dataclass(frozen=True)
class _Steps:
    """The nodes before the last model as a transformer."""

    run: Run

    def transform(self, rows: Any) -> Any:
        """Return rows as they reach the last model."""
        return self.run(rows)


class _Graph:
    """A stored graph and its last model."""

    def __init__(self, model: OnnxModel) -> None:
        try:
            import onnx
        except ImportError:
            raise Unreadable("to read an ONNX graph, install the package 'onnx'") from None
        self.model = model
        self.whole = onnx.load_model_from_string(model.graph)
        models = [each for each in self.whole.graph.node if each.op_type in (*TREES, *LINEAR)]
        if len(models) != 1:
            raise Unreadable(f"an ONNX graph with {len(models)} models of its own is not read")
        self.last = models[0]
        self.entry = self.last.input[0]
        self.node = _Node(self.last)

    @property
    def steps(self) -> _Steps:
        """Return the nodes before the last model."""
        return _Steps(self.until(self.entry))

    @property
    def scaler(self) -> tuple[Floats, Floats] | None:
        """Return scale and offset if one step scales the only input."""
        before = [each for each in self.whole.graph.node if self.entry in each.output]
        if len(before) != 1 or before[0].op_type != "Scaler" or len(self.model.feeds) != 1:
            return None
        if before[0].input[0] != self.model.feeds[0].name:
            return None
        keys = {each.name: np.array(_value(each), dtype=np.float64) for each in before[0].attribute}
        return keys["scale"], keys["offset"]

    def until(self, name: str, *, bare: bool = False) -> Run:
        """Return a function that runs the graph up to a tensor.

        `bare` leaves out the link of the last model.
        """
        part = self._copy(name)
        for node in part.graph.node if bare else ():
            self._bare(node)
        session = open_session(part.SerializeToString())
        feeds = self.model.feeds

        def run(rows: Any) -> Any:
            scores = session.run([name], {each.name: each.tensor(rows) for each in feeds})[0]
            return self._kept(scores) if bare else scores

        return run

    def alone(self, rows: Any) -> Any:
        """Return the scores of the last model for rows that reach it."""
        import onnx

        part = self._copy(self.node.output)
        for node in list(part.graph.node):
            if node.op_type != self.last.op_type:
                part.graph.node.remove(node)
            else:
                self._bare(node)
        del part.graph.input[:]
        part.graph.input.append(onnx.helper.make_tensor_value_info(self.entry, 1, None))
        session = open_session(part.SerializeToString())
        scores = session.run([self.node.output], {self.entry: np.asarray(rows, dtype=np.float32)})[
            0
        ]
        return self._kept(scores)

    def _kept(self, scores: Any) -> Any:
        return scores[:, -1:] if self.node.keeps_last and len(self.node.bias) == 1 else scores

    def _copy(self, output: str) -> Any:
        import onnx

        part = onnx.ModelProto()
        part.CopyFrom(self.whole)
        del part.graph.output[:]
        part.graph.output.append(onnx.helper.make_tensor_value_info(output, 1, None))
        return part

    def _bare(self, node: Any) -> None:
        if node.op_type == self.last.op_type:
            for each in node.attribute:
                if each.name == "post_transform":
                    each.s = b"NONE"
