"""From slots back to a path: an answer of the program, walked through by the planner's own dynamics.

The program says which direct actions there are and where features stand at each moment; the walk finds the single effects
in between. What leads nowhere is left out at the end: loops back to a state, and whatever follows the goal.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from p2c.domain.spec import Norm
from p2c.engines.lengths import minimizes_actions, routes
from p2c.engines.slots import Shape
from p2c.errors import EngineError
from p2c.plan.search.best_first import Arrival, Move, chain_of

if TYPE_CHECKING:
    from p2c.engines.asker import Asker
    from p2c.engines.model import Model
    from p2c.engines.parts import Component
    from p2c.plan.compiled.person import Person, Places
    from p2c.plan.compiled.transitions import Effect, Transitions


def walk(asker: Asker, model: Model) -> Arrival:
    """Return the path that an answer describes."""
    walker = _Walker(asker, model, asker.dynamics.person.places)
    for component in asker.parts.components:
        walker.follow(component)
    for index, layout in asker.parts.layouts.items():
        if layout.settable and asker.parts.component_of(index) is None:
            walker.set_at_last(index)
    return arrive(asker.dynamics, straightened(asker.dynamics, walker.moves))


@dataclass
class _Walker:
    """Where the walk is, and what it has done."""

    asker: Asker
    model: Model
    places: Places
    moves: list[Move] = field(default_factory=list)

    def follow(self, component: Component) -> None:
        """Walk the way of one component."""
        last = max((moment for moment, _ in self.model.slots), default=0)
        for moment in range(1, last + 1):
            for index in component.members:
                if (moment, index) in self.model.direct:
                    _, end = self.model.direct[moment, index]
                    self._set(index, self._target(index, end))
            self._settle(component, moment)

    def set_at_last(self, index: int) -> None:
        """Set a feature that no effect hears of to what it has at the end."""
        wanted = self.model.end[index]
        if self._slot(index, self.places[index]) == wanted:
            return
        layout = self.asker.parts.layouts[index]
        if layout.shape is not Shape.PLACES:
            self._set(index, self._target(index, wanted))
            return
        space = self.asker.parts.space
        ways = routes(space, index, self.places[index], fewest=minimizes_actions(space))
        for place in ways[layout.end(wanted)].places[1:]:
            self._set(index, place)

    def _slot(self, index: int, place: int) -> str:
        return self.asker.seats[index].slot(place)

    def _target(self, index: int, slot: str) -> int:
        """Return the place that a direct action to a slot chooses."""
        for end, _ in self.asker.dynamics.targets(index, self.places[index]):
            if self._slot(index, end) == slot:
                return end
        raise EngineError(f"clingo: no direct action leads to {slot} of feature {index}")

    def _set(self, index: int, end: int) -> None:
        self._make(Move(index, self.places[index], end, True, 0, False, (end,)))

    def _make(self, move: Move) -> None:
        self.moves.append(move)
        self.places = _after(self.places, move.axis, move.end)

    def _effects(self, places: Places, members: tuple[int, ...]) -> list[Effect]:
        dynamics = self.asker.dynamics
        effects = dynamics.effects(places, dynamics.judge(places))
        return [effect for effect in effects if effect.axis in members]

    def _act(self, effect: Effect) -> None:
        index, place, fired, assumed, among = effect
        self._make(Move(index, self.places[index], place, False, fired, assumed, among))

    def _settle(self, component: Component, moment: int) -> None:
        """Let effects happen until all stand where the program says."""
        settled: set[tuple[int, ...]] = set()
        while True:
            inside = {index for block in component.blocks for index in block}
            singles = tuple(index for index in component.members if index not in inside)
            wanted = [
                effect
                for effect in self._effects(self.places, singles)
                if self._slot(effect.axis, effect.place) == self.model.slots[moment, effect.axis]
            ]
            waiting = [block for block in component.blocks if block not in settled]
            if wanted:
                self._act(wanted[0])
            elif waiting:
                self._run(waiting[0], moment)
                settled.add(waiting[0])
            else:
                return

    def _run(self, block: tuple[int, ...], moment: int) -> None:
        """Find the shortest run of effects to where a block ends."""
        ways: dict[Places, tuple[Places, Effect] | None] = {self.places: None}
        queue = deque([self.places])
        while queue:
            places = queue.popleft()
            effects = self._effects(places, block)
            at_end = all(
                self._slot(i, places[i]) == self.model.slots.get((moment, i)) for i in block
            )
            if at_end and (not effects or self._rests(places)):
                for effect in _back(ways, places):
                    self._act(effect)
                return
            for effect in effects:
                following = _after(places, effect.axis, effect.place)
                if following not in ways:
                    ways[following] = (places, effect)
                    queue.append(following)
        raise EngineError(f"clingo: no run of effects on features {block} ends as the answer says")

    def _rests(self, places: Places) -> bool:
        parts = self.asker.parts
        return parts.supported and self.asker.dynamics.judge(places).consistent


def _back(ways: dict[Places, tuple[Places, Effect] | None], places: Places) -> list[Effect]:
    found = []
    before = ways[places]
    while before is not None:
        places, effect = before
        found.append(effect)
        before = ways[places]
    return found[::-1]


def _after(places: Places, index: int, end: int) -> Places:
    return (*places[:index], end, *places[index + 1 :])


def straightened(dynamics: Transitions, moves: list[Move]) -> list[Move]:
    """Return the moves without loops back to a consistent state, up to the first goal state.

    What is left is a path of no higher cost: fewer direct actions bar fewer later ones.
    """
    places = dynamics.person.places
    kept: list[Move] = []
    passed = {places: 0}
    for move in moves:
        kept.append(move)
        places = _after(places, move.axis, move.end)
        verdict = dynamics.judge(places)
        if places in passed:
            del kept[passed[places] :]
            passed = {each: count for each, count in passed.items() if count <= len(kept)}
        elif verdict.consistent:
            passed[places] = len(kept)
        if verdict.goal:
            break
    return kept


def arrive(dynamics: Transitions, moves: list[Move]) -> Arrival:
    """Return a path with its effort."""
    person = dynamics.person
    effort = way = 0
    gone: dict[int, int] = {}
    places = person.places
    for move in moves:
        if move.direct:
            effort += _effort(person, move, gone)
            way += person.way(move.axis, move.start, move.end)
        places = _after(places, move.axis, move.end)
    return Arrival(effort, way, places, chain_of(moves))


def _effort(person: Person, move: Move, gone: dict[int, int]) -> int:
    before = gone.get(move.axis, 0)
    moves = person.space.axes[move.axis].feature.moves_from is not None
    if moves and person.space.theory.norm is Norm.L2:
        gone[move.axis] = before + person.length(move.axis, move.start, move.end)
    return person.effort(move.axis, move.start, move.end, gone=before)
