"""Where rules act as well, but most plans set off nothing: the cheapest of those, and whether another may be as cheap.

A direct action that no causal rule and no constraint sees changes nothing but itself, so among plans of such actions alone the
model decides as if there were no rules (`cheapest_points`). Any other plan contains an action that stirs. Those
that take no more than the plan that is known are mostly few, and the model's own search tells whether a yes can be had with one of
them, every governed feature being wherever it may come to. Only where that is so, or this takes long, are boxes searched.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from p2c.plan.compiled.bitsets import numbers
from p2c.plan.search.best_first import START
from p2c.plan.search.cheapest_points import PointLead, by_cell, cheapest_cells, made_span, span_of
from p2c.plan.search.relaxed_reach import RelaxedReach
from p2c.plan.search.set_search import OrderLead

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from p2c.plan.search.best_first import Key, Lead, Limits
    from p2c.plan.search.cheapest_points import Span
    from p2c.plan.search.options import Option, Options

PATIENCE = 1_000
"""How many boxes of the model's own search are split before rules are looked at together with it."""


class CalmLead(NamedTuple):
    """The plans that set off nothing, until one of them is known."""

    points: PointLead
    others: Callable[[], Iterable[Lead]]
    """What begins the search for all plans."""

    @property
    def key(self) -> Key:
        """Return that nothing is known of what other plans take."""
        return START

    @property
    def known(self) -> None:
        """Return nothing: the first point that is found ends it."""

    def follow(self, limits: Limits) -> Iterable[Lead]:
        """Return the cheapest such plan, and all others where one of them may be as cheap."""
        following = list(self.points.follow(limits))
        found = [each for each in following if isinstance(each, OrderLead)]
        if not found:
            waits = following and self.points.cells.split < PATIENCE
            return [self] if waits else self.others()
        if _may_stir(self.points.search.options, self.points.spans, found[0].key.effort):
            return [*found, *self.others()]
        return following


def _may_stir(options: Options, spans: list[Span], most: int) -> bool:
    """Tell whether a plan that sets off something may take no more than some effort."""
    settable = [axis for axis in options.settable if axis in options.space.stirring]
    some = [each for axis in settable for each in options.on(axis) if each.effort <= most]
    stirring: dict[int, list[Option]] = {}
    for each in some:
        if not options.is_calm(each):
            stirring.setdefault(each.axis, []).append(each)
    widened = _widened(options, spans, some) if stirring else spans
    return widened is None or any(
        _may_accept(options, widened, forced, most) for forced in stirring.values()
    )


def _widened(options: Options, spans: list[Span], some: list[Option]) -> list[Span] | None:
    """Return what is open when some options may be taken too; None where the model was not read for all of it."""
    masks: dict[int, int] = {}
    for number, option in enumerate(some):
        masks[option.axis] = masks.get(option.axis, 0) | 1 << number
    reach = RelaxedReach(options.transitions, some, masks)
    regions = reach.on_the_way(tuple(range(len(some)))).regions
    widened = list(spans)
    for place, axis in enumerate(options.space.model_axes):
        if axis in reach.position:
            cells = reach.model_regions(reach.position[axis], regions[reach.position[axis]])
            if cells is None:
                return None
            found = tuple(numbers(cells))
            widened[place] = made_span(found, (0,) * len(found))
        elif axis in masks:
            widened[place] = span_of(options, axis, [each for each in some if each.axis == axis])
    return widened if all(each.is_known for each in widened) else None


def _may_accept(options: Options, spans: list[Span], forced: list[Option], most: int) -> bool:
    """Tell whether the model may say yes to a plan that contains one of some options on a feature, and takes no more than some effort."""
    space, axis = options.space, forced[0].axis
    base = min(each.effort for each in forced)
    place = space.model_places.get(axis)
    if place is not None and axis not in space.governed_axes:
        left = by_cell(options, forced)
        span = made_span(tuple(left), tuple(each.effort - base for each in left.values()))
        spans = [*spans[:place], span, *spans[place + 1 :]]
    unit, found = cheapest_cells(space, spans)
    while found.bound is not None and found.bound * unit + base <= most:
        if found.advance(PATIENCE) is not None or found.split > PATIENCE:
            return True
    return False
