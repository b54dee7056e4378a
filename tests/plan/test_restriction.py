"""What a person adds to a problem: own limits and weights, without changing what a distance is worth."""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from p2c._plan.outcome import DirectAction
from p2c._plan.restriction import Restriction
from p2c._spec.feature import Action, permits
from p2c._spec.spec import Minimize
from p2c.errors import P2CError, ProblemError
from p2c.problem import Problem
from tests.loan import JOHN, LOAN, category, whole
from tests.oracle import best_plan
from tests.strategies import random_problem

if TYPE_CHECKING:
    from collections.abc import Iterable

    from p2c._spec.feature import Feature

PETS = {
    "goal": "pet(X,'cat')",
    "rules": "",
    "features": {"pet": category("dog", "cat", "fish", moves={"dog": ["fish"], "fish": ["cat"]})},
}


def restricted(data: dict[str, Any], **restrictions: Restriction) -> Problem:
    return Problem.from_dict(data).restricted(restrictions)


def test_what_a_person_cannot_change_stays() -> None:
    plan = restricted(LOAN, debt=Restriction(action=Action.FIXED)).plan(JOHN)
    assert plan.status == "infeasible"


def test_own_limits_leave_costs_as_they_were() -> None:
    free = Problem.from_dict(LOAN).plan(JOHN)
    narrow = restricted(LOAN, bank_balance=Restriction(min=30_000, max=60_000)).plan(JOHN)
    assert narrow.cost == free.cost
    assert restricted(LOAN, bank_balance=Restriction(max=59_999)).plan(JOHN).status == "infeasible"


def test_limits_fall_on_the_grid_that_the_feature_has() -> None:
    data = {
        "goal": "f(X,N), N>=4",
        "rules": "",
        "features": {"f": whole(0, 30, step=10)},
    }
    limited = restricted(data, f=Restriction(min=5, max=25))
    feature = limited.theory.feature["f"]
    assert [feature.domain.value(each) for each in range(feature.domain.size)] == [10, 20]
    assert limited.plan({"f": 20}).status == "already"


def test_the_end_of_a_range_off_the_grid_stays_a_row_s_value() -> None:
    data = {"goal": "f(X,N), N=<4", "rules": "", "features": {"f": whole(0, 35, step=10)}}
    assert restricted(data, f=Restriction(min=0)).plan({"f": 35}).counterfactual == {"f": 0}


def test_listed_numbers_are_cut_to_the_limits() -> None:
    data = {
        "goal": "f(X,N), N>=2",
        "rules": "",
        "features": {"f": {"type": "float", "values": [0.5, 1.5, 2.5, 9.5]}},
    }
    assert restricted(data, f=Restriction(max=3)).plan({"f": 0.5}).cost == pytest.approx(2 / 9)


def test_a_weight_of_one_s_own_counts() -> None:
    plan = restricted(LOAN, debt=Restriction(weight=2)).plan(JOHN)
    assert plan.cost == pytest.approx(0.01002)


def test_only_some_names_will_do_and_the_problem_s_moves_still_hold() -> None:
    row = {"pet": "dog"}
    assert Problem.from_dict(PETS).plan(row).status == "found"
    assert restricted(PETS, pet=Restriction(only=("cat",))).plan(row).status == "infeasible"


def test_moves_and_limits_can_be_lifted() -> None:
    lifted = restricted(PETS, pet=Restriction(lift=("moves",))).plan({"pet": "dog"})
    assert len(lifted.steps) == 1
    data = {"goal": "f(X,N), N>=12", "rules": "", "features": {"f": whole(0, 10)}}
    row = {"f": 5}
    blocked = Problem.from_dict(data).plan(row)
    assert [each["restriction"] for each in blocked.to_dict()["blockers"]] == ["limits"]
    opened = restricted(data, f=Restriction(lift=("limits",))).plan(row)
    assert opened.cost == pytest.approx(0.7)
    assert opened.to_dict()["steps"] == blocked.to_dict()["opened"]["steps"]


