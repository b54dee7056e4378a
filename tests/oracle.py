"""The slow planner: the meaning of a problem word for word, by trying every value of every feature.

It is what the other engines are measured by, so it shares nothing with them but the data of a `Theory`: tests, laws,
exceptions, effects and costs are read anew here, in exact fractions. Values are handled by their place in the domain; a
missing or off-grid value of the person stands one place past the end, where nothing can move to.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from heapq import heappop, heappush
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from p2c._rules.theory import ACCEPTED, Call, Clause, Condition, Decision, Relation, Test, Theory
from p2c._spec.cost import Norm
from p2c._spec.feature import Action, Law, Value
from p2c._spec.spec import Effects, Exceptions, Minimize
from tests.oracle_arithmetic import Arithmetic, relation_holds
from tests.oracle_document import infeasible_document, path_document
from tests.oracle_values import compares, distance, domain_values, goes, may_end, number, same

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

Places = tuple[int, ...]
"""A state: for each feature the place of its value."""

DIRECT = {Action.FREE, Action.UP, Action.DOWN}


class Act(NamedTuple):
    """One action; compared by the feature's place and the value's place, as ties are."""

    feature: int
    place: int


class Node(NamedTuple):
    """All that the future depends on: the state, what may no longer be done, and how far each feature went."""

    state: Places
    left: tuple[int, ...]
    spent: tuple[int, ...]
    held: frozenset[int] = frozenset()
    """What no effect may carry off until the step ends."""


class EndState(NamedTuple):
    """A reachable goal state with its best path, as a plan in the contract's shape."""

    cost: float
    state: dict[str, Value]
    path: dict[str, Any]


@dataclass(frozen=True)
class OraclePlan:
    """The answer; `measure` is the exact cost, of which `l2` takes the root."""

    status: str
    measure: Fraction | None
    cost: float | None
    document: dict[str, Any]

    @property
    def acts(self) -> list[tuple[str, str, Value]]:
        """Return the actions in order: kind, feature and new value."""
        return [
            (act["kind"], act["feature"], act["to"])
            for step in self.document["steps"]
            for act in step["actions"]
        ]


@dataclass(frozen=True)
class Facts:
    """What the rules say of a state; `violated` and `breached` leave out what an exception covers."""

    fired: dict[int, frozenset[int]]
    violated: frozenset[int]
    breached: frozenset[int]
    goal: bool
    lost: bool = False
    """Whether something is undefined that was defined at the start."""

    @property
    def consistent(self) -> bool:
        return not self.violated and not self.breached and not self.lost


def best_plan(
    theory: Theory, initial: Mapping[str, Value], *, lasting: bool = False
) -> OraclePlan | None:
    """Return the best plan, or None where `strict` refuses the row.

    It may have to be `lasting`: what breaks its law at the start is not set to be carried off in the same step.
    """
    world = World(theory, initial, lasting=lasting)
    if world.refused:
        return None
    for path in best_paths(world):
        cost = world.cost_of(path.measure)
        status = "found" if path.acts else "already"
        return OraclePlan(status, path.measure, cost, path_document(world, path))
    return OraclePlan("infeasible", None, None, infeasible_document(world))


def all_end_states(
    theory: Theory, initial: Mapping[str, Value], *, limit: int | None = None
) -> list[EndState]:
    """Return every reachable goal state, or the first few, with its best path, best first."""
    world = World(theory, initial)
    if world.refused:
        return []
    return [
        EndState(
            world.cost_of(path.measure), world.named(path.states[-1]), path_document(world, path)
        )
        for path in islice(best_paths(world), limit)
    ]


@dataclass(frozen=True)
class Path:
    """A sequence of actions, which of them are direct, and the states that they lead through."""

    measure: Fraction
    acts: tuple[Act, ...]
    direct: tuple[bool, ...]
    states: tuple[Places, ...]


Key = tuple[int, int, int, int, tuple[Act, ...], tuple[bool, ...]]
"""The contract's order: cost, direct actions, actions, the way, their sequence; last, causal kinds after direct ones."""


