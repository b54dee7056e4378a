"""Paths built by hand, one direct action at a time, on the reference meaning of the rules (contract §2).

The planner searches for a goal that rules describe. Where only a model knows the goal, somebody else chooses the
actions; this module makes them happen, with the effects that follow, and refuses those that may not be.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from p2c.domain.feature import distance, exact, permits
from p2c.domain.spec import Effects, Norm
from p2c.plan.outcome import CausalAction, DirectAction, Found, Question, Step
from p2c.rules.evaluate import in_head
from p2c.rules.meaning import (
    FeatureException,
    abduce,
    breached,
    supported_outcomes,
    triggered_outcomes,
    violated,
)
from p2c.rules.render import render_rule

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from p2c.domain.feature import Value
    from p2c.plan.outcome import Action
    from p2c.rules.meaning import AbducedException, Outcome
    from p2c.rules.theory import Clause, Theory

    State = Mapping[str, Value]

MOST_OUTCOMES = 8
"""Of the ways in which the effects of one action may fall out, so many are followed."""


@dataclass(frozen=True)
class Walk:
    """A path so far: its state, the last step, and the path before it.

    `pending` holds the actions since the last consistent state; where there are any, the state is inconsistent and
    another direct action must follow.
    """

    state: State
    before: Walk | None = None
    step: Step | None = None
    pending: tuple[Action, ...] = ()

    @cached_property
    def key(self) -> tuple[Value, ...]:
        """Return the values of the state, by which two walks to the same state are told to be so."""
        return tuple(self.state.values())

    @cached_property
    def stations(self) -> tuple[Walk, ...]:
        """Return the walks to each consistent state on the way, this one last, the start left out."""
        if self.before is None:
            return ()
        return (*self.before.stations, self)

    @cached_property
    def direct_actions(self) -> tuple[DirectAction, ...]:
        """Return what the person does, in order."""
        done = [action for each in self.stations if each.step for action in each.step.actions]
        return tuple(a for a in (*done, *self.pending) if isinstance(a, DirectAction))


@dataclass(frozen=True)
class Walker:
    """What one person may do, and what then happens by itself."""

    theory: Theory
    initial: State

    @cached_property
    def exceptions(self) -> tuple[AbducedException, ...]:
        """Return the laws and constraints that the person breaks at the start."""
        return abduce(self.theory, self.initial)

    def start(self) -> Walk:
        """Return the walk that has not begun."""
        return Walk(dict(self.initial))

    def may(self, walk: Walk, feature: str, value: Value) -> bool:
        """Tell whether a direct action is permitted after a walk."""
        spec = self.theory.feature[feature]
        now = walk.state[feature]
        if value is None or not spec.action.is_direct or not spec.contains(value):
            return False
        if not permits(spec, now, value):
            return False
        earlier = [each for each in walk.direct_actions if each.feature == feature]
        if spec.moves_from is None:
            return not earlier
        return value not in [each.start for each in earlier]

    def act(self, walk: Walk, feature: str, value: Value) -> list[Walk]:
        """Return where a direct action and its effects lead: none where it may not be, several where effects may differ."""
        if not self.may(walk, feature, value):
            return []
        start = walk.state[feature]
        spec = self.theory.feature[feature]
        flat = self.theory.norm is Norm.L0
        price = exact(spec.weight) * (1 if flat else distance(spec, start, value))
        action = DirectAction(feature, start, value, float(price))
        state = {**walk.state, feature: value}
        return self._ends(self._settle(walk, state, (*walk.pending, action)))

    def wait(self, walk: Walk) -> list[Walk]:
        """Return where effects lead that fired rules support by themselves, where the problem has such effects."""
        if self.theory.effects is not Effects.SUPPORTED or walk.pending:
            return []
        found: list[Walk] = []
        for outcome in supported_outcomes(self.theory, walk.state):
            state = {**walk.state, outcome.feature: outcome.value}
            found += self._settle(walk, state, (self._effect(walk.state, outcome),))
        return self._ends(found)

    def follow(self, actions: Iterable[tuple[str, Value]]) -> list[Walk]:
        """Return where direct actions lead, one after the other from the start; none where one may not be."""
        walks = [self.start()]
        for feature, value in actions:
            walks = [end for walk in walks for end in self.act(walk, feature, value)]
            walks = walks[:MOST_OUTCOMES]
        return [walk for walk in walks if not walk.pending]

    def cost(self, walk: Walk) -> float:
        """Return the contract's cost of a walk."""
        if self.theory.norm is not Norm.L2:
            return math.fsum(action.cost for action in walk.direct_actions)
        sums: dict[str, float] = {}
        for action in walk.direct_actions:
            sums[action.feature] = sums.get(action.feature, 0.0) + action.cost
        weighted = ((name, far) for name, far in sums.items() if far)
        return math.sqrt(sum(far**2 / self.theory.feature[name].weight for name, far in weighted))

    def cost_after(self, walk: Walk, feature: str, value: Value) -> float:
        """Return what a walk would cost with one more direct action, or a little less."""
        spec = self.theory.feature[feature]
        weight, before = float(spec.weight), self.cost(walk)
        if self.theory.norm is Norm.L0:
            return before + weight
        far = float(distance(spec, walk.state[feature], value))
        return (
            before + weight * far
            if self.theory.norm is Norm.L1
            else math.hypot(before, math.sqrt(weight) * far)
        )

    def found(self, walk: Walk) -> Found:
        """Return a walk as a plan; that nothing is cheaper is not claimed."""
        assert walk.before is not None
        assert not walk.pending
        steps = tuple(each.step for each in walk.stations if each.step)
        return Found(self.question, self.cost(walk), steps, optimal=False)

    @cached_property
    def question(self) -> Question:
        """Return the question that the person's row puts."""
        theory = self.theory
        records = tuple(self._record(each) for each in self.exceptions)
        return Question(theory.name, theory.norm.value, dict(self.initial), records)

    def _record(self, broken: AbducedException) -> dict[str, Any]:
        if not isinstance(broken, FeatureException):
            return {"constraint": render_rule(broken.constraint.rule)}
        clauses = self.theory.rules_of[broken.feature]
        headed = tuple(each for each in clauses if in_head(self.theory, each, broken.value))
        return {"feature": broken.feature, "rules": list(_texts(broken.fired or headed))}

    def _ends(self, walks: Iterable[Walk]) -> list[Walk]:
        """Return the walks that come to no state a second time, the first of those that end alike."""
        distinct: dict[tuple[Value, ...], Walk] = {}
        for walk in walks:
            earlier = walk.before.stations if walk.before else ()
            passed = {tuple(self.initial.values()), *(each.key for each in earlier)}
            if walk.pending or walk.key not in passed:
                distinct.setdefault(walk.key, walk)
        return list(distinct.values())[:MOST_OUTCOMES]

    def _settle(self, walk: Walk, state: State, actions: tuple[Action, ...]) -> Iterator[Walk]:
        """Yield where effects lead from a state, depth first."""
        passed: set[tuple[Value, ...]] = set()
        waiting = [(state, actions)]
        while waiting:
            state, actions = waiting.pop()
            key = tuple(state.values())
            if key in passed:
                continue
            passed.add(key)
            violations = violated(self.theory, state, self.exceptions)
            if not violations and not breached(self.theory, state, self.exceptions):
                base = walk if not walk.pending else walk.before
                yield Walk(state, base, Step(actions, dict(state)))
                continue
            outcomes = triggered_outcomes(self.theory, state, violations)
            if not outcomes:
                yield Walk(state, walk if not walk.pending else walk.before, None, actions)
            for outcome in reversed(outcomes):
                after = {**state, outcome.feature: outcome.value}
                waiting.append((after, (*actions, self._effect(state, outcome))))

    def _effect(self, state: State, outcome: Outcome) -> CausalAction:
        because = _texts(outcome.because)
        name = outcome.feature
        return CausalAction(name, state[name], outcome.value, because, outcome.assumed)


def _texts(clauses: Iterable[Clause]) -> tuple[str, ...]:
    return tuple(render_rule(clause.rule) for clause in clauses)