@pytest.mark.parametrize(
    ("name", "restriction", "words"),
    [
        ("dept", Restriction(), "did you mean 'debt'"),
        ("debt", Restriction(min=2, max=1), "swapped: 2 is above 1"),
        ("debt", Restriction(only=(1,)), "use limits"),
    ],
)
def test_what_cannot_be_said_is_refused(name: str, restriction: Restriction, words: str) -> None:
    with pytest.raises(ProblemError, match=words):
        restricted(LOAN, **{name: restriction})


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (5, "restrictions: expected a table such as {'debt': {'max': 500}, 'age': 'fixed'}, found 5"),
        ([], "restrictions: expected a table such as {'debt': {'max': 500}, 'age': 'fixed'}, found a list"),
        ({"debt": 5}, "debt: expected an action or a table of keys such as 'max', found 5"),
        ({5: "fixed"}, "5: no such feature; known: 'age', 'bank_balance', 'credit_score', 'debt'"),
        ({"debt": {"mx": 5}}, "debt.mx: unknown key; did you mean 'max'?"),
        ({"debt": {5: 5}}, "debt.5: unknown key; known: 'action', 'lift', 'max', 'min', 'only', 'weight'"),
        ({"debt": "fixd"}, "debt.action: expected 'free', 'up', 'down', 'fixed' or 'effect', found 'fixd'"),
        ({"debt": {"max": "abc"}}, "debt.max: expected a number, found 'abc'"),
        ({"debt": {"max": True}}, "debt.max: expected a number, found True"),
        ({"debt": {"min": math.nan}}, "debt.min: expected a number within the range of a float, found nan"),
        ({"debt": {"weight": -1}}, "debt.weight: expected a number, 0 or more, found -1"),
        ({"debt": {"lift": "moves"}}, "debt.lift: expected a list, found 'moves'"),
        ({"debt": {"lift": ["up"]}}, "debt.lift.0: expected 'moves' or 'limits', found 'up'"),
        ({"debt": {"only": 5}}, "debt.only: expected a list, found 5"),
        ({"debt": {"only": [[]]}}, "debt.only.0: expected a name or a number, found a list"),
        (
            {"debt": {"weight": 1e308}},
            "debt: a change over the whole range would cost more than 1e+300; expected a scale nearer to its range, or a smaller weight",
        ),
    ],
)  # fmt: skip
def test_a_restriction_of_another_shape_is_one_line(given: Any, line: str) -> None:
    with pytest.raises(ProblemError) as refused:
        Problem.from_dict(LOAN).plan(JOHN, restrict=given)
    assert str(refused.value) == line


def test_numbers_of_arrays_are_limits_and_weights_too() -> None:
    own = {"bank_balance": {"max": np.int64(59_999)}, "debt": {"weight": np.float32(2)}}
    assert Problem.from_dict(LOAN).plan(JOHN, restrict=own).status == "infeasible"


def test_names_take_no_limits_and_only_their_own_values() -> None:
    with pytest.raises(ProblemError, match="limits need a number"):
        restricted(PETS, pet=Restriction(min=1))
    with pytest.raises(ProblemError, match="did you mean 'cat'"):
        restricted(PETS, pet=Restriction(only=("cats",)))


def test_own_limits_may_exclude_the_value_of_today() -> None:
    """Limits bound what a change may end in, not who asks."""
    data = {"goal": "f(X,N), N>=4", "rules": "", "features": {"f": whole(0, 30)}}
    plan = restricted(data, f=Restriction(min=9)).plan({"f": 2})
    assert plan.counterfactual == {"f": 9}
    assert plan.cost == pytest.approx(7 / 30)
    above = {**data, "goal": "f(X,N), N=<4"}
    assert restricted(above, f=Restriction(max=3)).plan({"f": 20}).counterfactual == {"f": 3}
    assert restricted(above, f=Restriction(min=9)).plan({"f": 2}).status == "already"


def test_own_limits_may_exclude_a_value_that_a_rule_names() -> None:
    data = {"goal": "not bad(X)", "rules": "bad(X) :- f(X,5).", "features": {"f": whole(0, 9)}}
    assert restricted(data, f=Restriction(min=7)).plan({"f": 5}).counterfactual == {"f": 7}


