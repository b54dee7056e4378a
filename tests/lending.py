"""Applicants in a table, and a model of which every question is counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Callable


def loans(count: int = 300, seed: int = 0) -> pd.DataFrame:
    chance = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "income": chance.integers(10, 100, count),
            "debt": chance.integers(0, 50, count),
            "job": chance.choice(["clerk", "cook", "none"], count),
            "age": chance.integers(18, 80, count),
        }
    )


class Asked:
    """A model that counts how it is asked and gives nothing but its decision."""

    def __init__(self, decide: Callable[[pd.DataFrame], Any]) -> None:
        self.decide = decide
        self.rows = 0
        self.calls = 0

    def __call__(self, rows: pd.DataFrame) -> Any:
        self.rows += len(rows)
        self.calls += 1
        return np.asarray(self.decide(rows))
