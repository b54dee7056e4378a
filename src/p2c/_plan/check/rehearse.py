"""A plan with one of its actions left out: the state that the rest of it leads to.

Each remaining direct action is played where it is still permitted, then what follows by itself; where several effects
are possible, the plan's own is preferred.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from p2c._plan.outcome import CausalAction, DirectAction, TakenAction
from p2c._rules.play import Player

if TYPE_CHECKING:
    from p2c._plan.outcome import Found
    from p2c._rules.theory import Theory
    from p2c._spec.feature import Value


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """Where a plan without one action ends; `stuck` where the rest of it cannot be played."""

    state: dict[str, Value]
    stuck: bool
    goal: bool


def rehearse_without(theory: Theory, plan: Found, action: DirectAction | TakenAction) -> Rehearsal:
    """Play a plan without one of its direct actions."""
    player = Player(theory, plan.question.initial)
    actions = [each for step in plan.steps for each in step.actions]
    planned = {(each.feature, each.end) for each in actions if isinstance(each, CausalAction)}
    named = {each.name: each for each in theory.named_actions}
    state, stuck = player.begun, False
    for each in actions:
        if isinstance(each, TakenAction):
            for _ in range(0 if each is action else each.count):
                after = player.take(state, named[each.action])
                stuck = stuck or after is None
                if after is not None:
                    state = next((rest.state for rest in player.settle(after, planned)), after)
            continue
        name, end = each.feature, each.end
        if each is action or state[name] == end:  # or it came about by itself
            continue
        if isinstance(each, DirectAction):
            ready = player.may_set(state, name, end)
            stuck = stuck or not ready
        else:
            ready = (name, end) in {(o.feature, o.value) for o in player.supported(state)}
        if ready:
            direct = isinstance(each, DirectAction)
            state = player.after(state, name, end, direct=direct)
            state = next((rest.state for rest in player.settle(state, planned)), state)
    stuck = stuck or not player.consistent(state)
    ended = {name: state[name] for name in theory.feature}
    return Rehearsal(ended, stuck, not stuck and player.arrives(state))
