"""What stands in the way of those who have none: which restrictions, lifted, open the most ways, and at what cost.

Everybody without a way is planned for again in the problem without one restriction, and without two. So the counts are exact.
What bars a person is then a smallest set whose lifting opens a way; of all such sets the few are named that together
account for everybody, the one that accounts for most first.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from p2c._audit.ground import Ground
from p2c._audit.tally import quantiles
from p2c._plan.blockers import Trial
from p2c._plan.lifting import liftings
from p2c._plan.planner import find_plan
from p2c._plan.search.best_first import LimitReached, Limits
from p2c._plan.tables.encode import Coded
from p2c._plan.tables.table import plan_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from p2c._audit.intervals import Codes, Numbers, Rows
    from p2c._audit.people import People
    from p2c._plan.blockers import Lifts
    from p2c._plan.compiled.space import Space
    from p2c._plan.lifting import Lifting
    from p2c._plan.outcome import Blocker, Plan
    from p2c._plan.tables.encode import Column
    from p2c._spec.feature import Feature, Value

PRICED = 60
"""Of how many people it is found out what their ways cost, where each has to be planned for alone."""
CHUNK, SMALL_CHUNK = 10, 500
"""Number of people between two clock checks, by default and for few classes."""
FORCED = 150
"""For how many different people it is found out which values force a model's refusal."""
PAIRS = 5
"""For how many pairs it is also found out what the ways cost that lifting them opens."""


@dataclass(frozen=True, slots=True)
class Opening:
    """Restrictions that are lifted together, how many ways that opens, and what these cost."""

    blockers: tuple[Blocker, ...]
    opened: int
    of: int
    costs: dict[str, float]
    """Quantiles over the ways that there was time to plan."""
    priced: int
    """How many these are."""

    def to_dict(self) -> dict[str, Any]:
        """Return the opening as JSON."""
        return {
            "lifted": [each.to_dict() for each in self.blockers],
            "opened": self.opened,
            "of": self.of,
            "share": self.opened / self.of if self.of else None,
            "cost_quantiles": self.costs,
            "priced": self.priced,
        }


@dataclass(frozen=True, slots=True)
class Statement:
    """What bars some of the people: a smallest set whose lifting opens a way for each of them; none where rules alone do."""

    blockers: tuple[Blocker, ...]
    people: int
    """How many are counted here, everybody once."""
    of: int
    instead: tuple[tuple[Blocker, ...], ...] = ()
    """Sets of the same size whose lifting opens a way for each of them just as well."""

    def to_dict(self) -> dict[str, Any]:
        """Return the statement as JSON."""
        return {
            "blockers": [each.to_dict() for each in self.blockers],
            "or_instead": [[each.to_dict() for each in some] for some in self.instead],
            "people": self.people,
            "share": self.people / self.of,
        }


@dataclass(frozen=True, slots=True)
class Obstacles:
    """Why people have no way."""

    statements: tuple[Statement, ...]
    singles: tuple[Opening, ...]
    pairs: tuple[Opening, ...]
    """Those that open most first, where they open more than each of the two alone."""
    rules: tuple[tuple[str, int], ...]
    """The rules that refuse them today, and how many each."""
    features: tuple[tuple[str, int], ...]
    """Where a model decides: the features in the fewest that force the refusal, and of how many people each."""
    forced: int
    """Of how many people that was found out."""
    unexplained: int
    """For how many there was no time."""
    cut_short: bool = False
    """Whether the time ended before the count did; more people may then be opened."""

    def to_dict(self) -> dict[str, Any]:
        """Return the obstacles as JSON."""
        return {
            "statements": [each.to_dict() for each in self.statements],
            "lifting_one": [each.to_dict() for each in self.singles],
            "lifting_two": [each.to_dict() for each in self.pairs],
            "rules": [{"rule": rule, "people": count} for rule, count in self.rules],
            "features": [{"feature": name, "people": count} for name, count in self.features],
            "features_of": self.forced,
            "not_found_out": self.unexplained,
            "cut_short": self.cut_short,
        }


