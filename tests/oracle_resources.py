"""The slow planner of problems with resources and named actions.

A path is followed action by action; a search node holds everything on which the rest of the path or its cost depends.
"""

from __future__ import annotations

from fractions import Fraction
from heapq import heappop, heappush
from itertools import count, groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from p2c._spec.cost import Norm
from p2c._spec.feature import Kind
from tests.oracle import DIRECT, World
from tests.oracle_document import _action, _question, _recomputed
from tests.oracle_values import domain_values, goes, may_end, number, rank, same

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from p2c._spec.feature import Feature, Use, Value
    from p2c._spec.resources import NamedAction

Totals = tuple[Fraction, ...]


class Did(NamedTuple):
    """An action: the place of a feature or named action, and of its value."""

    place: int
    value: int
    direct: bool


class Spot(NamedTuple):
    """Everything on which the rest of a path or its cost depends."""

    state: tuple[Any, ...]
    left: frozenset[tuple[int, int]]
    spent: tuple[Fraction, ...]
    changed: tuple[int, ...]
    taken: tuple[int, ...]


class Way(NamedTuple):
    """A path to a goal state."""

    vector: tuple[Fraction, ...]
    spot: Spot
    acts: tuple[Did, ...]


class ResourceWorld(World):
    """One person's question; a state holds places and then totals."""

    def widen(self) -> None:
        """Add the totals at the start, and the sums that named actions can reach."""
        self.initial: tuple[Any, ...] = (
            *self.initial,
            *(Fraction(0) for _ in self.theory.resources),
        )
        for action in self.theory.named_actions:
            for name, _ in action.adds:
                self._widen(self.index[name])

    def _widen(self, f: int) -> None:
        feature = self.features[f]
        steps = [n for a in self.theory.named_actions for name, n in a.adds if name == feature.name]
        waiting = [each for each in self.values[f] if each is not None]
        while waiting:
            here = waiting.pop()
            for step in steps:
                total = number(here) + step
                value = int(total) if feature.kind is Kind.INT else float(total)
                if admits(feature, value) and not any(
                    each is not None and same(each, value) for each in self.values[f]
                ):
                    self.values[f].append(value)
                    waiting.append(value)

    def named(self, state: tuple[Any, ...]) -> dict[str, Any]:
        """Return a state as a row with totals."""
        size = len(self.features)
        row = super().named(state[:size])
        return {
            **row,
            **dict(zip((e.name for e in self.theory.resources), state[size:], strict=True)),
        }

    def moved(self, state: tuple[Any, ...], ends: dict[int, int], used: Totals) -> tuple[Any, ...]:
        """Return the state after changes, the use of resources and recomputation."""
        size = len(self.features)
        values = [ends.get(f, place) for f, place in enumerate(state[:size])]
        totals = [a + b for a, b in zip(state[size:], used, strict=True)]
        named = self.arithmetic.recomputed(self.named((*values, *totals)))
        for f, each in enumerate(self.features):
            if each.equation:
                values[f] = self._known(f, named[each.name])
        return (*values, *totals)

    # Actions.

    def follow(self, spot: Spot) -> Iterator[tuple[Did, Spot]]:
        """Yield each action that exists with the spot after it."""
        nothing = tuple(Fraction(0) for _ in self.theory.resources)
        effects = self.effects(spot.state)
        for act in effects:
            if act.place in self.targets[act.feature][spot.state[act.feature]]:
                state = self.moved(spot.state, {act.feature: act.place}, nothing)
                yield Did(act.feature, act.place, False), spot._replace(state=state)
        if effects and not self.facts(spot.state).consistent:
            return
        for did, after in (*self._set(spot), *self._take(spot)):
            totals = after.state[len(self.features) :]
            limits = zip(self.theory.resources, totals, strict=True)
            most = self.theory.max_actions
            actions = sum(after.changed) + sum(n > 0 for n in after.taken)
            if any(r.limit is not None and total > r.limit for r, total in limits):
                continue
            if most is None or actions <= most:
                yield did, after

    def _set(self, spot: Spot) -> Iterator[tuple[Did, Spot]]:
        for f, feature in enumerate(self.features):
            start = spot.state[f]
            if feature.action not in DIRECT or feature.equation:
                continue
            for end in self.permitted[f][start]:
                again = (f, -1 - end) in spot.left  # no value is set twice
                if end not in self.targets[f][start] or again or self._barred(spot, f, end):
                    continue
                used = {
                    each.resource: self._amount(each, feature, f, start, end)
                    for each in feature.uses
                }
                state = self.moved(spot.state, {f: end}, self._totals(used))
                spent = list(spot.spent)
                spent[f] += self.steps[f][start][end]
                changed = list(spot.changed)
                changed[f] += 1
                left = spot.left | {(f, start), (f, -1 - end)}
                yield Did(f, end, True), Spot(state, left, tuple(spent), tuple(changed), spot.taken)

    def _barred(self, spot: Spot, f: int, end: int) -> bool:
        if self.features[f].moves is not None:
            return (f, end) in spot.left
        return any(each == f for each, _ in spot.left)

    def _amount(self, use: Use, feature: Feature, f: int, start: int, end: int) -> Fraction:
        fixed, per_unit = use.fixed, use.per_unit
        if feature.kind is Kind.CATEGORY:
            assert not per_unit
            return Fraction(fixed)
        before, after = self.values[f][start], self.values[f][end]
        assert after is not None
        if before is not None:
            return fixed + per_unit * abs(rank(feature, after) - rank(feature, before))
        if feature.kind is Kind.ORDINAL:
            return fixed + per_unit * max(len(domain_values(feature)) - 1, 1)
        if feature.scale is not None:
            return fixed + per_unit * number(feature.scale)
        width = number(feature.maximum) - number(feature.minimum)
        return fixed + per_unit * (width or 1)

    def _totals(self, used: Mapping[str, Fraction]) -> Totals:
        return tuple(used.get(each.name, Fraction(0)) for each in self.theory.resources)

    def _take(self, spot: Spot) -> Iterator[tuple[Did, Spot]]:
        for number_, action in enumerate(self.theory.named_actions):
            if spot.taken[number_] == action.repeat or not self.all_hold(action.when, spot.state):
                continue
            ends = self._ends(action, spot)
            if ends is None:
                continue
            left = spot.left
            if action.repeat == 1:
                if any(self._barred(spot, f, end) for f, end in ends.items()):
                    continue
                left |= {(f, spot.state[f]) for f in ends}
            state = self.moved(spot.state, ends, self._totals(dict(action.uses)))
            taken = list(spot.taken)
            taken[number_] += 1
            did = Did(len(self.features) + number_, 0, True)
            yield did, spot._replace(state=state, left=left, taken=tuple(taken))

    def _ends(self, action: NamedAction, spot: Spot) -> dict[int, int] | None:
        """Return the places that an action really changes; None if it is barred."""
        wanted: dict[int, Any] = {}
        for name, value in action.sets:
            wanted[self.index[name]] = value
            if not any(same(value, each) for each in self.domains[self.index[name]]):
                return None
        for name, step in action.adds:
            f = self.index[name]
            start = self.values[f][spot.state[f]]
            if start is None:
                return None
            total = number(start) + step
            wanted[f] = int(total) if self.features[f].kind is Kind.INT else float(total)
            if not admits(self.features[f], wanted[f]):
                return None
        ends = {}
        for f, value in wanted.items():
            start = self.values[f][spot.state[f]]
            if start is not None and same(start, value):
                continue
            feature = self.features[f]
            if not (goes(feature, start, value) and may_end(feature, start, value)):
                return None
            ends[f] = self._known(f, value)
        return ends

    # Costs.

    def cost(self, spot: Spot) -> Fraction:
        """Return the cost, of `l2` its square."""
        norm = self.theory.norm
        shares = []
        for f, feature in enumerate(self.features):
            far = Fraction(spot.changed[f]) if norm is Norm.L0 else spot.spent[f]
            shares.append(number(feature.weight) * (far**2 if norm is Norm.L2 else far))
        for times, action in zip(spot.taken, self.theory.named_actions, strict=True):
            far = times * action.cost
            shares.append(far**2 if norm is Norm.L2 else far)
        weighed = zip(self.theory.resources, spot.state[len(self.features) :], strict=True)
        together = max(shares, default=Fraction(0))
        if norm is not Norm.LINF:
            together = sum(shares, Fraction(0))
        return together + sum((each.weight * total for each, total in weighed), Fraction(0))

    def key(self, spot: Spot, acts: tuple[Did, ...]) -> tuple[Any, ...]:
        """Return the contract's order of paths."""
        totals = spot.state[len(self.features) :]
        direct = sum(spot.changed) + sum(n > 0 for n in spot.taken)
        values: dict[str, Any] = {
            each.name: total for each, total in zip(self.theory.resources, totals, strict=True)
        }
        values |= {"cost": self.cost(spot), "actions": direct}
        way = sum(
            (
                number(each.weight) * far
                for each, far in zip(self.features, spot.spent, strict=True)
            ),
            Fraction(0),
        )
        named = zip(spot.taken, self.theory.named_actions, strict=True)
        way += sum((times * action.cost for times, action in named), Fraction(0))
        return (
            tuple(values[each] for each in self.theory.objectives),
            direct,
            direct + sum(not each.direct for each in acts),
            sum(spot.taken),
            way,
            tuple((each.place, each.value) for each in acts),
            tuple(not each.direct for each in acts),
        )