def test_limits_that_exclude_today_mean_the_same_as_a_constraint_on_targets() -> None:
    """An exception frees the start of a constraint, and nothing else; so may a value of today lie outside limits."""
    rng = random.Random(14)
    for _ in range(60):
        names = ("a", "b", "c")
        row = {name: rng.randint(0, 9) for name in names}
        bounds = {name: sorted((rng.randint(0, 9), rng.randint(0, 9))) for name in names[:2]}
        rules = [
            f"bad(X) :- {one}(X,N), N{rng.choice('<>')}{rng.randint(1, 8)},"
            f" {two}(X,M), M{rng.choice('<>')}{rng.randint(1, 8)}."
            for one, two in (("a", "b"), ("b", "c"), ("c", "a"))
        ]
        data = {
            "goal": "not bad(X)",
            "rules": "\n".join(rules),
            "norm": rng.choice(["l0", "l1", "l2", "linf"]),
        }
        features = {name: whole(0, 9) for name in names}
        limits = [
            f":- {name}(X,N), N<{low}.\n:- {name}(X,N), N>{high}."
            for name, (low, high) in bounds.items()
        ]
        plain = Problem.from_dict(
            {**data, "features": features, "rules": "\n".join(rules + limits)}
        )
        own = {name: Restriction(min=low, max=high) for name, (low, high) in bounds.items()}
        mine, expected = (
            restricted({**data, "features": features}, **own).plan(row),
            plain.plan(row),
        )
        assert mine.status == expected.status
        assert mine.cost == expected.cost


TRADES: dict[str, Any] = {
    "goal": "f(X,'b'), g(X,1)",
    "rules": "g(X,1) :- f(X,'a').",
    "law": "if",
    "features": {"f": category("x", "a", "b"), "g": {**whole(0, 1), "action": "effect"}},
}


def test_only_some_names_will_do_for_a_person_whose_value_is_missing() -> None:
    data = {**PETS, "features": {"pet": category("dog", "cat", "fish")}}
    assert (
        restricted(data, pet=Restriction(only=("dog", "fish"))).plan({"pet": None}).status
        == "infeasible"
    )
    free = Problem.from_dict(data).plan({"pet": None})
    own = {"asked": {"restrict": {"pet": {"only": ["dog", "fish"]}}}}
    verdict = Problem.from_dict(data).check({**free.to_dict(), **own})
    assert "pet is restricted to other values than 'cat'" in str(verdict)


def test_a_choice_among_names_lets_nobody_change_a_feature_twice() -> None:
    row = {"f": "x", "g": 0}
    assert Problem.from_dict(TRADES).plan(row).status == "infeasible"
    assert restricted(TRADES, f=Restriction(only=("x", "a", "b"))).plan(row).status == "infeasible"


def test_a_choice_among_names_narrows_the_moves_of_the_problem() -> None:
    moves = {"dog": ["fish", "cat"], "fish": ["cat"]}
    data = {**PETS, "features": {"pet": category("dog", "cat", "fish", moves=moves)}}
    assert restricted(data, pet=Restriction(only=("fish", "cat"))).plan({"pet": "dog"}).cost == 1
    assert (
        restricted(data, pet=Restriction(only=("fish",))).plan({"pet": "dog"}).status
        == "infeasible"
    )


def test_limits_of_an_effect_never_carry_it_farther() -> None:
    """The effect ends at 620, and no limit makes it end at 700 instead."""
    data = {
        "goal": "score(X,N), N>=700",
        "rules": "score(X,N) :- debt(X,0), N>=620.",
        "features": {"debt": whole(0, 9), "score": {**whole(300, 850), "action": "effect"}},
    }
    row = {"debt": 5, "score": 400}
    for own in (Restriction(min=700), Restriction(max=600), Restriction(action=Action.FIXED)):
        assert restricted(data, score=own).plan(row).status == "infeasible"
    blocked = restricted({**data, "goal": "score(X,N), N>=620"}, score=Restriction(max=610)).plan(
        row
    )
    assert [each["restriction"] for each in blocked.to_dict()["blockers"]] == ["limits"]


