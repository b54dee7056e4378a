"""What becomes of a path in the world of the contract, where effects follow and not everything can be set.

The person takes the steps in order. After each one, effects happen by themselves until the state is consistent; where an
effect may take one of several values, it takes the one that the path aims at. A step to a value that is there already
needs nothing: a planner that sets what follows anyway is not blamed for it. A step that sets an effect directly, changes
what is fixed or goes a way that does not exist is illegal: it is counted, and the person cannot take it. A path is legal
where every step is and the last state is consistent and the one that was promised.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from p2c._rules.meaning import abduce, consistent, triggered_outcomes, violated
from p2c._spec.feature import Action, distance, permits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.world import State
    from p2c._rules.meaning import AbducedException
    from p2c._rules.theory import Theory
    from p2c._spec.feature import Feature, Value

MOST_EFFECTS = 1_000


@dataclass(frozen=True, slots=True)
class Walk:
    """Where the path led: the state, whether it is consistent, what the steps taken cost, and those that were illegal."""

    state: State
    consistent: bool
    promised: bool
    cost: float
    taken: int
    illegal: tuple[str, ...]

    @property
    def legal(self) -> bool:
        """Tell whether every step exists and leads to the promised state, which is possible."""
        return not self.illegal and self.consistent and self.promised


def walk(theory: Theory, start: State, path: Sequence[tuple[str, Value]], *, aim: State) -> Walk:
    """Follow a path towards an end state, with effects, and leave out the steps that nobody can take."""
    exceptions = abduce(theory, start)
    state = dict(start)
    cost, taken = 0.0, 0
    illegal: list[str] = []
    for name, value in path:
        feature = theory.feature[name]
        if state[name] == value:
            continue
        assert value is not None
        fault = _fault(feature, state[name], value)
        if fault:
            illegal.append(fault)
            continue
        cost += float(distance(feature, state[name], value)) * float(feature.weight)
        taken += 1
        state[name] = value
        _settle(theory, state, exceptions, aim)
    possible = consistent(theory, state, exceptions)
    return Walk(state, possible, state == aim, cost, taken, tuple(illegal))


def _fault(feature: Feature, own: Value, value: str | int | float) -> str:
    if feature.action is Action.EFFECT:
        return f"{feature.name}: an effect, set to {value!r}"
    if not permits(feature, own, value):
        return f"{feature.name}: no change from {own!r} to {value!r}"
    return ""


def _settle(
    theory: Theory, state: State, exceptions: tuple[AbducedException, ...], aim: State
) -> None:
    for _ in range(MOST_EFFECTS):
        violations = violated(theory, state, exceptions)
        outcomes = triggered_outcomes(theory, state, violations)
        if not outcomes:
            return
        aimed = [each for each in outcomes if aim[each.feature] == each.value]
        chosen = (aimed or list(outcomes))[0]
        state[chosen.feature] = chosen.value
