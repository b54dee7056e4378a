"""The cheapest change that a logistic regression accepts, as a mixed-integer program for scipy's solver.

The program knows the weights, the ranges, what is fixed and what goes one way, and our distance; causal rules have no place in
it. Nothing of p2c but the features' description goes into it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from p2c.domain.feature import Action

if TYPE_CHECKING:
    import pandas as pd

    from p2c.domain.feature import Feature

ABOVE = 1e-7
"""How far above the border the program stays, as its solver is exact only to about so much."""


class CheapestChange:
    """The program of one model; `pipeline` is one-hot columns and scaled numbers before a logistic regression."""

    def __init__(self, pipeline: Any, features: tuple[Feature, ...], desired: Any) -> None:
        columns, model = pipeline[0], pipeline[-1]
        sign = 1.0 if model.classes_[1] == desired else -1.0
        weights = sign * model.coef_[0]
        self.features = features
        self.bias = sign * float(model.intercept_[0])
        self.slopes: dict[str, float] = {}
        self.points: dict[str, dict[Any, float]] = {}
        for name, transformer, chosen in columns.transformers_:
            part = weights[columns.output_indices_[name]]
            if hasattr(transformer, "categories_"):
                for column, values in zip(chosen, transformer.categories_, strict=True):
                    own, part = part[: len(values)], part[len(values) :]
                    self.points[column] = dict(zip(values, own.tolist(), strict=True))
            elif hasattr(transformer, "scale_"):
                names = transformer.feature_names_in_
                self.slopes |= dict(zip(names, (part / transformer.scale_).tolist(), strict=True))
                self.bias -= float(part @ (transformer.mean_ / transformer.scale_))

    def _score(self, row: pd.Series) -> float:
        known = [values.get(row[name], 0.0) for name, values in self.points.items()]
        weighed = sum(self.slopes[name] * row[name] for name in self.slopes)
        return float(self.bias + sum(known) + weighed)

    def cost(self, row: pd.Series) -> float | None:
        """Return the least cost of a change that the model accepts, None where there is none."""
        score = self._score(row)
        gains: list[float] = []
        costs: list[float] = []
        most: list[float] = []
        single: list[list[int]] = []
        for feature in self.features:
            if feature.action is Action.FIXED:
                continue
            own, divisor = row[feature.name], float(feature.divisor)
            if feature.name in self.points:
                known = self.points[feature.name]
                others = [value for value in feature.places if value != own]
                single.append(list(range(len(gains), len(gains) + len(others))))
                gains += [known[value] - known.get(own, 0.0) for value in others]
                costs += [1.0] * len(others)
                most += [1.0] * len(others)
                continue
            slope = self.slopes[feature.name]
            ways = ((1, feature.maximum - own, Action.DOWN), (-1, own - feature.minimum, Action.UP))
            for way, room, barred in ways:
                if feature.action is not barred and room > 0:
                    gains.append(way * slope)
                    costs.append(1 / divisor)
                    most.append(float(room))
        limits = [LinearConstraint(np.array([gains]), ABOVE - score, np.inf)]
        for choice in single:
            line = np.zeros(len(gains))
            line[choice] = 1.0
            limits.append(LinearConstraint(line[None], -np.inf, 1.0))
        found = milp(
            np.array(costs),
            constraints=limits,
            integrality=np.ones(len(gains)),
            bounds=Bounds(0, np.array(most)),
            options={"mip_rel_gap": 0.0},
        )
        return None if found.x is None else float(np.round(found.x) @ np.array(costs))
