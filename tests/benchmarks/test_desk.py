"""What the batch with a model is judged by: the model is asked again, and a wrong answer is no success."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from benchmarks.desk import flipped

if TYPE_CHECKING:
    import pandas as pd

PEOPLE = pa.table({"income": [20, 30, 90, 10]})
ANSWERS = {
    "status": ["found", "found", "already", "infeasible"],
    "cost": [0.4, 0.3, 0.0, None],
    "optimal": [True, False, True, True],
    "verified": [True, True, True, False],
    "end_income": [60, 60, 90, 10],
}


class Threshold:
    """Says yes from an income of 60 on."""

    def predict(self, rows: pd.DataFrame) -> np.ndarray:
        return np.where(rows["income"] >= 60, "yes", "no")


def judged(**others: list[object]) -> str | None:
    """Return what is told of answers that are right, and nothing of others."""
    found = flipped(Threshold(), PEOPLE, pa.table({**ANSWERS, **others}), "yes")
    return str(found) if found.is_right else None


def test_answers_that_the_model_confirms_are_right_and_counted() -> None:
    told = judged()
    assert told is not None
    assert told.splitlines() == [
        "found 2: 2 refused before, 2 accepted at the end, 2 verified, 1 proved, 2 at a cost",
        "already 1: 1 accepted, at no cost",
        "anything else 1, of them 0 accepted",
    ]


def test_an_end_that_the_model_refuses_and_a_wrong_status_are_not_right() -> None:
    assert judged(end_income=[60, 59, 90, 10]) is None
    assert judged(verified=[True, False, True, False]) is None
    assert judged(status=["found", "already", "already", "infeasible"]) is None
    assert judged(status=["found", "found", "infeasible", "infeasible"]) is None