def admits(feature: Feature, value: float) -> bool:
    """Tell whether a sum is a value of a number, the grid aside."""
    values = domain_values(feature)
    if hasattr(feature.domain, "values"):
        return any(same(value, each) for each in values)
    domain: Any = feature.domain
    return number(domain.start) <= number(value) <= number(domain.stop)


class TooLarge(Exception):
    """A problem has too many paths for the slow planner."""


def ways(world: ResourceWorld, most: int = 60_000) -> Iterator[Way]:
    """Yield a best path to each way in which a path can end, best first."""
    none = tuple(Fraction(0) for _ in world.features)
    start = Spot(
        world.initial,
        frozenset(),
        none,
        tuple(0 for _ in world.features),
        tuple(0 for _ in world.theory.named_actions),
    )
    numbers = count()
    heap: list[Any] = [(world.key(start, ()), next(numbers), start, ())]
    settled: set[Spot] = set()
    while heap:
        key, _, spot, acts = heappop(heap)
        if spot in settled:
            continue
        settled.add(spot)
        if len(settled) > most:
            raise TooLarge
        if world.is_goal(spot.state):
            yield Way(key[0], spot, acts)
            continue
        for did, after in world.follow(spot):
            if after not in settled:
                longer = (*acts, did)
                heappush(heap, (world.key(after, longer), next(numbers), after, longer))


