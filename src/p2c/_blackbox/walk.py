"""Paths built by hand, one direct action at a time, on the reference meaning of the rules.

The planner searches for a goal that rules describe. Where only a model knows the goal, somebody else chooses the
actions; this module makes them happen, with the effects that follow, and refuses those that may not be.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from p2c._plan.outcome import (
    CausalAction,
    DirectAction,
    Found,
    Question,
    Step,
    broken_equation,
    broken_law,
)
from p2c._rules.evaluate import in_head
from p2c._rules.meaning import ConstraintException, EquationException
from p2c._rules.play import Player
from p2c._rules.render import render_rule
from p2c._spec.resources import uses_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from p2c._plan.outcome import Action
    from p2c._rules.meaning import AbducedException, Outcome
    from p2c._rules.theory import Clause, Theory
    from p2c._spec.feature import Value

    State = Mapping[str, Value]

MOST_OUTCOMES = 8
"""How many of the ways in which the effects of one action may fall out are followed."""


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
    """What one person may do, and where it leads."""

    theory: Theory
    initial: State

    @cached_property
    def player(self) -> Player:
        """Return the player of the person's actions."""
        return Player(self.theory, self.initial)

    def start(self) -> Walk:
        """Return the walk that has not begun."""
        return Walk(dict(self.initial))

    def may(self, walk: Walk, feature: str, value: Value) -> bool:
        """Tell whether a direct action is permitted after a walk."""
        spec = self.theory.feature[feature]
        if not self.player.may_set(walk.state, feature, value):
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
        price = self.theory.norm.action_cost(spec, start, value)
        action = DirectAction(feature, start, value, float(price), uses_of(spec, start, value))
        state = {**walk.state, feature: value}
        return self._ends(self._settled(walk, state, (*walk.pending, action)))

    def wait(self, walk: Walk) -> list[Walk]:
        """Return where effects lead that fired rules support by themselves, where the problem has such effects."""
        found: list[Walk] = []
        for outcome in () if walk.pending else self.player.supported(walk.state):
            state = {**walk.state, outcome.feature: outcome.value}
            found += self._settled(walk, state, (_effect(outcome),))
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
        norm = self.theory.norm
        if norm.adds_up:
            return math.fsum(action.cost for action in walk.direct_actions)
        sums: dict[str, float] = {}
        for action in walk.direct_actions:
            sums[action.feature] = sums.get(action.feature, 0.0) + action.cost
        weighed = [(float(self.theory.feature[name].weight), far) for name, far in sums.items()]
        return norm.cost((weight, far / weight) for weight, far in weighed if far)

    def cost_after(self, walk: Walk, feature: str, value: Value) -> float:
        """Return what a walk would cost with one more direct action, or a little less."""
        spec, norm = self.theory.feature[feature], self.theory.norm
        far = float(norm.length(spec, walk.state[feature], value))
        before = self.cost(walk) ** norm.power
        return norm.root(norm.total((before, float(spec.weight) * norm.share(far))))

    def found(self, walk: Walk) -> Found:
        """Return a walk as a plan; that nothing is cheaper is not claimed."""
        assert walk.before is not None
        assert not walk.pending
        steps = tuple(each.step for each in walk.stations if each.step)
        return Found(self.question, self.cost(walk), steps, proof="none")

    @cached_property
    def question(self) -> Question:
        """Return the question that the person's row puts."""
        theory = self.theory
        records = tuple(self._record(each) for each in self.player.exceptions)
        return Question(theory.name, theory.norm.value, dict(self.initial), records)

    def _record(self, broken: AbducedException) -> dict[str, Any]:
        if isinstance(broken, EquationException):
            return broken_equation(broken.feature, broken.equation, broken.stated, broken.computed)
        if isinstance(broken, ConstraintException):
            return {"constraint": render_rule(broken.constraint.rule)}
        clauses = self.theory.rules_of[broken.feature]
        headed = (each for each in clauses if in_head(self.theory, each, broken.value))
        return broken_law(broken.feature, _texts(broken.fired), _texts(headed))

    def _ends(self, walks: Iterable[Walk]) -> list[Walk]:
        """Return the walks that come to no state a second time, the first of those that end alike."""
        distinct: dict[tuple[Value, ...], Walk] = {}
        for walk in walks:
            earlier = walk.before.stations if walk.before else ()
            passed = {tuple(self.initial.values()), *(each.key for each in earlier)}
            if walk.pending or walk.key not in passed:
                distinct.setdefault(walk.key, walk)
        return list(distinct.values())[:MOST_OUTCOMES]

    def _settled(self, walk: Walk, state: State, actions: tuple[Action, ...]) -> Iterator[Walk]:
        """Yield the walks on from a walk, by some actions to a state and by what follows."""
        base = walk.before if walk.pending else walk
        for rest in self.player.settle(state):
            done = (*actions, *map(_effect, rest.effects))
            if rest.consistent:
                yield Walk(rest.state, base, Step(done, dict(rest.state)))
            else:
                yield Walk(rest.state, base, None, done)


def _effect(outcome: Outcome) -> CausalAction:
    because = _texts(outcome.because)
    return CausalAction(outcome.feature, outcome.start, outcome.value, because, outcome.assumed)


def _texts(clauses: Iterable[Clause]) -> tuple[str, ...]:
    return tuple(render_rule(clause.rule) for clause in clauses)
