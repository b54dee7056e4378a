"""What remedying every reason takes at least: the dual of hitting each of some sets at the least cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from p2c._plan.compiled.bitsets import numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from p2c._plan.search.options import Option


def shares(listed: Sequence[Option], reasons: list[int]) -> list[int]:
    """Return a share of effort for each reason, such that they add up to no more than any way to remedy all.

    Options are listed cheapest first. Each reason takes what is left of its cheapest option from all its options.

    >>> from p2c._plan.search.options import Option
    >>> listed = [Option(2, 0, 0, 0), Option(3, 0, 1, 0), Option(5, 0, 2, 0)]
    >>> shares(listed, [0b011, 0b110])  # the second option remedies both
    [0, 3]
    """
    left: dict[int, int] = {}
    found = [0] * len(reasons)
    cheapest = [listed[(mask & -mask).bit_length() - 1].effort for mask in reasons]
    for place in sorted(
        range(len(reasons)), key=lambda place: (-cheapest[place], reasons[place].bit_count())
    ):
        members = list(numbers(reasons[place]))
        share = min(left.get(number, listed[number].effort) for number in members)
        found[place] = share
        if share:
            for number in members:
                left[number] = left.get(number, listed[number].effort) - share
    return found
