"""A model stored as ONNX, asked about frames: columns are matched to its inputs by name, or by place where it has one."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from p2c._learn.foldse.literals import predicate_name
from p2c.errors import MissingExtra, ModelError, P2CError, one_line, suggestion

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pandas as pd
    from numpy.typing import NDArray

NUMBERS: dict[str, Any] = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(bool)": np.bool_,
}
TEXT = "tensor(string)"
LABELS = ("tensor(int64)", "tensor(int32)", "tensor(string)", "tensor(bool)")


@dataclass(frozen=True, slots=True)
class Feed:
    """One input of the graph and the columns that go into it."""

    name: str
    kind: str
    columns: tuple[str, ...]

    def tensor(self, frame: pd.DataFrame) -> NDArray[Any]:
        """Return the columns as the type that the input takes."""
        table = frame[list(self.columns)]
        if self.kind == TEXT:
            return np.asarray(table.astype(object).where(table.notna(), "").map(str), dtype=object)
        wanted = NUMBERS[self.kind]
        try:
            values = table.to_numpy(dtype=np.float64, na_value=np.nan)
        except (TypeError, ValueError):
            message = (
                f"input '{self.name}' takes numbers ({self.kind}), but a column of it has text"
            )
            raise P2CError(f"{message}: {', '.join(self.columns)}") from None
        if np.issubdtype(wanted, np.integer) and not (values == np.round(values)).all():
            message = f"input '{self.name}' takes whole numbers ({self.kind}); a column of it has others or holes"
            raise P2CError(f"{message}: {', '.join(self.columns)}")
        return values.astype(wanted)


class OnnxModel:
    """A session with the methods of an estimator; `sample` are rows to see on what it answers and how.

    Labels are those that the graph gives; where it gives none, 0, 1, … by the greatest share, a lone share being that of
    1. `predict_proba` is None where the order of the classes in the shares cannot be told.
    """

    def __init__(
        self, session: Any, feeds: Sequence[Feed], sample: pd.DataFrame, graph: bytes = b""
    ) -> None:
        self._session, self.graph = session, graph
        self.feeds = tuple(feeds)
        outputs = [(each.name, each.type) for each in session.get_outputs()]
        self._label = next((name for name, kind in outputs if kind in LABELS), None)
        self._share = next((name for name, kind in outputs if kind not in LABELS), None)
        self.kinds = {name: each.kind for each in feeds for name in each.columns}
        self.feature_names_in_ = np.array([name for each in feeds for name in each.columns], object)
        classes = self._classes(sample)
        self.classes_ = np.unique(self.predict(sample)) if classes is None else classes
        self.predict_proba = None if classes is None else self._shares

    def predict(self, frame: pd.DataFrame) -> NDArray[Any]:
        """Return a label for each row."""
        if self._label is None:
            return np.asarray(self._shares(frame).argmax(axis=1))
        return np.asarray(self._run(self._label, frame)).ravel()

    def _shares(self, frame: pd.DataFrame) -> NDArray[np.float64]:
        assert self._share is not None
        told = self._run(self._share, frame)
        if isinstance(told, list):
            return np.array([list(each.values()) for each in told], dtype=np.float64)
        shares = np.asarray(told, dtype=np.float64).reshape(len(frame), -1)
        return np.column_stack([1 - shares, shares]) if shares.shape[1] == 1 else shares

    def _run(self, output: str, frame: pd.DataFrame) -> Any:
        fed = {each.name: each.tensor(frame) for each in self.feeds}
        try:
            return self._session.run([output], fed)[0]
        except Exception as error:
            # The runtime raises classes of its own that it does not export.
            reason = one_line(error)
            raise ModelError(f"the ONNX model cannot be asked: {reason}") from None

    def _classes(self, sample: pd.DataFrame) -> NDArray[Any] | None:
        """Return the classes in the order of their shares: as the graph names them, or as labels and shares agree."""
        if self._share is None:
            return None
        if self._label is None:
            return np.arange(self._shares(sample).shape[1])
        told = self._run(self._share, sample.head(1))
        if isinstance(told, list):
            return np.array(list(told[0]))
        labels, best = self.predict(sample), self._shares(sample).argmax(axis=1)
        found = [np.unique(labels[best == place]) for place in range(int(best.max()) + 1)]
        agreed = (
            all(len(each) == 1 for each in found) and len(found) == self._shares(sample).shape[1]
        )
        return np.concatenate(found) if agreed else None


def open_onnx(path: Path, frame: pd.DataFrame) -> OnnxModel:
    """Open a stored graph and match its inputs with the columns of a table."""
    session = _session(path)
    feeds = match_inputs(session.get_inputs(), frame)
    return OnnxModel(session, feeds, frame, path.read_bytes())


def absent_inputs(path: Path, frame: pd.DataFrame) -> dict[str, str | float]:
    """Return the inputs of a stored graph that a table has no column for, each with a value that stands for any."""
    inputs = _session(path).get_inputs() if path.is_file() else []
    known = {predicate_name(str(name)) for name in frame.columns}
    absent = [each for each in inputs if predicate_name(each.name) not in known]
    if len(inputs) == 1:
        return {}
    return {each.name: "" if each.type == TEXT else 0.0 for each in absent}


def copy_graph(origin: Path, path: Path) -> None:
    """Copy a stored graph, unless its numbers lie in files beside it, without which the copy is none."""
    shutil.copyfile(origin, path)
    try:
        _session(path)
    except P2CError:
        raise P2CError(
            f"{origin}: its numbers lie in other files beside it: store it in one, with save_as_external_data=False"
        ) from None


def open_session(graph: Path | bytes) -> Any:
    """Return a session for a graph in a file or in memory."""
    try:
        import onnxruntime
    except ImportError as error:
        raise MissingExtra("onnxruntime", extra="onnx") from error
    return onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])


def _session(path: Path) -> Any:
    try:
        return open_session(path)
    except MissingExtra:
        raise
    except Exception as error:
        # The runtime raises classes of its own that it does not export.
        reason = one_line(error)
        raise P2CError(f"{path}: cannot be read as ONNX: {reason}") from None


def match_inputs(inputs: Sequence[Any], frame: pd.DataFrame) -> list[Feed]:
    """Return which columns go into which input: of the same name or, into a single wide one, all in their order."""
    unknown = [each for each in inputs if each.type not in NUMBERS and each.type != TEXT]
    if unknown:
        raise P2CError(f"input '{unknown[0].name}': no column can be a {unknown[0].type}")
    columns = {predicate_name(str(name)): str(name) for name in frame.columns}
    if len(inputs) == 1 and predicate_name(inputs[0].name) not in columns:
        return [_wide(inputs[0], frame)]
    feeds = []
    for each in inputs:
        column = columns.get(predicate_name(each.name))
        if column is None:
            hint = suggestion(each.name, map(str, frame.columns))
            raise P2CError(f"the model has an input '{each.name}', the data no such column; {hint}")
        feeds.append(Feed(each.name, each.type, (column,)))
    return feeds


def _wide(given: Any, frame: pd.DataFrame) -> Feed:
    width = given.shape[-1] if len(given.shape) == 2 else None
    if isinstance(width, int) and width != len(frame.columns):
        raise P2CError(
            f"input '{given.name}' takes {width} columns, the data have {len(frame.columns)}:"
            " leave the others out with --ignore; the order is that of the data"
        )
    return Feed(given.name, given.type, tuple(map(str, frame.columns)))
