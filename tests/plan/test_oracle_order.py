"""The slow planner's order of paths: by the contract, and against a search that forgets nothing."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings

from p2c._spec.cost import Norm
from p2c._spec.spec import Minimize
from p2c.problem import Problem
from tests.loan import category, ordinal, small, theory_of, whole
from tests.oracle import DIRECT, Act, World, all_end_states, best_plan, changed
from tests.oracle_values import distance, number
from tests.plan.asked import bit, causal, direct, planned
from tests.strategies import problems, random_problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from p2c._spec.feature import Value
    from tests.oracle import Places

Document = dict[str, Any]
History = tuple[tuple[Act, bool], ...]
Passed = tuple[tuple[int, ...], frozenset[Act]]

LAMP = category("no", "yes")


# Costs and their order.


def test_l2_adds_the_moves_of_a_feature_before_it_squares() -> None:
    steps = ordinal("a", "b", "c", "d", moves={"a": ["b"], "b": ["c"]})
    theory = small("good(X) :- place(X,'c').", {"place": steps}, norm="l2")
    plan = planned(theory, place="a")
    assert plan.measure == Fraction(4, 9)
    assert plan.cost == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("norm", "measure"),
    [
        ("l0", Fraction(5, 2)),
        ("l1", Fraction(9, 8)),
        ("l2", Fraction(17, 32)),
        ("linf", Fraction(1)),
    ],
)
def test_each_norm_weighs_in_its_own_way(norm: str, measure: Fraction) -> None:
    features = {"a": whole(0, 4, weight=0.5), "b": whole(0, 4, weight=2)}
    theory = small("good(X) :- a(X,1), b(X,2).", features, norm=norm)
    assert planned(theory, a=0, b=0).measure == measure


def test_a_scale_divides_a_difference_and_a_row_may_lie_off_the_grid() -> None:
    features = {"a": {"type": "float", "min": 0.0, "max": 1.0, "step": 0.1, "scale": 0.5}}
    plan = planned(small("good(X) :- a(X,N), N>0.55.", features), a=0.25)
    assert plan.acts == [direct("a", 0.6)]
    assert plan.measure == Fraction(7, 10)


def test_the_number_of_direct_actions_may_come_before_the_cost() -> None:
    rules = """
        good(X) :- a(X,1), b(X,1).
        good(X) :- c(X,1).
    """
    features = {"a": bit(), "b": bit(), "c": bit(weight=3)}
    row: dict[str, Value] = {"a": 0, "b": 0, "c": 0}
    assert planned(small(rules, features), **row).measure == 2
    fewest = planned(small(rules, features, minimize="actions"), **row)
    assert fewest.acts == [direct("c", 1)]
    assert fewest.measure == 3


def test_of_equal_costs_the_one_with_fewer_direct_actions_wins() -> None:
    rules = """
        good(X) :- a(X,1), b(X,1).
        good(X) :- c(X,1).
    """
    theory = small(rules, {"a": bit(), "b": bit(weight=0), "c": bit()})
    assert planned(theory, a=0, b=0, c=0).acts == [direct("c", 1)]


def test_of_equally_many_direct_actions_the_one_with_fewer_effects_wins() -> None:
    rules = """
        lamp(X,'yes') :- a(X,1).
        good(X) :- a(X,1).
        good(X) :- b(X,1).
    """
    theory = small(rules, {"a": bit(), "b": bit(), "lamp": LAMP})
    assert planned(theory, a=0, b=0, lamp="no").acts == [direct("b", 1)]


def test_what_is_left_is_decided_by_the_places_of_feature_and_value() -> None:
    rules = """
        good(X) :- b(X,'z'), a(X,1).
        good(X) :- b(X,'y'), a(X,1).
    """
    theory = small(rules, {"b": category("x", "z", "y"), "a": bit()})
    assert planned(theory, b="x", a=0).acts == [direct("b", "z"), direct("a", 1)]


def test_every_reachable_end_is_listed_once_and_cheapest_first() -> None:
    theory = small("good(X) :- a(X,N), N>=2. good(X) :- b(X,1).", {"a": whole(0, 4), "b": bit()})
    ends = all_end_states(theory, {"a": 0, "b": 0})
    assert [(end.cost, tuple(end.state.values())) for end in ends] == [
        (0.5, (2, 0)),
        (0.75, (3, 0)),
        (1.0, (4, 0)),
        (1.0, (0, 1)),
        (1.25, (1, 1)),
    ]


def test_a_path_does_not_go_on_past_the_goal() -> None:
    theory = small("good(X) :- a(X,N), N>=1.", {"a": bit(), "b": bit(action="fixed")})
    assert len(all_end_states(theory, {"a": 0, "b": 0})) == 1


# The paper.


def test_example_2_of_the_paper_comes_out_as_printed() -> None:
    features = {
        "age": whole(31, 32, action="fixed"),
        "debt": {"type": "int", "values": [0, 2500, 5000, 7500]},
        "months": whole(12, 13, action="fixed"),
        "bank_balance": {"type": "int", "values": [20000, 40000, 59999, 60000, 80000]},
        "credit_score": {"type": "int", "values": [500, 599, 619, 620, 700]},
    }
    rules = """
        reject_loan(X) :- bank_balance(X,N), N<60000.
        reject_loan(X) :- credit_score(X,N), N<620.
        credit_score(X,N) :- debt(X,D), D=<0, N>=620.
    """
    theory = small(rules, features, goal="not reject_loan(X)")
    plan = planned(theory, age=31, debt=5000, months=12, bank_balance=40000, credit_score=599)
    assert plan.acts == [
        direct("debt", 0),
        causal("credit_score", 620),
        direct("bank_balance", 60000),
    ]
    assert tuple(plan.document["counterfactual"].values()) == (31, 0, 12, 60000, 620)
    assert [len(step["actions"]) for step in plan.document["steps"]] == [2, 1]


# Properties.


@given(problems())
@settings(max_examples=200, deadline=None)
def test_every_plan_of_the_oracle_replays_in_the_validator(
    world: tuple[Document, Document],
) -> None:
    problem = Problem.from_dict(world[0])
    state = problem.read_row(world[1])
    plan = best_plan(problem.theory, state)
    if plan is None:
        return
    assert not problem.check(plan.document).faults
    for end in all_end_states(problem.theory, state, limit=5):
        assert not problem.check(end.path).faults


@pytest.mark.parametrize("keys", [{}, {"norm": "linf"}])
@pytest.mark.parametrize("seed", range(20))
def test_no_path_of_a_tiny_world_is_better(seed: int, keys: Document) -> None:
    for number_ in range(20):
        document, row = random_problem(random.Random(f"tiny/{seed}/{number_}"), tiny=True)
        document |= keys
        theory = theory_of(document)
        state = Problem.from_dict(document).read_row(row)
        plan = best_plan(theory, state)
        if plan is None:
            continue
        paths = PathsCounted(World(theory, state)).best(limit=30_000)
        if paths is not None:
            assert paths == (plan.status, plan.acts), document


class PathsCounted:
    """Every path of a world, depth first, with nothing merged and each path priced by the definition."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.seen = 0

    def best(self, *, limit: int) -> tuple[str, list[tuple[str, str, Value]]] | None:
        """Return the status and the actions of the best path, or None if there are too many to count."""
        world = self.world
        if world.is_goal(world.initial):
            return "already", []
        found: list[History] = []
        for history in self._paths(world.initial, (), (world.initial,), ()):
            if history is not None:
                found.append(history)
            self.seen += 1
            if self.seen > limit:
                return None
        if not found:
            return "infeasible", []
        costs = [self._cost(history) for history in found]
        return "found", self._written(found[self._first(found, costs)])

    def _paths(
        self, state: Places, history: History, path: tuple[Places, ...], passed: tuple[Passed, ...]
    ) -> Iterator[History | None]:
        """Yield each way on to a goal, and None at each dead end.

        `path` holds the consistent states so far, `passed` the others since the last of them, each with the values
        left by then: coming back to one of these with nothing else to show for it is a detour.
        """
        ended = True
        for act, is_direct in self._open(state, history):
            following = changed(state, act)
            longer = (*history, (act, is_direct))
            mark = (following, self._left(longer))
            if self.world.is_goal(following):
                ended = False
                yield longer
            elif self.world.facts(following).consistent:
                if following not in path:
                    ended = False
                    yield from self._paths(following, longer, (*path, following), ())
            elif mark not in passed:
                ended = False
                yield from self._paths(following, longer, path, (*passed, mark))
        if ended:
            yield None

    def _open(self, state: Places, history: History) -> list[tuple[Act, bool]]:
        effects = [(act, False) for act in self.world.effects(state)]
        if effects and not self.world.facts(state).consistent:
            return effects
        return effects + [(act, True) for act in self._direct(state, history)]

    def _left(self, history: History) -> frozenset[Act]:
        """Return the values that were left by direct actions."""
        left: set[Act] = set()
        place = list(self.world.initial)
        for act, is_direct in history:
            if is_direct:
                left.add(Act(act.feature, place[act.feature]))
            place[act.feature] = act.place
        return frozenset(left)

    def _direct(self, state: Places, history: History) -> Iterator[Act]:
        left = self._left(history)
        for f, feature in enumerate(self.world.features):
            if feature.action not in DIRECT:
                continue
            if feature.moves is None and any(each.feature == f for each in left):
                continue
            for target in self.world.permitted[f][state[f]]:
                if Act(f, target) not in left:
                    yield Act(f, target)

    def _cost(self, history: History) -> float:
        world = self.world
        counts = [0] * len(world.features)
        far = [Fraction(0)] * len(world.features)
        state = list(world.initial)
        for act, is_direct in history:
            f = act.feature
            if is_direct:
                counts[f] += 1
                start, end = world.values[f][state[f]], world.domains[f][act.place]
                far[f] += distance(world.features[f], start, end)
            state[f] = act.place
        weights = [number(feature.weight) for feature in world.features]
        match world.theory.norm:
            case Norm.L0:
                return float(sum(w * n for w, n in zip(weights, counts, strict=True)))
            case Norm.L1:
                return float(sum(w * d for w, d in zip(weights, far, strict=True)))
            case Norm.L2:
                return math.sqrt(sum(w * d * d for w, d in zip(weights, far, strict=True)))
            case Norm.LINF:
                return float(max(w * d for w, d in zip(weights, far, strict=True)))

    def _first(self, found: list[History], costs: list[float]) -> int:
        """Return the place of the first path by the contract's order, near costs taken as equal."""
        places = list(range(len(found)))
        numbers = [sum(is_direct for _, is_direct in history) for history in found]
        if self.world.theory.minimize is Minimize.ACTIONS:
            places = [each for each in places if numbers[each] == min(numbers)]
        least = min(costs[each] for each in places)
        places = [each for each in places if math.isclose(costs[each], least, rel_tol=1e-9)]
        return min(places, key=lambda each: self._tie(found[each], numbers[each]))

    @staticmethod
    def _tie(history: History, count: int) -> tuple[Any, ...]:
        sequence = tuple(act for act, _ in history)
        return count, len(history), sequence, tuple(not is_direct for _, is_direct in history)

    def _written(self, history: History) -> list[tuple[str, str, Value]]:
        return [
            (
                "direct" if is_direct else "causal",
                self.world.features[act.feature].name,
                self.world.domains[act.feature][act.place],
            )
            for act, is_direct in history
        ]
