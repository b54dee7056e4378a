"""A person's direct actions as options by number, and sets of them: what they cost, and what they leave open."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from p2c.plan.masks import numbers

if TYPE_CHECKING:
    from p2c.plan.dynamics import Dynamics
    from p2c.plan.person import Places
    from p2c.plan.space import Space


class Option(NamedTuple):
    """A direct action from the person's own value."""

    effort: int
    axis: int
    end: int


class Choice(NamedTuple):
    """The effort of a set of options, the options by number, and those that its branch leaves to others."""

    effort: int
    chosen: tuple[int, ...]
    barred: int


@dataclass(frozen=True)
class Options:
    """The options of one person, cheapest first; a set of them is a bit mask by number."""

    dynamics: Dynamics

    @property
    def space(self) -> Space:
        """Return the space that the person is in."""
        return self.dynamics.person.space

    @cached_property
    def listed(self) -> tuple[Option, ...]:
        """Return all options, by number."""
        person = self.dynamics.person
        return tuple(
            sorted(
                Option(person.effort(index, person.places[index], end), index, end)
                for index in self.space.relevant
                for end, _ in self.dynamics.targets(index, person.places[index])
            )
        )

    @cached_property
    def by_axis(self) -> dict[int, int]:
        """Return the options on each feature."""
        found: dict[int, int] = {}
        for number, option in enumerate(self.listed):
            found[option.axis] = found.get(option.axis, 0) | 1 << number
        return found

    @cached_property
    def stirring_mask(self) -> int:
        """Return the options on features that stir others."""
        return sum(mask for axis, mask in self.by_axis.items() if axis in self.space.stirring)

    def stirring_of(self, chosen: tuple[int, ...]) -> tuple[int, ...]:
        """Return those of some options that can set off effects."""
        return tuple(n for n in chosen if self.listed[n].axis in self.space.stirring)

    def calm_of(self, chosen: tuple[int, ...]) -> list[Option]:
        """Return those that cannot."""
        return [self.listed[n] for n in chosen if self.listed[n].axis not in self.space.stirring]

    def open(self, choice: Choice) -> int:
        """Return the options that a choice has left."""
        mask = (1 << len(self.listed)) - 1 & ~choice.barred
        for number in choice.chosen:
            mask &= ~self.by_axis[self.listed[number].axis]
        return mask

    def least(self, mask: int) -> int:
        """Return the effort of the cheapest option of a set."""
        return self.listed[(mask & -mask).bit_length() - 1].effort

    def shares(self, reasons: list[int]) -> list[int]:
        """Return a share of effort for each reason, such that they add up to no more than any way to remedy all.

        Each takes what is left of its cheapest option from all its options: the dual of hitting every set.
        """
        left: dict[int, int] = {}
        found = [0] * len(reasons)
        for place in sorted(
            range(len(reasons)),
            key=lambda place: (-self.least(reasons[place]), reasons[place].bit_count()),
        ):
            members = list(numbers(reasons[place]))
            share = min(left.get(number, self.listed[number].effort) for number in members)
            found[place] = share
            if share:
                for number in members:
                    left[number] = left.get(number, self.listed[number].effort) - share
        return found


def placed(places: Places, options: list[Option]) -> Places:
    """Return a state after some options."""
    changed = list(places)
    for option in options:
        changed[option.axis] = option.end
    return tuple(changed)
