"""Keys of resources and named actions."""

from __future__ import annotations

from typing import Any

import pytest

from p2c import P2CError, Problem
from p2c.errors import ProblemError

DEBT = {"type": "int", "min": 0, "max": 100, "uses": {"months": {"per_unit": 0.25}}}
AGE = {"type": "int", "equation": "floor(months / 12)"}
JOB = {"type": "category", "values": ["none", "clerk"]}
WAIT = {"uses": {"months": {"fixed": 1}}, "repeat": 24}
PROBLEM: dict[str, Any] = {
    "goal": "age(X,A), A>=21, debt(X,D), D=<10",
    "rules": "",
    "resources": {"months": {"limit": 36}, "dollars": {}},
    "features": {"debt": DEBT, "age": AGE, "job": JOB},
    "actions": {"wait": WAIT},
}
ROW = {"debt": 40, "age": 20, "job": "none"}


def changed(**keys: Any) -> dict[str, Any]:
    """Return the problem with other keys; tables are extended."""
    return {
        **PROBLEM,
        **{
            key: {**PROBLEM.get(key, {}), **value} if isinstance(value, dict) else value
            for key, value in keys.items()
        },
    }


def test_waiting_moves_a_clock_and_repetitions_are_one_entry() -> None:
    plan = Problem.from_dict(PROBLEM).plan(ROW)
    pay, wait = (step.to_dict()["actions"][0] for step in plan.steps)
    assert pay["uses"] == {"months": 7.5}
    assert wait == {
        "kind": "direct",
        "action": "wait",
        "count": 5,
        "changes": [],
        "cost": 0.0,
        "uses": {"months": 5},
    }
    assert plan.uses == {"months": 12.5}
    assert Problem.from_dict(PROBLEM).check(plan)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"norm": "l2", "resources": {"months": {"weight": 1}}}, "resources.months.weight: a weight needs the norm l0 or l1, found l2"),
        ({"features": {"job": {**JOB, "uses": {"months": {"per_unit": 1}}}}}, "features.job.uses.months.per_unit: a category has no differences; expected 'fixed' only"),
        ({"features": {"debt": {**DEBT, "uses": {"moths": {"fixed": 1}}}}}, "features.debt.uses.moths: there is no resource 'moths'; did you mean 'months'?"),
        ({"actions": {"pay": {"sets": {"debt": 0}, "adds": {"debt": -1}}}}, "actions.pay.adds.debt: it stands in 'sets' as well; expected one of the two"),
        ({"actions": {"pay": {"adds": {"job": 1}}}}, "actions.pay.adds.job: only a number can be added to; category has listed values"),
        ({"actions": {"pay": {"sets": {"job": "clerc"}}}}, "actions.pay.sets.job: 'clerc' is not one of its values; did you mean 'clerk'?"),
        ({"actions": {"pay": {"sets": {"age": 30}}}}, "actions.pay.sets.age: a computed feature is never set; change what its equation reads"),
        ({"actions": {"pay": {"when": "dept(X,1)", "adds": {"debt": -1}}}}, "actions.pay.when: line 1, column 1"),
        ({"actions": {"pay": {}}}, "actions.pay: it changes nothing and uses nothing; give 'sets', 'adds' or 'uses'"),
        ({"actions": {"pay": {"repeat": 0, "adds": {"debt": -1}}}}, "actions.pay.repeat: expected a whole number above 0, found 0"),
        ({"actions": {"pay": {"set": {"debt": 1}}}}, "actions.pay.set: unknown key; did you mean 'sets'?"),
        ({"minimize": "month"}, "minimize: expected 'cost', 'actions' or a resource, found 'month'; did you mean 'months'?"),
        ({"resources": {"debt": {}}}, "resources.debt: a feature has this name; expected another one"),
        ({"features": {"age": {**AGE, "equation": "floor(weeks / 52)"}}}, "features.age.equation: there is no feature 'weeks'"),
        ({"max_actions": -1}, "max_actions: expected a whole number, 0 or more, found -1"),
    ],
)  # fmt: skip
def test_a_wrong_key_is_named_with_its_place(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(ProblemError) as error:
        Problem.from_dict(changed(**keys))
    assert message in str(error.value)


def test_a_question_may_limit_resources_and_actions_and_blockers_name_them() -> None:
    problem = Problem.from_dict(PROBLEM)
    late = problem.plan(ROW, limits={"months": 11})
    assert late.to_dict()["blockers"] == [{"resource": "months", "restriction": "limit"}]
    assert late.to_dict()["asked"] == {"limits": {"months": 11}}
    assert problem.check(late)
    assert problem.read_plan(late.to_dict()) == late
    lone = problem.plan(ROW, max_actions=1)
    assert lone.to_dict()["blockers"] == [{"restriction": "max_actions"}]
    assert "no more steps of your own" in lone.explain()
    with pytest.raises(P2CError, match="there is no resource 'weeks'"):
        problem.plan(ROW, limits={"weeks": 1})


def test_resources_that_decide_nothing_are_summed_up_by_every_search() -> None:
    plain = {
        "goal": "debt(X,D), D=<10",
        "rules": "",
        "resources": {"months": {}},
        "features": {"debt": DEBT},
    }
    problem = Problem.from_dict(plain)
    assert not problem.theory.is_arithmetic
    assert problem.plan({"debt": 40}).uses == {"months": 7.5}
    assert "It takes about 7.5 months." in problem.plan({"debt": 40}).explain()


def test_a_problem_with_resources_survives_a_file() -> None:
    problem = Problem.from_dict(PROBLEM)
    again = Problem.load(problem.save("resources.toml"))
    assert again.to_dict() == problem.to_dict()
    assert again.plan(ROW) == problem.plan(ROW)


def test_other_engines_name_what_they_cannot_express() -> None:
    pytest.importorskip("clingo")
    problem = Problem.from_dict(changed(features={"age": {"type": "int", "min": 0, "max": 99}}))
    with pytest.raises(P2CError, match="named action 'wait'"):
        problem.plan(ROW, engine="clingo")


def test_a_forged_plan_is_refused() -> None:
    problem = Problem.from_dict(PROBLEM)
    document = problem.plan(ROW).to_dict()
    wait = document["steps"][1]["actions"][0]
    wait |= {"count": 4, "uses": {"months": 4}}
    document["uses"] = {"months": 1}
    text = str(problem.check(document))
    assert "uses: the path uses 11.5 months, found 1" in text
    assert "age is computed as floor(months / 12), which does not change it here" in text
    wait |= {"count": 25, "uses": {"months": 25}}
    text = str(problem.check(document))
    assert "takes 'wait' 25 times in all, and at most 24 times" in text
    assert "meets the goal, so the path ends here, but another repetition follows" in text
