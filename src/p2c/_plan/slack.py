"""Slack of a plan: the values around each target that reach the goal as well.

The sets of a plan belong together: whatever value of each is chosen, the same direct actions in the same order reach the
goal, effects recomputed. They are grown one feature after the other, in the problem's order, each from its target: a
number first in the direction of its change, then the other way. An effect with several equally near values is counted on
only if the plan itself counts on one.

Exact because the targets are cut into regions within which no rule tells two values apart, and a replay from one value
of each region stands for all. Where the model is a part of the goal, the box of end states is judged by the parsed
model itself. In problems with arithmetic, boxes of targets are split until intervals decide; where effects or a model
take part as well, they are judged value by value.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import floor, log10
from typing import TYPE_CHECKING, Any, NamedTuple

from p2c._plan.accepted_box import AcceptedBox, Places, Undecided
from p2c._plan.compiled.axis import Axis
from p2c._plan.outcome import DirectAction
from p2c._plan.slack_bounds import TargetBounds
from p2c._rules.cells import every_test
from p2c._rules.evaluate import body_holds
from p2c._rules.meaning import candidate_values
from p2c._rules.play import Player
from p2c._rules.syntax import Comparator
from p2c._rules.theory import ACCEPTED, Call, Test
from p2c._spec.feature import Kind, exact
from p2c._spec.row import PartialState
from p2c._spec.spec import Effects

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from p2c._plan.outcome import Found
    from p2c._rules.theory import Theory
    from p2c._spec.feature import Feature, Number, Value

MOST_LOOKS = 10_000
"""Maximum number of boxes; a slack that takes more is not known."""
REPLAY = 5
"""Number of boxes that are looked at in the time of one replay."""
MOST_CORNERED = 4
"""Maximum number of features whose ends are all replayed first."""
MOST_VALUES = 500
"""Maximum number of values of one feature that are replayed one by one."""
ROUNDING = 20
"""A suggestion adds at most the change divided by this number."""

Slack = dict[str, dict[str, Any]]
"""By feature: `min`, `max` and `suggested`, or the `values` of a category."""


def find_slack(theory: Theory, plan: Found) -> Slack | None:
    """Return the slack of a plan.

    Args:
        theory: The problem with the restrictions of the question.
        plan: A path of the problem.

    Returns:
        None where the model is a black box, where resources or named actions decide, where an exact answer takes too
        long, or where the plan is no path.
    """
    if theory.spending or (theory.model is not None and theory.model.opaque):
        return None
    try:
        return _Growth(theory, plan).slack()
    except Undecided:
        return None


class _End(NamedTuple):
    """An end state, and the features that have the value which was chosen for them."""

    state: dict[str, Value]
    chosen: frozenset[str]


class _Region(NamedTuple):
    """A part of a set in which no rule tells two values apart."""

    number: int
    places: Places


@dataclass
class _Growth:
    """The sets of one plan as they grow."""

    theory: Theory
    plan: Found
    looks: int = 0
    _ends: dict[tuple[int, ...], tuple[_End, ...]] = field(default_factory=dict)

    @cached_property
    def player(self) -> Player:
        question = self.plan.question
        return Player(self.theory, PartialState.of(question.initial, question.omitted))

    @cached_property
    def actions(self) -> tuple[DirectAction, ...]:
        return tuple(each for each in self.plan.actions if isinstance(each, DirectAction))

    @cached_property
    def last(self) -> dict[str, int]:
        """Return the number of the last action on each feature, in the problem's order."""
        last = {each.feature: number for number, each in enumerate(self.actions)}
        return {name: last[name] for name in self.theory.feature if name in last}

    @cached_property
    def counts_on_luck(self) -> bool:
        steps = self.plan.steps
        return any(getattr(each, "assumed", False) for step in steps for each in step.actions)

    def slack(self) -> Slack | None:
        """Return the grown sets; None where the targets themselves do not reach the goal."""
        sets: dict[str, Places] = {}
        for name, number in self.last.items():
            end = self.actions[number].end
            place = None if end is None else self.theory.feature[name].place(end)
            if place is None:
                return None
            sets[name] = range(place, place + 1)
        if not self._holds(sets):
            return None
        for name in self.last:
            sets[name] = self._grown(name, sets)
        return {name: self._told(name, sets[name]) for name in self.last}

    def _told(self, name: str, places: Places) -> dict[str, Any]:
        feature = self.theory.feature[name]
        value = feature.domain.value
        if not feature.kind.is_number:
            return {"values": [value(place) for place in places]}
        low, high, action = value(places[0]), value(places[-1]), self.actions[self.last[name]]
        suggested = round_target(feature, action.start, action.end, (low, high))
        return {"min": low, "max": high, "suggested": suggested}

    # Growing.

    def _grown(self, name: str, sets: Mapping[str, Places]) -> Places:
        feature, own = self.theory.feature[name], sets[name]
        if not feature.has_order:
            others = (range(place, place + 1) for place in range(feature.domain.size))
            return tuple(
                each[0] for each in others if each == own or self._holds({**sets, name: each})
            )
        action = self.actions[self.last[name]]
        assert action.end is not None
        rises = action.start is None or feature.order(action.end) > feature.order(action.start)
        for upwards in (rises, not rises):
            own = self._farthest(name, {**sets, name: own}, upwards=upwards)
        return own

    def _farthest(self, name: str, sets: Mapping[str, Places], *, upwards: bool) -> Places:
        """Extend a set one way as far as the goal is reached, which is monotone."""
        own = sets[name]

        def extended(edge: int) -> range:
            return range(own[0], edge + 1) if upwards else range(edge, own[-1] + 1)

        def fails(edge: int) -> bool:
            return not self._holds({**sets, name: extended(edge)})

        starts, size = self._starts[name], self.theory.feature[name].domain.size
        if upwards:
            stops: Sequence[int] = [each - 1 for each in (*starts[1:], size) if each - 1 >= own[-1]]
        else:
            stops = [each for each in reversed(starts) if each <= own[0]]
        count = bisect_left(stops, True, key=fails)
        reached = stops[count - 1] if count else own[-1 if upwards else 0]
        if count < len(stops) and self._is_fluid(name):
            step = 1 if upwards else -1
            within = range(reached + step, stops[count], step)
            more = bisect_left(within, True, key=fails)
            reached = within[more - 1] if more else reached
        return extended(reached)

    def _is_fluid(self, name: str) -> bool:
        """Tell whether two values between two cuts may differ."""
        model = self.theory.parsed
        return self._by_value or (model is not None and name in model.lined)

    @cached_property
    def _by_value(self) -> bool:
        """Tell whether every value is a region of its own."""
        model = self.theory.parsed
        return self.theory.is_arithmetic or bool(model and model.lined and not self._is_apart)

    @cached_property
    def _is_apart(self) -> bool:
        """Tell whether the model is asked by the goal alone, for a yes."""
        calls = (each for clause in self.theory.clauses for each in clause.body)
        called = any(isinstance(each, Call) and each.decision == ACCEPTED for each in calls)
        barred = Call(ACCEPTED, negated=True) in self.theory.goal
        known = self.theory.model is not None and not self.theory.is_arithmetic
        return known and not called and not barred

    # Regions.

    @cached_property
    def _starts(self) -> dict[str, list[int]]:
        """Return the first places of the parts of each feature."""
        starts_by = {}
        for name in self.last:
            starts = {0}
            if not self._by_value and self.theory.feature[name].has_order:
                starts |= {each[0] for each in self._axes[name].regions} | self._model_cuts(name)
            if self.theory.feature[name].moves is not None:
                starts = set(range(self.theory.feature[name].domain.size))
            starts_by[name] = sorted(starts)
        return starts_by

    def _model_cuts(self, name: str) -> set[int]:
        feature, model = self.theory.feature[name], self.theory.parsed
        if model is None or name not in model.reads:
            return set()
        if feature.is_listed:
            return set(range(feature.domain.size))
        places = (feature.domain.first_place_past(exact(each)) for each in model.cuts(feature))
        return {place for place in places if 0 < place < feature.domain.size}

    @cached_property
    def _axes(self) -> dict[str, Axis]:
        """Return the features cut by rules, the person's value and targets of effects."""
        model = None if self._is_apart else self.theory.parsed
        axes = {}
        for name in self.last:
            feature = self.theory.feature[name]
            tests = [each for each in every_test(self.theory) if each.feature == name]
            values: set[Any] = {self.player.initial[name]} - {None}
            if feature.governed:
                values |= set(candidate_values(self.theory, feature))
            tests += [Test(name, Comparator.EQ, value) for value in values]
            marks: tuple[int, ...] = ()
            if model is not None and feature.is_listed:
                marks = model.marks(feature)
            elif model is not None:
                tests += [Test(name, Comparator.LE, upper) for upper in model.cuts(feature)]
            heads = [each for clause in self.theory.rules_of.get(name, ()) for each in clause.head]
            axes[name] = Axis(feature, tuple(dict.fromkeys(tests)), tuple(heads), marks)
        return axes

    def _regions(self, name: str, places: Places) -> Iterable[_Region]:
        """Return the regions of a set, each with its places in the set."""
        feature = self.theory.feature[name]
        if self._by_value or feature.moves is not None:
            ends = dict.fromkeys((places[0], places[-1]))  # what fails, fails at an end first
            inner = places[1:-1]
            return (_Region(each, range(each, each + 1)) for each in (*ends, *inner))
        axis = self._axes[name]
        if not feature.has_order:
            cells = dict.fromkeys(map(axis.cell, places))
            kept = (tuple(p for p in places if axis.cell(p) == each) for each in cells)
            return (_Region(*each) for each in zip(cells, kept, strict=True))
        starts = [each[0] for each in axis.regions]
        first = bisect_right(starts, places[0]) - 1
        last = bisect_right(starts, places[-1]) - 1
        return (
            _Region(
                number,
                range(
                    max(axis.regions[number][0], places[0]),
                    min(axis.regions[number][-1], places[-1]) + 1,
                ),
            )
            for number in range(first, last + 1)
        )

    # Judging.

    def _look(self, count: int = 1) -> None:
        self.looks += count
        if self.looks > MOST_LOOKS:
            raise Undecided

    def _holds(self, sets: Mapping[str, Places]) -> bool:
        """Tell whether every choice of a value from each set reaches the goal."""
        if self._bounds is not None:
            return self._holds_within(self._bounds, sets)
        if self._by_value and any(len(each) > MOST_VALUES for each in sets.values()):
            ends = {name: sorted({each[0], each[-1]}) for name, each in sets.items()}
            if all(self._holds(dict(zip(sets, each, strict=True))) for each in _points(ends)):
                raise Undecided
            return False
        parts = [self._regions(name, sets[name]) for name in self.last]
        return all(self._reaches(combination) for combination in product(*parts))

    @cached_property
    def _bounds(self) -> TargetBounds | None:
        if not self.theory.is_arithmetic or self.counts_on_luck:
            return None
        return TargetBounds.of(self.theory, self.player.initial, frozenset(self.last))

    def _holds_within(self, bounds: TargetBounds, sets: Mapping[str, Places]) -> bool:
        """Split a box of targets until every part is decided; the ends come first."""
        if len(sets) <= MOST_CORNERED:
            ends = {name: sorted({each[0], each[-1]}) for name, each in sets.items()}
            for corner in _points(ends):
                if not self._reaches(tuple(_Region(each[0], each) for each in corner)):
                    return False
        waiting = [dict(sets)]
        while waiting:
            self._look(REPLAY)
            box = waiting.pop()
            name = max(box, key=lambda each: len(box[each]))
            half = len(box[name]) // 2
            if not half:
                regions = tuple(_Region(box[each][0], box[each]) for each in self.last)
                if not self._reaches(regions):
                    return False
                continue
            verdict = bounds.verdict(box)
            if verdict is False:
                return False
            if verdict is None:
                waiting += [{**box, name: box[name][:half]}, {**box, name: box[name][half:]}]
        return True

    def _reaches(self, regions: tuple[_Region, ...]) -> bool:
        """Tell whether all choices from one region of each feature reach the goal."""
        key = tuple(each.number for each in regions)
        self._look(1 if key in self._ends else REPLAY)
        if key not in self._ends:
            self._ends[key] = self._replayed([each.places[0] for each in regions])
        ends = self._ends[key]
        if not self._is_apart:
            return bool(ends)
        places = {name: each.places for name, each in zip(self.last, regions, strict=True)}
        return any(
            self._box.accepted(end.state, {name: places[name] for name in end.chosen})
            for end in ends
        )

    @cached_property
    def _box(self) -> AcceptedBox:
        assert self.theory.parsed is not None
        return AcceptedBox(self.theory.feature, self.theory.parsed, self._look)

    def _replayed(self, places: Sequence[int]) -> tuple[_End, ...]:
        """Return the ends with other targets that meet the goal but for the model."""
        values = {
            name: self.theory.feature[name].domain.value(place)
            for name, place in zip(self.last, places, strict=True)
        }
        ends = self._settled([_End(dict(self.player.initial), frozenset())], at_first=True)
        left: dict[str, list[Value]] = {name: [] for name in self.last}
        for number, action in enumerate(self.actions):
            name = action.feature
            value = values[name] if number == self.last[name] else action.end
            if value in left[name]:
                return ()
            left[name].append(action.start)
            ends = self._settled(
                [
                    _End(self.player.after(end.state, name, value), end.chosen | {name})
                    for end in ends
                    if self.player.may_set(end.state, name, value)
                ]
            )
        return tuple(end for end in ends if self._is_goal(end.state))

    def _is_goal(self, state: Mapping[str, Value]) -> bool:
        goal = self.theory.goal
        if self._is_apart:
            goal = tuple(each for each in goal if each != Call(ACCEPTED))
        return body_holds(self.theory, goal, state) and self.player.consistent(state)

    def _settled(self, ends: Sequence[_End], *, at_first: bool = False) -> list[_End]:
        """Return the states in which effects may end."""
        supported = self.theory.effects is Effects.SUPPORTED
        if at_first and not supported:
            return list(ends)
        rests: dict[tuple[Value, ...], _End] = {}
        waiting = list(ends)
        while waiting:
            end = waiting.pop()
            for rest in self.player.settle(end.state):
                key = tuple(rest.state.values())
                lucky = any(each.assumed for each in rest.effects)
                if key in rests or (lucky and not self.counts_on_luck):
                    continue
                changed = {each.feature for each in rest.effects}
                rests[key] = here = _End(rest.state, end.chosen - changed)
                for each in self.player.supported(rest.state):
                    after = self.player.after(rest.state, each.feature, each.value)
                    if self.counts_on_luck or not each.assumed:
                        waiting.append(_End(after, here.chosen - {each.feature}))
        return list(rests.values())


