"""Write a fitted model to a file, and check the answers of that file."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from p2c._blackbox.opening import draw_states, open_model_of
from p2c._learn.model.asking import open_model, same
from p2c._learn.model.conformance import features_with_gaps, made_up_rows, show_row
from p2c._learn.model.onnx_model import copy_graph
from p2c._learn.model.reading import Read
from p2c._learn.model.stages import Bench
from p2c._learn.model.stored import PICKLES, untrusted_types
from p2c._learn.model.tree_checks import PARTIAL, binds_other_function
from p2c._learn.tables.view import as_frame
from p2c._spec.spec import Trust
from p2c.errors import MissingExtra, P2CError, counted, one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from p2c._blackbox.decider import Decider
    from p2c._learn.model.arrays import Mask
    from p2c._learn.model.asking import AskedModel, ModelAnswers
    from p2c._spec.spec import ProblemSpec

    Writer = Callable[[Any, Path, Any], "StoredModel"]


ROUNDING = 1e-6
"""Absolute and relative tolerance of scores, which a file may round."""


def stored_difference(
    spec: ProblemSpec, folder: Path, decider: Decider, *, rows: Any, sample: Any
) -> str:
    """Describe the difference between a written model and the model; empty if none.

    `rows` are those of the table, `sample` the same as they were read again.
    """
    assert spec.model is not None
    assert decider.source.model is not None
    opened = open_model_of(spec, folder, trust=Trust(pickle=True), sample=sample)
    stored = open_model(
        opened.model, sample, desired=spec.model.desired, threshold=spec.model.threshold
    )
    model = decider.source.model
    pairs = [(as_frame(rows), as_frame(sample))]
    pairs += [(each, each) for each in _made_up(spec, decider, as_frame(rows)) if len(each)]
    for own, read_again in pairs:
        told = _told(model, own)
        if told is None:
            continue
        again = _told(stored, read_again)
        if again is None:
            return f"it cannot be asked about rows such as {show_row(own.iloc[0])}"
        apart = _apart(told, again)
        if apart.any():
            first = show_row(own.iloc[int(np.flatnonzero(apart)[0])])
            return f"{counted(int(apart.sum()), 'other answer')} on {counted(len(own), 'row')}, first at {first}"
    return ""


def _made_up(spec: ProblemSpec, decider: Decider, frame: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """Yield rows that are in no table."""
    model, view, reading = decider.source.model, decider.source.view, decider.reading
    assert model is not None
    bench = Bench(view, frame)
    missing = features_with_gaps(model, bench)
    score = reading.score if isinstance(reading, Read) else None
    yield from made_up_rows(bench, score, missing=missing, seed=decider.seed)
    states: list[dict[str, Any]] = draw_states(spec).to_dict("records")  # type: ignore[assignment]
    yield view.ask({}, states)


def _told(model: AskedModel, frame: pd.DataFrame) -> ModelAnswers | None:
    """Return a model's answers for rows; None if it fails on them."""
    try:
        return model.answer(frame)
    except P2CError:
        return None


def _apart(told: ModelAnswers, again: ModelAnswers) -> Mask:
    """Return the rows of which two models say something else."""
    other: Mask = told.accepted != again.accepted
    if told.scores is None or again.scores is None:
        return other
    close = np.isclose(told.scores, again.scores, rtol=ROUNDING, atol=ROUNDING, equal_nan=True)
    return np.asarray(other | ~close)


STEM = "model"


class StoredModel(NamedTuple):
    """The name of a model's file, and the class that is wanted as the file calls it."""

    file: str
    desired: Any


def copy_model(origin: Path, folder: Path, *, desired: Any, pickle: bool = False) -> StoredModel:
    """Copy the file of an opened model into a folder."""
    kind = origin.suffix.lower()
    if kind in PICKLES and not pickle:
        raise P2CError(
            f"{origin}: a pickle, which can run any code when opened, is kept only on request"
        )
    copy = copy_graph if kind == ".onnx" else shutil.copyfile
    copy(origin, folder / f"{STEM}{kind}")
    return StoredModel(f"{STEM}{kind}", desired)


def writers(model: Any, *, pickle: bool = False) -> tuple[Writer, ...]:
    """Return the writers for a model, best first: own format, then skops or a pickle.

    A library's own format may lose parts of a model, so the written file is compared with the model.
    """
    kinds = {each.__name__ for each in type(model).__mro__}
    own = tuple(write for name, write in OWN_FORMATS.items() if name in kinds)
    if "XGBClassifier" in kinds and not pd.isna(model.missing):
        # Its own file leaves out which number stands for a missing value; no row that is tried need have it.
        own = ()
    return (*own, _write_pickle if pickle else _write_skops)


def _write_own(ending: str) -> Writer:
    """Return a writer that calls the model's own `save_model`."""

    def write(model: Any, folder: Path, desired: Any) -> StoredModel:
        model.save_model(str(folder / f"{STEM}{ending}"))
        return StoredModel(f"{STEM}{ending}", desired)

    return write


def _write_lightgbm(model: Any, folder: Path, desired: Any) -> StoredModel:
    """Write LightGBM's text, in which the classes are counted."""
    model.booster_.save_model(str(folder / f"{STEM}.txt"))
    places = [same(each, desired) for each in np.asarray(model.classes_)]
    return StoredModel(f"{STEM}.txt", places.index(True))


def _write_pickle(model: Any, folder: Path, desired: Any) -> StoredModel:
    import joblib

    try:
        joblib.dump(model, folder / f"{STEM}.joblib")
    except Exception as error:
        # What is inside decides what can go wrong: a function of a session, an open file.
        raise P2CError(f"the model cannot be pickled: {_reason(error)}") from None
    return StoredModel(f"{STEM}.joblib", desired)


def _write_skops(model: Any, folder: Path, desired: Any) -> StoredModel:
    if not hasattr(model, "get_params"):
        raise P2CError(
            f"a {type(model).__name__} has no safe format of its own: give a model of scikit-learn, XGBoost, LightGBM"
            " or CatBoost, or the file of a stored one, or keep it as a pickle with pickle=True"
        )
    try:
        from skops import io
    except ImportError as error:
        raise MissingExtra("skops", extra="skops") from error
    path = folder / f"{STEM}.skops"
    try:
        io.dump(model, path)
    except Exception as error:
        # What is inside decides what can go wrong: a type of compiled code, a function.
        raise P2CError(
            f"a {type(model).__name__} cannot be kept in a safe file ({_reason(error)}): keep it as a pickle with pickle=True"
        ) from None
    unknown = [*untrusted_types(path), *([PARTIAL] if binds_other_function(model) else [])]
    if unknown:
        path.unlink()
        raise P2CError(
            f"the model holds {', '.join(unknown)}, which a safe file cannot: keep it as a pickle with pickle=True"
        )
    return StoredModel(path.name, desired)


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {one_line(error)}"


OWN_FORMATS: dict[str, Writer] = {
    "XGBClassifier": _write_own(".ubj"),
    "CatBoostClassifier": _write_own(".cbm"),
    "LGBMClassifier": _write_lightgbm,
    "LightGBMFile": _write_lightgbm,
}
"""Writers for a library's own format, by the class of the model."""