def best_paths(world: World) -> Iterator[Path]:
    """Yield the best path to each goal state by uniform-cost search, best first."""
    start = Node(world.initial, (0,) * len(world.features), (0,) * len(world.features))
    first: Key = (0, 0, 0, 0, (), ())
    best: dict[Node, Key] = {start: first}
    ended: set[Places] = set()
    settled: dict[
        tuple[Places, tuple[int, ...], frozenset[int]],
        list[tuple[tuple[int, ...], tuple[Any, ...]]],
    ] = {}
    heap = [(first, start)]
    while heap:
        key, node = heappop(heap)
        # Having gone less far for no more is at least as good ever after; without this the search would not end.
        # Where the largest cost counts, a cheaper rival may be caught up with: there it must also have acted no more.
        rivals = settled.setdefault((node.state, node.left, node.held), [])
        rest = key[2:] if world.theory.norm is Norm.LINF else ()
        if any(all(map(int.__le__, gone, node.spent)) and tail <= rest for gone, tail in rivals):
            continue
        rivals.append((node.spent, rest))
        if world.is_goal(node.state):
            if node.state not in ended:
                ended.add(node.state)
                yield world.replayed(key)
            continue
        for act, direct, price, following in world.successors(node):
            way = world.way(node, act) if direct else 0
            longer = world.extended(key, act, direct=direct, price=price, way=way)
            if following not in best or longer < best[following]:
                best[following] = longer
                heappush(heap, (longer, following))


