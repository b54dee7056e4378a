"""The slack of a plan against replays of every value, and one beyond each end."""

from __future__ import annotations

import random
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from p2c import P2CError, Plan, Problem, datasets
from p2c._rules.meaning import (
    abduce,
    goal_met,
    origin,
    supported_outcomes,
    triggered_outcomes,
    violated,
)
from p2c._spec.feature import may_set
from p2c._spec.spec import Effects, Exceptions
from tests.arithmetic_problems import arithmetic_problem
from tests.loan import whole
from tests.plan.judged import judged_problems, unruled_problems
from tests.strategies import seeded_problems

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

MOST = 1_000
State = dict[str, Any]


class Replays:
    """All runs of a plan's actions with other targets, by the definitions alone."""

    def __init__(self, problem: Problem, plan: Any, row: State | None = None) -> None:
        self.theory, self.plan = problem.theory, plan
        self.row = problem.read_row(plan.question.row if row is None else row)
        self.start = origin(self.theory, self.row)
        strict = self.theory.exceptions is Exceptions.STRICT
        self.exceptions = () if strict else abduce(self.theory, self.row)
        steps = [each.to_dict() for step in plan.steps for each in step.actions]
        self.lucky = any(each.get("assumed") for each in steps)

    def after(self, state: State, name: str, value: Any) -> State:
        changed = {**state, name: value}
        return changed if self.start is None else self.start.recomputed(changed)

    def ends(self, state: State, *, supported: bool) -> list[State]:
        """Return all states in which effects may leave a state."""
        waiting, seen, rests = [state], [], []
        while waiting:
            here = waiting.pop()
            if here in seen:
                continue
            seen.append(here)
            outcomes = triggered_outcomes(
                self.theory, here, violated(self.theory, here, self.exceptions)
            )
            if not outcomes:
                rests.append(here)
                if supported and self.is_consistent(here):
                    outcomes = supported_outcomes(self.theory, here)
            waiting += [
                self.after(here, each.feature, each.value)
                for each in outcomes
                if not each.barred and (self.lucky or not each.assumed)
            ]
        return rests

    def is_consistent(self, state: State) -> bool:
        from p2c._rules.meaning import consistent

        return consistent(self.theory, state, self.exceptions, self.start)

    def reaches(self, targets: Mapping[str, Any]) -> bool:
        supported = self.theory.effects is Effects.SUPPORTED
        states = self.ends(dict(self.row), supported=True) if supported else [dict(self.row)]
        last = {each.feature: number for number, each in enumerate(self.plan.actions)}
        left: dict[str, list[Any]] = {}
        for number, action in enumerate(self.plan.actions):
            name = action.feature
            value = targets[name] if number == last[name] else action.end
            if value in left.setdefault(name, []):
                return False
            left[name].append(action.start)
            feature = self.theory.feature[name]
            states = [
                end
                for state in states
                if may_set(feature, state[name], value)
                for end in self.ends(self.after(state, name, value), supported=supported)
            ]
        return any(goal_met(self.theory, state, self.exceptions, self.start) for state in states)


def places_of(problem: Problem, name: str, room: Mapping[str, Any]) -> list[int]:
    """Return the places of a set, in order."""
    feature = problem.theory.feature[name]
    if "values" in room:
        return sorted(feature.places[each] for each in room["values"])
    low, high = feature.place(room["min"]), feature.place(room["max"])
    assert low is not None
    assert high is not None
    return list(range(low, min(high, low + MOST) + 1))


def beyond(problem: Problem, name: str, places: Sequence[int]) -> list[int]:
    """Return the places just outside of a set, one by one."""
    feature = problem.theory.feature[name]
    size = feature.domain.size
    if not feature.has_order:
        return [each for each in range(size) if each not in places]
    assert list(places) == list(range(places[0], places[-1] + 1))
    return [each for each in (places[0] - 1, places[-1] + 1) if 0 <= each < size]


