"""Slots: the few places of a feature that a plan can come to, named without knowing the person (see `plan.lp`).

The native planner offers, for each region, the one place that costs least from where a feature stands. Which place that
is depends on the person, but which slots there are does not, so a program over slots is ground once and asked for many.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING

from p2c.plan.compiled.axis import OFF

if TYPE_CHECKING:
    from collections.abc import Sequence

    from p2c.plan.compiled.axis import Axis
    from p2c.plan.compiled.transitions import Transitions

OWN, ABOVE, BELOW = "own", "above", "below"


class Shape(Enum):
    """How the places of a feature are told apart."""

    ANY = "any"
    """By region only: categories, and numbers that nothing but one direct action changes."""
    ENDS = "ends"
    """By region and end: ordered features that effects carry to the nearest end of a region."""
    PLACES = "places"
    """Each on its own: features with moves."""


@dataclass(frozen=True)
class Layout:
    """The slots of one feature."""

    index: int
    axis: Axis
    heads: tuple[int, ...]
    """For each cell, the causal rules whose heads hold its values."""
    settable: bool
    lost: bool
    """Whether the feature may be missing, so that effects may carry it into the middle of what rules allow."""

    @cached_property
    def shape(self) -> Shape:
        """Return how places are told apart."""
        feature = self.axis.feature
        if feature.moves_from is not None:
            return Shape.PLACES
        return Shape.ENDS if feature.governed and self.axis.ordered else Shape.ANY

    @cached_property
    def regions(self) -> tuple[Sequence[int], ...]:
        """Return the regions, single places where there are moves."""
        if self.shape is Shape.PLACES:
            return tuple((place,) for place in range(self.axis.size))
        return self.axis.regions

    def region(self, place: int) -> int:
        """Return the number of the region of a place on the grid."""
        return next(number for number, region in enumerate(self.regions) if place in region)

    @cached_property
    def changes(self) -> bool:
        """Tell whether anything can change the feature."""
        return self.settable or self.axis.feature.governed

    @cached_property
    def placed(self) -> dict[str, int]:
        """Return the region of each slot that is the same for everyone."""
        numbers = range(len(self.regions)) if self.changes else range(0)
        match self.shape:
            case Shape.PLACES:
                return {f"place({number})": number for number in range(len(self.regions))}
            case Shape.ANY:
                return {f"at({number})": number for number in numbers}
            case Shape.ENDS:
                low = {f"lo({n})": n for n in numbers if self.lost or self._matters(n - 1, n)}
                high = {f"hi({n})": n for n in numbers if self._matters(n, n + 1)}
                return low | {s: n for s, n in high.items() if not self._is_single(n, low)}

    def _is_single(self, number: int, low: dict[str, int]) -> bool:
        return len(self.regions[number]) == 1 and f"lo({number})" in low

    def _matters(self, number: int, following: int) -> bool:
        """Tell whether direct actions or effects stop at the border of two regions."""
        if self.settable:
            return True
        if number < 0 or following >= len(self.regions):
            return False
        one, other = self.regions[number][0], self.regions[following][0]
        return self.heads[self.axis.cell(one)] != self.heads[self.axis.cell(other)]

    def low(self, number: int) -> str:
        """Return the slot at the low end of a region."""
        return f"lo({number})" if f"lo({number})" in self.placed else self._same(number, "hi")

    def high(self, number: int) -> str:
        """Return the slot at the high end of a region."""
        return f"hi({number})" if f"hi({number})" in self.placed else self._same(number, "lo")

    def _same(self, number: int, end: str) -> str:
        """Return the slot at the other end where both are one place; nothing if no one comes there."""
        slot = f"{end}({number})"
        return slot if len(self.regions[number]) == 1 and slot in self.placed else ""

    @cached_property
    def personal(self) -> tuple[str, ...]:
        """Return the slots whose region depends on the person."""
        if self.shape is Shape.ENDS and self.settable:
            return (OWN, ABOVE, BELOW)
        return (OWN,)

    @cached_property
    def slots(self) -> tuple[str, ...]:
        """Return all slots."""
        return (*self.placed, *self.personal)

    def end(self, slot: str) -> int:
        """Return the place of a slot that is the end of a region, or a place of its own."""
        region = self.regions[self.placed[slot]]
        return region[-1] if slot.startswith("hi") else region[0]

    @cached_property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """Return the changes by direct actions that may be open to someone."""
        if not self.settable:
            return ()
        starts = [slot for slot in self.slots if slot not in (ABOVE, BELOW)]
        if self.shape is Shape.ANY and not self.axis.feature.governed:
            starts = [OWN]
        return tuple((start, end) for start in starts for end in self.slots if start != end)


@dataclass(frozen=True)
class Seats:
    """Where one person's places fall among the slots of a feature."""

    layout: Layout
    dynamics: Transitions

    @cached_property
    def own(self) -> int:
        """Return the person's own place."""
        return self.dynamics.person.places[self.layout.index]

    @cached_property
    def apart(self) -> bool:
        """Tell whether the own value, not just its region, keeps an exception alive."""
        return self.layout.index in self.dynamics.own_matters

    @cached_property
    def neighbours(self) -> dict[int, str]:
        """Return the places next to the person's own, where no end of a region has that place."""
        layout = self.layout
        if ABOVE not in layout.personal or self.dynamics.person.missing(layout.index, self.own):
            return {}
        if self.own != OFF:
            sides = {self.own + 1: ABOVE, self.own - 1: BELOW}
            home = layout.regions[layout.region(self.own)]
            return {p: s for p, s in sides.items() if p in home and p not in (home[0], home[-1])}
        here = self.dynamics.position(layout.index, OFF)
        past = self.dynamics.first_from(layout.index, range(layout.axis.size), here)
        found = {past: ABOVE, past - 1: BELOW}
        return {p: s for p, s in found.items() if 0 <= p < layout.axis.size and not self._is_end(p)}

    def _is_end(self, place: int) -> bool:
        region = self.layout.regions[self.layout.region(place)]
        return place in (region[0], region[-1])

    def slot(self, place: int) -> str:
        """Return the slot of a place; nothing for one that a plan need not come to."""
        layout = self.layout
        if place == OFF:
            return OWN
        number = layout.region(place)
        match layout.shape:
            case Shape.PLACES:
                return f"place({place})"
            case Shape.ANY:
                at_home = place == self.own or (not self.apart and self.home == number)
                return OWN if at_home else f"at({number})"
            case Shape.ENDS:
                region = layout.regions[number]
                low = layout.low(number) if place == region[0] else ""
                high = layout.high(number) if place == region[-1] else ""
                own = OWN if place == self.own else ""
                return low or high or own or self.neighbours.get(place, "")

    @cached_property
    def home(self) -> int | None:
        """Return the region of the person's own value, or None where it has no place."""
        return None if self.own == OFF else self.layout.region(self.own)

    def place(self, slot: str) -> int | None:
        """Return a place of a slot from which direct actions start, or None where the person has none."""
        if slot == OWN:
            return self.own
        if self.layout.shape is not Shape.ANY:
            return self.layout.end(slot)
        region = self.layout.regions[self.layout.placed[slot]]
        if not self.apart and self.own in region:
            return None
        return next((place for place in region if place != self.own), None)
