"""Best-first branch and bound over boxes of action sets, then over orders.

A box says of each axis whether its feature may stay and which positions are open. Its key is what no path of any of its
action sets can beat. Boxes, orders and paths wait in one queue, so the first path that leaves it is the best plan, and an
empty queue proves that there is no other.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from p2c._plan.boxes.axis import Open, axes_of
from p2c._plan.boxes.ends import Ends
from p2c._plan.boxes.orders import Arrival, Key, Node, Orders
from p2c._plan.boxes.scores import Scores, parsed_model
from p2c._plan.search.best_first import LimitReached

if TYPE_CHECKING:
    from collections.abc import Iterator

    from p2c._plan.boxes.axis import Axis
    from p2c._plan.boxes.orders import Act
    from p2c._plan.boxes.person import Person, State
    from p2c._plan.search.best_first import Limits

Box = tuple[Open, ...]
"""The open part of each axis."""


class Walk(NamedTuple):
    """A node of the orders of a set, with the path to it."""

    orders: Orders
    node: Node
    acts: tuple[Act, ...]


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
        self.axes = axes_of(self.person)
        self.ends = Ends(self.person, self.axes)
        model = parsed_model(self.person.theory)
        self.scores = None if model is None else Scores(self.ends, model)
        self._relevant = relevant_axes(self.person, self.axes)

    @property
    def root(self) -> Box:
        """Return the box of all action sets."""
        return tuple(Open(True, 0, axis.size - 1) for axis in self.axes)

    def is_open(self) -> bool:
        """Tell whether the propagators leave anything of the box of all action sets."""
        return self._narrow(self.root) is not None

    def arrivals(self) -> Iterator[Arrival]:
        """Yield the paths to distinct end states, in the contract's order.

        Raises:
            Stopped: A limit was reached.
        """
        self._add_box(self.root)
        ended: set[State] = set()
        while self._queue:
            key, _, item = heapq.heappop(self._queue)
            try:
                self.limits.check()
            except LimitReached:
                waiting = [item, *(each for _, _, each in self._queue)]
                known = [each for each in waiting if isinstance(each, Arrival)]
                best = min(known, key=lambda each: each.key, default=None)
                raise Stopped(key, best) from None
            match item:
                case Arrival():
                    if item.state not in ended:
                        ended.add(item.state)
                        yield item
                    continue
                case Walk(orders, node, acts):
                    if node not in orders.passed:
                        orders.passed.add(node)
                        for following, longer in orders.follow(node, acts):
                            self._add_walk(Walk(orders, following, longer))
                case _:
                    self._divide(item)
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

    def _add_box(self, box: Box) -> None:
        """Narrow a box and add it to the queue, or its orders where it is a single set."""
        narrow = self._narrow(box)
        if narrow is None:
            return
        box, key = narrow, self.bound(narrow)
        if key is None:
            return
        if all(each.is_single for each in box):
            chosen = tuple(
                (axis, each.low) for axis, each in zip(self.axes, box, strict=True) if each.acts
            )
            orders = Orders(self.person, chosen, self.lasting)
            _, node, acts = orders.start()
            self._push(max(key, orders.key(node, acts)), Walk(orders, node, acts))
        else:
            self._push(key, box)

    def _narrow(self, box: Box) -> Box | None:
        """Return a box; None if no end state of it is consistent and meets the goal."""
        ranges = self.ends.ranges(box)
        if ranges is None:
            return None
        refused = self.scores is not None and self.scores.surely_refuses(ranges)
        return None if self.ends.closes(box, ranges, False if refused else None) else box

    def bound(self, box: Box) -> Key | None:
        """Return a bound on the paths of a box; None if an axis can do nothing.

        Sound because every action set of the box takes, of each axis that may not stay, one position, and costs add up or
        their largest counts; a position costs at least what `Axis.least` says.
        """
        shares, way, direct = [], 0, 0
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
        cost = int(self.person.theory.norm.total(shares))
        first, second = (direct, cost) if self.person.counts_first else (cost, direct)
        return Key(first, second, direct, way)

    def _divide(self, box: Box) -> None:
        """Add the parts of a box: with and without an action, or the halves of an axis."""
        for place in self._relevant:
            open_ = box[place]
            if open_.stays and open_.acts:
                self._add_box(_with(box, place, Open(True, 0, -1)))
                self._add_box(_with(box, place, open_._replace(stays=False)))
                return
        for place in sorted(self._relevant, key=lambda each: box[each].low - box[each].high):
            open_ = box[place]
            if open_.low < open_.high:
                middle = self._middle(self.axes[place], open_)
                self._add_box(_with(box, place, open_._replace(high=middle)))
                self._add_box(_with(box, place, open_._replace(low=middle + 1)))
                return
        raise AssertionError("a box that is not single has something to divide")

    def _middle(self, axis: Axis, open_: Open) -> int:
        return (open_.low + open_.high) // 2


def relevant_axes(person: Person, axes: tuple[Axis, ...]) -> tuple[int, ...]:
    """Return the axes in the order of division, consulted ones first."""
    read = set(person.theory.consulted)
    for name in tuple(read):
        read |= person.theory.upstream[name]
    numbers = range(len(axes))
    return tuple(sorted(numbers, key=lambda n: axes[n].feature.name not in read))


def _with(box: Box, place: int, open_: Open) -> Box:
    return (*box[:place], open_, *box[place + 1 :])