def ends_of(world: ResourceWorld, limit: int) -> list[Way]:
    """Return the best paths to the first few distinct ends."""
    best: dict[tuple[Any, ...], Way] = {}
    for way in ways(world):
        end = tuple(
            p for p, f in zip(way.spot.state, world.features, strict=False) if not f.equation
        )
        best.setdefault(end, way)
        if len(best) == limit:
            break
    return list(best.values())


def front_of(world: ResourceWorld, size: int) -> list[Way]:
    """Return a best path for each Pareto-optimal vector."""
    best: dict[tuple[Fraction, ...], Way] = {}
    for way in ways(world):
        best.setdefault(way.vector[:size], way)
    return [
        best[one]
        for one in sorted(best)
        if not any(
            other != one and all(a <= b for a, b in zip(other, one, strict=True)) for other in best
        )
    ]


def document_of(world: ResourceWorld, way: Way) -> dict[str, Any]:
    """Return a path as the contract's JSON."""
    first = len(world.features)
    spot = Spot(
        world.initial,
        frozenset(),
        tuple(Fraction(0) for _ in world.features),
        tuple(0 for _ in world.features),
        tuple(0 for _ in world.theory.named_actions),
    )
    steps: list[dict[str, Any]] = []
    actions: list[dict[str, Any]] = []
    totals: dict[str, Fraction] = {}
    place = 0

    def group(did: Did) -> int:
        nonlocal place
        place += 1
        return -did.place if did.place >= first else place

    for _, run in groupby(way.acts, group):
        dids, before = list(run), spot
        for did in dids:
            spot = next(after for each, after in world.follow(spot) if each == did)
        size = len(world.features)
        used = {
            each.name: after - start
            for each, start, after in zip(
                world.theory.resources, before.state[size:], spot.state[size:], strict=True
            )
            if after != start
        }
        if dids[0].place >= first:
            action = world.theory.named_actions[dids[0].place - first]
            lines = {
                "kind": "direct",
                "action": action.name,
                "count": len(dids),
                "changes": [
                    {
                        "feature": name,
                        "from": _value(world, before, name),
                        "to": _value(world, spot, name),
                    }
                    for name, _ in (*action.sets, *action.adds)
                    if _value(world, before, name) != _value(world, spot, name)
                ],
                "cost": float(len(dids) * action.cost),
            }
        else:
            act: Any = dids[0]
            lines = _action(world, act[:2], before.state, direct=act.direct)
        if dids[0].direct and used:
            lines["uses"] = {name: _plain(amount) for name, amount in used.items()}
        for name, amount in used.items():
            totals[name] = totals.get(name, Fraction(0)) + amount
        actions.append(lines)
        actions += _recomputed(world, before.state, spot.state)
        if world.facts(spot.state).consistent:
            row = world.named(spot.state)
            steps.append(
                {"actions": actions, "state": {f.name: row[f.name] for f in world.features}}
            )
            actions = []
    assert not actions
    return {
        **_question(world),
        "cost": world.cost_of(world.cost(way.spot)),
        "uses": {name: _plain(amount) for name, amount in totals.items()},
        "steps": steps,
    }


def _value(world: ResourceWorld, spot: Spot, name: str) -> Value:
    value: Value = world.named(spot.state)[name]
    return value


def _plain(amount: Fraction) -> int | float:
    return int(amount) if amount.denominator == 1 else float(amount)
