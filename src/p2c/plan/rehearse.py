"""A plan with one of its actions left out: the state that the rest of it leads to.

The rest is played by the contract's own definitions (`rules/meaning.py`): each remaining direct action where it is still
permitted, then what follows by itself. Where several effects are possible, the plan's own is preferred.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from p2c.domain.feature import permits
from p2c.domain.spec import Effects, Exceptions
from p2c.plan.outcome import CausalAction, DirectAction
from p2c.rules.meaning import (
    abduce,
    consistent,
    goal_met,
    supported_outcomes,
    triggered_outcomes,
    violated,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from p2c.domain.feature import Value
    from p2c.plan.outcome import Action, Found
    from p2c.rules.meaning import AbducedException, Outcome
    from p2c.rules.theory import Theory


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """Where a plan without one action ends; `stuck` where the rest of it cannot be played."""

    state: dict[str, Value]
    stuck: bool
    goal: bool


def rehearse_without(theory: Theory, plan: Found, action: DirectAction) -> Rehearsal:
    """Play a plan without one of its direct actions."""
    initial = dict(plan.question.initial)
    strict = theory.exceptions is Exceptions.STRICT
    player = _Player(theory, initial, () if strict else abduce(theory, initial))
    actions = [each for step in plan.steps for each in step.actions]
    player.planned = [each for each in actions if isinstance(each, CausalAction)]
    for each in actions:
        if each is action:
            continue
        if isinstance(each, DirectAction):
            player.act(each)
        else:
            player.support(each)
    stuck = player.stuck or not consistent(theory, player.state, player.exceptions)
    goal = not stuck and goal_met(theory, player.state, player.exceptions)
    return Rehearsal(player.state, stuck, goal)


class _Player:
    """A state on its way."""

    def __init__(
        self,
        theory: Theory,
        state: dict[str, Value],
        exceptions: tuple[AbducedException, ...],
    ) -> None:
        self.theory = theory
        self.state = state
        self.exceptions = exceptions
        self.planned: Sequence[CausalAction] = ()
        self.stuck = False

    def act(self, action: DirectAction) -> None:
        now, end = self.state[action.feature], action.end
        if now == end:  # it came about by itself, so nothing is left to do
            return
        assert end is not None
        feature = self.theory.feature[action.feature]
        if not (feature.action.is_direct and permits(feature, now, end)):
            self.stuck = True
            return
        self.state[action.feature] = end
        self._settle()

    def support(self, action: Action) -> None:
        """Let a planned effect happen that a rule supports although nothing is violated."""
        if self.theory.effects is not Effects.SUPPORTED or self._violations():
            return
        for outcome in supported_outcomes(self.theory, self.state):
            if (outcome.feature, outcome.value) == (action.feature, action.end):
                self.state[outcome.feature] = outcome.value
                self._settle()
                return

    def _settle(self) -> None:
        """Let happen what follows; a feature in a cycle acts only so often as there are features."""
        for _ in range(len(self.theory.features) ** 2):
            outcomes = triggered_outcomes(self.theory, self.state, self._violations())
            if not outcomes:
                return
            chosen = self._chosen(outcomes)
            self.state[chosen.feature] = chosen.value

    def _violations(self) -> tuple[str, ...]:
        return violated(self.theory, self.state, self.exceptions)

    def _chosen(self, outcomes: tuple[Outcome, ...]) -> Outcome:
        planned = {(each.feature, each.end) for each in self.planned}
        return next((o for o in outcomes if (o.feature, o.value) in planned), outcomes[0])
