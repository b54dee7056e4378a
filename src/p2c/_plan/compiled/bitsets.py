"""Sets as whole numbers, a bit for each member; and masks by place, of rules whose tests pass there."""

from __future__ import annotations

from functools import reduce
from itertools import accumulate
from operator import and_, or_
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence


class Remembered(dict[int, int]):
    """Masks by place, worked out when first asked for."""

    def __init__(self, work_out: Callable[[int], int], known: dict[int, int]) -> None:
        super().__init__(known)
        self._work_out = work_out

    def __missing__(self, place: int) -> int:
        mask = self[place] = self._work_out(place)
        return mask


def bits(mask: int) -> Iterator[int]:
    """Yield each bit of a mask by itself, the lowest first.

    >>> list(bits(0b1010))
    [2, 8]
    """
    while mask:
        bit = mask & -mask
        yield bit
        mask ^= bit


def nearly_all(masks: Sequence[int]) -> int:
    """Return the bits that all masks have but one at most.

    >>> bin(nearly_all([0b1100, 0b1101, 0b1011]))
    '0b1101'
    """
    # A bit that one mask lacks, and an earlier one too, is lacking in two.
    return reduce(and_, map(or_, accumulate(masks, and_), masks[1:]), -1)


def numbers(mask: int) -> Iterator[int]:
    """Yield the places of the bits of a mask.

    >>> list(numbers(0b1010))
    [1, 3]
    """
    while mask:
        bit = mask & -mask
        yield bit.bit_length() - 1
        mask ^= bit


def mask_of(numbers: Iterable[int]) -> int:
    """Return some numbers, no two alike, as a mask.

    >>> bin(mask_of([1, 3]))
    '0b1010'
    """
    return sum([1 << number for number in numbers])


def grown(mask: int, others: int, holds: Callable[[int], bool]) -> int:
    """Return a mask with as many of some other bits as it holds with, tried by halves; it holds with fewer, too.

    >>> grown(0b1, 0b1110, lambda mask: mask.bit_count() < 4)
    7
    """
    waiting = [tuple(numbers(others))]
    while waiting:
        part = waiting.pop()
        larger = mask | mask_of(part)
        if holds(larger):
            mask = larger
        elif len(part) > 1:
            middle = len(part) // 2
            waiting += [part[middle:], part[:middle]]
    return mask


def subsets(mask: int) -> Iterator[int]:
    """Yield every set of some bits, all of them first and none of them last.

    >>> list(subsets(0b101))
    [5, 4, 1, 0]
    """
    some = mask
    while some:
        yield some
        some = (some - 1) & mask
    yield 0