class World:
    """One person's question, with every value counted out."""

    def __init__(
        self, theory: Theory, initial: Mapping[str, Value], *, lasting: bool = False
    ) -> None:
        self.theory = theory
        self.lasting = lasting
        self.features = theory.features
        self.index = {feature.name: place for place, feature in enumerate(theory.features)}
        unused = {each.name: 0 for each in theory.resources}
        omitted: frozenset[str] = getattr(initial, "omitted", frozenset())
        self.arithmetic = Arithmetic(theory, {**initial, **unused}, omitted)
        initial = self.arithmetic.initial
        self.domains = [
            [] if feature.equation else domain_values(feature) for feature in theory.features
        ]
        self.values: list[list[Value]] = [list(domain) for domain in self.domains]
        self.initial = tuple(
            self._place(f, initial[each.name]) for f, each in enumerate(self.features)
        )
        self.widen()
        self.decisions = dict(theory.decisions)
        self._tables: dict[int, tuple[bool, ...]] = {}
        self.causes = {self.index[name]: clauses for name, clauses in theory.causes}
        self.heads = {f: [self._head(f, each) for each in self.causes[f]] for f in self.causes}
        self.unheaded = {
            f: frozenset(range(len(self.values[f]))) - frozenset().union(*heads)
            for f, heads in self.heads.items()
        }
        self.permitted = [self._permitted(f) for f in range(len(self.features))]
        self.targets = [
            [
                frozenset(
                    p for p, end in enumerate(self.domains[f]) if may_end(feature, value, end)
                )
                for value in self.values[f]
            ]
            for f, feature in enumerate(self.features)
        ]
        self._facts: dict[Places, Facts] = {}
        self._effects: dict[Places, dict[Act, bool]] = {}
        self.excused: frozenset[int] = frozenset()
        self.excused_constraints: frozenset[int] = frozenset()
        at_start = self.facts(self.initial)
        self.excused, self.excused_constraints = at_start.violated, at_start.breached
        self._facts.clear()

    def widen(self) -> None:
        """Add values outside the domains and the row."""

    @property
    def refused(self) -> bool:
        """Tell whether the person breaks a rule at the start where that is not forgiven."""
        strict = self.theory.exceptions is Exceptions.STRICT
        excused = self.excused or self.excused_constraints or self.arithmetic.mismatches
        return strict and bool(excused)

    def _place(self, f: int, value: Value) -> int:
        for place, each in enumerate(self.domains[f]):
            if value is not None and same(each, value):
                return place
        self.values[f].append(value)
        return len(self.domains[f])

    # What a body says of a state.

    def holds(self, condition: Condition, state: Places) -> bool:
        """Tell whether a test or a call succeeds."""
        if isinstance(condition, Test):
            f = self.index[condition.feature]
            if self.features[f].equation:
                value = self.values[f][state[f]]
                return compares(self.features[f], value, condition) != condition.negated
            return self._table(condition)[state[f]]
        if isinstance(condition, Relation):
            return relation_holds(condition, self.named(state)) != condition.negated
        return self._decided(condition.decision, state) != condition.negated

    def _decided(self, decision: Decision, state: Places) -> bool:
        if decision == ACCEPTED and self.theory.model is not None:
            return self.theory.model.accepts(self.named(state))
        return any(self.all_hold(clause.body, state) for clause in self.decisions[decision])

    def after(self, state: Places, act: Act) -> Places:
        """Return the state after an action, every computed feature at its computed value."""
        moved = changed(state, act)
        if not self.arithmetic.computed:
            return moved
        values = self.arithmetic.recomputed(self.named(moved))
        return tuple(
            self._known(f, values[each.name]) if each.equation else moved[f]
            for f, each in enumerate(self.features)
        )

    def _known(self, f: int, value: Value) -> int:
        """Return the place of a computed value, a new one if it was not seen before."""
        for place, each in enumerate(self.values[f]):
            if each is value or (each is not None and value is not None and same(each, value)):
                return place
        self.values[f].append(value)
        return len(self.values[f]) - 1

    def all_hold(self, body: Iterable[Condition], state: Places) -> bool:
        """Tell whether a body or a query succeeds."""
        return all(self.holds(condition, state) for condition in body)

    def _table(self, test: Test) -> tuple[bool, ...]:
        key = id(test)
        if key not in self._tables:
            f = self.index[test.feature]
            self._tables[key] = tuple(
                compares(self.features[f], value, test) != test.negated for value in self.values[f]
            )
        return self._tables[key]

    def _head(self, f: int, clause: Clause) -> frozenset[int]:
        """Return the values that a causal rule's head names; a missing one is in no head."""
        return frozenset(
            place
            for place, value in enumerate(self.values[f])
            if value is not None and all(self._table(test)[place] for test in clause.head)
        )

    # What the laws say of a state.

    def facts(self, state: Places) -> Facts:
        """Return what the rules say of a state."""
        if state not in self._facts:
            fired = {f: self._fired(f, state) for f in self.causes}
            violated = frozenset(
                f
                for f in self.causes
                if state[f] not in self.allowed(f, fired[f])
                and not self._excepted(f, fired[f], state)
            )
            breached = frozenset(
                c
                for c, clause in enumerate(self.theory.constraints)
                if self.all_hold(clause.body, state) and not self._constraint_excepted(c, state)
            )
            goal = self.all_hold(self.theory.goal, state)
            lost = self.arithmetic.lost(self.named(state))
            self._facts[state] = Facts(fired, violated, breached, goal, lost)
        return self._facts[state]

    def _fired(self, f: int, state: Places) -> frozenset[int]:
        return frozenset(
            r for r, clause in enumerate(self.causes[f]) if self.all_hold(clause.body, state)
        )

    def allowed(self, f: int, fired: frozenset[int]) -> frozenset[int]:
        """Return Allowed(f,s), the table of the contract."""
        union = frozenset[int]().union(*(self.heads[f][r] for r in fired))
        match self.features[f].law:
            case Law.IFF:
                return union if fired else self.unheaded[f]
            case Law.IF:
                return union if fired else frozenset(range(len(self.values[f])))
            case Law.ONLY_IF:
                return union | self.unheaded[f]

    def _excepted(self, f: int, fired: frozenset[int], state: Places) -> bool:
        return f in self.excused and state[f] == self.initial[f] and fired == self.fired_at_start[f]

    @cached_property
    def fired_at_start(self) -> dict[int, frozenset[int]]:
        return {f: self._fired(f, self.initial) for f in self.causes}

    def _constraint_excepted(self, c: int, state: Places) -> bool:
        if c not in self.excused_constraints:
            return False
        read = self._read(self.theory.constraints[c].body)
        return all(state[f] == self.initial[f] for f in read)

    def _read(self, body: Iterable[Condition]) -> frozenset[int]:
        """Return the features that a body reads, also through decisions."""
        found: set[int] = set()
        for condition in body:
            match condition:
                case Test(feature=name):
                    found.add(self.index[name])
                case Relation():
                    found |= {self.index[name] for name in condition.reads}
                case Call(decision=decision) if decision == ACCEPTED and self.theory.model:
                    found |= {self.index[name] for name in self.theory.model.reads}
                case Call(decision=decision):
                    for clause in self.decisions[decision]:
                        found |= self._read(clause.body)
        return frozenset(found)

    def is_goal(self, state: Places) -> bool:
        """Tell whether a path ends here."""
        facts = self.facts(state)
        return facts.goal and facts.consistent

    # What may happen in a state.

    def _permitted(self, f: int) -> list[tuple[int, ...]]:
        feature, targets = self.features[f], range(len(self.domains[f]))
        return [
            tuple(
                target
                for target in targets
                if target != place and goes(feature, value, self.domains[f][target])
            )
            for place, value in enumerate(self.values[f])
        ]

    @cached_property
    def hidden_by(self) -> dict[int, frozenset[int]]:
        """Return for each governed feature those upstream of it and not in a cycle with it."""
        parents = {
            f: frozenset[int]().union(*(self._read(clause.body) for clause in clauses))
            for f, clauses in self.causes.items()
        }
        for f, each in enumerate(self.features):
            if each.equation:
                parents[f] = frozenset(
                    self.index[name] for name in each.equation.reads if name in self.index
                )
        above = {f: frozenset(parents[f]) for f in parents}
        for _ in self.features:
            above = {f: up.union(*(above[g] for g in up if g in above)) for f, up in above.items()}
        return {
            f: frozenset(g for g in up if g != f and f not in above.get(g, ()))
            for f, up in above.items()
        }

    def effects(self, state: Places) -> dict[Act, bool]:
        """Return the causal actions of a state, and whether each counts on one of several outcomes."""
        if state not in self._effects:
            facts = self.facts(state)
            if not facts.consistent:
                found = self._triggered(state, facts)
            elif self.theory.effects is Effects.SUPPORTED:
                found = self._supported(state, facts)
            else:
                found = {}
            self._effects[state] = found
        return self._effects[state]

    def _triggered(self, state: Places, facts: Facts) -> dict[Act, bool]:
        found = {}
        for f in facts.violated:
            if not self.hidden_by[f] & facts.violated:
                nearest = self.nearest(f, state[f], self.allowed(f, facts.fired[f]))
                found.update({Act(f, place): len(nearest) > 1 for place in nearest})
        return found

    def _supported(self, state: Places, facts: Facts) -> dict[Act, bool]:
        found: dict[Act, bool] = {}
        for f, fired in facts.fired.items():
            for head in (self.heads[f][r] for r in fired):
                if state[f] in head:
                    continue
                nearest = self.nearest(f, state[f], head)
                for place in nearest:
                    # Certain if any of the fired rules alone leaves no choice.
                    act = Act(f, place)
                    found[act] = found.get(act, True) and len(nearest) > 1
        return found

    def nearest(self, f: int, place: int, wanted: frozenset[int]) -> list[int]:
        """Return the nearest wanted values that the feature's action and moves permit."""
        reachable = [target for target in self.permitted[f][place] if target in wanted]
        far = self.steps[f][place]
        least = min((far[target] for target in reachable), default=None)
        return [target for target in reachable if far[target] == least]

    def choices(self, state: Places, left: tuple[int, ...]) -> Iterator[Act]:
        """Yield the direct actions that are still open."""
        for f, feature in enumerate(self.features):
            if feature.action not in DIRECT or (left[f] and feature.moves is None):
                continue
            for target in self.permitted[f][state[f]]:
                if target not in self.targets[f][state[f]]:
                    continue
                if feature.moves is None or not left[f] >> target & 1:
                    yield Act(f, target)

    def successors(self, node: Node) -> Iterator[tuple[Act, bool, int, Node]]:
        """Yield what may happen next: the action, whether it is direct, its price, and what follows."""
        effects = self.effects(node.state)
        for act in effects:
            ends = self.targets[act.feature][node.state[act.feature]]
            if act.feature not in node.held and act.place in ends:
                state = self.after(node.state, act)
                yield act, False, 0, node._replace(state=state, held=self._held(node.held, state))
        if effects and not self.facts(node.state).consistent:
            return
        for act in self.choices(node.state, node.left):
            f, place = act.feature, node.state[act.feature]
            used = 1 << place if self.features[f].moves is not None else 1
            left = replaced(node.left, f, node.left[f] | used)
            price, spent = self._priced(node, act)
            state, held = self.after(node.state, act), node.held | {f} & self.excused
            yield act, True, price, Node(state, left, spent, self._held(held, state))

    def _held(self, held: frozenset[int], state: Places) -> frozenset[int]:
        """Return what must still keep its value in a state: nothing where the step ends."""
        return held if self.lasting and not self.facts(state).consistent else frozenset()

    # What it costs.

    @cached_property
    def steps(self) -> list[list[list[Fraction]]]:
        return [
            [[distance(each, start, end) for end in self.domains[f]] for start in self.values[f]]
            for f, each in enumerate(self.features)
        ]

    @cached_property
    def _whole(self) -> tuple[int, int]:
        """Return what makes every weight, and every distance, a whole number."""
        far = [each for f in self.steps for row in f for each in row]
        return (
            math.lcm(*(number(each.weight).denominator for each in self.features)),
            math.lcm(*(each.denominator for each in far)),
        )

    @cached_property
    def _weights(self) -> list[int]:
        return [int(number(each.weight) * self._whole[0]) for each in self.features]

    @cached_property
    def _lengths(self) -> list[list[list[int]]]:
        unit = self._whole[1]
        return [[[int(each * unit) for each in row] for row in f] for f in self.steps]

    def _priced(self, node: Node, act: Act) -> tuple[int, tuple[int, ...]]:
        f = act.feature
        far = self._lengths[f][node.state[f]][act.place]
        match self.theory.norm:
            case Norm.L0:
                return self._weights[f], node.spent
            case Norm.L1:
                return self._weights[f] * far, node.spent
            case Norm.L2:
                before = node.spent[f]
                price = self._weights[f] * ((before + far) ** 2 - before**2)
                again = self.features[f].moves is not None
                return price, replaced(node.spent, f, before + far) if again else node.spent
            case Norm.LINF:
                # How far every feature went is part of the node, so that the node tells the cost.
                spent = replaced(node.spent, f, node.spent[f] + far)
                return self._largest(spent) - self._largest(node.spent), spent

    def _largest(self, spent: tuple[int, ...]) -> int:
        return max(weight * far for weight, far in zip(self._weights, spent, strict=True))

    def way(self, node: Node, act: Act) -> int:
        """Return how far a direct action goes, by weight and distance."""
        f = act.feature
        return self._weights[f] * self._lengths[f][node.state[f]][act.place]

    def extended(self, key: Key, act: Act, *, direct: bool, price: int, way: int) -> Key:
        """Return the key of a path that is one action longer."""
        one, two, acts, gone, sequence, kinds = key
        first, second = (int(direct), price) if self._counts_first else (price, int(direct))
        longer = (*sequence, act)
        return one + first, two + second, acts + 1, gone + way, longer, (*kinds, not direct)

    @property
    def _counts_first(self) -> bool:
        return self.theory.minimize is Minimize.ACTIONS

    def replayed(self, key: Key) -> Path:
        """Return the path behind a key."""
        states = [self.initial]
        for act in key[4]:
            states.append(self.after(states[-1], act))
        weight, length = self._whole
        unit = weight * length ** {Norm.L0: 0, Norm.L2: 2}.get(self.theory.norm, 1)
        measure = Fraction(key[1] if self._counts_first else key[0], unit)
        return Path(measure, key[4], tuple(not causal for causal in key[5]), tuple(states))

    def cost_of(self, measure: Fraction) -> float:
        """Return a cost as a float; `l2` is the root of its measure."""
        return math.sqrt(measure) if self.theory.norm is Norm.L2 else float(measure)

    # What it looks like from outside.

    def named(self, state: Places) -> dict[str, Value]:
        """Return a state as a row."""
        return {each.name: self.values[f][state[f]] for f, each in enumerate(self.features)}


def changed(state: Places, act: Act) -> Places:
    """Return the state after an action."""
    return replaced(state, act.feature, act.place)


def replaced(items: tuple[int, ...], place: int, item: int) -> tuple[int, ...]:
    """Return a tuple with one item changed."""
    return (*items[:place], item, *items[place + 1 :])
