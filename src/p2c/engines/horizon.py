"""The search for the cheapest way with a proof that none is cheaper, whatever its length.

Without moments, the program leaves open how the end is reached; its least cost is a bound that no way of any length
undercuts, and where it has no answer, there is no way. With n moments it finds the cheapest way that takes at most n in every
component. That one is the answer when one of these holds:

1. it costs no more than the bound;
2. n is the most that any way can take (see `parts`);
3. nothing costs less that begins with n + 1 moments in some component, goes on in whatever way, and spends as much. It need
   not pass a state twice with nothing new spent in between: what lies in between could be left out.

Otherwise n grows. Costs are rounded down (see `scale`). Where that lost something, a cheaper way may hide among those that
cost the same but for rounding, so a second look rules out what is known, as no way that spends the same and more
costs less, and asks for another below the exact cost, until there is none.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from p2c.engines.grounding import Case, Grounding, TimeUp
from p2c.engines.parts import MOST_MOMENTS
from p2c.engines.scale import Scale
from p2c.errors import EngineError

if TYPE_CHECKING:
    from p2c.engines.asker import Asker
    from p2c.engines.grounding import Bound
    from p2c.engines.model import Model
    from p2c.engines.parts import Parts

SAME = Fraction(1, 10**9)
"""Costs closer than this, relatively, are equal (contract §2)."""


CAPACITIES = (0, 2, 4, 8, 16, 32, MOST_MOMENTS + 1)
"""Moments of the programs that are kept: those that a question does not need would only weigh it down."""


@dataclass
class Ladder:
    """The same problem ground for more and more moments, each when first needed."""

    parts: Parts
    _groundings: dict[int, Grounding] = field(default_factory=dict, init=False)

    @cached_property
    def scale(self) -> Scale:
        """Return the units in which costs are told."""
        return Scale(self.parts)

    def rung(self, moments: int) -> Grounding:
        """Return the smallest program that has so many moments."""
        capacity = next(each for each in CAPACITIES if each >= moments)
        known = self._groundings.get(capacity)
        if known is None or known.is_worn:
            known = self._groundings[capacity] = Grounding(self.parts, capacity)
        return known


@dataclass
class Horizon:
    """One person's question, put to the ground programs."""

    ladder: Ladder
    asker: Asker
    deadline: float | None = None
    best: Model | None = field(default=None, init=False)
    lowest: Bound = field(default=(0, 0), init=False)
    """What no way undercuts, as far as it is proved."""

    def __post_init__(self) -> None:
        person = self.asker.dynamics.person
        self._efforts = self.asker.efforts()
        self._weights, self.units, self._exact = self.ladder.scale.weigh(person, self._efforts)
        self._case = Case(frozenset(self.asker.atoms()), self._weights)

    def cheapest(self) -> Model | None:
        """Return the cheapest way, or None if there is none."""
        found = self._within(None)
        if found is None or self._exact:
            return found
        self.lowest = self._rounded(found)
        while found is not None:
            self._case.ruled_out.append(found.spent)
            bound = self._just_below()
            found = None if bound < self.lowest else self._within(bound)
        return self.best

    def _just_below(self) -> Bound:
        """Return the bound that every way keeps that is cheaper than the best one."""
        assert self.best is not None
        factor = self.units / self.asker.dynamics.person.prices.denominator
        return self.best.actions, math.floor(self._exactly(self.best)[1] * (1 - SAME) * factor)

    def _within(self, bound: Bound | None) -> Model | None:
        """Return the cheapest way up to a bound, in the program's units."""
        clocks = any(map(self.asker.parts.moments, self.asker.parts.components))
        free = self._unhindered(bound, real=not clocks)
        if free is None or not clocks:
            return free
        least = self._rounded(free)
        self.lowest = max(self.lowest, least)
        return self._ever_longer(bound, least, max(self._moments(free), 1))

    def _unhindered(self, bound: Bound | None, *, real: bool) -> Model | None:
        """Return what would be cheapest if ways did not count; on a second look, only what could be cheaper."""
        found = self._solve(bound=bound, real=real)
        while found is not None and not real and not self._is_better(found):
            self._case.ruled_out.append(found.spent)
            found = self._solve(bound=bound)
        return found

    def _ever_longer(self, bound: Bound | None, least: Bound, moments: int) -> Model | None:
        most = self.asker.moments()
        best = None
        while True:
            if moments > MOST_MOMENTS:
                raise EngineError(
                    f"clingo: a proof would take more than {MOST_MOMENTS} moments; ask the native engine"
                )
            found = self._solve(moments=moments, bound=bound, real=True)
            if found is not None:
                best = found
                actions, cost = self._rounded(found)
                bound = (actions, cost - 1)
            if moments >= most or (best is not None and self._rounded(best) <= least):
                return best
            if self._solve(longer=moments, bound=bound) is None:
                return best
            moments = min(moments * 2, max(most, moments + 1))

    def _solve(
        self,
        *,
        bound: Bound | None,
        moments: int | None = None,
        longer: int | None = None,
        real: bool = False,
    ) -> Model | None:
        needed = longer + 1 if longer is not None else moments or 0
        try:
            found = self.ladder.rung(needed).solve(
                self._case, moments=moments, longer=longer, bound=bound, deadline=self.deadline
            )
        except TimeUp as up:
            if real and up.model is not None and self._is_better(up.model):
                self.best = up.model
            raise
        if real and found is not None and self._is_better(found):
            self.best = found
        return found

    def _is_better(self, model: Model) -> bool:
        return self.best is None or self._exactly(model) < self._exactly(self.best)

    def _exactly(self, model: Model) -> tuple[int, int]:
        return model.actions, sum(self._efforts[spending] for spending in model.spent)

    def _rounded(self, model: Model) -> Bound:
        return model.actions, sum(self._weights[spending] for spending in model.spent)

    def _moments(self, model: Model) -> int:
        """Return how many moments would be needed to spend as a model does."""
        counts = [0] * len(self.asker.parts.components)
        for index, way in model.spent:
            component = self.asker.parts.component_of(index)
            if component is not None:
                counts[component] += int(way[7:-1]) if way.startswith("length(") else 1
        return min(max(counts) + (1 if self.asker.parts.supported else 0), MOST_MOMENTS)
