"""From the actions that another program names to a path as the planner knows paths."""

from __future__ import annotations

from typing import TYPE_CHECKING

from p2c.engines.walk import arrive, straightened
from p2c.errors import EngineError
from p2c.plan.answer import ask, found
from p2c.plan.check.validate import check_plan
from p2c.plan.outcome import Found
from p2c.plan.search.best_first import Move

if TYPE_CHECKING:
    from collections.abc import Iterable

    from p2c.plan.compiled.person import Places
    from p2c.plan.compiled.transitions import Transitions
    from p2c.plan.search.best_first import Arrival

Named = tuple[bool, int, int]
"""An action: whether it is direct, the feature, and the place that it comes to."""


def read_path(dynamics: Transitions, actions: Iterable[Named], *, engine: str) -> Arrival:
    """Return the path that some actions make up, without detours."""
    moves = []
    places = dynamics.person.places
    for action in actions:
        move = _move(dynamics, places, action, engine)
        moves.append(move)
        places = (*places[: move.axis], move.end, *places[move.axis + 1 :])
    arrival = arrive(dynamics, straightened(dynamics, moves))
    if not dynamics.judge(arrival.places).goal:
        raise EngineError(f"{engine}: its answer is a path that does not lead to the goal")
    return arrival


def _move(dynamics: Transitions, places: Places, action: Named, engine: str) -> Move:
    direct, index, place = action
    if direct:
        return Move(index, places[index], place, True, 0, False, (place,))
    for effect in dynamics.effects(places, dynamics.judge(places)):
        if effect.axis == index and (effect.place == place or place in effect.among):
            return Move(index, places[index], place, False, effect.fired, effect.assumed, (place,))
    name = dynamics.person.space.axes[index].feature.name
    raise EngineError(f"{engine}: its answer has an effect that does not follow: {name}")


def replayed(
    dynamics: Transitions, arrival: Arrival, *, engine: str, optimal: bool = True
) -> Found:
    """Return the plan of a path, once the validator agrees."""
    plan = found(dynamics, ask(dynamics), arrival)
    verdict = check_plan(dynamics.person.space.theory, plan.to_dict())
    if not verdict:
        raise EngineError(f"{engine}: its answer does not replay: {verdict}")
    return Found(plan.question, plan.cost, plan.steps, optimal)
