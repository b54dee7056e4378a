"""Tables of people for models to be trained on, with whole numbers, odd floats, categories and gaps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROWS = 300


def make_people(*, seed: int = 0, gaps: bool = False, kind: Any = object) -> pd.DataFrame:
    """Return people: `rate` lies where neighbouring floats of single precision are few, `job` is a category of a kind."""
    generator = np.random.default_rng(seed)
    rate = np.float32(0.1) + generator.integers(0, 40, ROWS) * np.spacing(np.float32(0.1)) * 0.3
    table = pd.DataFrame(
        {
            "age": generator.integers(18, 80, ROWS),
            "income": np.round(generator.gamma(2, 900, ROWS), 2),
            "rate": rate.astype(np.float64),
            "job": pd.Series(generator.choice(["baker", "clerk", "nurse", "smith"], ROWS)).astype(
                kind
            ),
        }
    )
    if gaps:
        table.loc[generator.random(ROWS) < 0.1, "income"] = np.nan
        table.loc[generator.random(ROWS) < 0.1, "job"] = np.nan
    return table


def points(people: pd.DataFrame, *, seed: int = 0) -> NDArray[np.float64]:
    """Return what decides about people, with some noise."""
    noise = np.random.default_rng(seed).normal(0, 0.4, len(people))
    middle = people["rate"].median()
    return np.asarray(
        (people["age"] > 40).to_numpy(dtype=float)
        + (people["income"] > 1500).to_numpy(dtype=float)
        + (people["job"] == "nurse").to_numpy(dtype=float)
        + (people["rate"] > middle).to_numpy(dtype=float)
        + noise
    )


def good(people: pd.DataFrame) -> NDArray[np.int64]:
    """Return who is good, as 0 and 1."""
    return (points(people) > 1.9).astype(np.int64)


def grade(people: pd.DataFrame) -> NDArray[np.int64]:
    """Return one of three grades."""
    return np.digitize(points(people), [1.2, 2.2])


def numbers(people: pd.DataFrame) -> pd.DataFrame:
    """Return people without their category."""
    return people.drop(columns="job")
