"""All states in which a set of direct actions can end, over all orders and outcomes."""

from __future__ import annotations

from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

from p2c.plan.search.options import placed

if TYPE_CHECKING:
    from p2c.plan.compiled.person import Places
    from p2c.plan.search.best_first import Limits
    from p2c.plan.search.options import Options


@dataclass(frozen=True)
class Ends:
    """The ends of one person's choices, remembered."""

    options: Options
    restless: list[Places] = field(default_factory=list)
    """States from which effects may go round without end; empty but for odd cycles of causal rules."""
    _rests: dict[tuple[int, ...], tuple[Places, ...]] = field(default_factory=dict)
    _settled: dict[Places, tuple[Places, ...]] = field(default_factory=dict)

    def of(self, chosen: tuple[int, ...], limits: Limits) -> tuple[Places, ...]:
        """Return the states in which doing all chosen options can end."""
        known = self.rests(self.options.stirring_of(chosen), limits)
        calm = self.options.calm_of(chosen)
        return tuple(placed(places, calm) for places in known) if calm else known

    def rests(self, chosen: tuple[int, ...], limits: Limits) -> tuple[Places, ...]:
        """Return the states at rest after these options: each of them last, after all orders of the others."""
        if not chosen:
            return (self.options.transitions.person.places,)
        known = self._rests.get(chosen)
        if known is None:
            limits.check()
            found: dict[Places, None] = {}
            for position, number in enumerate(chosen):
                axis = self.options.listed[number].axis
                for before in self.rests(chosen[:position] + chosen[position + 1 :], limits):
                    for place, _ in self.options.targets(number, before):
                        after = (*before[:axis], place, *before[axis + 1 :])
                        found |= dict.fromkeys(self.settled(after))
            known = self._rests[chosen] = tuple(found)
        return known

    def settled(self, places: Places) -> tuple[Places, ...]:
        """Return the states in which effects come to rest, all outcomes considered."""
        known = self._settled.get(places)
        if known is None:
            known = self._settled[places] = self._settle(places)
        return known

    def _settle(self, places: Places) -> tuple[Places, ...]:
        transitions = self.options.transitions
        rests = []
        waiting, met_again = [places], False
        after: dict[Places, list[Places]] = {places: []}
        while waiting:
            state = waiting.pop()
            effects = transitions.effects(state, transitions.judge(state))
            if not effects:
                rests.append(state)
            for effect in effects:
                axis = effect.axis
                following = (*state[:axis], effect.place, *state[axis + 1 :])
                after[state].append(following)
                if following in after:
                    met_again = True
                else:
                    after[following] = []
                    waiting.append(following)
        if met_again and _goes_round(after):
            self.restless.append(places)
        return tuple(rests)


def _goes_round(after: dict[Places, list[Places]]) -> bool:
    try:
        TopologicalSorter(after).prepare()
    except CycleError:
        return True
    return False
