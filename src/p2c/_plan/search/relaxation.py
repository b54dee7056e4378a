"""The least price at which features together may add what the model asks for, if each could go part of the way.

For each feature the best deals are the corners of the upper hull of price and gain over the places that are open to it. The
cheapest way to a sum of gains takes the steepest edges of all hulls first and the last one in part: the relaxation of a
multiple-choice knapsack, solved exactly by sorting (Sinha and Zoltners, 1979). Its price bounds that of every choice in a
box, the rate of the last edge tells what any other place would add to it (`closed`), and where it goes part of the way the box
is split (`split`).
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

STAY = -1
"""The number of what leaves a feature as it is."""
NEARLY = 1e-11
"""By what share a bound is lowered, since floats round."""


class Stretch(NamedTuple):
    """What is open of an option: its steps from near to far."""

    number: int
    near: int
    far: int


Open = tuple[Stretch, ...]
"""What is open to a feature."""
Opens = dict[int, Open]
"""What is open to each of some features."""
Steps = dict[int, tuple[int, int]]
"""For each of some features the option that it takes, and the step of it."""
STAYING = Stretch(STAY, 0, 0)
Deal = tuple[float, float, Stretch, int]
"""A price, what it takes from the score, and where it stands."""


class Corner(NamedTuple):
    """A deal: a price, what it adds, and where it stands."""

    price: float
    gain: float
    stretch: Stretch
    step: int


class Edge(NamedTuple):
    """From one corner of a feature's hull to the next: what a unit of gain costs, and how much of it there is."""

    rate: float
    axis: int
    corner: int
    gain: float
    price: float


class Hull(NamedTuple):
    """The best deals on a feature, and the way from each to the next."""

    corners: list[Corner]
    edges: list[Edge]


def hull_of(axis: int, deals: list[Deal]) -> Hull:
    """Return the best of some deals on a feature."""
    deals.sort()
    kept: list[Corner] = []
    for price, loss, stretch, step in deals:
        corner = Corner(price, -loss, stretch, step)
        if kept and corner.gain <= kept[-1].gain:
            continue
        while len(kept) > 1 and _is_inside(kept[-2], kept[-1], corner):
            kept.pop()
        kept.append(corner)
    edges = []
    for number, (one, other) in enumerate(pairwise(kept)):
        price, gain = other.price - one.price, other.gain - one.gain
        edges.append(Edge(price / gain, axis, number, gain, price))
    return Hull(kept, edges)


def _is_inside(one: Corner, middle: Corner, other: Corner) -> bool:
    """Tell whether a corner is no better a deal than what lies between its neighbours."""
    left = (middle.gain - one.gain) * (other.price - one.price)
    return left <= (other.gain - one.gain) * (middle.price - one.price)


class Relaxed(NamedTuple):
    """The least price of a box for some margin: at what rate, and the corner of each feature that leaves the first of its hull.

    Where the last edge is taken in part, `split` is its feature and `wanted` the gain that is asked of it.
    """

    price: float
    margin: int
    rate: float
    hulls: Mapping[int, Hull]
    corners: dict[int, int]
    split: int | None = None
    wanted: float = 0.0


def relax(hulls: Mapping[int, Hull], price: float, short: float, margin: int = 0) -> Relaxed | None:
    """Return the least price at which features add what is short, besides one that is paid; None where they cannot."""
    edges: list[Edge] = []
    for hull in hulls.values():
        first = hull.corners[0]
        price += first.price
        short -= first.gain
        edges += hull.edges
    corners: dict[int, int] = {}
    if short <= 0:
        return Relaxed(price, margin, 0.0, hulls, corners)
    edges.sort()
    for rate, axis, corner, gain, cost in edges:
        if gain >= short:
            wanted = hulls[axis].corners[corner].gain + short
            price += rate * short
            return Relaxed(price, margin, rate, hulls, corners, axis, wanted)
        price += cost
        short -= gain
        corners[axis] = corner + 1
    return None


def closed(
    opens: Opens,
    relaxed: Relaxed,
    most: float,
    within: Callable[[int, Stretch, float, float], Stretch | None],
) -> Opens:
    """Return what is left to features of which something would make every choice with it dearer than some price.

    `within` tells which part of a stretch of a feature costs, less what its gain is worth at a rate, at most so much.
    """
    rate, changed = relaxed.rate, {}
    for axis, open_ in opens.items():
        if is_settled(open_):
            continue
        corners = relaxed.hulls[axis].corners
        least = min(
            [price - rate * gain for price, gain, _, _ in corners] if rate else [corners[0].price]
        )
        spare = most - relaxed.price + least
        told = [within(axis, stretch, rate, spare) for stretch in open_]
        kept = tuple([each for each in told if each is not None])
        if kept != open_:
            changed[axis] = kept
    return changed


def sloped(stretch: Stretch, first: float, last: float, most: float) -> Stretch | None:
    """Return the steps where something that goes from one number to another in a straight line is at most so much."""
    number, near, far = stretch
    if first <= most and last <= most:
        return stretch
    if first > most and last > most:
        return None
    # One step more on either side allows for rounding.
    step = near + (most - first) / (last - first) * (far - near)
    if first <= most:
        return Stretch(number, near, min(math.floor(step) + 1, far))
    return Stretch(number, max(math.ceil(step) - 1, near), far)


def split(opens: Opens, relaxed: Relaxed, at: Steps) -> Iterator[Opens]:
    """Yield what is open in the parts of a box: to the feature that goes part of the way, so far or farther, or less far.

    Where none does, every part differs from the choice in one feature, and goes along with it in those before.
    """
    if relaxed.split is not None:
        parts = _around(opens[relaxed.split], *at[relaxed.split])
        if all(parts):
            yield from ({relaxed.split: part} for part in parts)
            return
    same: Opens = {}
    for axis, open_ in opens.items():
        if not is_settled(open_):
            number, step = at.get(axis, (STAY, 0))
            yield {**same, axis: tuple(_without(open_, number, step))}
            same[axis] = (Stretch(number, step, step),)


def is_settled(open_: Open) -> bool:
    """Tell whether a single place is open."""
    return len(open_) == 1 and open_[0].near == open_[0].far


def _around(open_: Open, number: int, step: int) -> tuple[Open, Open]:
    """Return what is open of an option from a step on, and what else is."""
    farther, others = [], []
    for stretch in open_:
        if stretch.number != number or stretch.far < step:
            others.append(stretch)
        elif stretch.near >= step:
            farther.append(stretch)
        else:
            others.append(Stretch(number, stretch.near, step - 1))
            farther.append(Stretch(number, step, stretch.far))
    return tuple(farther), tuple(others)


def _without(open_: Open, number: int, step: int) -> Iterator[Stretch]:
    """Yield what is open but for one place."""
    for stretch in open_:
        if stretch.number != number or not stretch.near <= step <= stretch.far:
            yield stretch
            continue
        if stretch.near < step:
            yield Stretch(number, stretch.near, step - 1)
        if step < stretch.far:
            yield Stretch(number, step + 1, stretch.far)
