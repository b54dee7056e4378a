"""Search plans without effects first, for an early incumbent."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from p2c._plan.search.action_sets import OrderLead
from p2c._plan.search.best_first import START

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from p2c._plan.search.best_first import Key, Lead, Limits
    from p2c._plan.search.cheapest_points import PointLead

PATIENCE = 1_000
"""Number of boxes that are split before plans with effects are searched as well.

The boxes are those of the model's own search.
"""


class CalmLead(NamedTuple):
    """The plans that set off no effect, until one of them is known."""

    points: PointLead
    others: Callable[[], Iterable[Lead]]
    """Begins the search for plans with effects."""

    @property
    def key(self) -> Key:
        """Return the least key, so that an incumbent is known first."""
        return START

    @property
    def known(self) -> None:
        """Return nothing: the first point that is found ends it."""

    def follow(self, limits: Limits) -> Iterable[Lead]:
        """Return the cheapest such plan and the rest, with the plans that set off effects."""
        following = list(self.points.follow(limits))
        found = any(isinstance(each, OrderLead) for each in following)
        if following and not found and self.points.cells.split < PATIENCE:
            return [self]
        return [*following, *self.others()]
