"""Enumerate paths to the goal, best first, from the solutions of the master problem.

The solutions of the master problem (`plan_search.py`) come in the order of a lower bound of their paths. The paths of a solution
wait beside the next solution, so that the best-first loop yields all of them in the contract's order (ranking of solutions
by a relaxation). A solution whose set of options was put in order is excluded by a clause. Since one set may end in several states,
its paths to each of them are enumerated before, and only the set itself is excluded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from p2c._plan.compiled.bitsets import mask_of
from p2c._plan.search.action_sets import ActionSets, OrderLead
from p2c._plan.search.options import Choice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from p2c._plan.search.best_first import Arrival, Key, Lead, Limits
    from p2c._plan.search.plan_search import PlanSearch, Solution


class Enumeration:
    """The paths of one person, best first.

    With `every`, all end states are wanted; else no set that arrives is extended, unless it sets an endogenous feature.
    """

    def __init__(
        self, master: PlanSearch, land: Callable[[Arrival], Lead | Arrival], *, every: bool
    ) -> None:
        self._master, self._land, self._every = master, land, every

    def leads(self) -> Iterator[SolutionLead]:
        """Yield the next solution of the master problem, if there is one."""
        solution = self._master.next_solution()
        if solution is not None:
            yield SolutionLead(self, self._master.key_of(solution), solution)

    def paths(self, solution: Solution, limits: Limits) -> Iterator[Lead]:
        """Yield the paths of a solution, and exclude it.

        Sound because each clause that is added excludes only sets that were put in order, sets that do not reach their ends, and,
        unless all end states are wanted, sets that contain a set that arrives: these contain a cheaper path and are no other way.
        """
        master = self._master
        if not master.admits(solution.course):
            return
        sets = self._sets
        chosen = tuple(sorted((*solution.course.noticed, *solution.calm)))
        effort = sum(sets.options.listed[number].effort for number in chosen)
        paths = sets.orders(Choice(effort, chosen, 0), master.final_regions, limits)
        arrival = next(paths, None)
        if arrival is None:
            master.explain(solution.course)
        else:
            sets.arrived.append(mask_of(chosen))
            yield OrderLead(sets, arrival.key, arrival, paths)
        governed = sets.options.space.governed_axes
        is_set = any(sets.options.listed[number].axis in governed for number in chosen)
        master.exclude_set(chosen, and_larger=arrival is not None and not (self._every or is_set))

    @property
    def _sets(self) -> ActionSets:
        if self._made is None:
            self._made = ActionSets(self._master.options, self._land, self._every, False)
        return self._made

    _made: ActionSets | None = None


class SolutionLead(NamedTuple):
    """A solution of the master problem, and those after it."""

    search: Enumeration
    key: Key
    solution: Solution

    @property
    def known(self) -> None:
        """Return None: whether the set has an order is seen when it is followed."""

    def follow(self, limits: Limits) -> Iterator[Lead]:
        """Yield the paths of the solution, and the next solution."""
        yield from self.search.paths(self.solution, limits)
        yield from self.search.leads()
