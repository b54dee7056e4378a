"""Best-first branch and bound over boxes of action sets, then over orders.

A box says of each axis whether its feature may stay and which positions are open. Its key is what no path of any of its
action sets can beat. Boxes, orders and paths wait in one queue, so the first path that leaves it is the best plan, and an
empty queue proves that there is no other.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from p2c._plan.boxes.axis import Axis, Open, axes_of, named_axes_of
from p2c._plan.boxes.ends import Ends
from p2c._plan.boxes.links import links_of, narrowed
from p2c._plan.boxes.orders import Arrival, Key, Node, Orders
from p2c._plan.boxes.scores import CheapestScores, Part, Point, Scores, parsed_model
from p2c._plan.search.best_first import LimitReached
from p2c._spec.resources import COST

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from fractions import Fraction

    from p2c._plan.boxes.axis import NamedAxis
    from p2c._plan.boxes.links import Cells, Link
    from p2c._plan.boxes.orders import Act
    from p2c._plan.boxes.person import Person, State
    from p2c._plan.search.best_first import Limits
    from p2c._rules.theory import ParsedModel, Theory

NARROWINGS = 3
"""How often the cells of computed features narrow a box."""

Box = tuple[Open, ...]
"""The open part of each axis."""


class Walk(NamedTuple):
    """A node of the orders of a set, with the path to it."""

    orders: Orders
    node: Node
    acts: tuple[Act, ...]


class Area(NamedTuple):
    """A box, and the open cells of each computed feature that the model reads."""

    box: Box
    cells: tuple[Cells, ...]


class Dear(NamedTuple):
    """An area with the cheapest point that the model may accept in it."""

    area: Area
    point: Point


class Stopped(LimitReached):
    """A limit ended the search; carries its bound and the best path so far."""

    def __init__(self, key: Key, arrival: Arrival | None) -> None:
        super().__init__(0, None)
        self.key = key
        self.arrival = arrival


@dataclass
class Search:
    """The search of one person's paths.

    Attributes:
        person: Who asks.
        limits: What the caller allows.
        lasting: See `Orders`.
    """

    person: Person
    limits: Limits
    lasting: bool = False
    _queue: list[tuple[Key, int, Any]] = field(default_factory=list)
    _pushed: int = 0

    def __post_init__(self) -> None:
        axes, named = axes_of(self.person), named_axes_of(self.person)
        self.axes: tuple[Axis | NamedAxis, ...] = (*axes, *named)
        self.ends = Ends(self.person, axes, named)
        model = parsed_model(self.person.theory)
        self.scores = None if model is None else Scores(self.ends, model)
        self.cheapest: CheapestScores | None = None
        self.links: tuple[Link, ...] = ()
        theory = self.person.theory
        if self.scores is not None and model is not None and self._prices_model(theory, model):
            self.cheapest = CheapestScores(self.scores)
            self.links = links_of(self.ends, model)
        self._relevant = relevant_axes(self.person, self.axes)
        above = [self.person.theory.upstream[each.name] for each in theory.computed]
        read = frozenset().union(*above)
        self._inputs = tuple(n for n, a in enumerate(axes) if a.name in read)

    @property
    def root(self) -> Box:
        """Return the box of all action sets."""
        return tuple(Open(True, 0, axis.size - 1) for axis in self.axes)

    def is_open(self) -> bool:
        """Tell whether the propagators leave anything of the box of all action sets."""
        return self._narrow(self._whole) is not None

    def arrivals(self) -> Iterator[Arrival]:
        """Yield the paths to distinct end states, in the contract's order.

        Raises:
            Stopped: A limit was reached.
        """
        ended: set[State] = set()
        for arrival in self._arrivals(lambda _: False):
            end = self.person.end_of(arrival.state)
            if end not in ended:
                ended.add(end)
                yield arrival

    def front(self, count: int) -> Iterator[Arrival]:
        """Yield a path for each Pareto-optimal vector of objectives, ascending.

        Sound because paths come in the order of their vectors, so a path that is at least as good in every objective comes
        first, and the key of a search node bounds each objective of its paths on its own.

        Args:
            count: The number of objectives of a vector.

        Raises:
            Stopped: A limit was reached.
        """
        kept: list[tuple[int | Fraction, ...]] = []

        def is_beaten(key: Key) -> bool:
            pairs = (zip(each, key.objectives[:count], strict=True) for each in kept)
            return any(all(one <= other for one, other in each) for each in pairs)

        for arrival in self._arrivals(is_beaten):
            kept.append(arrival.key.objectives[:count])
            yield arrival

    def _arrivals(self, is_beaten: Callable[[Key], bool]) -> Iterator[Arrival]:
        """Yield paths in the contract's order, aside from nodes that are beaten."""
        self._add(self._whole if self.scores else self._shaved())
        while self._queue:
            key, _, item = heapq.heappop(self._queue)
            if is_beaten(key):
                continue
            try:
                self.limits.check()
            except LimitReached:
                waiting = [item, *(each for _, _, each in self._queue)]
                known = [each for each in waiting if isinstance(each, Arrival)]
                best = min(known, key=lambda each: each.key, default=None)
                raise Stopped(key, best) from None
            match item:
                case Arrival():
                    yield item
                    continue
                case Walk(orders, node, acts):
                    if node not in orders.passed:
                        orders.passed.add(node)
                        for following, longer in orders.follow(node, acts):
                            self._add_walk(Walk(orders, following, longer))
                case Dear(area, point):
                    self._divide_at(key, area, point)
                case Area():
                    self._open(key, item)
            self.limits.expanded += 1

    def _push(self, key: Key, item: Any) -> None:
        self._pushed += 1
        heapq.heappush(self._queue, (key, self._pushed, item))

    def _add_walk(self, walk: Walk) -> None:
        key = walk.orders.key(walk.node, walk.acts)
        if walk.orders.is_arrival(walk.node):
            self._push(key, Arrival(key, walk.node.state, walk.acts))
        else:
            self._push(key, walk)

    @property
    def _whole(self) -> Area:
        """Return the area of all action sets."""
        return Area(self.root, tuple(each.cells for each in self.links))

    def _shaved(self) -> Area:
        """Return the area of all action sets without closed ends of axes.

        Sound because every part that is left out holds no plan, whatever the other axes do.
        """
        area = self._whole
        for place in self._relevant:
            stays, low, high = area.box[place]
            stays = stays and not self._is_closed(area, place, Open(True, 0, -1))
            first = partial(self._is_closed_to, area, place, low, 1)
            low += _largest(high - low + 1, first)
            last = partial(self._is_closed_to, area, place, high, -1)
            high -= _largest(high - low + 1, last)
            if low > high and not stays:
                return area
            area = area._replace(box=_with(area.box, place, Open(stays, low, high)))
        return area

    def _is_closed_to(self, area: Area, place: int, end: int, way: int, count: int) -> bool:
        """Tell whether positions from an end of an axis hold no plan."""
        other = end + way * (count - 1)
        return self._is_closed(area, place, Open(False, min(end, other), max(end, other)))

    def _is_closed(self, area: Area, place: int, open_: Open) -> bool:
        """Tell whether a part of an area holds no plan."""
        return self._narrow(area._replace(box=_with(area.box, place, open_))) is None

    def _open(self, key: Key, area: Area) -> None:
        """Divide an area, or wait where the model makes it dearer than its key."""
        box = area.box
        ranges = self.ends.ranges(box)
        if ranges is None:
            return
        names = (link.feature.name for link in self.links)
        within = dict(zip(names, area.cells, strict=True))
        point = self.cheapest.cheapest(box, ranges, within) if self.cheapest else None
        if point is False:
            return
        if not isinstance(point, Point):
            self._divide(area, key)
            return
        own = self.bound(box)
        assert own is not None
        cost, *rest = own.objectives
        dearer = max(key, own._replace(objectives=(cost + point.cost, *rest)))
        if dearer > key:
            self._push(dearer, Dear(area, point))
        else:
            self._divide_at(key, area, point)

    def _divide_at(self, key: Key, area: Area, point: Point) -> None:
        """Divide an area into the part of a point and the parts that differ.

        Computed features come first: their cells narrow the actions that they follow from.
        """
        for place, link in enumerate(self.links):
            low, high = area.cells[place]
            at = point.cells[link.feature.name]
            if low < high:
                for part in ((low, at - 1), (at, at), (at + 1, high)):
                    if part[0] <= part[1]:
                        cells = (*area.cells[:place], part, *area.cells[place + 1 :])
                        self._add(Area(area.box, cells), key)
                return
        if self.links and self._divide_inputs(key, area, point):
            return
        core = list(area.box)
        for place, open_ in enumerate(area.box):
            choice = point.parts.get(place)
            if open_.is_single or (choice is None and not open_.stays):
                continue
            for other in _without(open_, choice):
                core[place] = other
                self._add(Area(tuple(core), area.cells), key)
            core[place] = _within(choice)
        self._divide_core(key, Area(tuple(core), area.cells), point)

    def _divide_inputs(self, key: Key, area: Area, point: Point) -> bool:
        """Divide the inputs of equations at a point, until its computed cells follow.

        So what the equations exclude is excluded once for all choices of the other axes.

        Returns:
            False if the point's inputs lead to the cells of the area.
        """
        state = self.person.initial
        for place in self._inputs:
            open_, choice = area.box[place], point.parts.get(place)
            others = _without(open_, choice) if choice is not None and not open_.is_single else []
            if others:
                assert choice is not None
                for part in (*others, _within(choice)):
                    self._add(area._replace(box=_with(area.box, place, part)), key)
                return True
            axis = self.axes[place]
            assert isinstance(axis, Axis)
            if not open_.stays:
                at = open_.low if choice is None else choice.nearest
                state = self.person.after(state, axis.place, axis.ends(at))
        named = self.person.named(state)
        assert self.scores is not None
        for link, (low, high) in zip(self.links, area.cells, strict=True):
            name = link.feature.name
            if not low <= self.scores.model.cell(name, named[name]) <= high:
                if not any(area.box[place].low < area.box[place].high for place in self._inputs):
                    return False
                self._halve_input(area, key)
                return True
        return False

    def _divide_core(self, key: Key, area: Area, point: Point) -> None:
        """Divide the part of a point at its nearest positions, or in halves."""
        core = area.box
        nearest = {p: part.nearest for p, part in point.parts.items() if not part.stays}
        wide = [p for p, open_ in enumerate(core) if not open_.is_single]
        if not wide:
            self._add(area, key)
        elif all(p in nearest for p in wide) and self._is_final(core, nearest):
            rest = list(core)
            for place in wide:
                at, open_ = nearest[place], core[place]
                for other in (open_._replace(high=at - 1), open_._replace(low=at + 1)):
                    if other.acts:
                        rest[place] = other
                        self._add(Area(tuple(rest), area.cells), key)
                rest[place] = open_._replace(low=at, high=at)
            self._add(Area(tuple(rest), area.cells), key)
        else:
            self._halve_input(area, key)

    def _halve_input(self, area: Area, key: Key) -> None:
        """Divide the widest axis that an equation reads, else any."""
        core = area.box
        inputs = [p for p in self._inputs if core[p].low < core[p].high]
        if not inputs:
            self._divide(area, key)
            return
        place = max(inputs, key=lambda each: core[each].high - core[each].low)
        middle = (core[place].low + core[place].high) // 2
        for half in (core[place]._replace(high=middle), core[place]._replace(low=middle + 1)):
            self._add(area._replace(box=_with(core, place, half)), key)

    def _is_final(self, box: Box, nearest: dict[int, int]) -> bool:
        """Tell whether the nearest positions of a box, taken at once, lead to the goal."""
        state = self.person.initial
        for place, open_ in enumerate(box):
            if open_.acts:
                axis = self.ends.axes[place]
                position = nearest.get(place, open_.low)
                state = self.person.after(state, axis.place, axis.ends(position))
        return self.person.judge(state).final

    def _add(self, area: Area, above: Key | None = None) -> None:
        """Add an area to the queue, or its orders, unless it holds no plan.

        Args:
            area: The area.
            above: A bound on the paths of an area that contains it.
        """
        box = self._narrow(area)
        if box is None:
            return
        key = self.bound(box)
        if key is None:
            return
        if above is not None:
            key = max(key, above)
        if all(each.is_single for each in box):
            chosen = tuple(
                (axis, each.low) for axis, each in zip(self.axes, box, strict=True) if each.acts
            )
            orders = Orders(self.person, chosen, self.lasting)
            own, node, acts = orders.start()
            self._push(max(key, own), Walk(orders, node, acts))
        else:
            self._push(key, Area(box, area.cells))

    def _narrow(self, area: Area) -> Box | None:
        """Return a narrower box; None if no end state meets the goal."""
        box = area.box
        ranges = self.ends.ranges(box)
        for _ in range(NARROWINGS):
            if ranges is None:
                return None
            smaller = narrowed(self.ends, self.links, box, area.cells, ranges)
            if smaller is None:
                return None
            if smaller == box:
                break
            box, ranges = smaller, self.ends.ranges(smaller)
        if ranges is None:
            return None
        refused = self.scores is not None and self.scores.surely_refuses(ranges)
        return None if self.ends.closes(box, ranges, False if refused else None) else box

    @staticmethod
    def _prices_model(theory: Theory, model: ParsedModel) -> bool:
        """Tell whether the cheapest accepted cells bound the cost of every plan."""
        additive = not theory.norm.largest and theory.objectives[0] == COST
        plain = additive and not theory.named_actions
        return plain and theory.wants_yes and not model.lined and model.is_compiled

    def bound(self, box: Box) -> Key | None:
        """Return a bound on the paths of a box.

        Sound because every action set of the box takes, of each axis that may not stay, one position, and costs add up or
        their largest counts; a position costs at least what `Axis.least` says. Resources only grow.

        Returns:
            None if an axis can do nothing, or a limit is exceeded.
        """
        shares: list[int | Fraction] = []
        way: int | Fraction = 0
        direct = repeats = 0
        totals = self.person.amounts({})
        for axis, open_ in zip(self.axes, box, strict=True):
            if open_.stays:
                continue
            least = axis.least(open_.low, open_.high)
            if least is None:
                return None
            weight = self.person.weights[axis.place]
            share, far, count = least
            shares.append(weight * share)
            way += weight * far
            direct += count
            repeats += axis.repeats(open_.low)
            if totals:
                least_used = axis.least_used(open_.low, open_.high)
                totals = tuple(a + b for a, b in zip(totals, least_used, strict=True))
        most = self.person.theory.max_actions
        if self.person.exceeds(totals) or (most is not None and direct > most):
            return None
        cost = self.person.total(shares, totals)
        return Key(self.person.objectives(cost, direct, totals), direct, direct, repeats, way)

    def _divide(self, area: Area, above: Key) -> None:
        """Add the parts of an area: with and without an action, or the halves of an axis."""
        box = area.box
        for place in self._relevant:
            open_ = box[place]
            if open_.stays and open_.acts:
                self._add_part(area, place, Open(True, 0, -1), above)
                self._add_part(area, place, open_._replace(stays=False), above)
                return
        for place in sorted(self._relevant, key=lambda each: box[each].low - box[each].high):
            open_ = box[place]
            if open_.low < open_.high:
                middle = (open_.low + open_.high) // 2
                self._add_part(area, place, open_._replace(high=middle), above)
                self._add_part(area, place, open_._replace(low=middle + 1), above)
                return
        raise AssertionError("a box that is not single has something to divide")

    def _add_part(self, area: Area, place: int, open_: Open, above: Key) -> None:
        self._add(area._replace(box=_with(area.box, place, open_)), above)