def find_obstacles(people: People, limits: Limits) -> Obstacles | None:
    """Return what stands in the way of those who have none; None where everybody has one."""
    rows = np.flatnonzero(people.answers.having("infeasible"))
    if not len(rows):
        return None
    trials = Trials(people, rows, limits)
    statements, unexplained = trials.statements()
    forcing, forced = trials.forcing()
    opening = [n for n in range(len(trials.liftings)) if trials.opens((n,)).any()]
    opening.sort(key=lambda n: -int(trials.opens((n,)).sum()))
    singles = tuple(trials.opening((n,)) for n in opening)
    pairs = tuple(trials.pairs())
    refusing = tuple(_refusing(people, rows))
    return Obstacles(
        statements,
        singles,
        pairs,
        refusing,
        forcing,
        forced,
        unexplained,
        limits.left == 0.0,
    )


def _refusing(people: People, rows: Codes) -> Iterator[tuple[str, int]]:
    """Yield the rules that refuse people, most first; none where a yes needs a rule to apply, and none does."""
    counts: Counter[str] = Counter()
    if not people.space.denied:
        return
    for group in people.classes(rows):
        for rule in people.fired(int(group[0])):
            counts[rule] += len(group)
    yield from counts.most_common()


@dataclass(frozen=True, slots=True)
class Hurried:
    """Plans for each until one moment for all."""

    limits: Limits
    by_class: bool = True

    def plan(self, space: Space, state: Mapping[str, Value]) -> Plan:
        """Return the answer for a person."""
        return find_plan(space, state, Limits(deadline=self.limits.deadline))


