"""clingo as an engine: it shares cells with the native planner, and no search.

Each plan is replayed by the validator before it is given out. For the k nearest ends every state of a path is in the program,
and an end once found is ruled out. Of the places of a region at most k can be among the k nearest ends, since each has the
same future as a cheaper one; so k places of each are enough.
"""

from __future__ import annotations

import logging
import math
import time
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from p2c._engines.clingo.encoding import Encoding, contract, term, token
from p2c._engines.instance import Instance, conclude, first_actions, read_path, replayed
from p2c._engines.places import routes
from p2c._plan.answer import ask, refuse_if_strict
from p2c._plan.compiled.axis import OFF
from p2c._plan.compiled.person import place_person
from p2c._plan.compiled.transitions import Transitions, Variety
from p2c._plan.nearest import Distinct, ways_of_their_own
from p2c._plan.outcome import Already, GaveUp
from p2c.errors import EngineError, MissingExtra, install_command

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from p2c._engines.instance import Named
    from p2c._plan.compiled.space import Space
    from p2c._plan.outcome import Found, Plan
    from p2c._plan.search.best_first import Arrival
    from p2c._spec.feature import Value


Cost = tuple[int, ...]
"""The numbers that clingo minimises, the weightiest first."""


class AnswerSet(NamedTuple):
    """The shown atoms of an answer and its cost."""

    atoms: tuple[Any, ...]
    cost: Cost


logger = logging.getLogger(__name__)

OPTIONS = ("--opt-strategy=bb,lin", "--opt-heuristic=sign,model")
"""Branch and bound from below; unsatisfiable cores may not end."""

PATIENCE = 0.2
"""Seconds after which a waiting call looks up, so that an interrupt is heard."""


class TimeUp(Exception):
    """Tells that the deadline passed, and which answers had been seen."""

    def __init__(self, seen: Iterable[AnswerSet] = ()) -> None:
        self.seen = tuple(seen)


def load_clingo() -> Any:
    """Return the clingo package."""
    try:
        import clingo
    except ImportError:
        raise MissingExtra("clingo", extra="clingo") from None
    return clingo


class Control:
    """A ground program whose best answers are enumerated by excluding earlier ones."""

    def __init__(self, text: str, parts: Iterable[str], deadline: float | None) -> None:
        self._deadline = deadline
        self._check_time()
        self._control = load_clingo().Control(list(OPTIONS), logger=_log)
        self._control.add("base", [], text)
        self._control.ground([(part, []) for part in ("base", *parts)])

    def answers(self, bound: Cost = ()) -> list[AnswerSet]:
        """Return better and better answers, the best one last; none beyond the bound."""
        self._check_time()
        self._control.configuration.solve.opt_mode = ",".join(["opt", *map(str, bound)])
        seen: list[AnswerSet] = []

        def keep(model: Any) -> None:
            seen.append(AnswerSet(tuple(model.symbols(shown=True)), tuple(model.cost)))

        with self._control.solve(on_model=keep, async_=True) as handle:
            while not handle.wait(self._patience):
                if self._is_late:
                    handle.cancel()
                    raise TimeUp(seen)
            handle.get()
        return seen

    def rule_out(self, symbols: Iterable[Any]) -> None:
        """Exclude every answer in which all given atoms are true."""
        atoms = [self._control.symbolic_atoms[symbol] for symbol in symbols]
        assert None not in atoms, "what was true once can be true in a longer program"
        # Once the backend is open, atoms no longer tell their literals.
        literals = [atom.literal for atom in atoms]
        with self._control.backend() as backend:
            backend.add_rule([], literals)

    @property
    def _patience(self) -> float:
        if self._deadline is None:
            return PATIENCE
        return max(min(self._deadline - time.monotonic(), PATIENCE), 0.0)

    @property
    def _is_late(self) -> bool:
        return self._deadline is not None and time.monotonic() >= self._deadline

    def _check_time(self) -> None:
        if self._is_late:
            raise TimeUp


def _log(_code: Any, message: str) -> None:
    logger.debug("%s", message)


MOST_STEPS = 128
"""Steps beyond which a proof is refused."""

LIKE = "#show like/2."
"""The atoms that identify an answer; a second one with them is excluded."""