def _points(places: Mapping[str, Iterable[int]]) -> Iterable[tuple[range, ...]]:
    """Return all combinations of single places."""
    return product(*([range(each, each + 1) for each in own] for own in places.values()))


def round_target(feature: Feature, start: Value, end: Value, room: tuple[Any, Any]) -> Value:
    """Return the target as people say it, a round number from `end` on.

    Args:
        feature: The feature.
        start: The value before the change.
        end: The exact target.
        room: The least and the greatest value that reach the goal.

    >>> from p2c._spec.feature import Grid
    >>> balance = Feature("balance", Kind.INT, Grid(0, 10**9, 1))
    >>> round_target(balance, 40_000, 80_002, (80_002, 10**9))
    81000
    """
    if end is None or isinstance(end, str) or isinstance(start, str):
        return end
    target = exact(end)
    change = abs(target - exact(start)) if start is not None else abs(target)
    rises = start is None or end > start
    low, high = map(exact, room)
    for power in range(floor(log10(change)) if change else 0, -7, -1):
        unit = Fraction(10) ** power
        number = (-(-target // unit) if rises else target // unit) * unit
        near = abs(number - target) * ROUNDING <= change
        if near and low <= number <= high:
            value: Number = int(number) if feature.kind is Kind.INT else float(number)
            if exact(value) == number and feature.contains(value):
                return value
    return end
