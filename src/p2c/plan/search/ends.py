"""All states in which a set of direct actions can end, over all orders and outcomes."""

from __future__ import annotations

from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

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
    _rests: dict[tuple[tuple[int, ...], frozenset[int]], tuple[Places, ...]] = field(
        default_factory=dict
    )
    _settled: dict[tuple[Places, frozenset[int]], tuple[Places, ...]] = field(default_factory=dict)

    def rests(
        self, chosen: tuple[int, ...], limits: Limits, still: frozenset[int] = frozenset()
    ) -> tuple[Places, ...]:
        """Return the states at rest after these options: each of them last, after all orders of the others.

        Some governed features that no other notices may be told to keep still.
        """
        if not chosen:
            return (self.options.transitions.person.places,)
        known = self._rests.get((chosen, still))
        if known is None:
            limits.check()
            found: dict[Places, None] = {}
            for position, number in enumerate(chosen):
                axis = self.options.listed[number].axis
                others = chosen[:position] + chosen[position + 1 :]
                for before in self.rests(others, limits, still):
                    for place, _ in self.options.targets(number, before):
                        after = (*before[:axis], place, *before[axis + 1 :])
                        found |= dict.fromkeys(self.settled(after, still))
            known = self._rests[chosen, still] = tuple(found)
        return known

    def settled(self, places: Places, still: frozenset[int]) -> tuple[Places, ...]:
        """Return the states in which effects come to rest, all outcomes considered."""
        known = self._settled.get((places, still))
        if known is None:
            known = self._settled[places, still] = self._settle(places, still)
        return known

    def _settle(self, places: Places, still: frozenset[int]) -> tuple[Places, ...]:
        transitions = self.options.transitions
        rests = []
        waiting, met_again = [places], False
        after: dict[Places, list[Places]] = {places: []}
        while waiting:
            state = waiting.pop()
            effects = [
                each
                for each in transitions.effects(state, transitions.judge(state))
                if each.axis not in still
            ]
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
