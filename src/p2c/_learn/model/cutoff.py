"""From the class that is wanted, and from which probability on, to margins and the exact floats that they must reach."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from p2c._learn.model.floats import first_held
from p2c._learn.model.parts import SINGLE, Unreadable

if TYPE_CHECKING:
    from p2c._learn.model.arrays import Floats
    from p2c._learn.model.parts import Link, Sum


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
    share, several = model.link.share, model.scores > 1
    if threshold is None:
        return _rivals(model, place) if several else _predicted(model.link, place)
    if share is None:
        raise Unreadable(
            "a threshold on one of several classes depends on all their scores at once, which is no sum"
            if several
            else "the model has no probabilities that a threshold could be put on"
        )
    mix = np.zeros((model.scores, 1))
    mix[place if several else 0] = 1.0 if several or place == 1 else -1.0
    if threshold <= 0:
        return Cutoff(mix, np.array([-np.inf]), np.array([-np.inf]))

    def probability(margin: Floats) -> Floats:
        return share(margin) if several or place == 1 else 1 - share(-margin)

    fuzz = NEAR * model.link.fuzz
    low = first_held(lambda margin: probability(margin) >= threshold - fuzz)
    high = first_held(lambda margin: probability(margin) >= threshold + fuzz)
    return Cutoff(mix, np.array([low]), np.array([high]))


def _rivals(model: Sum, place: int) -> Cutoff:
    """Return a margin against each other class; of equal scores the first class wins."""
    others = [each for each in range(model.scores) if each != place]
    mix = np.zeros((model.scores, len(others)))
    mix[place] = 1.0
    mix[others, range(len(others))] = -1.0
    fuzz = NEAR * model.link.fuzz
    least = np.array([np.nextafter(0.0, 1.0) if each < place else 0.0 for each in others])
    return Cutoff(mix, np.minimum(least, -fuzz) if fuzz else least, np.maximum(least, fuzz))


def _predicted(link: Link, place: int) -> Cutoff:
    """Return the one margin of a class of two, from where the model predicts it."""
    sign = 1.0 if place == 1 else -1.0
    at = first_held(lambda margin: link.second(sign * margin) == (place == 1))
    fuzz = NEAR * 4 * link.fuzz if link.fuzz > SINGLE / 2 else 0.0
    return Cutoff(np.array([[sign]]), np.array([at - fuzz]), np.array([at + fuzz]))
