"""Plays actions on the reference meaning: what a person may do in a state, and what then happens by itself.

Which actions are played, somebody else chooses: a plan that is rehearsed without one of them, or a search that asks a
model about every end. The validator plays plans with code of its own (`plan/check/replay.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from p2c._rules.meaning import (
    abduce,
    breached,
    changes_of,
    consistent,
    goal_met,
    origin,
    supported_outcomes,
    triggered_outcomes,
    undefined,
    violated,
)
from p2c._rules.render import render_body
from p2c._rules.syntax import PERSON, Atom, Comparator, Constant
from p2c._rules.theory import Test
from p2c._spec.feature import may_set
from p2c._spec.resources import amounts_of
from p2c._spec.spec import Effects, Exceptions

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from p2c._rules.meaning import AbducedException, Outcome
    from p2c._rules.theory import Theory
    from p2c._spec.computed import Origin
    from p2c._spec.feature import Value
    from p2c._spec.resources import NamedAction

    State = Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Rest:
    """A state in which nothing more happens by itself, and the effects that led there.

    Where it is not consistent, another direct action must follow in the same step.
    """

    state: dict[str, Value]
    effects: tuple[Outcome, ...]
    consistent: bool


@dataclass(frozen=True)
class Player:
    """What one person may do, and what then happens by itself."""

    theory: Theory
    initial: State

    @cached_property
    def exceptions(self) -> tuple[AbducedException, ...]:
        """Return the laws and constraints that the person breaks at the start and is excused from."""
        strict = self.theory.exceptions is Exceptions.STRICT
        return () if strict else abduce(self.theory, self.initial)

    @cached_property
    def origin(self) -> Origin | None:
        """Return the person's start for computed features; None without arithmetic."""
        return origin(self.theory, self.initial)

    @property
    def begun(self) -> dict[str, Any]:
        """Return the initial state with the totals of resources."""
        return {**self.initial, **{each.name: Fraction(0) for each in self.theory.resources}}

    def after(
        self, state: State, feature: str, value: Value, *, direct: bool = False
    ) -> dict[str, Value]:
        """Return the state after a change of one feature and all recomputation."""
        own = self.theory.feature[feature]
        used = amounts_of(own, state[feature], value) if direct else {}
        return self._changed(state, {feature: value}, used)

    def take(self, state: State, action: NamedAction) -> dict[str, Value] | None:
        """Return the state after a named action; None if it does not exist there."""
        changes = changes_of(self.theory, action, state)
        if changes is None:
            return None
        return self._changed(state, {e.feature: e.end for e in changes}, dict(action.uses))

    def _changed(
        self, state: State, ends: Mapping[str, Value], used: Mapping[str, Fraction]
    ) -> dict[str, Value]:
        changed: dict[str, Any] = {**state, **ends}
        for name, amount in used.items():
            if name in changed:
                changed[name] += amount
        return changed if self.origin is None else self.origin.recomputed(changed)

    def may_set(self, state: State, feature: str, value: Value) -> bool:
        """Tell whether a direct action from a state is permitted, whatever was set before."""
        return may_set(self.theory.feature[feature], state[feature], value)

    def supported(self, state: State) -> tuple[Outcome, ...]:
        """Return what fired rules support although nothing is violated, where the problem has such effects."""
        asked = self.theory.effects is Effects.SUPPORTED
        return supported_outcomes(self.theory, state) if asked and self.consistent(state) else ()

    def settle(self, state: State, planned: Collection[tuple[str, Value]] = ()) -> Iterator[Rest]:
        """Yield where effects lead from a state, depth first, those that are planned before others."""
        passed: set[tuple[Value, ...]] = set()
        waiting: list[tuple[dict[str, Value], tuple[Outcome, ...]]] = [(dict(state), ())]
        while waiting:
            here, effects = waiting.pop()
            key = tuple(here.values())
            if key in passed:
                continue
            passed.add(key)
            violations = violated(self.theory, here, self.exceptions)
            outcomes = triggered_outcomes(self.theory, here, violations)
            if not outcomes:
                broken = breached(self.theory, here, self.exceptions)
                lost = undefined(self.theory, here, self.origin)
                whole = not (violations or broken or lost)
                yield Rest(here, effects, whole)
            first = sorted(outcomes, key=lambda each: (each.feature, each.value) not in planned)
            waiting += [
                (self.after(here, each.feature, each.value), (*effects, each))
                for each in reversed(first)
                if not each.barred
            ]

    def consistent(self, state: State) -> bool:
        """Tell whether a state obeys every law and constraint, what the person is excused from aside."""
        return consistent(self.theory, state, self.exceptions, self.origin)

    def arrives(self, state: State) -> bool:
        """Tell whether a state is consistent and meets the goal."""
        return goal_met(self.theory, state, self.exceptions, self.origin)


def towards(theory: Theory, end: State) -> Theory:
    """Return the theory with one state as its goal; a value that is not known cannot be asked for and is left out."""
    known = [(name, value) for name, value in end.items() if value is not None]
    atoms = tuple(Atom(name, (PERSON, Constant(value))) for name, value in known)
    goal = tuple(
        Test(name, Comparator.EQ, value, literal=atom)
        for (name, value), atom in zip(known, atoms, strict=True)
    )
    return replace(theory, goal=goal, query=atoms, goal_text=render_body(atoms))
