"""A guess of how near a row is to being accepted, for models that answer yes or no and nothing more.

It only says where to look first. Whether a row is accepted is always the model's own answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier

from p2c._learn.tables.domains import is_number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from p2c._learn.model.arrays import Mask

MOST_ROWS = 5_000
FLOOR = 0.02
"""Shares of the votes are kept this far from 0 and 1, so that their logarithms are finite."""

FARTHEST = 1e30
"""Numbers are taken for no larger, so that the single floats of a forest hold them, and a sum of them."""


@dataclass(frozen=True)
class Proxy:
    """A forest that was trained on the answers of a model."""

    forest: Any
    codes: Mapping[str, Mapping[str, int]]

    def scores(self, table: pd.DataFrame) -> NDArray[np.float64]:
        """Return for each row of features the log odds that the model accepts it."""
        shares = self.forest.predict_proba(_numbers(table, self.codes))[:, 1]
        clipped = np.clip(shares, FLOOR, 1 - FLOOR)
        return np.asarray(np.log(clipped / (1 - clipped)))


def fit_proxy(table: pd.DataFrame, accepted: Mask, *, seed: int = 0) -> Proxy | None:
    """Train a forest on the answers of a model; None where it has answered the same everywhere."""
    if accepted.all() or not accepted.any():
        return None
    rows = np.random.default_rng(seed).permutation(len(table))[:MOST_ROWS]
    codes = {
        str(name): {text: place for place, text in enumerate(sorted(set(column.dropna())))}
        for name, column in table.items()
        if not is_number(column)
    }
    forest = RandomForestClassifier(
        n_estimators=50, min_samples_leaf=3, class_weight="balanced", random_state=seed
    )
    numbers = _numbers(table.iloc[rows], codes)
    if len(set(accepted[rows].tolist())) < 2:
        return None
    return Proxy(forest.fit(numbers, accepted[rows]), codes)


def _numbers(table: pd.DataFrame, codes: Mapping[str, Mapping[str, int]]) -> NDArray[np.float64]:
    columns = []
    for name, column in table.items():
        known = codes.get(str(name))
        values = column if known is None else column.astype(object).map(known)
        columns.append(pd.to_numeric(values).to_numpy(dtype=np.float64, na_value=np.nan))
    return np.asarray(np.clip(np.column_stack(columns), -FARTHEST, FARTHEST))
