"""Why a set of options surely falls short: the bounds of the search, each a function and a line in `BOUNDS`.

A bound returns reasons: masks of open options, of each of which every plan that contains the set takes one more. An empty
mask proves that there is no such plan.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from p2c._plan.compiled.bitsets import mask_of
from p2c._plan.search.conflicts import conflict
from p2c._plan.search.devices import Device

if TYPE_CHECKING:
    from collections.abc import Callable

    from p2c._plan.search.best_first import Limits
    from p2c._plan.search.devices import Devices
    from p2c._plan.search.landmarks import Standing


class Bound(NamedTuple):
    """A way to find reasons; a costly one is tried only in hard searches, where no reason is known yet."""

    reasons: Callable[[Standing, Limits], list[int]]
    costly: bool = False


def _lifted_bars(standing: Standing, _: Limits) -> list[int]:
    barred = standing.options.formerly_barred
    if not barred:
        return []
    chosen = mask_of(standing.choice.chosen)
    return [mask & standing.end.left for mask in barred if not mask & chosen]


def _forced(standing: Standing, _: Limits) -> list[int]:
    return standing.end.forced


def _obstacles(standing: Standing, _: Limits) -> list[int]:
    return standing.landmarks.obstacles()


def _conflict(standing: Standing, limits: Limits) -> list[int]:
    mask = conflict(standing, limits)
    return [] if mask is None else [mask]


BOUNDS: dict[Device, Bound] = {
    Device.LIFTED_BARS: Bound(_lifted_bars),
    Device.PROPAGATION: Bound(_forced),
    Device.LANDMARKS: Bound(_obstacles),
    Device.CONFLICTS: Bound(_conflict, costly=True),
}


def known_reasons(standing: Standing, devices: Devices, limits: Limits) -> list[int]:
    """Return why a choice surely falls short; none where the bounds do not tell.

    A reason that leaves one option at most says enough.
    """
    found: list[int] = []
    for device, bound in BOUNDS.items():
        if any(mask.bit_count() <= 1 for mask in found):
            break
        worth = not bound.costly or (limits.is_hard and not found)
        if device in devices and worth:
            found += bound.reasons(standing, limits)
    return found
