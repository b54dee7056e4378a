"""A person's question for other tools: values, integer costs, exceptions."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from p2c._engines.places import Reach, most_actions
from p2c._plan.answer import ask, found, refuse_if_strict
from p2c._plan.check.validate import check_plan
from p2c._plan.compiled.person import place_person
from p2c._plan.compiled.transitions import Transitions
from p2c._plan.outcome import Found, GaveUp, Infeasible
from p2c._plan.search.best_first import Arrival, Move, chain_of
from p2c._rules.evaluate import passes
from p2c._rules.meaning import abduce
from p2c._spec.spec import Effects, Minimize
from p2c.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from p2c._plan.compiled.person import Person, Places
    from p2c._plan.compiled.space import Space
    from p2c._plan.outcome import Plan, ProofKind
    from p2c._rules.meaning import AbducedException
    from p2c._rules.theory import Clause, Condition, Decision, Test, Theory
    from p2c._spec.cost import Norm
    from p2c._spec.feature import Value


MOST = 2**31 - 1
"""The largest sum of costs in 32-bit integers."""

WORDS = frozenset(
    ("not", "is", "mod", "rem", "xor", "rdiv", "div", "forall", "true", "false", "fail", "table")
)
"""Names that mean something to a tool, or to Prolog's reader."""
Change = tuple[str, int, int]
"""A feature, and the places from which and to which it is set."""


def refuse_largest(theory: Theory) -> None:
    """Refuse a norm that does not add costs, which other tools need."""
    if theory.norm.largest:
        raise EngineError(
            f"other tools add costs up, but under {theory.norm.value} the largest counts; "
            "ask the native engine, or choose another norm"
        )


@dataclass(frozen=True)
class Instance:
    """One person's question."""

    dynamics: Transitions
    spread: int = 0
    """Number of distinct values of a region if ends count as points."""

    def __post_init__(self) -> None:
        refuse_largest(self.theory)

    @classmethod
    def of(cls, space: Space, state: Mapping[str, Value]) -> Instance:
        """Return the instance of a row; `strict` refuses an inconsistent row."""
        dynamics = Transitions(place_person(space, state))
        refuse_if_strict(dynamics)
        return cls(dynamics)

    @property
    def theory(self) -> Theory:
        """Return the problem's theory."""
        return self.dynamics.person.space.theory

    @cached_property
    def features(self) -> list[str]:
        """Return the relevant features in the problem's order.

        All features are relevant if ends count as points.
        """
        wanted = self.theory.feature if self.spread else self.dynamics.person.space.concerned
        return [feature.name for feature in self.theory.features if feature.name in wanted]

    @cached_property
    def governed(self) -> list[str]:
        """Return the governed features among them."""
        return [name for name, _ in self.theory.causes if name in self.features]

    @cached_property
    def heard(self) -> frozenset[str]:
        """Return the effect-relevant features."""
        theory = self.theory
        bodies = (
            [each.body for each in self.constraints] if theory.effects is Effects.SUPPORTED else []
        )
        parents = [theory.parents[name] for name in self.governed]
        return frozenset(self.governed).union(*parents, *map(theory.reads, bodies))

    @cached_property
    def constraints(self) -> list[Clause]:
        """Return the constraints that can matter."""
        wanted = set(self.features)
        return [each for each in self.theory.constraints if self.theory.reads(each.body) & wanted]

    @cached_property
    def bodies(self) -> list[tuple[Condition, ...]]:
        """Return the bodies of the goal and of relevant causal rules and constraints."""
        causes = [each.body for name in self.governed for each in self.theory.rules_of[name]]
        return [*causes, *(each.body for each in self.constraints), self.theory.goal]

    @cached_property
    def decisions(self) -> tuple[tuple[Decision, tuple[Clause, ...]], ...]:
        """Return the decisions that these bodies call, with their rules."""
        return self.theory.called(self.bodies)

    @cached_property
    def reaches(self) -> dict[str, Reach]:
        """Return the reachable values of each feature."""
        index = self.dynamics.person.space.index
        return {name: Reach(self.dynamics, index[name], self.spread) for name in self.features}

    @cached_property
    def changes(self) -> list[Change]:
        """Return every direct action."""
        return [
            (name, start, end)
            for name, reach in self.reaches.items()
            for start in reach.places
            for end, _ in reach.direct(start)
        ]

    @cached_property
    def own(self) -> dict[str, Value]:
        """Return the person's row."""
        return self.dynamics.person.state(self.dynamics.person.places)

    @cached_property
    def exceptions(self) -> tuple[AbducedException, ...]:
        """Return the person's exceptions."""
        return abduce(self.theory, self.own)

    def value(self, name: str, place: int) -> Value:
        """Return the value at a place of a feature."""
        return self.dynamics.person.value(self.reaches[name].index, place)

    def passes(self, test: Test, place: int) -> bool:
        """Tell whether the value at a place passes a test, its negation aside."""
        return passes(self.theory.feature[test.feature], self.value(test.feature, place), test)

    def above(self, name: str) -> list[str]:
        """Return the governed features upstream of one and not in a cycle with it."""
        upstream = self.theory.upstream
        return [
            other
            for other in self.governed
            if other != name and other in upstream[name] and name not in upstream[other]
        ]

    @cached_property
    def most_actions(self) -> int:
        """Return how many direct actions no path passes."""
        return most_actions(self.reaches.values())

    @cached_property
    def adds_up(self) -> bool:
        """Tell whether the cost of a path is the sum of the costs of its actions.

        Moves under l2 are squared together.
        """
        moving = [
            self.theory.feature[n].moves is not None for n, r in self.reaches.items() if r.settable
        ]
        return self.theory.norm.adds_up or not any(moving)


