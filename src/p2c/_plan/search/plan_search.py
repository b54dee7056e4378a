"""Find the cheapest plan by logic-based Benders decomposition.

Clauses choose the set of actions and its end, A* the order. *Presolve* removes options that no best plan takes (`propagation.py`,
`dominated_options.py`). The *master problem* is the completion of the end (`completion.py`) with the least cost as its objective
(`objective.py`). It is a relaxation: it knows neither order nor effects. Two *oracles* test each of its optima:

- Delete-relaxed reachability (`relaxed_reach.py`): if the chosen options cannot bring an endogenous feature to its final region,
  one of the options outside a maximal superset that cannot either is needed. This is a disjunctive action landmark, and a
  clause (Haslum, Slaney and Thiébaux, ICAPS 2012).
- A* over orders (`order.py`): if no order ends there, a clause excludes the final regions; if every order costs more than the
  master problem says, the best one is kept and the set is excluded.

An optimum that passes both is the cost of the cheapest plan. Then the ties are decided: sets of that cost are tried in the order
of a lower bound of their sequence of actions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import TYPE_CHECKING, NamedTuple

from p2c._plan.compiled.bitsets import grown, mask_of, numbers
from p2c._plan.search.action_sets import joined, passes_the_goal
from p2c._plan.search.best_first import Arrival, Key, LimitReached
from p2c._plan.search.completion import Completion
from p2c._plan.search.devices import ALL, Device
from p2c._plan.search.objective import Objective
from p2c._plan.search.options import Options, placed
from p2c._plan.search.order import Ordering, orders
from p2c._plan.search.order_conflicts import OrderConflicts
from p2c._plan.search.propagation import Propagation
from p2c._plan.search.relaxed_reach import RelaxedReach
from p2c._plan.search.settings import Settings
from p2c._plan.search.solver import opposite

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from p2c._plan.compiled.person import Places
    from p2c._plan.compiled.transitions import Transitions
    from p2c._plan.search.best_first import Act, Limits
    from p2c._plan.search.cdcl import Literal
    from p2c._plan.search.devices import Devices
    from p2c._plan.search.propagation import End


class Measure(NamedTuple):
    """Order of paths before their sequences of actions decide."""

    effort: int
    length: int
    way: int


class Course(NamedTuple):
    """The noticed options, and the final region of each endogenous feature."""

    noticed: tuple[int, ...]
    regions: tuple[int, ...]


class Solution(NamedTuple):
    """A model of the master problem: a course and the calm options."""

    course: Course
    calm: tuple[int, ...]


@dataclass
class PlanSearch:
    """The cheapest plan of one person whose options can be chosen before their order."""

    transitions: Transitions
    settable: Sequence[int]
    limits: Limits
    first_only: bool = True
    """Whether only the best plan is wanted, so that dominated options are left out."""
    devices: Devices = ALL
    best: Arrival | None = None
    """The best plan known, while it is not proved to be the answer."""
    _paths: dict[Course, Arrival | None] = field(default_factory=dict)
    """The best path of each course, before options that are not noticed are added."""

    @cached_property
    def root(self) -> End | None:
        """Return the ends that presolve leaves, or None if there is none.

        Sound because unit propagation removes only options and regions in which no plan ends, and dominance only options that
        no best plan takes. It would break if the options of a plan were not those of its end.
        """
        options = Options(self.transitions, self.settable)
        reach = RelaxedReach(self.transitions, tuple(options.listed), options.by_axis)
        dominance = self.first_only and Device.DOMINATED_OPTIONS in self.devices
        return Propagation(reach, dominance).of((), (1 << len(options.listed)) - 1)

    @cached_property
    def options(self) -> Options:
        """Return the options of the person that unit propagation leaves, and the beginnings of their trails."""
        assert self.root is not None
        every = self.root.propagation.reach.options
        left = [every[number] for number in numbers(self.root.left)]
        trails = {
            (each.axis, each.trail[:end]) for each in left for end in range(1, len(each.trail))
        }
        kept = [
            each
            for number, each in enumerate(every)
            if self.root.left >> number & 1 or (each.axis, each.trail) in trails
        ]
        return Options(self.transitions, self.settable, kept)

    @cached_property
    def reach(self) -> RelaxedReach:
        """Return delete-relaxed reachability for the options."""
        return RelaxedReach(self.transitions, tuple(self.options.listed), self.options.by_axis)

    @cached_property
    def master(self) -> Completion:
        """Return the clauses of the master problem."""
        clauses = Completion(self.options, self.reach, self.root)
        clauses.state()
        assert self.root is not None
        every = self.root.propagation.reach.options
        left = {every[number] for number in numbers(self.root.left)}
        for number, literal in clauses.chosen.items():
            if self.options.listed[number] not in left:
                clauses.solver.add([opposite(literal)])
        return clauses

    @cached_property
    def noticed(self) -> int:
        """Return the options that may set off effects or break constraints, as a mask."""
        listed = self.options.listed
        return mask_of(n for n, each in enumerate(listed) if not self.options.is_calm(each))

    @cached_property
    def _stirring(self) -> int:
        """Return the options on features that effects or constraints depend on."""
        return self.options.stirring_mask

    @cached_property
    def _scales(self) -> tuple[int, int]:
        """Return the factors that pack a measure of the master problem into one number."""
        ways: dict[int, int] = {}
        steps: dict[int, int] = {}
        for option in self.options.listed:
            ways[option.axis] = max(ways.get(option.axis, 0), option.way)
            steps[option.axis] = max(steps.get(option.axis, 0), len(option.trail))
        return sum(steps.values()) + len(self.reach.causal_moves) + 1, sum(ways.values()) + 1

    def packed(self, effort: int, length: int, way: int) -> int:
        """Return a measure of the master problem as one number."""
        lengths, ways = self._scales
        return (effort * lengths + length) * ways + way

    @property
    def _bound(self) -> Measure:
        """Return the lower bound of the measures of plans that are not known yet."""
        lengths, ways = self._scales
        rest, way = divmod(self.objective.bound, ways)
        return Measure(*divmod(rest, lengths), way)

    @property
    def _enough(self) -> int | None:
        """Return the bound from which on no other plan can be the best."""
        if self.best is None:
            return None
        effort, length, way = measure_of(self.best)
        lengths, ways = self._scales
        if length >= lengths:
            length, way = lengths - 1, ways - 1
        return self.packed(effort, length, min(way, ways - 1)) + 1

    def arrivals(self) -> Iterator[Arrival]:
        """Yield the best plan, if there is one."""
        try:
            best = self._cheapest()
        except LimitReached:
            best = self.best
            if best is not None and passes_the_goal(self.transitions, best):
                best = None
            raise LimitReached(self._bound.effort, best) from None
        if best is not None:
            yield best

    # The master problem.

    @cached_property
    def objective(self) -> Objective:
        """Return the weights of options and effects."""
        objective = Objective(self.master.solver)
        for axis, mask in self.options.by_axis.items():
            if axis not in self.reach.position:
                self._weigh_options(objective, axis, mask)
        for position in range(len(self.reach.causal_moves)):
            self._weigh_endogenous(objective, position)
        return objective

    def _weigh_options(self, objective: Objective, axis: int, mask: int) -> None:
        """Let the price of a feature weigh, level by level (order encoding)."""
        by_price: dict[int, list[int]] = {}
        for number in numbers(mask):
            option = self.options.listed[number]
            price = self.packed(option.effort, len(option.trail), option.way)
            by_price.setdefault(price, []).append(number)
        below, level = 0, opposite(self.master.stays[axis])
        before: Literal | None = None
        for price, some in sorted(by_price.items()):
            if below:
                before, level = level, self.master.solver.literal()
                self.master.solver.add([opposite(level), before])
            for number in some:
                self.master.solver.add([opposite(self.master.chosen[number]), level])
            objective.add(level, price - below, before)
            below = price

    def _weigh_endogenous(self, objective: Objective, position: int) -> None:
        """Let the setting of an endogenous feature weigh, or else one effect."""
        master, axis = self.master, self.reach.causal_moves[position].index
        stays = master.keeps(axis)
        mask = self.options.by_axis.get(axis, 0)
        if not mask:
            objective.add(opposite(stays), self.packed(0, 1, 0))
            return
        number = mask.bit_length() - 1
        chosen, solver = master.chosen[number], master.solver
        changed = solver.literal()
        solver.add([stays, chosen, changed])
        objective.add(changed, self.packed(0, 1, 0))
        least = self.options.listed[number].effort
        objective.add(chosen, self.packed(least, 1, 0))
        below, before = least, chosen
        if Device.SETTINGS not in self.devices:
            return
        for effort, clauses in sorted(self.settings.state(position, number).items()):
            if effort <= least:
                continue
            level = solver.literal()
            solver.add([opposite(level), before])
            for clause in clauses:
                solver.add([*clause, level])
            objective.add(level, self.packed(effort - below, 0, 0), before)
            below, before = effort, level

    @cached_property
    def settings(self) -> Settings:
        """Return the bounds of setting endogenous features."""
        return Settings(self.master)

    def _check(self) -> None:
        """Count a node; raise if a limit is reached."""
        self.limits.check()
        self.limits.expanded += 1

    # Optima of the master problem, and the oracles.

    def _cheapest(self) -> Arrival | None:
        """Return the best plan, or None if there is none."""
        if self.root is None or self.master.solver.is_refuted:
            return None
        while self.objective.minimize(self._check, self._enough):
            self._check()
            choice = self._chosen()
            if self.admits(choice.course) and self._is_exact(choice):
                return self._first_of_ties(choice)
        return self.best

    def _chosen(self) -> Solution:
        """Return the choice of the last model."""
        master, holds = self.master, self.master.solver.holds
        taken = [n for n, literal in master.chosen.items() if holds(literal)]
        regions = tuple(
            next(number for number, literal in each.items() if holds(literal))
            for each in master.regions
        )
        noticed = tuple(sorted(n for n in taken if self.noticed >> n & 1))
        calm = tuple(sorted(n for n in taken if not self.noticed >> n & 1))
        return Solution(Course(noticed, regions), calm)

    def admits(self, course: Course) -> bool:
        """Tell whether delete-relaxed reachability admits a course; add a landmark if not."""
        reach, master = self.reach, self.master
        stirring = tuple(n for n in course.noticed if self._stirring >> n & 1)
        prospect = reach.on_the_way(stirring)
        noticed = self.noticed & self._stirring
        if not self.settings.are_reachable(mask_of(stirring), noticed, course.regions):
            return False
        for position, region in enumerate(course.regions):
            if prospect.regions[position] >> region & 1:
                continue

            def misses(mask: int, position: int = position, region: int = region) -> bool:
                regions = reach.on_the_way(tuple(numbers(mask))).regions
                return not regions[position] >> region & 1

            chosen = mask_of(stirring)
            missing = grown(chosen, self.noticed & self._stirring & ~chosen, misses)
            reached = reach.on_the_way(tuple(numbers(missing))).regions[position]
            needed = [master.chosen[n] for n in numbers(self.noticed & self._stirring & ~missing)]
            for number, literal in master.regions[position].items():
                if not reached >> number & 1:
                    master.solver.add([opposite(literal), *needed])
            return False
        return True

    def _is_exact(self, choice: Solution) -> bool:
        """Tell whether a choice has a plan at the bound; else exclude its course."""
        arrival = self._path(choice.course)
        if arrival is None:
            self._exclude(choice.course)
            return False
        total = measure_of(self._with_calm(arrival, choice.calm))
        assert total >= self._bound
        if total == self._bound:
            return True
        if self.best is None or total <= measure_of(self.best):
            # Of the choices with this course, those of the last model's cost are the cheapest.
            course = [opposite(each) for each in self._not(choice.course)]
            following = self._settled(course)
            assert following is not None
            self._improve(following)
        self.master.solver.add(self._not(choice.course))
        return False

    def _improve(self, choice: Solution) -> None:
        """Keep the best path of a choice if it is the best known."""
        path = self._path(choice.course)
        assert path is not None
        arrival = self._with_calm(path, choice.calm)
        if self.best is None or arrival.key < self.best.key:
            self.best = arrival

    def _not(self, course: Course) -> list[Literal]:
        """Return literals of which one holds unless a choice has just a course."""
        master = self.master
        others = self.noticed
        for number in course.noticed:
            others &= ~self.options.by_axis[self.options.listed[number].axis]
        return [
            *(opposite(master.chosen[n]) for n in course.noticed),
            *(master.chosen[n] for n in numbers(others)),
            *(
                opposite(literals[region])
                for literals, region in zip(master.regions, course.regions, strict=True)
            ),
        ]

    def _path(self, course: Course) -> Arrival | None:
        """Return the best path of a course, or None if no order ends in its regions."""
        if course not in self._paths:
            self._paths[course] = next(self._ordered(course), None)
        return self._paths[course]

    def _ordered(self, course: Course) -> Iterator[Arrival]:
        transitions, reach = self.transitions, self.reach
        rests = [1 << region for region in course.regions]
        # Options that are noticed only by rules that never fire meanwhile commute with everything.
        noticed = reach.stirring(course.noticed)
        apart = [self.options.listed[n] for n in course.noticed if n not in noticed]

        def strays(position: int, place: int) -> bool:
            return not reach.region(position, place) & rests[position]

        def arrives(places: Places) -> bool:
            astray = any(strays(n, places[axis]) for axis, n in reach.position.items())
            return not astray and transitions.judge(placed(places, apart)).consistent

        # Once a few beginnings have failed, an explanation takes less than all others.
        is_possible = cache(lambda: self._explained(course) is None)

        def may_come(places: Places, left: tuple[int, ...]) -> bool:
            return is_possible() and reach.may_come(places, left, rests=rests)

        looks_ahead = Device.REACH_OF_ORDERS in self.devices
        ordering = Ordering(
            self.options,
            noticed,
            arrives,
            strays,
            False,
            self.settings.least_efforts(course.noticed, course.regions),
            may_come if looks_ahead else None,
        )
        for path in orders(ordering, self.limits):
            yield joined(transitions, path, apart)

    def _with_calm(self, path: Arrival, calm: Iterable[int]) -> Arrival:
        return joined(self.transitions, path, [self.options.listed[n] for n in calm])

    def _exclude(self, course: Course) -> None:
        """Add a clause against a course that no order follows."""
        clause = self._explained(course) or self._not(course)
        assert not any(map(self.master.solver.holds, clause)), "a clause excludes the last model"
        self.master.solver.add(clause)

    def _explained(self, course: Course) -> list[Literal] | None:
        """Return a clause that explains why no order ends in a course, if there is one."""
        if Device.ORDER_CONFLICTS not in self.devices:
            return None
        return self.conflicts.clause(course.noticed, course.regions, self.limits)

    @cached_property
    def conflicts(self) -> OrderConflicts:
        """Return the oracle that explains why no order ends in a course."""
        return OrderConflicts(self.options, self.reach, self.master)

    # Enumeration.

    def may_arrive(self) -> bool:
        """Tell whether the master problem has a solution; if not, there is no plan."""
        return self.root is not None and bool(self.master.solver.solve([], self._check))

    def next_solution(self) -> Solution | None:
        """Return the next solution in the order of a lower bound of its paths, or None.

        Clauses that were added since the last one only exclude solutions.
        """
        if self.root is None or self.master.solver.is_refuted:
            return None
        solution = self._settled([]) if self._is_optimal else None
        if solution is None:
            self._is_optimal = self.objective.minimize(self._check)
            solution = self._settled([]) if self._is_optimal else None
        return solution

    _is_optimal: bool = False

    def key_of(self, solution: Solution) -> Key:
        """Return a lower bound of the keys of all paths of solutions that are left."""
        return Key(*self._bound, sequence=self._least_sequence(solution))

    @cached_property
    def final_regions(self) -> list[int]:
        """Return the regions in which each endogenous feature may end."""
        return [mask_of(literals) for literals in self.master.regions]

    def explain(self, course: Course) -> None:
        """Add a clause against a course, if one explains why no order ends there."""
        clause = self._explained(course)
        if clause is not None:
            self.master.solver.add(clause)

    def exclude_set(self, chosen: Sequence[int], *, and_larger: bool) -> None:
        """Exclude a set of options, and perhaps all that contain it."""
        others = 0
        if not and_larger:
            others = (1 << len(self.options.listed)) - 1
            for number in chosen:
                others &= ~self.options.by_axis[self.options.listed[number].axis]
        literals = self.master.chosen
        self.master.solver.add(
            [*(opposite(literals[n]) for n in chosen), *(literals[n] for n in numbers(others))]
        )

    # Ties.

    def _first_of_ties(self, choice: Solution) -> Arrival:
        """Return the plan of least measure with the first sequence of actions."""
        solver = self.master.solver
        self._improve(choice)
        while True:
            following = self._settled([])
            assert self.best is not None
            if following is None or self._least_sequence(following) >= self.best.key.sequence:
                return self.best
            if self.admits(following.course) and self._is_exact(following):
                self._improve(following)
                solver.add(self._not(following.course))

    def _settled(self, conditions: Iterable[Literal]) -> Solution | None:
        """Return the optimum of the master problem with the least bound of its sequence."""
        found = self.objective.best_with(conditions, self._acts, self._check)
        return self._chosen() if found else None

    @cached_property
    def _acts(self) -> list[Literal]:
        """Return the literals of actions in the order of sequences of actions."""
        literals: list[Literal] = []
        for axis in range(len(self.options.space.axes)):
            position = self.reach.position.get(axis)
            mask = self.options.by_axis.get(axis, 0)
            if position is None:
                listed = sorted(
                    numbers(mask),
                    key=lambda n: (*sorted(self.options.listed[n].trail), math.inf),
                )
                literals += [self.master.chosen[n] for n in listed]
                continue
            moved = [
                literal
                for region, literal in sorted(self.master.regions[position].items())
                if region != self.master.start(position)
            ]
            chosen = [self.master.chosen[n] for n in numbers(mask)]
            literals += [*chosen, *moved]
        return literals

    def _least_sequence(self, choice: Solution) -> tuple[Act, ...]:
        """Return a sequence that no path of a choice comes before.

        It holds for paths with just the actions that the choice tells.
        """
        acts: list[Act] = []
        for number in (*choice.course.noticed, *choice.calm):
            option = self.options.listed[number]
            if option.axis in self.reach.position:
                acts.append((option.axis, 0))
            else:
                acts += [(option.axis, place) for place in option.trail]
        set_ = {self.options.listed[n].axis for n in choice.course.noticed}
        for position, region in enumerate(choice.course.regions):
            axis = self.reach.causal_moves[position].index
            if region != self.master.start(position) and axis not in set_:
                places = self.options.space.axes[axis].regions[region]
                acts.append((axis, places[0]))
        return tuple(sorted(acts))


def measure_of(arrival: Arrival) -> Measure:
    """Return effort, number of actions and way of a path."""
    key = arrival.key
    return Measure(key.effort, key.length, key.way)
