"""The cheapest change that a logistic regression accepts, as a mixed-integer program for scipy's solver.

The program knows the weights, the ranges, what is fixed and what goes one way, and our distance; causal rules have no place in
it. Nothing of p2c but the features' description goes into it. The solver keeps to its limits only to about a millionth; an end of
its own that the model refuses is put farther from the border until the model accepts it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from p2c._spec.feature import Action

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from p2c._spec.feature import Feature

MARGINS = (0.0, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6)
"""How far above the border the program stays, tried in turn: its solver is exact only to about so much, and the model has the last word."""
FINE = 1e6
"""What costs are multiplied with, as the solver takes costs that differ by less than a millionth for the same."""


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

    def change(self, row: pd.Series, margin: float) -> tuple[float, pd.Series] | None:
        """Return the least cost of a change whose score is so far above the border, and its end; None where there is none."""
        steps = list(self._steps(row))
        gains, costs, most = (np.array(each) for each in zip(*(s[2:] for s in steps), strict=True))
        lines = [gains]
        for name in self.points:
            line = np.array([float(step[0] == name) for step in steps])
            lines += [-line] if line.any() else []
        at_least = np.array([margin - self._score(row), *[-1.0] * (len(lines) - 1)])
        found = milp(
            FINE * costs,
            constraints=LinearConstraint(np.array(lines), at_least, np.inf),
            integrality=np.ones(len(gains)),
            bounds=Bounds(0, most),
            options={"mip_rel_gap": 0.0},
        )
        if found.x is None:
            return None
        counts, end = np.round(found.x), row.copy()
        for (name, way, *_), count in zip(steps, counts.tolist(), strict=True):
            if count:
                end[name] = way if name in self.points else end[name] + int(way * count)
        return float(counts @ costs), end

    def _steps(self, row: pd.Series) -> Iterator[tuple[str, Any, float, float, float]]:
        """Yield what may be done: the feature, the category or the way to go, what it adds, what it costs, and how often."""
        for feature in self.features:
            name, own = feature.name, row[feature.name]
            if feature.action is Action.FIXED:
                continue
            if name in self.points:
                known = self.points[name]
                for value in feature.places:
                    if value != own:
                        yield name, value, known[value] - known.get(own, 0.0), 1.0, 1.0
                continue
            ways = ((1, feature.maximum - own, Action.DOWN), (-1, own - feature.minimum, Action.UP))
            for way, room, barred in ways:
                if feature.action is not barred and room > 0:
                    yield (
                        name,
                        way,
                        way * self.slopes[name],
                        1 / float(feature.divisor),
                        float(room),
                    )
