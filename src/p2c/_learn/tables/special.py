"""Find special codes: numbers that stand for a missing value.

Such are -9 in a column of counts and 999 in one of days. A plan that ends in such a code advises nothing, so codes are no targets.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from p2c.errors import P2CError, shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

Codes = Mapping[Any, "Iterable[float]"]

BELOW = frozenset(
    [7, 8, 9, 77, 88, 97, 98, 99, 777, 888, 997, 998, 999, 9997, 9998, 9999, 99999, 999999]
)
"""Sizes of negative codes; the column has no other negative number."""
ABOVE = frozenset([997, 998, 999, 9997, 9998, 9999, 99999, 999999])
"""Numbers that are codes far above all others of a column."""
FAR = 4
"""Least ratio of such a code to the largest other number."""
FEWEST = 2
"""Least number of rows with a code."""


def special_codes(values: NDArray[np.float64]) -> tuple[int, ...]:
    """Return the special codes among the known numbers of a column, ascending.

    >>> special_codes(np.array([-9, -9, -8, 0, 33, 61]))
    (-9, -8)
    >>> special_codes(np.array([-9, -9, -3, 0, 33, 61]))
    ()
    >>> special_codes(np.array([1, 3, 27, 999, 999]))
    (999,)
    """
    distinct, counts = np.unique(values, return_counts=True)
    below = distinct < 0
    codes: list[int] = []
    if below.any() and all(-each in BELOW for each in distinct[below].tolist()):
        codes += distinct[below].astype(int).tolist()
    far = np.isin(distinct, list(ABOVE))
    rest = distinct[~below & ~far]
    if far.any() and len(rest) and distinct[far].min() > FAR * rest.max():
        codes += distinct[far].astype(int).tolist()
    ordinary = ~np.isin(distinct, codes)
    enough = codes and counts[~ordinary].sum() >= FEWEST and ordinary.sum() > 1
    return tuple(codes) if enough else ()


def checked_codes(codes: Any) -> Codes | None:
    """Return codes by column; refuse anything else."""
    if codes is None:
        return None
    right = isinstance(codes, Mapping) and all(
        not isinstance(own, str)
        and hasattr(own, "__iter__")
        and all(isinstance(each, int | float) for each in own)
        for own in codes.values()
    )
    if not right:
        raise P2CError(
            f"special: expected codes by column, such as {{'months': [-9, -8]}}, found {shown(codes)}"
        )
    found: Codes = codes
    return found
