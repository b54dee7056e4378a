"""Plans of parsed models with computed columns against brute force."""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np
import pandas as pd
import pytest

from p2c import Problem

SIZES = {"a": 9, "b": 8, "c": 3}
NORMS = ("l0", "l1", "l2", "linf")


def table(seed: int) -> pd.DataFrame:
    """Return all rows of a small table with a ratio, shuffled."""
    rows = [(a, 1 + b, c) for a in range(10) for b in range(9) for c in range(4)]
    random.Random(seed).shuffle(rows)
    frame = pd.DataFrame(rows, columns=["a", "b", "c"], dtype=float)
    return frame.assign(r=frame["a"] / frame["b"])


def fitted(frame: pd.DataFrame, seed: int) -> Any:
    """Return a boosted model whose decision depends on the ratio."""
    ensemble = pytest.importorskip("sklearn.ensemble")
    noise = np.random.default_rng(seed).normal(0, 0.4, len(frame))
    wanted = frame["r"] + 0.1 * frame["c"] - 0.05 * frame["a"] + noise < 0.7
    model = ensemble.GradientBoostingClassifier(n_estimators=8, max_depth=3, random_state=seed)
    return model.fit(frame, wanted)


def least_cost(model: Any, frame: pd.DataFrame, row: dict[str, float], norm: str) -> float:
    """Return the cost of the cheapest accepted row, every ratio recomputed."""
    accepted = dict(
        zip(
            frame[["a", "b", "c"]].itertuples(index=False, name=None),
            model.predict(frame),
            strict=True,
        )
    )
    best = np.inf
    for end in itertools.product(range(10), range(1, 10), range(4)):
        if not accepted[tuple(map(float, end))]:
            continue
        far = [abs(row[n] - e) / SIZES[n] for n, e in zip("abc", end, strict=True)]
        costs = {
            "l0": sum(each > 0 for each in far),
            "l1": sum(far),
            "l2": np.sqrt(sum(each**2 for each in far)),
            "linf": max(far),
        }
        best = min(best, float(costs[norm]))
    return best


@pytest.mark.parametrize("seed", range(4))
def test_plans_cost_what_brute_force_finds(seed: int) -> None:
    frame = table(seed)
    model = fitted(frame, seed)
    norm = NORMS[seed % len(NORMS)]
    problem = Problem.from_model(
        model,
        frame,
        equations={"r": "a / b"},
        actions=dict.fromkeys("abc", "free"),
        norm=norm,
    )
    refused = frame[~model.predict(frame)].head(12)
    for row in refused.to_dict("records"):
        plan = problem.plan({name: row[name] for name in "abc"})
        assert plan.status == "found"
        assert plan.model is not None
        assert plan.model.verified
        assert plan.optimal
        assert plan.cost == pytest.approx(least_cost(model, frame, row, norm))
        end = plan.counterfactual
        assert end["r"] == end["a"] / end["b"]
        assert problem.check(plan)