def _largest(most: int, holds: Callable[[int], bool]) -> int:
    """Return the largest number that passes a monotone test; 0 if none does."""
    low = 0
    while low < most:
        middle = (low + most + 1) // 2
        if holds(middle):
            low = middle
        else:
            most = middle - 1
    return low


def _within(part: Part | None) -> Open:
    """Return the open part of an axis that is the choice of a point."""
    if part is None or part.stays:
        return Open(True, 0, -1)
    return Open(False, part.low, part.high)


def _without(open_: Open, part: Part | None) -> list[Open]:
    """Return the open parts of an axis that differ from the choice of a point."""
    if part is None or part.stays:
        return [open_._replace(stays=False)] if open_.acts else []
    others = [Open(True, 0, -1)] if open_.stays else []
    others += [open_._replace(stays=False, high=part.low - 1)]
    others += [open_._replace(stays=False, low=part.high + 1)]
    return [each for each in others if each.stays or each.acts]


def relevant_axes(person: Person, axes: tuple[Axis | NamedAxis, ...]) -> tuple[int, ...]:
    """Return the axes in the order of division, consulted features first."""
    read = set(person.theory.consulted)
    for name in tuple(read):
        read |= person.theory.upstream[name]
    numbers = range(len(axes))
    return tuple(sorted(numbers, key=lambda n: not read.intersection(axes[n].moving)))


def _with(box: Box, place: int, open_: Open) -> Box:
    return (*box[:place], open_, *box[place + 1 :])
