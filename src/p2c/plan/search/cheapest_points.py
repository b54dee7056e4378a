"""Where the model alone decides, and nothing happens by itself: the cheapest accepted point is the plan.

No rule has a say, so a set of direct actions is worth what the model says of its end, in whatever order. The model's own search
(`CheapestCells`) tells one point after the other that may be accepted, cheapest first, and what the others cost at least.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from p2c.plan.search.best_first import Arrival, Key, Move, chain_of
from p2c.plan.search.options import placed
from p2c.plan.search.set_search import OrderLead

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from p2c.learn.model.cheapest_cells import CheapestCells
    from p2c.plan.compiled.space import Space
    from p2c.plan.search.best_first import Lead, Limits
    from p2c.plan.search.options import Option, Options
    from p2c.plan.search.set_search import SetSearch

BITS = 50
"""Efforts are counted in units so large that all of them together have no more bits."""
STRIDE = 1_000
"""How many boxes are split before the clock is looked at."""


class Span(NamedTuple):
    """The model's cells that are open to a person in one feature, with what they take: mostly their own, and the way to others."""

    options: tuple[Option, ...]
    """The cheapest way to each cell but the first."""
    cells: NDArray[np.int64]
    efforts: tuple[int, ...]
    costs: NDArray[np.int64] | None
    """The efforts, where they fit."""

    @property
    def is_known(self) -> bool:
        """Tell whether the model was read for all of them."""
        return -1 not in self.cells

    def in_units(self, unit: int) -> NDArray[np.int64]:
        """Return the efforts in units."""
        if unit == 1 and self.costs is not None:
            return self.costs
        return np.array([each // unit for each in self.efforts])


def point_leads(search: SetSearch, spans: list[Span]) -> Iterator[PointLead]:
    """Yield where the search of one person begins."""
    unit, cells = cheapest_cells(search.options.space, spans)
    if cells.bound is not None:
        yield PointLead(search, spans, unit, cells)


def cheapest_cells(space: Space, spans: list[Span]) -> tuple[int, CheapestCells]:
    """Return the model's own search among some cells, and the effort that counts as one in it."""
    model = space.theory.model
    assert model is not None
    unit = max(1, sum(each.efforts[-1] for each in spans) >> BITS)
    costs = [each.in_units(unit) for each in spans]
    return unit, model.cheapest([each.cells for each in spans], costs)


def open_spans(search: SetSearch) -> list[Span] | None:
    """Return what is open to a person who sets off nothing; None where cells do not decide, or more than the best plan is wanted."""
    space = search.options.space
    if not (search.first_only and space.has_compiled_model):
        return None
    spans = [_span(search.options, index) for index in space.model_axes]
    return spans if all(each.is_known for each in spans) else None


def _span(options: Options, index: int) -> Span:
    if not options.is_common(index):
        return _find_span(options, index)
    known = options.space.kept(_spans)
    key = index, options.transitions.person.places[index]
    if key not in known:
        known[key] = _find_span(options, index)
    return known[key]


def _spans(_: Space) -> dict[tuple[int, int], Span]:
    return {}


def _find_span(options: Options, index: int) -> Span:
    open_ = options.on(index) if index in options.settable else ()
    return span_of(options, index, filter(options.is_calm, open_))


def span_of(options: Options, index: int, some: Iterable[Option]) -> Span:
    """Return what some options on a feature leave open to a person, besides staying as they are."""
    transitions = options.transitions
    own = transitions.model_cell(index, transitions.person.places[index])
    found = by_cell(options, some)
    found.pop(own, None)
    return made_span([own, *found], (0, *(each.effort for each in found.values())), found.values())


def by_cell(options: Options, some: Iterable[Option]) -> dict[int, Option]:
    """Return the best of some options on a feature to each of the model's cells, in the order of what they take."""
    found: dict[int, Option] = {}
    for each in sorted(some, key=lambda each: each[:4]):
        found.setdefault(options.transitions.model_cell(each.axis, each.end), each)
    return found


def made_span(
    cells: Sequence[int], efforts: tuple[int, ...], options: Iterable[Option] = ()
) -> Span:
    """Return a span of cells, in the order of what they take."""
    costs = np.array(efforts) if efforts[-1] >> BITS == 0 else None
    return Span(tuple(options), np.array(cells), efforts, costs)


class PointLead(NamedTuple):
    """The points that are still to come, by what they cost at least."""

    search: SetSearch
    spans: list[Span]
    unit: int
    """The effort that counts as one."""
    cells: CheapestCells

    @property
    def key(self) -> Key:
        """Return what no point that comes can beat."""
        assert self.cells.bound is not None, "it waits only while points may come"
        return Key(effort=self.cells.bound * self.unit, length=0, way=0, sequence=())

    @property
    def known(self) -> None:
        """Return nothing: a point that was found waits by itself."""

    def follow(self, limits: Limits) -> Iterator[Lead]:
        """Yield the next point, if it is accepted, and the rest."""
        before = self.cells.split
        most = STRIDE if limits.nodes is None else min(STRIDE, limits.nodes - limits.expanded)
        point = self.cells.advance(most)
        limits.expanded += max(self.cells.split - before - 1, 0)
        if point is not None:
            arrival = self._arrival(point)
            if self.search.options.transitions.judge(arrival.places).goal:
                yield OrderLead(self.search, arrival.key, arrival, iter(()))
        if self.cells.bound is not None:
            yield self

    def _arrival(self, point: list[int]) -> Arrival:
        chosen = [span.options[at - 1] for span, at in zip(self.spans, point, strict=True) if at]
        chosen.sort(key=lambda each: each.axis)
        start = self.search.options.transitions.person.places
        moves = [
            Move(each.axis, start[each.axis], each.end, True, 0, False, each.among)
            for each in chosen
        ]
        effort, way = sum(each.effort for each in chosen), sum(each.way for each in chosen)
        return Arrival(effort, way, placed(start, chosen), chain_of(moves))
