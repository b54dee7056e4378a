"""Minimize weights over the models of clauses.

This is core-boosted linear search (Berg, Demirović and Stuckey, CPAIOR 2019). First unsatisfiable cores raise the lower bound, and the literals of each core are replaced by those that say how many of them
hold beyond the first (MaxRes, Narodytska and Bacchus, AAAI 2014), with stratification and weight-aware core extraction. After
`MOST_CORES` cores a linear constraint asks for better and better models until there is none. Weights are whole numbers of any size.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from p2c._plan.search.solver import Solver, opposite

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from p2c._plan.search.cdcl import Literal

MOST_SHRUNK = 12
"""Size up to which literals of a core are tried to be left out."""
SHRINKING = 4_000
"""Work for each of these trials."""
EASY = 20_000
"""Work from which on these trials are worth it."""
MOST_CORES = 0.6
"""Number of cores before linear search takes over, for each weighted literal."""
LONG = 20
"""Mean length from which on chains are counted in place of literals.

Cores tear chains apart, and linear search needs them.
"""
CAUTION = 4
"""One part in how many of the gap is tried at once by linear search.

The gap lies between the bound and the last model. Under a falling limit all that was learned stays valid; after a limit that
is too low it has to be learned again.
"""


@dataclass
class Objective:
    """Weighted literals; no model weighs less than `bound`."""

    solver: Solver
    weights: dict[Literal, int] = field(default_factory=dict)
    bound: int = 0
    base: int = 0
    """Weight of every model beside the literals that are left."""
    _before: dict[Literal, Literal] = field(default_factory=dict)
    """For each level of a price but the lowest, the level below it."""
    _cores: int | None = None
    """Number of cores that may still be extracted; None before the first call."""
    _least: int | None = None
    """Weight of the lightest literals that cores were extracted from so far."""
    _guard: Literal | None = None
    _limit: int | None = None
    """The limit of the linear constraint, under its guard."""

    def add(self, literal: Literal, weight: int, before: Literal | None = None) -> None:
        """Let a literal weigh more if it holds.

        Args:
            literal: The literal.
            weight: What it adds.
            before: The level below it, a literal that it implies by clauses.
        """
        if before is not None:
            self._before[literal] = before
        self.solver.prefer(opposite(literal))
        contrary = opposite(literal)
        opposed = self.weights.pop(contrary, 0)
        both = min(opposed, weight)
        # One of the two holds.
        self.base += both
        self.bound = max(self.bound, self.base)
        if opposed > both:
            self.weights[contrary] = opposed - both
        if weight > both:
            self.weights[literal] = self.weights.get(literal, 0) + weight - both

    def best_with(
        self,
        conditions: Iterable[Literal],
        preferred: Sequence[Literal],
        check: Callable[[], None],
    ) -> bool:
        """Find a model that weighs the bound and satisfies conditions, after `minimize`.

        Of such models it is the one that satisfies the first of the preferred literals that distinguish it from others.
        """
        if self.bound > self.base:
            return self._model_below(self.bound, check, conditions, preferred) is not None
        none = [opposite(literal) for literal in self.weights]
        return bool(self.solver.solve([*none, *conditions], check, preferred=preferred))

    def minimize(self, check: Callable[[], None], enough: int | None = None) -> bool:
        """Find a model of least weight; tell whether one weighs less than `enough`."""
        if self._cores is None:
            self._cores = int(MOST_CORES * self._size())
        if self.bound == self.base:
            found = self._by_cores(check, enough)
            if found is not None:
                return found
        return self._linearly(check, enough)

    def _size(self) -> int:
        """Return the number of weighted literals; of chains where these are long."""
        chains = len(self._chains())
        return len(self.weights) if len(self.weights) <= LONG * chains else chains

    # Linear search.

    def _linearly(self, check: Callable[[], None], enough: int | None) -> bool:
        """Find a model of least weight between the bound and `enough`."""
        highest = self.base + sum(self.weights.values()) + 1
        past = highest if enough is None else min(enough, highest)
        if self.bound < past and self._model_below(self.bound, check) is not None:
            return True
        heaviest = self._model_below(past - 1, check)
        if heaviest is None:
            self.bound = past
            return False
        return self._improved(heaviest, check)

    def _improved(self, heaviest: int, check: Callable[[], None]) -> bool:
        """Narrow the gap between the bound and the last model until there is none."""
        while heaviest > self.bound:
            most = heaviest - 1 - (heaviest - 1 - self.bound) // CAUTION
            better = self._model_below(most, check)
            if better is None:
                self.bound = most + 1
            else:
                heaviest = better
        return True

    def _model_below(
        self,
        most: int,
        check: Callable[[], None],
        conditions: Iterable[Literal] = (),
        preferred: Sequence[Literal] = (),
    ) -> int | None:
        """Find a model that weighs no more than a limit; return its weight, or None."""
        guard = self._below(most)
        kept = self.solver.model
        assumed = [guard, *conditions]
        while self.solver.solve(assumed, check, preferred=preferred):
            found = self.weight()
            if found <= most:
                return found
            # Weights were rounded down.
            heavy = [opposite(each) for each in self.weights if self.solver.holds(each)]
            self.solver.add([opposite(guard), *heavy])
        self.solver.model = kept
        return None

    def _below(self, most: int) -> Literal:
        """Return a literal under which models weigh no more than a limit."""
        if self._guard is None or self._limit is None or most > self._limit:
            # What was learned under the old guard holds for the old limit only.
            if self._guard is not None:
                self.solver.add([opposite(self._guard)])
            self._guard = self.solver.literal()
        self._limit = most
        self.solver.limit(self._chains(), most - self.base, self._guard)
        return self._guard

    def _chains(self) -> list[list[tuple[Literal, int]]]:
        """Return the weighted literals in chains of levels."""
        chains: dict[Literal, list[tuple[Literal, int]]] = {}
        lowest: dict[Literal, Literal] = {}
        for literal, before in self._before.items():
            lowest[literal] = lowest.get(before, before)
        for literal in [*self.weights.keys() - self._before.keys(), *self._before]:
            if literal in self.weights:
                chain = chains.setdefault(lowest.get(literal, literal), [])
                chain.append((literal, self.weights[literal]))
        return list(chains.values())

    def weight(self) -> int:
        """Return the weight of the last model."""
        holds = self.solver.holds
        return self.base + sum(each for literal, each in self.weights.items() if holds(literal))

    # Cores.

    def _by_cores(self, check: Callable[[], None], enough: int | None) -> bool | None:
        """Raise the bound by cores; return None if it takes too many."""
        assert self._cores is not None
        least = max(self.weights.values(), default=0) if self._least is None else self._least
        waiting: list[tuple[int, list[Literal]]] = []
        while self._cores >= 0:
            assumed = [
                opposite(literal)
                for literal, weight in sorted(self.weights.items(), key=lambda item: -item[1])
                if weight >= least
            ]
            if self.solver.solve(assumed, check):
                if waiting:
                    for weight, core in waiting:
                        self._relax(core, weight)
                    waiting.clear()
                    continue
                # With all heavier literals assumed false, the same model would come again.
                holds = self.solver.holds
                missed = max((each for x, each in self.weights.items() if holds(x)), default=0)
                if not missed:
                    self._least = 0
                    return True
                most = min(missed, least // 64)
                lower = [each for each in self.weights.values() if each <= most]
                least = max(lower, default=missed)
                continue
            if not self.solver.core:
                return False
            core = self._shrunk(self.solver.core, check)
            if not core:
                return False
            self._cores -= 1
            literals = [opposite(each) for each in core]
            weight = min(self.weights[each] for each in literals)
            self.base += weight
            self.bound = max(self.bound, self.base)
            if enough is not None and self.bound >= enough:
                return False
            for each in literals:
                self.weights[each] -= weight
                if not self.weights[each]:
                    del self.weights[each]
            if len(literals) > 1:
                waiting.append((weight, literals))
        for weight, core in waiting:
            self._relax(core, weight)
        return None

    def _relax(self, core: list[Literal], weight: int) -> None:
        """Let each true literal of a core weigh, except the last one.

        Sound because one of them holds, so that the others number as many as hold minus one.
        """
        later = core[-1]
        for place in range(len(core) - 2, -1, -1):
            literal = core[place]
            again = self.solver.literal()
            self.solver.add([opposite(literal), opposite(later), again])
            self.add(again, weight)
            if place:
                either = self.solver.literal()
                self.solver.add([opposite(literal), either])
                self.solver.add([opposite(later), either])
                later = either

    def _shrunk(self, core: list[Literal], check: Callable[[], None]) -> list[Literal]:
        """Return a subset of a core that is a core."""
        while len(core) > 1:
            if self.solver.solve(core, check, SHRINKING) is not False:
                break
            smaller = self.solver.core
            if len(smaller) >= len(core):
                break
            core = smaller
        if len(core) > MOST_SHRUNK or self.solver.work < EASY:
            return core
        for literal in list(core):
            if literal in core and len(core) > 1:
                rest = [each for each in core if each != literal]
                if self.solver.solve(rest, check, SHRINKING) is False:
                    core = list(self.solver.core)
        return core
