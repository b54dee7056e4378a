"""What is known of one person, for a program that is ground for everyone: atoms that are true, and what changes cost."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from p2c.domain.feature import Action
from p2c.domain.spec import Norm
from p2c.engines.feature_facts import end_slots, ranked
from p2c.engines.slots import OWN, Seats, Shape
from p2c.plan.compiled.axis import OFF

if TYPE_CHECKING:
    from collections.abc import Iterator

    from p2c.engines.parts import Parts
    from p2c.engines.slots import Layout
    from p2c.plan.compiled.transitions import Transitions
    from p2c.rules.theory import Test

Spending = tuple[int, str]
"""A feature, and how it is changed: `change(own,at(3))`, or for one with moves, `length(2)` in all."""


@dataclass(frozen=True)
class Asker:
    """A person, as the program sees them."""

    parts: Parts
    dynamics: Transitions
    tests: dict[Test, int]

    @cached_property
    def seats(self) -> dict[int, Seats]:
        """Return where the person's places fall among the slots."""
        return {i: Seats(layout, self.dynamics) for i, layout in self.parts.layouts.items()}

    @cached_property
    def changes(self) -> dict[int, dict[tuple[str, str], tuple[int, int]]]:
        """Return the direct actions that are open: for each feature, from slot to slot, from place to place."""
        return {
            index: dict(self._changes(layout))
            for index, layout in self.parts.layouts.items()
            if layout.settable and layout.shape is not Shape.PLACES
        }

    def _changes(self, layout: Layout) -> Iterator[tuple[tuple[str, str], tuple[int, int]]]:
        seats = self.seats[layout.index]
        for slot in dict.fromkeys(start for start, _ in layout.pairs):
            start = seats.place(slot)
            if start is None or (slot == OWN and seats.slot(start) != OWN):
                continue
            for end, _ in self.dynamics.targets(layout.index, start):
                yield (slot, seats.slot(end)), (start, end)

    def atoms(self) -> Iterator[str]:
        """Yield what is true of the person."""
        for index, layout in self.parts.layouts.items():
            seats = self.seats[index]
            yield f"start({index},{seats.slot(seats.own)})"
            if layout.shape is not Shape.PLACES:
                yield from _homes(seats)
            if seats.own == OFF:
                yield from self._off(layout)
        for index, open_ones in self.changes.items():
            yield from (f"may({index},{start},{end})" for start, end in open_ones)

    def _off(self, layout: Layout) -> Iterator[str]:
        """Yield what rules see of a value that has no place, and where effects would carry it."""
        index, person = layout.index, self.dynamics.person
        value = person.values[index]
        name = layout.axis.feature.name
        for test, number in self.tests.items():
            if test.feature == name and layout.axis.off_passes(test, value):
                yield f"passes({number},off)"
        _, headed = person.space.off_masks(index, value)
        for rule in self.parts.causes(index):
            if headed >> rule & 1:
                yield f"head({rule},off)"
        if layout.shape is Shape.ENDS and layout.axis.feature.action is not Action.FIXED:
            for slot, rank in self._off_ranks(layout).items():
                yield f"far({index},off,{slot},{rank})"

    def _off_ranks(self, layout: Layout) -> dict[str, int]:
        index, dynamics = layout.index, self.dynamics
        if dynamics.person.missing(index, OFF):
            return dict.fromkeys(layout.placed, 1)
        here = dynamics.position(index, OFF)
        past = dynamics.first_from(index, range(layout.axis.size), here)
        slots = end_slots(layout, below=past - 1, above=past)
        return ranked({s: abs(dynamics.position(index, layout.end(s)) - here) for s in slots})

    def efforts(self) -> dict[Spending, int]:
        """Return the cost of every way to change a feature, in whole numbers of the person's own scale."""
        person = self.dynamics.person
        found: dict[Spending, int] = {}
        for index, open_ones in self.changes.items():
            for (slot, end_slot), (start, end) in open_ones.items():
                effort = person.effort(index, start, end) - person.prices.per_action
                found[index, f"change({slot},{end_slot})"] = effort // person.prices.per_cost
        for index, longest in self.parts.longest.items():
            for length in range(1, longest + 1):
                found[index, f"length({length})"] = self._moved(index, length)
        return found

    def _moved(self, index: int, length: int) -> int:
        prices = self.dynamics.person.prices
        price = prices.per_change[index] if prices.flat[index] else prices.per_unit[index]
        squared = self.parts.space.theory.norm is Norm.L2
        return price * (length * length if squared else length)

    def moments(self) -> int:
        """Return how many moments a path of this person takes at most in one component."""
        return max(map(self._moments, range(len(self.parts.components))), default=0)

    def _moments(self, number: int) -> int:
        component = self.parts.components[number]
        idle = [
            i
            for i in component.members
            if i in self.changes
            and not self.changes[i]
            and not self.parts.layouts[i].axis.feature.governed
        ]
        return self.parts.moments(component) - len(idle)


def _homes(seats: Seats) -> Iterator[str]:
    """Yield where the person's own slots lie, and which slots they have no place for."""
    layout = seats.layout
    index = layout.index
    if seats.slot(seats.own) == OWN:
        yield f"home({index},own,{'off' if seats.home is None else seats.home})"
    for place, slot in seats.neighbours.items():
        yield f"home({index},{slot},{layout.region(place)})"
    at_home = f"at({seats.home})"
    if at_home in layout.placed and seats.place(at_home) is None:
        yield f"barred({index},{at_home})"