@dataclass(frozen=True)
class Trials:
    """What lifting restrictions, given by number, opens to those without a way."""

    people: People
    rows: Codes
    limits: Limits
    _opens: dict[Lifts, Rows] = field(default_factory=dict)
    _cells_of: dict[Feature, list[int | None]] = field(default_factory=dict)

    @cached_property
    def liftings(self) -> tuple[Lifting, ...]:
        """Return the restrictions of the problem, and the features without them."""
        space = self.people.space
        names = (axis.feature.name for axis in space.axes)
        values = (column.values for column in self.people.columns)
        return liftings(space, dict(zip(names, values, strict=True)))

    @cached_property
    def _persons(self) -> tuple[Codes, Codes]:
        """Return those of the rows that are not alike in everything, and which of them each row is like."""
        table = np.stack([column.which[self.rows] for column in self.people.columns], axis=1)
        _, first, which = np.unique(table, axis=0, return_index=True, return_inverse=True)
        return first, which.reshape(-1)

    @cached_property
    def ground(self) -> Ground:
        """Return what tells whether anybody of a box has a way."""
        return Ground(self.people.space)

    def space(self, lifted: Lifts) -> Space:
        """Return the problem without some restrictions."""
        return self._trial.lifted_space(frozenset(lifted))

    @cached_property
    def _trial(self) -> Trial:
        """Return the restrictions on trial for nobody in particular."""
        return Trial(self.people.space, {}, self.liftings, self.limits)

    def opens(self, lifted: Lifts) -> Rows:
        """Tell for which rows lifting opens a way; not for those whom there was no time for."""
        if lifted not in self._opens and self.limits.left == 0.0:
            return np.zeros(len(self.rows), dtype=bool)
        if lifted not in self._opens:
            first, which = self._persons
            asked = np.ones(len(first), dtype=bool)
            found = np.zeros(len(first), dtype=bool)
            if self._trial.adding.issuperset(lifted):
                # To add actions closes no way.
                for each in lifted if len(lifted) > 1 else ():
                    found |= self.opens((each,))[first]
                asked = ~found
            found[asked] = self._asked(lifted, first[asked])
            self._opens[lifted] = found[which]
        return self._opens[lifted]

    def _asked(self, lifted: Lifts, persons: Codes) -> Rows:
        if self.ground.acceptance is None:
            return np.isfinite(self._planned(lifted, self.rows[persons]))
        ground = self.ground.lifted(self.space(lifted))
        rows = self.rows[persons]
        boxes: list[list[int | None]] = []
        for index in ground.space.model_axes:
            feature = ground.space.axes[index].feature
            same = feature == self.ground.space.axes[index].feature
            cells = self._cells(self.ground if same else ground, index)
            boxes.append([cells[number] for number in self.people.columns[index].which[rows]])
        known: dict[tuple[int | None, ...], bool] = {}
        found = np.zeros(len(rows), dtype=bool)
        for place, key in enumerate(zip(*boxes, strict=True)):
            if key not in known and self.limits.left == 0.0:
                continue
            if key not in known:
                known[key] = self._accepts(ground, key, lifted, rows[place : place + 1])
            found[place] = known[key]
        return found

    def _cells(self, ground: Ground, index: int) -> list[int | None]:
        """Return for each value of a column the model's cells that it may lead to.

        The result is cached for each feature as lifted.
        """
        key = ground.space.axes[index].feature
        if key not in self._cells_of:
            values = self.people.columns[index].values
            self._cells_of[key] = [ground.cells_of(index, ground.part(index, v)) for v in values]
        return self._cells_of[key]

    def _accepts(
        self, ground: Ground, box: tuple[int | None, ...], lifted: Lifts, row: Codes
    ) -> bool:
        whole = tuple(each for each in box if each is not None)
        if ground.acceptance is None or len(whole) < len(box):
            return bool(np.isfinite(self._planned(lifted, row))[0])
        try:
            return ground.acceptance.some(whole, self.limits)
        except LimitReached:
            return False

    def _planned(self, lifted: Lifts, rows: Codes) -> Numbers:
        """Return what the way costs that lifting opens to some people; infinity where there is none, or time ended."""
        costs = np.full(len(rows), np.inf)
        if self.limits.left == 0.0:
            return costs
        space = self.space(lifted)
        size = SMALL_CHUNK if space.is_small else CHUNK
        for first in range(0, len(rows), size):
            if self.limits.left == 0.0:
                break
            costs[first : first + size] = self._planned_at_once(space, rows[first : first + size])
        return costs

    def _planned_at_once(self, space: Space, rows: Codes) -> Numbers:
        """Return the plan cost of each person in one space; infinity without a plan."""
        columns: dict[str, Column | Coded] = {
            axis.feature.name: Coded(column.which[rows], column.values)
            for axis, column in zip(space.axes, self.people.columns, strict=True)
            if axis.feature.name not in self.people.omitted
        }
        batch = plan_rows(space, columns, details=False, solver=Hurried(self.limits))
        status = np.array(batch.words["status"].coded().tolist(), dtype=object)
        found: Numbers = np.where(status == "found", batch.cost, np.inf)
        return found

    def opening(self, lifted: Lifts) -> Opening:
        """Return what lifting opens, and at what cost, as far as there is time to find that out."""
        opened = self.opens(lifted)
        first, which = self._persons
        asked = opened[first]
        if not self.people.space.is_small:
            # Each is planned for alone: what it costs is told of some, drawn at random.
            drawn = np.random.default_rng(0).permutation(np.flatnonzero(asked))[PRICED:]
            asked[drawn] = False
        costs = np.full(len(first), np.inf)
        costs[asked] = self._planned(lifted, self.rows[first[asked]])
        priced = costs[which][opened]
        ways = priced[np.isfinite(priced)]
        blockers = self._blockers(lifted)
        return Opening(blockers, int(opened.sum()), len(self.rows), quantiles(ways), len(ways))

    def forcing(self) -> tuple[tuple[tuple[str, int], ...], int]:
        """Return the features of a model whose values force the refusal whatever the others are, with how many people, of how many.

        Where there are many, some are drawn at random.
        """
        theory, counts, looked = self.people.space.theory, Counter[str](), 0
        if self.ground.acceptance is None:
            return (), 0
        from p2c._blackbox.forcing import forcing

        classes = self.people.classes(self.rows)
        for number in np.random.default_rng(0).permutation(len(classes))[:FORCED]:
            if self.limits.left == 0.0:
                break
            group = classes[number]
            found = forcing(theory, self.people.state(int(group[0])), self.limits)
            if found is not None:
                looked += len(group)
                counts.update(dict.fromkeys(found.names, len(group)))
        return tuple(counts.most_common()), looked

    @cached_property
    def _pairs(self) -> tuple[Lifts, ...]:
        return tuple(combinations(range(len(self.liftings)), 2))

    def pairs(self) -> Iterator[Opening]:
        """Yield the pairs that open most ways, where they open more than each of the two alone."""
        if self.limits.left == 0.0:
            return
        alone = {n: int(self.opens((n,)).sum()) for n in range(len(self.liftings))}
        counts = {pair: int(self.opens(pair).sum()) for pair in self._pairs}
        better = [p for p in counts if counts[p] > max(alone[each] for each in p)]
        for pair in sorted(better, key=lambda each: (-counts[each], each))[:PAIRS]:
            yield self.opening(pair)

    def statements(self) -> tuple[tuple[Statement, ...], int]:
        """Return what bars people, everybody counted once, and for how many there was no time to find out."""
        nobody = np.zeros(len(self.rows), dtype=bool)
        opens: dict[Lifts, Rows] = {(n,): self.opens((n,)) for n in range(len(self.liftings))}
        left = ~np.logical_or.reduce([nobody, *opens.values()])
        if left.any() and self.limits.left != 0.0:
            pairs = {pair: self.opens(pair) & left for pair in self._pairs}
            opens |= {pair: rows for pair, rows in pairs.items() if rows.any()}
            left &= ~np.logical_or.reduce([nobody, *pairs.values()])
        if self.limits.left != 0.0:
            larger, left = self._larger(left)
            opens |= larger
        return tuple(self._chosen(opens)), int(left.sum())

    def _larger(self, left: Rows) -> tuple[dict[Lifts, Rows], Rows]:
        """Return the smallest sets of three or more for those whom no two open a way, and for whom time ended."""
        sizes = np.full(len(self.rows), -1)
        found: dict[Lifts, Rows] = {}
        for group in self._alike(np.flatnonzero(left)):
            if self.limits.left == 0.0:
                break
            state = self.people.state(int(self.rows[group[0]]))
            try:
                opened = Trial(self.people.space, state, self.liftings, self.limits).smallest()
            except LimitReached:
                continue
            chosen = () if opened is None else opened.relaxed
            sizes[group] = len(chosen)
            found[chosen] = left
        for chosen in found:
            if chosen:
                found[chosen] = self.opens(chosen) & (sizes == len(chosen))
            else:
                found[chosen] = sizes == 0
        return found, left & (sizes < 0)

    def _alike(self, places: Codes) -> Iterator[Codes]:
        """Yield places among the rows, those together of people who have the same future; exceptions hang on own values."""
        at = {int(row): place for place, row in enumerate(self.rows)}
        excepted = self.people.answers.excepted[self.rows[places]]
        groups = self.people.classes(self.rows[places[~excepted]])
        groups += [np.array([row]) for row in self.rows[places[excepted]]]
        for group in groups:
            yield np.array([at[int(row)] for row in group])

    def _chosen(self, opens: dict[Lifts, Rows]) -> Iterator[Statement]:
        """Yield the sets that account for most of those for whom none before does."""
        left = np.ones(len(self.rows), dtype=bool)
        while opens:
            best = max(opens, key=lambda each: (int((opens[each] & left).sum()), -len(each)))
            held = opens.pop(best) & left
            if not held.any():
                return
            left &= ~held
            same = [each for each in opens if len(each) == len(best) and opens[each][held].all()]
            blockers, *instead = (self._blockers(each) for each in (best, *same))
            yield Statement(blockers, int(held.sum()), len(self.rows), tuple(instead))

    def _blockers(self, lifted: Lifts) -> tuple[Blocker, ...]:
        return tuple(self.liftings[each].blocker for each in lifted)
