"""Replay of a plan as a path, and its exact measure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from p2c_verify.effects import Effects, permitted
from p2c_verify.facts import YES, Facts, Judge
from p2c_verify.pricing import Measure, Pricing, length
from p2c_verify.problem import Feature, Problem, ValueSet, VerifyError

TOLERANCE = Fraction(1, 10**9)


def lone(value: int | None) -> ValueSet:
    """Return the set of one value."""
    return ValueSet((), missing=True) if value is None else ValueSet(((value, value),))


class Replay:
    """A walk along the steps of a plan; a step that the contract forbids raises `VerifyError`."""

    def __init__(self, problem: Problem, judge: Judge, initial: Sequence[int | None]) -> None:
        self.problem, self.judge = problem, judge
        self.effects = Effects(problem, judge)
        self.pricing = Pricing(problem)
        self.names = {each.name: each for each in problem.features}
        self.state = list(initial)
        self.left: dict[int, list[int | None]] = {}
        self.lengths: dict[int, int | None] = {}

    def facts(self) -> Facts:
        """Return the facts of the present state."""
        return self.judge.facts([lone(value) for value in self.state])

    def run(self, plan: Mapping[str, Any]) -> Measure:
        """Replay all steps and return the measure of the path."""
        seen = [tuple(self.state)]
        steps = plan["steps"]
        if self.judge.final(self.facts()) == YES and steps:
            raise VerifyError("the goal holds at the start, but the plan has steps")
        for number, step in enumerate(steps, start=1):
            if not step["actions"]:
                raise VerifyError(f"step {number} has no actions")
            for place, action in enumerate(step["actions"]):
                self._act(action, f"step {number}, action {place + 1}", first=place == 0)
            facts = self.facts()
            self.compare(step["state"], f"step {number}")
            if self.judge.consistent(facts) != YES:
                raise VerifyError(f"step {number} ends in an inconsistent state")
            if tuple(self.state) in seen:
                raise VerifyError(f"step {number} repeats a state")
            seen.append(tuple(self.state))
            if (self.judge.final(facts) == YES) != (number == len(steps)):
                raise VerifyError(f"step {number}: the goal must hold after the last step only")
        return self.measure()

    def compare(self, recorded: Mapping[str, Any], place: str) -> None:
        """Refuse a recorded state that is not the present one."""
        if set(recorded) != set(self.names):
            raise VerifyError(f"{place}: the state does not give every feature once")
        for feature, value in zip(self.problem.features, self.state, strict=True):
            if feature.read(recorded[feature.name]) != value:
                raise VerifyError(f"{place}: {feature.name} is not as recorded")

    def _act(self, action: Mapping[str, Any], place: str, *, first: bool) -> None:
        feature = self.names.get(action["feature"])
        if feature is None:
            raise VerifyError(f"{place}: there is no feature {action['feature']!r}")
        start, end = feature.read(action["from"]), feature.read(action["to"])
        if start != self.state[feature.index]:
            raise VerifyError(f"{place}: {feature.name} does not have the value in 'from'")
        if end is None or feature.snap(((end, end),)) == () or end == start:
            raise VerifyError(f"{place}: {feature.name} cannot take the value in 'to'")
        facts = self.facts()
        settled = self.judge.consistent(facts) == YES
        if settled and not first:
            raise VerifyError(f"{place}: the state before it is consistent: a new step begins")
        if action["kind"] == "direct":
            self._direct(feature, start, end, facts, action, place)
        elif action["kind"] == "causal":
            self._causal(feature, end, facts, action, place, settled=settled)
        else:
            raise VerifyError(f"{place}: an action is direct or causal")
        self.state[feature.index] = end

    def _direct(
        self,
        feature: Feature,
        start: int | None,
        end: int,
        facts: Facts,
        action: Mapping[str, Any],
        place: str,
    ) -> None:
        if self.effects.triggered(facts)[0]:
            raise VerifyError(f"{place}: an effect is pending before this direct action")
        if feature.action not in ("free", "up", "down"):
            raise VerifyError(f"{place}: {feature.name} is not set directly")
        if not any(low <= end <= high for low, high in permitted(feature, start)):
            raise VerifyError(f"{place}: {feature.name} may not change that way")
        left = self.left.setdefault(feature.index, [])
        if left and feature.moves is None:
            raise VerifyError(f"{place}: {feature.name} is changed directly twice")
        if end in left:
            raise VerifyError(f"{place}: {feature.name} returns to a value that it left")
        left.append(start)
        own = length(feature, start, end)
        self.lengths[feature.index] = (
            own if own is None else own + (self.lengths.get(feature.index) or 0)
        )
        due = feature.weight * (1 if self.problem.norm == "l0" else feature.distance(start, end))
        if not close(Fraction(action["cost"]), due):
            raise VerifyError(f"{place}: the action does not cost what it says")

    def _causal(
        self,
        feature: Feature,
        end: int,
        facts: Facts,
        action: Mapping[str, Any],
        place: str,
        *,
        settled: bool,
    ) -> None:
        found = self.effects.supported(facts) if settled else self.effects.triggered(facts)[0]
        ends = [span for cause, span in found if cause.feature == feature.index]
        if not any(low <= end <= high for low, high in ends):
            raise VerifyError(f"{place}: no effect gives {feature.name} this value")
        if Fraction(action["cost"]) != 0:
            raise VerifyError(f"{place}: an effect costs nothing")
        for cause in self.problem.causes:
            if cause.feature == feature.index:
                fired = zip(cause.rules, facts.fired(cause), strict=True)
                due = {rule.text for rule, fires in fired if fires == YES}
                if set(action["because"]) != due:
                    raise VerifyError(f"{place}: 'because' does not list the rules that fired")

    def measure(self) -> Measure:
        """Return the measure of the direct actions so far."""
        total = (0, 0)
        for feature, left in self.left.items():
            own = self.problem.features[feature]
            change = self.pricing.change(own, len(left), self.lengths[feature])
            total = self.pricing.combine(total, change)
        return total


def close(one: Fraction, other: Fraction) -> bool:
    """Tell whether two costs are equal up to a relative difference of 1e-9."""
    return abs(one - other) <= TOLERANCE * max(abs(one), abs(other))


def root(norm: str, cost: Fraction) -> Fraction:
    """Return the cost that a plan shows for an exact cost: under `l2` the root."""
    return Fraction(math.sqrt(cost)) if norm == "l2" else cost
