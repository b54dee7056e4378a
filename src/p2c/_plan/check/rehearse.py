"""A part of a plan's actions played from a row: the state that they lead to.

Each direct action is played where it is still permitted, then its effects; where several effects
are possible, the plan's own is preferred.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from p2c._plan.outcome import Action, CausalAction, DirectAction, TakenAction
from p2c._rules.play import Player

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from p2c._plan.outcome import Found
    from p2c._rules.theory import Theory
    from p2c._spec.feature import Value


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """The end of a part of a plan; `stuck` if an action cannot be played."""

    state: dict[str, Value]
    stuck: bool
    goal: bool
    changes: tuple[tuple[str, Value, Value], ...]
    """The direct actions that were played: feature, start and end."""


def rehearse_without(theory: Theory, plan: Found, action: DirectAction | TakenAction) -> Rehearsal:
    """Play a plan without one of its direct actions."""
    actions = [each for step in plan.steps for each in step.actions if each is not action]
    return rehearse(theory, plan.question.initial, actions)


def rehearse(theory: Theory, row: Mapping[str, Value], actions: Sequence[Action]) -> Rehearsal:
    """Play actions of a plan from a row.

    Args:
        theory: The problem.
        row: The person's values.
        actions: Direct actions in order; effects among them are preferred to others.
    """
    player = Player(theory, row)
    planned = {(each.feature, each.end) for each in actions if isinstance(each, CausalAction)}
    named = {each.name: each for each in theory.named_actions}
    state, stuck = player.begun, False
    changes: list[tuple[str, Value, Value]] = []
    for each in actions:
        if isinstance(each, TakenAction):
            for _ in range(each.count):
                after = player.take(state, named[each.action])
                stuck = stuck or after is None
                if after is not None:
                    state = next((rest.state for rest in player.settle(after, planned)), after)
            continue
        name, end = each.feature, each.end
        if state[name] == end:  # an effect brought it
            continue
        if isinstance(each, DirectAction):
            ready = player.may_set(state, name, end)
            stuck = stuck or not ready
            changes += [(name, state[name], end)] if ready else []
        else:
            ready = (name, end) in {(o.feature, o.value) for o in player.supported(state)}
        if ready:
            direct = isinstance(each, DirectAction)
            state = player.after(state, name, end, direct=direct)
            state = next((rest.state for rest in player.settle(state, planned)), state)
    stuck = stuck or not player.consistent(state)
    ended = {name: state[name] for name in theory.feature}
    return Rehearsal(ended, stuck, not stuck and player.arrives(state), tuple(changes))
