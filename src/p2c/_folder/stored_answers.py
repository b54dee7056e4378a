"""Compare a written model with the model: both answer the same rows.

A library's own file may lose parts of a model. So the written file is opened and compared, before the save succeeds, on rows of
the table, random rows, rows on both sides of each known cut, and states over the domains of the problem. Decisions must be
equal, and scores if both have them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from p2c._blackbox.opening import draw_states, open_model_of
from p2c._learn.model.asking import open_model
from p2c._learn.model.conformance import features_with_gaps, made_up_rows, show_row
from p2c._learn.model.reading import Read
from p2c._learn.model.stages import Bench
from p2c._learn.tables.view import as_frame
from p2c._spec.spec import Trust
from p2c.errors import P2CError, counted

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pandas as pd

    from p2c._blackbox.decider import Decider
    from p2c._learn.model.arrays import Mask
    from p2c._learn.model.asking import AskedModel, ModelAnswers
    from p2c._spec.spec import ProblemSpec

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
