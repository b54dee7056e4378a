"""The k nearest ends by clingo: every state of a path is in the program, and an end once found is ruled out.

Of the places of a region at most k can be among the k nearest ends, since each has the same future as a cheaper one. So k
places of each are enough.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from p2c.domain.spec import Effects
from p2c.engines.case import Case
from p2c.engines.grounding import OPTIONS, load_clingo
from p2c.engines.reading import read_path, replayed
from p2c.engines.steps import Steps, algorithms, term, token
from p2c.errors import EngineError
from p2c.plan.answer import ask, refuse_if_strict
from p2c.plan.compiled.axis import OFF
from p2c.plan.compiled.person import place_person
from p2c.plan.compiled.transitions import Transitions, Variety
from p2c.plan.nearest import Distinct
from p2c.plan.outcome import Already, GaveUp
from p2c.plan.search.best_first import LimitReached, Limits
from p2c.plan.ways import ways_of_their_own

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from p2c.domain.feature import Value
    from p2c.engines.reading import Named
    from p2c.plan.compiled.space import Space
    from p2c.plan.outcome import Found, Plan

    Ask = Callable[[Space, Mapping[str, Value], int, Distinct, float | None], list[Plan]]


def clingo_nearest(
    space: Space,
    state: Mapping[str, Value],
    k: int,
    distinct: Distinct,
    time_limit: float | None = None,
) -> list[Plan]:
    """Return the k nearest ends by clingo; what it cannot prove is refused, and where time ends it has given up."""
    points = distinct is Distinct.POINTS
    dynamics = Transitions(place_person(space, state), Variety.POINTS if points else Variety.PLANS)
    refuse_if_strict(dynamics)
    _refuse_unproved(space)
    if dynamics.judge(dynamics.person.places).goal:
        return [Already(ask(dynamics))]
    steps = Steps(Case(dynamics, k if points else 0))
    if not steps.tariff.exact:
        raise EngineError("clingo: these costs do not fit into 32 bits; ask the native engine")
    return Ends(steps, by_cell=not points).first(k, Limits.within(time_limit))


def _refuse_unproved(space: Space) -> None:
    theory = space.theory
    if theory.effects is Effects.SUPPORTED:
        raise EngineError(
            "clingo: the nearest ends with supported effects take paths of any length; ask the native engine"
        )
    cyclic = [name for name, _ in theory.causes if name in theory.upstream[name]]
    if cyclic:
        raise EngineError(
            f"clingo: the causal rules of {', '.join(cyclic)} form a cycle, so paths may have any length; "
            "ask the native engine"
        )


class Ends:
    """One person's ends, found one after the other."""

    def __init__(self, steps: Steps, *, by_cell: bool) -> None:
        self._steps = steps
        self._by_cell = by_cell
        case = steps.case
        self._places = {
            (token(name), term(case.value(name, place))): (reach.index, place)
            for name, reach in case.reaches.items()
            for place in reach.places
        }
        clingo = load_clingo()
        horizon = f"#const horizon = {steps.enough}."
        text = "\n".join([horizon, *steps.lines(), *self._cells(), algorithms(), SHOWN])
        self._control = clingo.Control(list(OPTIONS))
        self._control.add("base", [], text)
        self._control.ground([("base", [])])
        self._clingo = clingo

    def _cells(self) -> list[str]:
        """Return what tells ends apart: the value of a feature, or the cell that it lies in."""
        axes = self._steps.case.dynamics.person.space.axes
        by_cell = self._by_cell
        return [
            f"kind({name},{value},{f'cell({axes[index].cell(place)})' if by_cell and place != OFF else value})."
            for (name, value), (index, place) in self._places.items()
        ]

    def first(self, k: int, limits: Limits) -> list[Plan]:
        """Return the first k ends; that it gave up comes last."""
        dynamics = self._steps.case.dynamics
        ends: Iterator[Found] = self._all(limits)
        if self._by_cell:
            ends = ways_of_their_own(dynamics.person.space.theory, ends)
        found: list[Plan] = []
        try:
            found += islice(ends, k)
        except LimitReached:
            found.append(GaveUp(ask(dynamics), 0.0))
        return found

    def _all(self, limits: Limits) -> Iterator[Found]:
        dynamics = self._steps.case.dynamics
        while True:
            best: list[list[Any]] = []
            if not self._solve(best, limits):
                raise LimitReached(0, None)
            if not best:
                return
            arrival = read_path(dynamics, self._actions(best[-1]), engine="clingo")
            yield replayed(dynamics, arrival, engine="clingo")
            self._rule_out([symbol for symbol in best[-1] if symbol.name == "ends"])

    def _solve(self, best: list[list[Any]], limits: Limits) -> bool:
        """Gather ever better ends; tell whether the search came to its end in time."""
        left = limits.left
        with self._control.solve(
            on_model=lambda model: best.append(model.symbols(shown=True)), async_=True
        ) as handle:
            in_time = handle.wait(left) if left is not None else bool(handle.wait() or True)
            handle.cancel()
        return in_time

    def _actions(self, symbols: list[Any]) -> list[Named]:
        acts = [symbol for symbol in symbols if symbol.name in ("do", "then")]
        named = []
        for symbol in sorted(acts, key=lambda each: int(each.arguments[-1].number)):
            key = (str(symbol.arguments[0]), str(symbol.arguments[-2]))
            named.append((symbol.name == "do", *self._places[key]))
        return named

    def _rule_out(self, end: list[Any]) -> None:
        atoms = self._control.symbolic_atoms
        with self._control.backend() as backend:
            backend.add_rule([], [atoms[symbol].literal for symbol in end])


SHOWN = """
ends(F,K) :- at(F,V,horizon), kind(F,V,K).
#show ends/2.
"""

NEAREST: dict[str, Ask] = {
    "clingo": clingo_nearest,
}
"""Who can tell the k nearest ends, besides our own planner."""
