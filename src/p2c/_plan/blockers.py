"""Find a smallest set of restrictions whose relaxation opens a plan.

Relaxing a restriction changes effects, too: they take the nearest value among more. So restrictions are relaxed before a path begins, and a
set of them is tested by planning in the problem without them. This is an implicit hitting set loop (Moreno-Centeno and
Karp, 2013): `search/correction_sets.py` proposes the sets, fewest restrictions and least lower bound of the cost first, and each set without a
plan is excluded together with all sets of which the same is sure.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from p2c._plan.boxes import planner as boxes
from p2c._plan.boxes.relaxations import Relaxations
from p2c._plan.compiled.person import place_person
from p2c._plan.compiled.transitions import Transitions
from p2c._plan.lifting import caps, lifted, liftings, uncapped
from p2c._plan.outcome import CausalAction, DirectAction, Found, GaveUp
from p2c._plan.planner import search_plan
from p2c._plan.search.best_first import LimitReached, Limits
from p2c._plan.search.correction_sets import CorrectionSets, Restriction, Variant
from p2c._plan.search.devices import ALL
from p2c._spec.feature import RestrictionKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from p2c._plan.compiled.space import Space
    from p2c._plan.lifting import Lifting
    from p2c._plan.outcome import Blocker, Plan
    from p2c._plan.search.devices import Devices
    from p2c._rules.theory import Theory
    from p2c._spec.feature import Feature, Value


class Explanation(NamedTuple):
    """The blockers of a person, and the plan that relaxing them opens."""

    blockers: tuple[Blocker, ...] = ()
    opened: Found | None = None
    known: bool = True
    """False if the time ended before the blockers were known."""


def find_blockers(
    space: Space,
    state: Mapping[str, Value],
    limits: Limits | None = None,
    *,
    devices: Devices = ALL,
) -> Explanation:
    """Return a smallest set of restrictions that bar every path.

    The path that relaxing them opens comes with it. The set is empty if relaxing all opens none: then the rules themselves exclude one. A path that only breaks an exception
    for its own sake is no advice and is left out.
    """
    seen = {name: (value,) for name, value in state.items()}
    trial = Trial(space, state, liftings(space, seen), limits or Limits(), devices)
    try:
        opened = trial.smallest()
        if opened is None:
            return Explanation()
        blockers = tuple(trial.blockers[each] for each in opened.relaxed)
        return Explanation(blockers, trial.advice(opened))
    except LimitReached:
        return Explanation(known=False)


Lifts = tuple[int, ...]


class Opened(NamedTuple):
    """A set of restrictions and the best plan without them."""

    relaxed: Lifts
    plan: Found


@dataclass(frozen=True)
class Trial:
    """Plans of one person without chosen restrictions, by number."""

    space: Space
    state: Mapping[str, Value]
    liftings: tuple[Lifting, ...]
    limits: Limits
    devices: Devices = ALL

    @cached_property
    def blockers(self) -> tuple[Blocker, ...]:
        """Return all restrictions, the ones of features first."""
        return (*(each.blocker for each in self.liftings), *caps(self.space.theory))

    @cached_property
    def adding(self) -> frozenset[int]:
        """Return the restrictions whose relaxation only adds direct actions.

        It closes no path.
        """
        return frozenset(
            number
            for number, (blocker, feature) in enumerate(self.liftings)
            if (
                blocker.restriction == RestrictionKind.EFFECT.value
                and self.space.theory.feature[blocker.feature].effect_action is None
            )
            or not (feature.governed or self.space.theory.feature[blocker.feature].moves)
        )

    @cached_property
    def every(self) -> frozenset[int]:
        """Return all restrictions."""
        return frozenset(range(len(self.blockers)))

    def smallest(self) -> Opened | None:
        """Return a smallest set that opens a path.

        Of several it is the one with the cheapest path, then the first.
        """
        if not self.blockers:
            return None
        self.limits.check()
        sets: CorrectionSets | Relaxations
        if self.space.theory.is_arithmetic:
            sets = Relaxations(len(self.blockers), self._may_open)
        else:
            sets = self.sets
        best: Opened | None = None
        for relaxed, bound in sets.candidates():
            if best is not None and (
                len(relaxed) > len(best.relaxed)
                or (bound, relaxed) > (best.plan.cost, best.relaxed)
            ):
                break
            plan = self._search(relaxed)
            if not isinstance(plan, Found):
                # What only adds direct actions closes no path, so that without it there is none either.
                absent = [Restriction(each) for each in sorted(self.every.difference(relaxed))]
                sets.exclude([each for each in relaxed if each not in self.adding], absent)
                continue
            if best is None or (plan.cost, relaxed) < (best.plan.cost, best.relaxed):
                best = Opened(relaxed, plan)
            sets.exclude(relaxed, ())
        return best

    @cached_property
    def sets(self) -> CorrectionSets:
        """Return the correction sets of the person."""
        loose = frozenset(each.feature.name for each in self.liftings)
        space = self.lifted_space(self.every, loose)
        transitions = Transitions(place_person(space, self.state))
        variants = {self.space.index[name]: tuple(self._variants(name)) for name in sorted(loose)}
        strict = Transitions(place_person(self.space, self.state))
        return CorrectionSets(transitions, strict, variants, len(self.liftings), self.limits)

    def _may_open(self, chosen: frozenset[int]) -> bool:
        """Tell whether a path is left if chosen restrictions may be relaxed."""
        self.limits.check()
        return boxes.may_arrive(self._theory(chosen), self.state, self.limits)

    def _theory(self, chosen: frozenset[int]) -> Theory:
        """Return the theory without the chosen restrictions."""
        theory = self.lifted_space(chosen).theory
        return uncapped(theory, [self.blockers[number] for number in chosen])

    def _variants(self, name: str) -> Iterator[Variant]:
        """Yield a feature without each set of its restrictions, smaller sets first."""
        own = [n for n, each in enumerate(self.liftings) if each.blocker.feature == name]
        for size in range(len(own) + 1):
            for some in combinations(own, size):
                relaxed = frozenset(map(Restriction, some))
                yield Variant(relaxed, self._lifted(name, relaxed))

    def advice(self, opened: Opened) -> Found | None:
        """Return the best path without restrictions that open one, on which nothing is set only to be carried off at once."""
        if not _in_vain(opened.plan):
            return opened.plan
        plan = self._search(opened.relaxed, lasting=True)
        return plan if isinstance(plan, Found) else None

    def _search(self, chosen: Lifts, *, lasting: bool = False) -> Plan:
        """Return the plan without the chosen restrictions."""
        if self.space.theory.is_arithmetic:
            theory = self._theory(frozenset(chosen))
            plan = boxes.find_plan(theory, self.state, self.limits, lasting=lasting)
        else:
            space = self.lifted_space(frozenset(chosen))
            person = place_person(space, self.state)
            transitions = Transitions(person, lasting=lasting)
            plan = search_plan(transitions, self.limits, self.devices)
        if isinstance(plan, GaveUp):
            raise LimitReached(0, None)
        return plan

    def lifted_space(self, chosen: frozenset[int], loose: frozenset[str] = frozenset()) -> Space:
        """Return the space without some restrictions."""
        own = len(self.liftings)
        names = {self.liftings[number].blocker.feature for number in chosen if number < own}
        return self.space.with_features([self._lifted(name, chosen) for name in names], loose)

    def _lifted(self, name: str, chosen: frozenset[int]) -> Feature:
        """Return a feature without some restrictions."""
        feature = self.space.theory.feature[name]
        own = len(self.liftings)
        return lifted(feature, [self.liftings[number] for number in sorted(chosen) if number < own])


def _in_vain(plan: Found) -> bool:
    """Tell whether what breaks its law at the start is set only to be carried off by itself in the same step."""
    excepted = {each.get("feature") for each in plan.question.exceptions}
    for step in plan.steps:
        seen: set[str] = set()
        for action in step.actions:
            if isinstance(action, DirectAction):
                seen.add(action.feature)
            elif isinstance(action, CausalAction) and action.feature in seen & excepted:
                return True
    return False
