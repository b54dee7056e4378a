"""Boxes of targets in problems with arithmetic, decided by intervals.

Sound because every state of a box lies in the intervals of its features, which are rounded outwards: what holds or fails
for the intervals holds or fails for every state.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from p2c._plan.boxes.ends import Ends, Facts
from p2c._plan.boxes.person import Person
from p2c._plan.boxes.ranges import Among, Fixed, Interval, evaluate, interval_of
from p2c._rules.meaning import ConstraintException
from p2c._spec.expression import evaluate as exact_value
from p2c._spec.feature import may_set
from p2c._spec.spec import Effects

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p2c._plan.accepted_box import Places
    from p2c._plan.boxes.ranges import Range
    from p2c._rules.theory import Theory
    from p2c._spec.feature import Value


@dataclass(frozen=True)
class TargetBounds:
    """The bounds of one person's end states, by the places of the targets.

    Attributes:
        theory: A problem without a model, in which the targets set off no causal rule.
        row: The person's initial state.
    """

    theory: Theory
    row: Mapping[str, Value]

    @staticmethod
    def of(theory: Theory, row: Mapping[str, Value], names: frozenset[str]) -> TargetBounds | None:
        """Return the bounds for targets; None if effects or a model take part."""
        reached = any(name in names or theory.upstream[name] & names for name, _ in theory.causes)
        optional = bool(theory.causes) and theory.effects is Effects.SUPPORTED
        moving = any(theory.feature[name].moves is not None for name in names)
        if theory.model is not None or reached or optional or moving:
            return None
        return TargetBounds(theory, row)

    @cached_property
    def _ends(self) -> Ends:
        return Ends(Person(self.theory, self.row), ())

    def verdict(self, box: Mapping[str, Places]) -> bool | None:
        """Tell whether every choice reaches the goal; None if undecided."""
        if not all(self._may_set(name, places) for name, places in box.items()):
            return False
        person, features = self._ends.person, self.theory.feature
        ranges: dict[str, Range] = {
            each.name: Fixed(self.row[each.name]) for each in self.theory.features
        }
        ranges |= {name: self._range(name, places) for name, places in box.items()}
        if not self._ends.recompute(ranges, set(box)):
            return False
        facts = Facts(self._ends, ranges)
        excused = [e.constraint for e in person.exceptions if isinstance(e, ConstraintException)]
        truths = [facts.body(self.theory.goal)]
        for clause in self.theory.constraints:
            broken = facts.body(clause.body)
            unsure = broken is None or (broken and clause in excused)
            truths.append(None if unsure else not broken)
        assert person.origin is not None
        raws = [e.equation for e in self.theory.computed if person.origin.raw[e.name] is not None]
        sides = [each.expression for each in raws if each is not None]
        relations = ((each.left, each.right) for each in self.theory.relations)
        sides += [s for both in relations for s in both if exact_value(s, self.row) is not None]
        for side in sides:
            number = evaluate(side, ranges, features)
            truths.append(None if number.missing and number.has_numbers else number.has_numbers)
        if False in truths:
            return False
        return None if None in truths else True

    def _may_set(self, name: str, places: Places) -> bool:
        """Tell whether the person may set every value of a set of places."""
        feature, start = self.theory.feature[name], self.row[name]
        own = None if start is None else feature.place(start)
        if own is not None and own in places:
            return False
        ends = places if feature.is_listed else (places[0], places[-1])
        return all(may_set(feature, start, feature.domain.value(each)) for each in ends)

    def _range(self, name: str, places: Places) -> Range:
        feature = self.theory.feature[name]
        if len(places) == 1:
            return Fixed(feature.domain.value(places[0]))
        if feature.is_listed:
            return Among(frozenset(places))
        low, high = (feature.domain.value(each) for each in (places[0], places[-1]))
        return Interval(interval_of(low).low, interval_of(high).high)
