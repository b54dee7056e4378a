"""Bit masks by place: which rules' tests on a feature pass there, and which of its causal rules have it in their heads."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class Remembered(dict[int, tuple[int, int]]):
    """Masks by place, worked out when first asked for."""

    def __init__(
        self, work_out: Callable[[int], tuple[int, int]], known: dict[int, tuple[int, int]]
    ) -> None:
        super().__init__(known)
        self._work_out = work_out

    def __missing__(self, place: int) -> tuple[int, int]:
        masks = self[place] = self._work_out(place)
        return masks
