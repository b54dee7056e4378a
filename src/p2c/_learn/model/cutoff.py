"""From the class that is wanted, and from which probability on, to margins and the exact floats that they must reach."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from p2c._learn.model.blend import Blend, scales_of
from p2c._learn.model.floats import first_held
from p2c._learn.model.parts import SINGLE, Unreadable

if TYPE_CHECKING:
    from p2c._learn.model.arrays import Floats
    from p2c._learn.model.blend import Term
    from p2c._learn.model.parts import Link, Sum


NEAR = 4
"""Probabilities are taken to be right to so many units in the last place."""


@dataclass(frozen=True, eq=False)
class Cutoff:
    """`mix` turns scores into margins; a row is accepted where each margin is at least `accepted_from`."""

    mix: Floats
    refused_below: Floats
    accepted_from: Floats
    blend: Blend | None = None


def find_cutoff(model: Sum, place: int, threshold: float | None) -> Cutoff:
    """Return the margins of the class at a place, and the floats at which the model's answer changes."""
    if model.blended:
        return _blended(model, find_cutoff(replace(model, scores=1, blended=()), place, threshold))
    share, several = model.link.share, model.scores > 1
    if threshold is None:
        return _rivals(model, place) if several else _predicted(model.link, place)
    if share is None:
        raise Unreadable(
            "a threshold on one of several classes depends on all their scores at once, which is no sum"
            if several
            else "the model has no probabilities that a threshold could be put on",
            "leave the threshold out" if not several else "train the model on two classes",
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


LEVEL = 1e3
"""Size of the margins at which a blended answer is taken to be settled."""


def _blended(model: Sum, total: Cutoff) -> Cutoff:
    """Return the margins of a blend: a weighed sum of the scores, then each."""
    sign = float(total.mix[0, 0])
    ends = _ends(model) if sign > 0 else -_ends(model)[:, ::-1]
    terms = model.blended if sign > 0 else tuple(_turned(each) for each in model.blended)
    low, high = float(total.refused_below[0]), float(total.accepted_from[0])
    scales = scales_of(terms, ends)
    blend = Blend(terms, low, high, ends, scales)
    mix = sign * np.column_stack([scales, np.eye(model.scores)])
    return Cutoff(mix, blend.floors, np.clip(blend.floors, -LEVEL, LEVEL), blend)


def _turned(term: Term) -> Term:
    return lambda margins, way: -term(-margins, -way)


def _ends(model: Sum) -> Floats:
    """Return the ends of each score; infinite where numbers are weighed."""
    if model.weights is not None or model.bends:
        return np.repeat([[-np.inf, np.inf]], model.scores, axis=0)
    parts = [each.value[each.column < 0] for each in model.trees]
    parts += [each.values.reshape(-1, model.scores) for each in model.terms]
    low = model.bias + sum(part.min(axis=0) for part in parts)
    high = model.bias + sum(part.max(axis=0) for part in parts)
    spare = model.precision * (len(parts) + 1) * 4 * (np.abs(low) + np.abs(high) + 1)
    return np.stack([low - spare, high + spare], axis=1)