@dataclass
class Deepening:
    """One person's paths; `likeness` is a rule for like/2."""

    encoding: Encoding
    likeness: str
    deadline: float | None = None
    bound: Cost = field(default=(), init=False)
    """The maximum cost of the following paths."""
    lowest: Cost = field(default=(), init=False)
    """The proved lower bound of the remaining paths."""
    unproved: Arrival | None = field(default=None, init=False)
    """The last path that was seen."""

    def paths(self) -> Iterator[Arrival]:
        """Yield paths, the cheapest first, each unlike all before it."""
        known: list[list[Any]] = []
        for horizon in self._horizons():
            control = self._control(horizon)
            for alike in known:
                control.rule_out(alike)
            while (best := self._best(control)) is not None:
                self.lowest = best.cost
                if _leaps(best):
                    break
                known.append([atom for atom in best.atoms if atom.name == "like"])
                control.rule_out(known[-1])
                yield self._path(best)
            else:
                return
        raise EngineError(
            f"clingo: a proof would take more than {MOST_STEPS} steps; ask the native engine"
        )

    def _horizons(self) -> Iterator[int]:
        enough, horizon = self.encoding.enough, 0
        while horizon <= MOST_STEPS:
            yield horizon
            horizon = max(1, horizon * 2)
            if not self.encoding.astray:
                horizon = min(horizon, enough)

    def _control(self, horizon: int) -> Control:
        encoding = self.encoding
        parts = ["astray"] if encoding.astray else []
        if encoding.astray or horizon < encoding.enough:
            parts.append("beyond")
        const = f"#const horizon = {horizon}."
        text = "\n".join([const, *encoding.lines(), self.likeness, LIKE, contract()])
        return Control(text, parts, self.deadline)

    def _best(self, control: Control) -> AnswerSet | None:
        try:
            seen = control.answers(self.bound)
        except TimeUp as up:
            self._note(up.seen)
            raise
        self._note(seen)
        return seen[-1] if seen else None

    def _note(self, seen: Iterable[AnswerSet]) -> None:
        """Keep the last path among the answers."""
        for answer in seen:
            if not _leaps(answer):
                self.unproved = self._path(answer)

    @cached_property
    def _places(self) -> dict[tuple[str, str], tuple[int, int]]:
        """Return the feature and the value index of the program's names."""
        instance = self.encoding.instance
        return {
            (token(name), term(instance.value(name, place))): (reach.index, place)
            for name, reach in instance.reaches.items()
            for place in reach.places
        }

    def _path(self, answer: AnswerSet) -> Arrival:
        dynamics = self.encoding.instance.dynamics
        return read_path(dynamics, self._actions(answer), engine="clingo")

    def _actions(self, answer: AnswerSet) -> Iterator[Named]:
        acts = [atom for atom in answer.atoms if atom.name in ("do", "then")]
        for atom in sorted(acts, key=lambda each: each.arguments[-1]):
            name, *values, _ = map(str, atom.arguments)
            index, end = self._places[name, values[-1]]
            if atom.name == "then":
                yield False, index, end
                continue
            _, start = self._places[name, values[0]]
            yield from ((True, index, place) for place in self._way(index, start, end))

    def _way(self, index: int, start: int, end: int) -> tuple[int, ...]:
        """Return the places to which direct actions take a feature on its way."""
        dynamics = self.encoding.instance.dynamics
        if dynamics.person.space.axes[index].feature.moves_from is None:
            return (end,)
        return routes(dynamics, index, start)[end].places[1:]


def _leaps(answer: AnswerSet) -> bool:
    return any(atom.name == "leap" for atom in answer.atoms)


SPENT = "like(F,(V,W)) :- do(F,V,W,_)."
"""The rule that identifies a path by its direct actions."""
SAME_END = "like(F,K) :- at(F,V,end), kind(F,V,K)."
"""The rule that identifies a path by its end, in values or in cells."""
SAME = Fraction(1, 10**9)
"""Relative difference below which costs are equal (`docs/meaning.md`)."""


@dataclass(frozen=True)
class ClingoEngine:
    """Answer set programming."""

    install: str = install_command("clingo")

    def version(self) -> str | None:
        """Return the version of clingo."""
        try:
            return str(load_clingo().__version__)
        except MissingExtra:
            return None

    def plan(
        self, space: Space, state: Mapping[str, Value], *, time_limit: float | None = None
    ) -> Plan:
        """Return the path of least cost from a state to the goal."""
        deadline = None if time_limit is None else time.monotonic() + time_limit
        load_clingo()
        instance = Instance.of(space, state)
        dynamics = instance.dynamics
        if dynamics.judge(dynamics.person.places).goal:
            return Already(ask(dynamics))
        search = Deepening(Encoding(instance), SPENT, deadline)
        try:
            best = _cheapest(search)
        except TimeUp:
            return conclude(dynamics, search.unproved, engine="clingo", bound=_cost(search))
        return conclude(dynamics, best, engine="clingo")


def _cheapest(search: Deepening) -> Arrival | None:
    """Return the cheapest path; with rounded costs, compare near ones exactly."""
    best: Arrival | None = None
    for path in search.paths():
        best = path if best is None or path.effort < best.effort else best
        if search.encoding.tariff.exact:
            break
        search.bound = _just_below(search, best)
    return best


def _just_below(search: Deepening, path: Arrival) -> Cost:
    """Return the bound that every path keeps that is cheaper than this one."""
    instance, tariff = search.encoding.instance, search.encoding.tariff
    prices, actions = instance.dynamics.person.prices, path.direct
    cost = (path.effort - actions * prices.per_action) // prices.per_cost
    bound = math.floor(cost * (1 - SAME) * tariff.units / prices.denominator)
    return (actions, bound) if first_actions(instance) else (bound,)


def _cost(search: Deepening) -> float:
    """Return the proved lower bound of the cost."""
    instance = search.encoding.instance
    return (
        search.encoding.tariff.cost(search.lowest[first_actions(instance)])
        if search.lowest
        else 0.0
    )


def clingo_nearest(
    space: Space,
    state: Mapping[str, Value],
    k: int,
    distinct: Distinct,
    time_limit: float | None = None,
) -> list[Plan]:
    """Return the k nearest ends by clingo.

    A question beyond its proofs is refused; the last answer is `GaveUp` if time ends.
    """
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
    """Yield the atoms that distinguish ends: values of features, or their cells."""
    instance = encoding.instance
    for name, reach in instance.reaches.items():
        axis = instance.dynamics.person.space.axes[reach.index]
        for place in reach.places:
            value = term(instance.value(name, place))
            kind = f"cell({axis.cell(place)})" if by_cell and place != OFF else value
            yield f"kind({token(name)},{value},{kind})."
