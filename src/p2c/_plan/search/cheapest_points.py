"""Search the cheapest accepted point, which is the plan if no rule applies.

No rule has a say, so a set of direct actions is worth what the model says of its end, in whatever order. The model's own search
(`CheapestCells`) tells one point after the other that may be accepted, cheapest first, and what the others cost at least.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from p2c._plan.compiled.person import grid_measures
from p2c._plan.search.action_sets import OrderLead
from p2c._plan.search.best_first import Arrival, Key, Move, chain_of
from p2c._plan.search.options import Choice, placed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from p2c._learn.model.cheapest_cells import CheapestCells
    from p2c._plan.compiled.person import Person, Places
    from p2c._plan.compiled.space import Space
    from p2c._plan.search.action_sets import ActionSets
    from p2c._plan.search.best_first import Lead, Limits
    from p2c._plan.search.options import Option, Options

BITS = 50
"""Efforts are counted in units so large that their sum has no more bits."""
STRIDE = 1_000
"""How many boxes are split before the clock is looked at."""


class Span(NamedTuple):
    """The model's cells that are open to a person in one feature, in the order of their efforts."""

    options: tuple[Option | None, ...]
    """The cheapest action to each cell; None where the feature stays or changes as an effect."""
    cells: NDArray[np.int64]
    costs: NDArray[np.int64]
    """The effort of each cell above that of the first one, in units."""
    base: int
    """The effort of the first cell."""
    is_known: bool
    """Whether the model was read for all of the cells."""


def point_leads(search: ActionSets, spans: list[Span]) -> Iterator[PointLead]:
    """Yield where the search of one person begins."""
    cells = cheapest_cells(search.options.space, spans)
    if cells.bound is not None:
        yield PointLead(search, spans, unit_of(search.options.transitions.person), cells)


def cheapest_cells(space: Space, spans: list[Span]) -> CheapestCells:
    """Return the model's own search among some cells."""
    model = space.theory.parsed
    assert model is not None
    cells: CheapestCells = model.cheapest(
        [each.cells for each in spans], [each.costs for each in spans]
    )
    return cells


def unit_of(person: Person) -> int:
    """Return the effort that counts as one in the model's own search."""
    if person.prices is not grid_measures(person.space)[1]:
        return _find_unit(person, person.places)
    units = person.space.kept(_grid_unit)
    if not units:
        units.append(_find_unit(person, (0,) * len(person.places)))
    return units[0]


def _grid_unit(_: Space) -> list[int]:
    return []


def _find_unit(person: Person, starts: Places) -> int:
    """Return the unit in which one action on each feature has no more than `BITS` bits in all.

    An action leads from a start to any place, or from a missing value, which is at distance 1.
    """
    prices, most = person.prices, 0
    for index, (axis, start) in enumerate(zip(person.space.axes, starts, strict=True)):
        ends = (person.effort(index, start, end) for end in (0, axis.size - 1))
        missing = prices.per_change[index] * prices.per_cost + prices.per_action
        most += max(missing, *ends)
    return max(1, most >> BITS)


def open_spans(search: ActionSets) -> list[Span] | None:
    """Return the cells that a person reaches without effects, by feature.

    The result is None if cells do not decide, or if more than the best plan is wanted.
    """
    space = search.options.space
    if not (search.first_only and space.has_compiled_model):
        return None
    spans = [_span(search.options, index) for index in space.model_axes]
    return spans if all(each.is_known for each in spans) else None


def _span(options: Options, index: int) -> Span:
    if not options.is_common(index):
        return _find_span(options, index)
    spans = options.space.kept(_spans)
    key = index, options.transitions.person.places[index]
    if key not in spans:
        spans[key] = _find_span(options, index)
    return spans[key]


def _spans(_: Space) -> dict[tuple[int, int], Span]:
    return {}


def _find_span(options: Options, index: int) -> Span:
    open_ = options.on(index) if index in options.settable else ()
    return span_of(options, index, filter(options.is_calm, open_))


def span_of(options: Options, index: int, some: Iterable[Option]) -> Span:
    """Return the cells that options on a feature lead to, and the present cell."""
    transitions = options.transitions
    own = transitions.model_cell(index, transitions.person.places[index])
    actions: dict[int, Option | None] = {own: None}
    for cell, option in by_cell(options, some).items():
        actions.setdefault(cell, option)
    return made_span(actions, unit_of(transitions.person))


