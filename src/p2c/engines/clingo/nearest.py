"""The k nearest ends by clingo: every state of a path is in the program, and an end once found is ruled out.

Of the places of a region at most k can be among the k nearest ends, since each has the same future as a cheaper one. So k
places of each are enough.
"""

from __future__ import annotations

import time
from itertools import islice
from typing import TYPE_CHECKING

from p2c.engines.clingo.control import TimeUp, load_clingo
from p2c.engines.clingo.deepening import Deepening
from p2c.engines.clingo.encoding import Encoding, term, token
from p2c.engines.instance import Instance
from p2c.engines.reading import replayed
from p2c.errors import EngineError
from p2c.plan.answer import ask, refuse_if_strict
from p2c.plan.compiled.axis import OFF
from p2c.plan.compiled.person import place_person
from p2c.plan.compiled.transitions import Transitions, Variety
from p2c.plan.nearest import Distinct
from p2c.plan.outcome import Already, GaveUp
from p2c.plan.ways import ways_of_their_own

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from p2c.domain.feature import Value
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
    deadline = None if time_limit is None else time.monotonic() + time_limit
    load_clingo()
    points = distinct is Distinct.POINTS
    dynamics = Transitions(place_person(space, state), Variety.POINTS if points else Variety.PLANS)
    refuse_if_strict(dynamics)
    if dynamics.judge(dynamics.person.places).goal:
        return [Already(ask(dynamics))]
    encoding = Encoding(Instance(dynamics, k if points else 0), by_steps=True)
    if not encoding.tariff.exact:
        raise EngineError("clingo: these costs do not fit into 32 bits; ask the native engine")
    ends = "\n".join(_kinds(encoding, by_cell=not points))
    ways = _found(Deepening(encoding, f"{ends}\n{SAME_END}", deadline))
    return _first(k, ways if points else ways_of_their_own(space.theory, ways), dynamics)


def _first(k: int, ways: Iterator[Found], dynamics: Transitions) -> list[Plan]:
    """Return the first k ways; that time was up comes last."""
    found: list[Plan] = []
    try:
        found += islice(ways, k)
    except TimeUp:
        found.append(GaveUp(ask(dynamics), 0.0))
    return found


def _found(search: Deepening) -> Iterator[Found]:
    dynamics = search.encoding.instance.dynamics
    return (replayed(dynamics, path, engine="clingo") for path in search.paths())


def _kinds(encoding: Encoding, *, by_cell: bool) -> Iterator[str]:
    """Yield what tells ends apart: the value of a feature, or the cell that it lies in."""
    instance = encoding.instance
    for name, reach in instance.reaches.items():
        axis = instance.dynamics.person.space.axes[reach.index]
        for place in reach.places:
            value = term(instance.value(name, place))
            kind = f"cell({axis.cell(place)})" if by_cell and place != OFF else value
            yield f"kind({token(name)},{value},{kind})."


SAME_END = "like(F,K) :- at(F,V,end), kind(F,V,K)."

NEAREST: dict[str, Ask] = {
    "clingo": clingo_nearest,
}
"""Who can tell the k nearest ends, besides our own planner."""