def compare(problem: Problem, row: Any) -> int:
    """Compare the slack of a plan with all replays; return how many were tried."""
    try:
        plan = problem.plan(row, time_limit=2)
    except P2CError:
        return 0
    if plan.status != "found" or plan.slack is None or not plan.actions:
        return 0
    replays = Replays(problem, plan)
    assert set(plan.slack) == {each.feature for each in plan.actions}
    assert [name for name in problem.theory.feature if name in plan.slack] == list(plan.slack)
    sets = {name: places_of(problem, name, room) for name, room in plan.slack.items()}
    count = prod(map(len, sets.values()))
    if count > MOST:
        return 0
    shown = f"{problem.to_dict()!r}\n{row!r}\n{plan.slack}"

    def reaches(places: Sequence[int]) -> bool:
        pairs = zip(sets, places, strict=True)
        return replays.reaches(
            {name: problem.theory.feature[name].domain.value(place) for name, place in pairs}
        )

    for chosen in product(*sets.values()):
        assert reaches(chosen), (shown, chosen)
    for name, own in sets.items():
        for other in beyond(problem, name, own):
            wider = {**sets, name: [other]}
            assert not all(map(reaches, product(*wider.values()))), (shown, name, other)
    for name, room in plan.slack.items():
        if "suggested" in room:
            assert problem.theory.feature[name].place(room["suggested"]) in sets[name]
    return count


def tried(problems: Iterable[tuple[Problem, Any]]) -> int:
    return sum(compare(problem, row) > 0 for problem, row in problems)


def ruled(seed: int, count: int) -> Iterable[tuple[Problem, Any]]:
    for document, row in seeded_problems(seed, count):
        yield Problem.from_dict(document), row


def with_arithmetic(seed: int, count: int) -> Iterable[tuple[Problem, Any]]:
    for number in range(count):
        document, row = arithmetic_problem(random.Random(f"slack/{seed}/{number}"))
        try:
            yield Problem.from_dict(document), row
        except P2CError:
            continue


def uncaused(seed: int, count: int) -> Iterable[tuple[Problem, Any]]:
    """Yield problems with arithmetic and a constraint, in which nothing has effects."""
    for number in range(count):
        rng = random.Random(f"uncaused/{seed}/{number}")
        features: dict[str, Any] = {
            name: whole(0, 12, action=rng.choice(("free", "up", "down"))) for name in "abc"
        }
        equations = (
            "a / b",
            "a * b - c",
            "min(a, b) + 2 * c",
            "if(a > 6, b, c)",
            "sqrt(a) - b / c",
        )
        features["d"] = {"type": "float", "equation": rng.choice(equations)}
        sign = rng.choice((">=", "=<", ">"))
        rules = f"ok(X) :- a(X,A), b(X,B), {rng.randint(1, 3)}*A + {rng.randint(-2, 2)}*B {sign} {rng.randint(-5, 25)}."
        rules += f" :- d(X,D), c(X,C), D > {rng.randint(0, 9)} + C."
        goal = f"ok(X), d(X,D), D {rng.choice(('>=', '=<'))} {rng.randint(-3, 9)}"
        row = {name: rng.randint(0, 12) for name in "abc"}
        try:
            yield Problem.from_dict({"goal": goal, "rules": rules, "features": features}), row
        except P2CError:
            continue


def test_every_value_of_the_slack_reaches_the_goal_and_none_beyond() -> None:
    assert tried(ruled(11, 60)) >= 12


def test_slack_of_parsed_models_is_exact() -> None:
    assert tried(judged_problems(12, 30)) >= 4
    assert tried(unruled_problems(13, 20)) >= 3


def test_slack_of_models_that_weigh_numbers_is_exact() -> None:
    assert tried(judged_problems(14, 24, lined=True)) >= 1
    assert tried(unruled_problems(15, 12, lined=True)) >= 3