def by_cell(options: Options, some: Iterable[Option]) -> dict[int, Option]:
    """Return the best option to each of the model's cells, in the order of effort."""
    best: dict[int, Option] = {}
    for each in sorted(some, key=lambda each: each[:4]):
        best.setdefault(options.transitions.model_cell(each.axis, each.end), each)
    return best


def made_span(found: Mapping[int, Option | None], unit: int) -> Span:
    """Return the span of some cells in the order of their efforts, each with the action that leads there."""
    efforts = [0 if each is None else each.effort for each in found.values()]
    base = efforts[0]
    costs = np.array([(each - base) // unit for each in efforts], dtype=np.int64)
    return Span(tuple(found.values()), np.array(list(found)), costs, base, -1 not in found)


class PointLead(NamedTuple):
    """The accepted points among some cells, cheapest first."""

    search: ActionSets
    spans: list[Span]
    unit: int
    """The effort that counts as one."""
    cells: CheapestCells
    base: int = 0
    """The effort of the cheapest point of all, accepted or not."""
    unread: tuple[Option, ...] = ()
    """The actions on features that the model does not read."""
    rests: list[int] | None = None
    """The regions in which endogenous features end; None if no action sets off an effect."""

    @property
    def key(self) -> Key:
        """Return a lower bound on the keys of the points to come."""
        assert self.cells.bound is not None, "it waits only while points may come"
        return Key(effort=self.base + self.cells.bound * self.unit, length=0, way=0, sequence=())

    @property
    def known(self) -> None:
        """Return None: each point is yielded as a lead of its own."""

    def follow(self, limits: Limits) -> Iterator[Lead]:
        """Yield the next point, if it is accepted, and the rest."""
        point = next_point(self.cells, limits)
        if point is not None:
            yield from self._arrived(point, limits)
        if self.cells.bound is not None:
            yield self

    def _arrived(self, point: list[int], limits: Limits) -> Iterator[OrderLead]:
        """Yield the best path to a point, if it is accepted."""
        search = self.search
        chosen = [*self.unread, *options_of(self.spans, point)]
        if self.rests is not None:
            yield from ordered(search, chosen, self.rests, limits)
            return
        arrival = _calm_arrival(search.options, chosen)
        if search.options.transitions.judge(arrival.places).goal:
            yield OrderLead(search, arrival.key, arrival, iter(()))


def next_point(cells: CheapestCells, limits: Limits) -> list[int] | None:
    """Return the next point of the model's own search.

    The result is None if one stride of the search reaches no point.
    """
    before = cells.split
    most = STRIDE if limits.nodes is None else min(STRIDE, limits.nodes - limits.expanded)
    point = cells.advance(most)
    limits.expanded += max(cells.split - before - 1, 0)
    return point


def options_of(spans: list[Span], point: list[int]) -> list[Option]:
    """Return the actions that lead to a point."""
    found = (span.options[at] for span, at in zip(spans, point, strict=True))
    return [each for each in found if each is not None]


def ordered(
    search: ActionSets, chosen: list[Option], rests: list[int], limits: Limits
) -> Iterator[OrderLead]:
    """Yield the best order of actions that ends in the regions `rests`."""
    numbers = sorted(search.options.by_trail[each.axis, each.trail] for each in chosen)
    choice = Choice(sum(each.effort for each in chosen), tuple(numbers), 0)
    for first in islice(search.orders(choice, rests, limits), 1):
        yield OrderLead(search, first.key, first, iter(()))


def _calm_arrival(options: Options, chosen: list[Option]) -> Arrival:
    """Return the path of actions without effects, in the order of the features."""
    chosen = sorted(chosen, key=lambda each: each.axis)
    start = options.transitions.person.places
    moves = [
        Move(each.axis, start[each.axis], each.end, True, 0, False, each.among) for each in chosen
    ]
    effort, way = sum(each.effort for each in chosen), sum(each.way for each in chosen)
    return Arrival(effort, way, placed(start, chosen), chain_of(moves))
