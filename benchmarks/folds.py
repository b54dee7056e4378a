"""The paper's split: the first of five stratified folds is the test, the rest is what is learned from."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from sklearn.model_selection import StratifiedKFold

from p2c.datasets import load_frame

if TYPE_CHECKING:
    import pandas as pd


@cache
def _folds(name: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    frame = load_frame(name)
    folds = StratifiedKFold(5, shuffle=True, random_state=42)
    train, test = next(folds.split(frame, frame["label"]))
    return frame.iloc[train], frame.iloc[test]


def training_fold(name: str) -> pd.DataFrame:
    """Return the rows that the paper learns from."""
    return _folds(name)[0]


def held_out_fold(name: str) -> pd.DataFrame:
    """Return the rows that the paper keeps for the test."""
    return _folds(name)[1]
