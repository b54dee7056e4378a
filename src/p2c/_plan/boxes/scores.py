"""A parsed model over boxes: the cells that are open, and their bound."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from p2c._plan.boxes.ranges import INFINITE, Among, Fixed, Interval
from p2c._spec.feature import exact

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p2c._plan.boxes.axis import Open
    from p2c._plan.boxes.ends import Ends
    from p2c._plan.boxes.ranges import Range
    from p2c._rules.theory import ParsedModel, Theory
    from p2c._spec.feature import Feature


def parsed_model(theory: Theory) -> ParsedModel | None:
    """Return the parsed model that decides; None where rules or a black box decide."""
    if theory.model is None or theory.model.opaque:
        return None
    return theory.parsed


@dataclass
class Scores:
    """The verdict of a parsed model on the end states of a box."""

    ends: Ends
    model: ParsedModel
    _cells: dict[tuple[str, Range], tuple[int, ...] | None] = field(default_factory=dict)
    _known: dict[tuple[int, ...], bool] = field(default_factory=dict)

    def surely_refuses(self, ranges: dict[str, Range]) -> bool:
        """Tell whether the model refuses every end state of a box.

        Sound because the open cells of each feature contain the cells of all its values in the box; where a value has no
        cell the model is not bounded.
        """
        boxes = []
        for name in self.model.reads:
            cells = self.cells(name, ranges[name])
            if cells is None:
                return False
            boxes.append(sum(1 << cell for cell in cells))
        key = tuple(boxes)
        if key not in self._known:
            self._known[key] = self.model.surely_refuses(boxes)
        return self._known[key]

    def cells(self, name: str, range_: Range) -> tuple[int, ...] | None:
        """Return the cells of the values of a range; None if one has none."""
        key = name, range_
        if key not in self._cells:
            self._cells[key] = self._cells_of(name, range_)
        return self._cells[key]

    def _cells_of(self, name: str, range_: Range) -> tuple[int, ...] | None:
        feature: Feature = self.ends.person.theory.feature[name]
        match range_:
            case Fixed(value):
                cells = {self.model.cell(name, value)}
            case Among(places, missing):
                values: list[Any] = [feature.domain.value(place) for place in places]
                values += [None] if missing else []
                cells = {self.model.cell(name, value) for value in values}
            case Interval(low, high, missing):
                cells = {self.model.cell(name, None)} if missing else set()
                if low <= high:
                    cuts = self.model.cuts(feature)
                    first = self.model.cell(name, low if low > -INFINITE else -1e300)
                    last = self.model.cell(name, high if high < INFINITE else 1e300)
                    if min(first, last) < 0 or last < first or last - first > len(cuts):
                        return None
                    cells |= set(range(first, last + 1))
        return None if -1 in cells else tuple(sorted(cells))


BITS = 50
"""Costs are counted in units so large that their sum has no more bits."""
STRIDE, STRIDES = 1_000, 40
"""How many boxes of cells are split at a time, and how many times at most."""


class Part(NamedTuple):
    """The choice of one axis in a point: staying, or a range of positions."""

    stays: bool
    low: int
    high: int
    nearest: int


class Point(NamedTuple):
    """The cheapest cells that the model may accept, with their cost."""

    cost: int
    parts: dict[int, Part]
    cells: dict[str, int]


class CellCosts(NamedTuple):
    """The cells of an axis: first positions, and the least shares of the cost."""

    starts: tuple[int, ...]
    cells: tuple[int, ...]
    nearest: tuple[int | None, ...]
    costs: tuple[int, ...]


@dataclass
class CheapestScores:
    """Lower bounds on the cost of a yes, by the compiled search for cells.

    Sound because each state of a box that the model accepts lies in a point of open cells, and a point costs at most what
    its states cost: each cell costs the least share of its positions, and cells of other features cost nothing.
    """

    scores: Scores
    _costs: dict[int, CellCosts | None] = field(default_factory=dict)
    _known: dict[tuple[int, Open], list[tuple[int, int, Part]] | None] = field(default_factory=dict)

    def cheapest(
        self, box: tuple[Open, ...], ranges: dict[str, Range], within: Mapping[str, tuple[int, int]]
    ) -> Point | bool | None:
        """Return the cheapest point of a box.

        Returns:
            False if there is none, None if it is not decided.
        """
        ends, model = self.scores.ends, self.scores.model
        person = ends.person
        cells: list[Any] = []
        costs: list[Any] = []
        parts: list[tuple[int, list[Part]] | None] = []
        for name in model.reads:
            number = ends.axis_of.get(person.index[name])
            axis_parts: list[tuple[int, int, Part]] | None = None
            if number is not None and box[number].acts and not ends.axes[number].free:
                key = number, box[number]
                if key not in self._known:
                    self._known[key] = self._parts(*key)
                axis_parts = self._known[key]
                if axis_parts is None:
                    return None
            if axis_parts is None:
                open_ = self.scores.cells(name, ranges[name])
                if open_ is None:
                    return None
                if name in within:
                    least, last = within[name]
                    open_ = tuple(each for each in open_ if least <= each <= last)
                cells.append(list(open_))
                costs.append([0] * len(open_))
                parts.append(None)
            else:
                cells.append([cell for _, cell, _ in axis_parts])
                costs.append([cost for cost, _, _ in axis_parts])
                assert number is not None
                parts.append((number, [part for _, _, part in axis_parts]))
        if not all(cells):
            return False
        most = sum(each[-1] for each in costs)
        unit = max(1, most >> BITS)
        import numpy as np  # rules alone do without it

        search = model.cheapest(
            [np.array(each, dtype=np.int64) for each in cells],
            [np.array([c // unit for c in each], dtype=np.int64) for each in costs],
        )
        for _ in range(STRIDES):
            if search.bound is None:
                return False
            places = search.advance(STRIDE)
            if places is not None:
                cost = sum(own[at] // unit for own, at in zip(costs, places, strict=True)) * unit
                chosen = {
                    each[0]: each[1][at]
                    for each, at in zip(parts, places, strict=True)
                    if each is not None
                }
                reached = {
                    name: own[at] for name, own, at in zip(model.reads, cells, places, strict=True)
                }
                return Point(cost, chosen, reached)
        return None

    def _parts(self, number: int, open_: Open) -> list[tuple[int, int, Part]] | None:
        """Return the cells of an axis with cost and part, cheapest first."""
        costs = self._cells_of(number)
        if costs is None:
            return None
        axis = self.scores.ends.axes[number]
        weight = self.scores.ends.person.weights[axis.place]
        parts: dict[int, tuple[int, Part]] = {}
        least = axis.least(open_.low, open_.high)
        base = 0 if open_.stays else (least[0] * weight if least else 0)
        first = bisect_right(costs.starts, open_.low) - 1
        for place in range(first, len(costs.cells)):
            low = max(costs.starts[place], open_.low)
            past = costs.starts[place + 1] if place + 1 < len(costs.starts) else axis.size
            high = min(past - 1, open_.high)
            if low > open_.high:
                break
            near, cost = costs.nearest[place], costs.costs[place]
            if near is None or not low <= near <= high:
                near = axis.nearest(low, high)
                cost = 0 if near is None else axis.share(near)[0] * weight
            if near is None:
                continue
            cell = costs.cells[place]
            if cell not in parts or cost < parts[cell][0]:
                parts[cell] = cost, Part(False, low, high, near)
        if open_.stays:
            own = self.scores.model.cell(
                axis.feature.name, self.scores.ends.person.initial[axis.place]
            )
            if own < 0:
                return None
            parts[own] = 0, Part(True, 0, -1, -1)
        ordered = sorted((max(cost - base, 0), cell, part) for cell, (cost, part) in parts.items())
        return [(cost, cell, part) for cost, cell, part in ordered]

    def _cells_of(self, number: int) -> CellCosts | None:
        if number not in self._costs:
            self._costs[number] = self._find_cells(number)
        return self._costs[number]

    def _find_cells(self, number: int) -> CellCosts | None:
        axis, model = self.scores.ends.axes[number], self.scores.model
        feature, weight = axis.feature, self.scores.ends.person.weights[axis.place]
        if isinstance(axis.targets, range) and not axis.trails:
            first, domain = axis.targets.start, feature.domain
            cuts = (domain.first_place_past(exact(each)) - first for each in model.cuts(feature))
            starts = sorted({0, *(each for each in cuts if 0 < each < axis.size)})
        elif axis.size > MOST_LISTED:
            return None
        else:
            starts = list(range(axis.size))
        cells, nearest, costs = [], [], []
        for start, past in zip(starts, [*starts[1:], axis.size], strict=True):
            cell = model.cell(feature.name, axis.ends(start))
            if cell < 0 or model.cell(feature.name, axis.ends(past - 1)) != cell:
                return None
            near = axis.nearest(start, past - 1)
            cells.append(cell)
            nearest.append(near)
            costs.append(0 if near is None else axis.share(near)[0] * weight)
        return CellCosts(tuple(starts), tuple(cells), tuple(nearest), tuple(costs))


MOST_LISTED = 5_000
"""Maximum number of listed positions whose cells are looked up one by one."""