def test_slack_of_problems_with_arithmetic_is_exact() -> None:
    assert tried(with_arithmetic(16, 8)) >= 1
    assert tried(uncaused(17, 20)) >= 5


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_slack_of_many_problems_is_exact(seed: int) -> None:
    tried(ruled(2_000 + seed, 100))
    for lined in (False, True):
        tried(judged_problems(3_000 + seed, 50, lined=lined))
        tried(unruled_problems(4_000 + seed, 50, lined=lined))
    tried(with_arithmetic(5_000 + seed, 60))
    tried(uncaused(6_000 + seed, 60))


def test_the_embedded_loan_says_how_exact_its_targets_are() -> None:
    loan, john = Problem.example("loan"), datasets.rows("loan")["john"]
    plan = loan.plan(john)
    assert plan.slack == {
        "debt": {"min": 0, "max": 0, "suggested": 0},
        "bank_balance": {"min": 60_000, "max": 1_000_000_000, "suggested": 60_000},
    }
    assert plan.to_dict()["slack"] == plan.slack
    assert Plan.from_dict(plan.to_dict()).slack == plan.slack


def test_of_the_nearest_only_the_first_is_written_with_its_slack() -> None:
    first, second = Problem.example("loan").nearest(datasets.rows("loan")["john"], k=2)
    assert "slack" in first.to_dict()
    assert "slack" not in second.to_dict()
    assert second.slack is not None
    assert second.slack["bank_balance"]["min"] == 60_000


def test_a_check_refuses_a_slack_that_the_plan_does_not_have() -> None:
    loan, john = Problem.example("loan"), datasets.rows("loan")["john"]
    document = loan.plan(john).to_dict()
    assert loan.check(document)
    document["slack"] = {"bank_balance": {"min": 50_000, "max": 10**9, "suggested": 60_000}}
    places = [fault.place for fault in loan.check(document).faults]
    assert places == ["slack: bank_balance", "slack: debt"]
    del document["slack"]
    assert loan.check(document)


def test_slack_of_large_domains_with_arithmetic_is_exact() -> None:
    features = {"debt": whole(0, 10**6), "income": whole(0, 10**6)}
    rules = "ok(X) :- debt(X,D), income(X,I), D =< 0.4*I, D + I =< 900000."
    problem = Problem.from_dict({"goal": "ok(X)", "rules": rules, "features": features})
    plan = problem.plan({"debt": 500_000, "income": 500_000})
    slack = plan.slack
    assert slack is not None
    assert slack == {"debt": {"min": 0, "max": 200_000, "suggested": 200_000}}
    ratio = {"type": "float", "equation": "debt / income"}
    capped = {"goal": "ratio(X,R), R=<0.4, income(X,I), I>=300000", "rules": ""}
    computed = Problem.from_dict({**capped, "features": {**features, "ratio": ratio}})
    both = computed.plan({"debt": 500_000, "income": 100_000})
    assert both.changes["debt"] == (500_000, 120_000)
    assert both.slack == {
        "debt": {"min": 0, "max": 120_000, "suggested": 120_000},
        "income": {"min": 300_000, "max": 1_000_000, "suggested": 300_000},
    }


def test_a_suggested_number_is_round_and_a_target_too() -> None:
    keys = {"goal": "balance(X,N), N>=80002", "rules": "", "features": {"balance": whole(0, 10**9)}}
    plan = Problem.from_dict(keys).plan({"balance": 40_000})
    assert plan.actions[0].end == 80_002
    assert plan.slack == {"balance": {"min": 80_002, "max": 10**9, "suggested": 81_000}}


def test_a_model_that_is_only_asked_has_no_known_slack() -> None:
    rows = pd.DataFrame({"income": range(20, 80), "rooms": [1 + i % 4 for i in range(60)]})
    tree = DecisionTreeClassifier(max_depth=1).fit(rows, rows["income"] > 51)
    person = {"income": 40, "rooms": 3}
    parsed = Problem.from_model(tree, rows).plan(person)
    assert parsed.slack == {"income": {"min": 52, "max": 79, "suggested": 52}}
    asked = Problem.from_model(tree.predict, rows).plan(person)
    assert asked.slack is None
    assert "slack" not in asked.to_dict()
