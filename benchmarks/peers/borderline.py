"""Borderline counterfactuals (Wachter, Mittelstadt, Russell 2017): the least loss λ(f(x')−1)² + Σ|Δ|/MAD.

The optimiser is scipy's differential evolution, which needs no gradient and so takes any model. λ is raised until the
model's answer changes. The distance divides a number by its median absolute deviation, or by its standard deviation
where half of all people share one value and the former is zero; a change of category counts 1. The method knows no
causes; what is fixed or goes one way is kept so by the bounds of the search.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.peers.protocol import Aim, Answer, Compliance, Finder, Peer
from p2c._spec.feature import Action

if TYPE_CHECKING:
    from benchmarks.world import State, World
    from p2c._spec.feature import Feature

ROUNDS = 8
FACTOR = 4.0


def prepare(world: World) -> Finder:
    """Return the search on a world's model."""
    from scipy.optimize import differential_evolution

    coder = world.coder
    table = world.model._codes(world.frame)
    middle = np.median(table, axis=0)
    spread = np.median(np.abs(table - middle), axis=0)
    deviation = table.std(axis=0, ddof=1)
    scale = np.where(spread > 0, spread, np.where(deviation > 0, deviation, 1.0))
    listed = np.array([feature.is_listed for feature in world.features])

    def find(person: State) -> Answer:
        own = coder.codes([person])[0]
        bounds = [_bounds(f, code) for f, code in zip(world.features, own, strict=True)]
        free = [place for place, (low, high) in enumerate(bounds) if low < high]

        def whole(moved: np.ndarray) -> np.ndarray:
            codes = np.tile(own, (moved.shape[1], 1))
            codes[:, free] = np.rint(moved.T)
            return codes

        def loss(moved: np.ndarray, weight: float) -> np.ndarray:
            codes = whole(moved.reshape(len(free), -1))
            change = np.where(listed, codes != own, np.abs(codes - own) / scale)
            total: np.ndarray = weight * (world.model.score(codes) - 1) ** 2 + change.sum(axis=1)
            return total

        weight = 1.0
        for seed in range(ROUNDS):
            found = differential_evolution(
                loss, [bounds[place] for place in free], args=(weight,), x0=own[free],
                integrality=np.ones(len(free), dtype=bool), vectorized=True, updating="deferred",
                popsize=12, maxiter=60, tol=1e-6, rng=seed, polish=False,
            )  # fmt: skip
            codes = whole(found.x.reshape(-1, 1))
            if world.model.score(codes)[0] >= 0.5:
                return Answer(coder.state(codes[0]), note=f"lambda {weight:g}")
            weight *= FACTOR
        return Answer(None, note=f"the model's answer did not change up to lambda {weight:g}")

    return find


def _bounds(feature: Feature, own: float) -> tuple[float, float]:
    low, high = feature.minimum, feature.maximum
    if feature.is_listed:
        low, high = 0, feature.domain.size - 1
    match feature.action:
        case Action.FIXED:
            return own, own
        case Action.UP:
            return own, float(high)
        case Action.DOWN:
            return float(low), own
        case _:
            return float(low), float(high)


PEER = Peer("Borderline-CF", Aim.MODEL, Compliance.NO, prepare, needs=("scipy",))
