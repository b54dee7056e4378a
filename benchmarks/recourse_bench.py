"""The interface that RecourseBench asks of a method: a table of people in, their counterfactuals out, in the same shape."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

    from p2c.problem import Problem


@dataclass(frozen=True)
class P2CMethod:
    """A model's plans as a method that only tells where each person ends."""

    recourse: Problem
    time_limit: float | None = None
    """Seconds for one person."""

    def get_counterfactuals(self, factuals: pd.DataFrame) -> pd.DataFrame:
        """Return the end of each person's plan: the same rows and columns, all missing where the model confirmed none."""
        found = self.recourse.plan_many(factuals, time_limit=self.time_limit, progress=False)
        assert self.recourse.decider is not None
        columns = {
            each.name: f"end_{each.feature}" for each in self.recourse.decider.source.view.features
        }
        ends = factuals.copy().astype(object)
        for name in factuals.columns:
            if name in columns:
                ends[name] = found[columns[name]].astype(object)
        ends[~found["verified"].to_numpy(dtype=bool)] = np.nan
        return ends.infer_objects()
