"""From the class that is wanted, and from which probability on, to margins and the exact floats that they must reach."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from p2c.learn.model.floats import first_held
from p2c.learn.model.parts import SINGLE, Unreadable

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from p2c.learn.model.arrays import Floats
    from p2c.learn.model.parts import Sum


NEAR = 4
"""Probabilities are taken to be right to so many units in the last place."""


@dataclass(frozen=True, eq=False)
class Cutoff:
    """`mix` turns scores into margins; a row is accepted where each margin is at least `accepted_from`."""

    mix: Floats
    refused_below: Floats
    accepted_from: Floats


def find_cutoff(model: Sum, place: int, threshold: float | None) -> Cutoff:
    """Return the margins of the class at a place, and the floats at which the model's answer changes."""
    if model.scores == 1:
        sign = 1.0 if place == 1 else -1.0
        return _one(
            np.array([[sign]]),
            _probability(model, place),
            _predicted(model, place),
            model,
            threshold,
        )
    if threshold is None:
        return _rivals(model, place)
    share = model.link.share
    if share is None:
        raise Unreadable(
            "a threshold on one of several classes depends on all their scores at once, which is no sum"
        )
    mix = np.zeros((model.scores, 1))
    mix[place] = 1.0
    return _one(mix, share, lambda score: share(score) > 0.5, model, threshold)


def _rivals(model: Sum, place: int) -> Cutoff:
    """Return a margin against each other class; of equal scores the first class wins."""
    others = [each for each in range(model.scores) if each != place]
    mix = np.zeros((model.scores, len(others)))
    mix[place] = 1.0
    mix[others, range(len(others))] = -1.0
    fuzz = NEAR * model.link.fuzz
    least = np.array([np.nextafter(0.0, 1.0) if each < place else 0.0 for each in others])
    return Cutoff(mix, np.minimum(least, -fuzz) if fuzz else least, np.maximum(least, fuzz))


def _probability(model: Sum, place: int) -> Callable[[Floats], Floats] | None:
    share = model.link.share
    if share is None:
        return None
    if place == 1:
        return share
    return lambda margin: 1 - share(-margin)


def _predicted(model: Sum, place: int) -> Callable[[Floats], NDArray[np.bool_]]:
    second = model.link.second
    return second if place == 1 else lambda margin: ~second(-margin)


def _one(
    mix: Floats,
    probability: Callable[[Floats], Floats] | None,
    predicted: Callable[[Floats], NDArray[np.bool_]],
    model: Sum,
    threshold: float | None,
) -> Cutoff:
    if threshold is None:
        at = first_held(predicted)
        fuzz = NEAR * 4 * model.link.fuzz if model.link.fuzz > SINGLE / 2 else 0.0
        return Cutoff(mix, np.array([at - fuzz]), np.array([at + fuzz]))
    if probability is None:
        raise Unreadable("the model has no probabilities that a threshold could be put on")
    fuzz = NEAR * model.link.fuzz
    if threshold <= 0:
        return Cutoff(mix, np.array([-np.inf]), np.array([-np.inf]))
    low, high = (_first_at(probability, threshold - by) for by in (fuzz, -fuzz))
    return Cutoff(mix, np.array([low]), np.array([high]))


def _first_at(probability: Callable[[Floats], Floats], level: float) -> float:
    return first_held(lambda score: probability(score) >= level)
