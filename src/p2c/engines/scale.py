"""Costs for a solver that counts in 32 bits.

A person's costs are exact whole numbers of any size. The program gets each as a whole number below 2³¹, rounded down; sums
have 64 bits. So what the program adds up is never more than the exact cost, and mostly it is that: where all costs
are multiples of a common unit that fits, nothing is lost. Where something is, `horizon` takes a second look.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from p2c.domain.spec import Norm
from p2c.plan.compiled.person import grid_measures

if TYPE_CHECKING:
    from p2c.engines.asker import Spending
    from p2c.engines.parts import Parts
    from p2c.plan.compiled.person import Person

MOST = 2**31 - 1


class Weights(NamedTuple):
    """A person's costs in whole numbers, how many of them make up a cost of 1, and whether none was rounded."""

    of: dict[Spending, int]
    units: Fraction
    exact: bool


@dataclass(frozen=True)
class Scale:
    """How many of the program's units make up a cost of 1 (of its square, for `l2`)."""

    parts: Parts

    @cached_property
    def units(self) -> Fraction:
        """Return the units of a cost of 1: exact for everyone on the grid if that fits, else as fine as fits."""
        lines, prices = grid_measures(self.parts.space)
        squared = self.parts.space.theory.norm is Norm.L2
        common = top = 0
        for index in self.parts.space.relevant:
            unit, change = prices.per_unit[index], prices.per_change[index]
            far = lines[index].position(self.parts.space.axes[index].size - 1)
            if index in self.parts.longest:
                far = self.parts.longest[index]
            price = change if prices.flat[index] else unit
            dearest = price * (far * far if squared else far)
            if prices.flat[index] and index not in self.parts.longest:
                dearest = change
            common = math.gcd(common, price, change)
            top = max(top, dearest, change)
        if not top:
            return Fraction(1)
        if top <= MOST * common:
            return Fraction(prices.denominator, common)
        return Fraction(MOST * prices.denominator, top)

    def weigh(self, person: Person, efforts: dict[Spending, int]) -> Weights:
        """Return the costs in units of the problem, which others share, or where that is not exact, of the person."""
        shared = self._in_units(person, efforts, self.units)
        if shared.exact:
            return shared
        common = math.gcd(*efforts.values()) or 1
        if max(efforts.values()) > MOST * common:
            return shared
        return self._in_units(person, efforts, Fraction(person.prices.denominator, common))

    def _in_units(self, person: Person, efforts: dict[Spending, int], units: Fraction) -> Weights:
        factor = units / person.prices.denominator
        found = {}
        exact = True
        for spending, effort in efforts.items():
            weight = effort * factor
            found[spending] = min(math.floor(weight), MOST)
            exact = exact and found[spending] == weight
        return Weights(found, units, exact)
