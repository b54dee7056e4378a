"""Paths of the planner from the actions of another program."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from p2c._plan.answer import ask, found
from p2c._plan.check.validate import check_plan
from p2c._plan.outcome import Found, GaveUp, Infeasible
from p2c._plan.search.best_first import Arrival, Move, chain_of
from p2c.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from p2c._plan.compiled.person import Person, Places
    from p2c._plan.compiled.transitions import Transitions
    from p2c._plan.outcome import Plan, ProofKind

Named = tuple[bool, int, int]
"""An action: whether it is direct, the feature, and the place that it comes to."""


def read_path(dynamics: Transitions, actions: Iterable[Named], *, engine: str) -> Arrival:
    """Return the path of a sequence of actions, without detours."""
    moves = []
    places = dynamics.person.places
    for action in actions:
        move = _move(dynamics, places, action, engine)
        moves.append(move)
        places = _after(places, move)
    arrival = _arrive(dynamics, _straightened(dynamics, moves))
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
    dynamics: Transitions, arrival: Arrival, *, engine: str, proof: ProofKind = "exhausted"
) -> Found:
    """Return the plan of a path, once the validator agrees."""
    plan = found(dynamics, ask(dynamics), arrival)
    verdict = check_plan(dynamics.person.space.theory, plan.to_dict())
    if not verdict:
        raise EngineError(f"{engine}: its answer does not replay: {verdict}")
    return replace(plan, proof=proof)


def conclude(
    dynamics: Transitions, best: Arrival | None, *, engine: str, bound: float | None = None
) -> Plan:
    """Return the answer with the best path of a search; `GaveUp` with a bound."""
    proof: ProofKind = "exhausted" if bound is None else "none"
    plan = None if best is None else replayed(dynamics, best, engine=engine, proof=proof)
    if bound is not None:
        return GaveUp(ask(dynamics), bound, plan)
    return plan or Infeasible(ask(dynamics))


def _after(places: Places, move: Move) -> Places:
    return (*places[: move.axis], move.end, *places[move.axis + 1 :])


def _straightened(dynamics: Transitions, moves: list[Move]) -> list[Move]:
    """Return the moves up to the first goal state, without loops.

    What is left is a path of no higher cost: fewer direct actions bar fewer later ones.
    """
    places = dynamics.person.places
    kept: list[Move] = []
    passed = {places: 0}
    for move in moves:
        kept.append(move)
        places = _after(places, move)
        verdict = dynamics.judge(places)
        if places in passed:
            del kept[passed[places] :]
            passed = {each: count for each, count in passed.items() if count <= len(kept)}
        elif verdict.consistent:
            passed[places] = len(kept)
        if verdict.goal:
            break
    return kept


def _arrive(dynamics: Transitions, moves: list[Move]) -> Arrival:
    """Return a path with its effort."""
    person = dynamics.person
    effort = way = 0
    gone: dict[int, int] = {}
    places = person.places
    for move in moves:
        if move.direct:
            effort += _effort(person, move, gone)
            way += person.way(move.axis, move.start, move.end)
        places = _after(places, move)
    return Arrival(effort, way, places, chain_of(moves))


def _effort(person: Person, move: Move, gone: dict[int, int]) -> int:
    before = gone.get(move.axis, 0)
    moves = person.space.axes[move.axis].feature.moves_from is not None
    if moves and not person.space.theory.norm.adds_up:
        gone[move.axis] = before + person.length(move.axis, move.start, move.end)
    return person.effort(move.axis, move.start, move.end, gone=before)