@dataclass(frozen=True)
class Tariff:
    """Integer costs of changes, and the integer for a cost of 1 (of 1 squared)."""

    prices: Mapping[Change, int]
    units: Fraction
    exact: bool
    norm: Norm

    def cost(self, total: int) -> float:
        """Return the cost from the sum of a tool."""
        return self.norm.root(Fraction(total) / self.units)

    @property
    def words(self) -> str:
        """Return the formula of the cost from a tool's sum, in words."""
        share = f"cost / {float(self.units):.12g}"
        root = {1: "", 2: "the square root of "}.get(
            self.norm.power, f"the {self.norm.power}th root of "
        )
        shown = f"{root}{share}"
        return shown if self.exact else f"{shown}, rounded to whole numbers"


def price_changes(instance: Instance, changes: list[Change]) -> Tariff:
    """Return integer costs of changes, rounded down if they exceed 32 bits."""
    person = instance.dynamics.person
    whole = {
        (name, start, end): person.price(instance.reaches[name].index, start, end)
        for name, start, end in changes
    }
    common = math.gcd(*whole.values()) or 1
    units = Fraction(person.prices.denominator, common)
    prices = {change: price // common for change, price in whole.items()}
    top = max(prices.values(), default=0) * max(instance.most_actions, 1)
    exact = top <= MOST
    if not exact:
        factor = Fraction(MOST, top)
        units *= factor
        prices = {change: math.floor(price * factor) for change, price in prices.items()}
    return Tariff(prices, units, exact, instance.theory.norm)


def first_actions(instance: Instance) -> bool:
    """Tell whether the number of direct actions comes before the cost."""
    return instance.theory.minimize is Minimize.ACTIONS


class Names:
    """Unique names of a program."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = {*taken, *WORDS}

    def name(self, text: str) -> str:
        """Return a name as near to a text as can be."""
        plain = re.sub(r"[^a-z0-9_]+", "_", text.lower())
        plain = plain if re.match(r"[a-z]", plain) else f"p{plain}"
        while plain in self._taken:
            plain += "_"
        self._taken.add(plain)
        return plain


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
