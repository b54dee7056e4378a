"""The floats as a line of neighbours: bisection to the very float at which an answer changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from p2c._learn.model.arrays import Floats, Mask


SIGN = np.int64(-(2**63))


def to_rank(values: Floats) -> NDArray[np.int64]:
    """Return the place of each float among all floats, so that neighbours are one apart; both zeros are 0."""
    bits = np.asarray(values + 0.0, dtype=np.float64).view(np.int64)
    return np.where(bits < 0, SIGN - bits, bits)


def to_float(ranks: NDArray[np.int64]) -> Floats:
    """Return the float at each place: the inverse of `to_rank`.

    >>> to_float(to_rank(np.array([-1.5, 0.0, 2.25]))).tolist()
    [-1.5, 0.0, 2.25]
    """
    return np.where(ranks < 0, SIGN - ranks, ranks).view(np.float64)


def last_held(holds: Callable[[Floats], Mask], low: Floats, high: Floats) -> Floats:
    """Return for each pair the last float at which an answer holds, where it holds at `low` and not at `high`.

    Everything is asked at once, one question for each pair, 64 times at most.
    """
    left, right = to_rank(low), to_rank(high)
    while True:
        # The sum of two ranks may leave the range of integers; their halves do not.
        middle = (left >> 1) + (right >> 1) + (left & right & 1)
        if (middle == left).all():
            break
        held = holds(to_float(middle))
        left, right = np.where(held, middle, left), np.where(held, right, middle)
    return to_float(left)


def first_held(holds: Callable[[Floats], Mask], limit: float = 1e300) -> float:
    """Return the first float at which a rising answer holds; infinite where it never or always does.

    >>> first_held(lambda s: s / 3 >= 1)
    3.0
    """
    ends = np.array([-limit, limit])
    first, last = holds(ends)
    if first:
        return -np.inf
    if not last:
        return np.inf
    before = last_held(lambda at: ~holds(at), ends[:1], ends[1:])
    return float(np.nextafter(before[0], np.inf))


def below(bounds: Floats) -> Floats:
    """Return the last float before each bound, which a value is at most where it is less than the bound."""
    return np.nextafter(np.asarray(bounds, dtype=np.float64), -np.inf)


def around(points: Any) -> Floats:
    """Return bounds that set single values apart: each of them, and the last float before it."""
    at = np.asarray(points, dtype=np.float64)
    return np.unique(np.concatenate([at, below(at)]))


def single_bound(bounds: Floats) -> Floats:
    """Return the last double that, rounded to single precision, is at most the bound.

    >>> bound = single_bound(np.array([0.1]))[0]
    >>> float(np.float32(bound)) <= 0.1, float(np.float32(np.nextafter(bound, 1))) <= 0.1
    (True, False)
    """
    bounds = np.asarray(bounds, dtype=np.float64)
    with np.errstate(over="ignore"):
        near = bounds.astype(np.float32)
        single = np.where(near > bounds, np.nextafter(near, np.float32(-np.inf)), near)
        above = np.nextafter(single, np.float32(np.inf))
        middle = (single.astype(np.float64) + above.astype(np.float64)) / 2
        return np.where(middle.astype(np.float32) <= single, middle, below(middle))