def random_restrictions(rng: random.Random, features: Iterable[Feature]) -> dict[str, Any]:
    """Return random restrictions of random features that only take away values."""
    restrictions: dict[str, Any] = {}
    for feature in features:
        values = [feature.domain.value(place) for place in range(feature.domain.size)]
        kind = rng.choice(["", "action", "values", "values"])
        if kind == "action" and feature.action in (Action.FREE, Action.EFFECT):
            free = feature.action is Action.FREE
            ways = ["fixed", "up", "down"] if free and feature.has_order else ["fixed"]
            restrictions[feature.name] = rng.choice(ways)
        elif kind == "values" and feature.kind.is_number:
            low, high = sorted((rng.choice(values), rng.choice(values)))
            restrictions[feature.name] = rng.choice(
                [{"min": low}, {"max": high}, {"min": low, "max": high}]
            )
        elif kind == "values":
            restrictions[feature.name] = {"only": rng.sample(values, rng.randint(0, len(values)))}
    return restrictions


@pytest.mark.parametrize("seed", range(8))
def test_restrictions_only_take_plans_away(seed: int) -> None:
    for number in range(40):
        rng = random.Random(f"{seed}/{number}")
        data, row = random_problem(rng, tiny=bool(number % 2))
        problem = Problem.from_dict(data)
        row |= {name: None for name in row if rng.random() < 0.2}
        own = random_restrictions(rng, problem.theory.features)
        try:
            free = problem.plan(row)
        except P2CError:
            continue
        narrow = problem.restricted(own)
        plan, slow = narrow.plan(row), best_plan(narrow.theory, narrow.read_row(row))
        assert slow is not None
        assert plan.status == slow.status, own
        assert plan.cost == pytest.approx(slow.cost), own
        if plan.cost is not None:
            assert free.cost is not None, own
            by_cost = problem.theory.minimize is Minimize.COST
            assert not by_cost or plan.cost >= free.cost * (1 - 1e-9), own
        assert problem.check(plan), own
        if free.status != "found":
            continue
        permitted = all(
            each.end is not None
            and permits(feature, each.start, each.end, direct=isinstance(each, DirectAction))
            and feature.contains(each.end)
            for step in free.steps
            for each in step.actions
            for feature in [narrow.theory.feature[each.feature]]
        )
        record = {
            "asked": {
                "restrict": {n: {"action": e} if isinstance(e, str) else e for n, e in own.items()}
            }
        }
        document = {key: each for key, each in free.to_dict().items() if key != "slack"}
        assert bool(problem.check(document | record)) is permitted, own


def test_an_effect_of_a_missing_value_may_end_in_every_value_that_moves_tell_apart() -> None:
    """Effects lead from 'b' to 'c' by moves, but not from the equivalent 'a'.

    Rules take 'a' and 'b' for the same.
    """
    data = {
        "goal": "f(X,'c')",
        "rules": "f(X,V) :- g(X,1), V \\= 'c'.",
        "effects": "supported",
        "features": {
            "f": category("a", "b", "c", moves={"b": ["c"]}, weight=5),
            "g": whole(0, 1),
        },
    }
    plan = Problem.from_dict(data).plan({"f": None, "g": 1})
    assert plan.cost == 1


def test_a_question_with_restrictions_binds_no_rule_again(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Problem.from_dict(LOAN)
    answers = [problem.plan(JOHN, restrict={"debt": "fixed"}, norm="l0")]
    answers += [problem.plan(JOHN)]

    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("the rules were bound again")

    monkeypatch.setattr("p2c._statement.build_theory", refuse)
    assert problem.plan(JOHN, restrict={"debt": {"weight": 2}}).cost == pytest.approx(0.01002)
    assert problem.plan(JOHN, restrict={"debt": "fixed"}, norm="l0").status == "infeasible"
    assert all(problem.check(each) for each in answers)
