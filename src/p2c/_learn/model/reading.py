"""Read a model: what it is as a sum over the features, with the proof that it is the model, or why it is not read."""

from __future__ import annotations

import logging
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from p2c._learn.model.asking import open_model, same, shaper, trained_names
from p2c._learn.model.conformance import Conformance, compare, features_with_gaps
from p2c._learn.model.cutoff import find_cutoff
from p2c._learn.model.encoded import EncodedModel, encoded_model
from p2c._learn.model.grouped import GroupedModel
from p2c._learn.model.lowering import lower
from p2c._learn.model.parts import Unreadable
from p2c._learn.model.readers import read_parts
from p2c._learn.model.stages import first_stage
from p2c._learn.tables.view import as_frame, view_of
from p2c.errors import one_line

if TYPE_CHECKING:
    import pandas as pd

    from p2c._learn.model.additive import AdditiveScore
    from p2c._learn.model.arrays import Floats
    from p2c._learn.model.asking import AskedModel
    from p2c._learn.model.stages import Stage
    from p2c._learn.tables.view import View


_log = logging.getLogger(__name__)

OTHERWISE = "train a linear, tree, boosted or scorecard model on the same columns"
"""The cure where no smaller one is known."""


@dataclass(frozen=True, eq=False, repr=False)
class Read:
    """A model that was read and gave the model's own answers everywhere that it was tried."""

    score: AdditiveScore
    conformance: Conformance
    kind: str
    encoded: EncodedModel | None = None
    """A pipeline that can be asked about single rows faster than as a whole."""

    def __str__(self) -> str:
        return f"{self.kind} was read: {self.conformance}"

    def __repr__(self) -> str:
        return f"<Read: {self}>"


@dataclass(frozen=True, slots=True)
class NotRead:
    """Why a model is only asked, in one sentence; `conformance` where it was read and differed.

    Attributes:
        cure: The least change that makes the model one that is parsed.
    """

    reason: str
    conformance: Conformance | None = None
    cure: str = OTHERWISE

    def __str__(self) -> str:
        return self.reason


def read(
    model: Any,
    X: Any,
    *,
    desired: Any = None,
    threshold: float | None = None,
    seed: int = 0,
    view: View | None = None,
) -> Read | NotRead:
    """Read a fitted model over the features of a table, and compare what was read with the model.

    `desired` and `threshold` are those of `p2c._learn.model.asking.open_model`, `view` that of
    `p2c._learn.extract.source.read_source`.
    """
    asked = open_model(model, X, desired=desired, threshold=threshold)
    try:
        with warnings.catch_warnings():
            # Transformers and models are tried on made-up values, about which they may well complain.
            warnings.simplefilter("ignore")
            score, found, stage = _compared(
                model, X, asked, threshold=threshold, view=view or view_of(X), seed=seed
            )
            encoded = encoded_model(model, stage, asked, threshold)
    except Unreadable as reason:
        return NotRead(str(reason), cure=reason.cure or OTHERWISE)
    except Exception as error:
        # The model is somebody else's code: whatever it raises, it can still be asked.
        _log.debug("a model was not read", exc_info=True)
        said = one_line(error)
        return NotRead(f"the model could not be read: {type(error).__name__}: {said}")
    if not found.holds:
        return NotRead(str(found), found)
    kind = model.model if isinstance(model, GroupedModel) else model
    return Read(score, found, type(kind).__name__, encoded)


def _compared(
    model: Any, X: Any, asked: AskedModel, *, threshold: float | None, view: View, seed: int
) -> tuple[AdditiveScore, Conformance, Stage]:
    """Return a model as a sum over the features, how the two compare, and the stage before its last step."""
    frame, names = as_frame(X), trained_names(model, X)
    given = list(frame.columns) if names is None or not view.framed else names
    parts, stage = read_parts(model, first_stage(view, frame, given, shaper(model, X)))
    places = [place for place, each in enumerate(parts.classes) if same(each, asked.desired)]
    if not places:
        raise Unreadable(f"the model has no class {asked.desired!r}")
    missing = features_with_gaps(asked, stage.bench)
    cutoff = find_cutoff(parts, places[0], threshold)
    score = lower(parts, stage, cutoff, missing)

    def own_scores(rows: pd.DataFrame) -> Floats:
        told = np.asarray(parts.ask(stage.run(rows)), dtype=np.float64)
        return np.asarray(told.reshape(len(rows), -1) @ cutoff.mix)

    bench = stage.bench
    lost = {each.feature for each in score.axes if each.missing is None}
    missing = [
        known and each.feature not in lost
        for known, each in zip(missing, bench.view.columns, strict=True)
    ]
    told = compare(score, asked, bench, own_scores=own_scores, missing=missing, seed=seed)
    return score, told, stage
