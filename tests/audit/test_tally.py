"""What is counted of people and groups, beside the slow planner and beside plain pandas."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from p2c._audit.intervals import divide, read_divisions
from p2c._audit.people import place_people, read_answers
from p2c._audit.tally import FEW, differences
from p2c.datasets import load_frame
from p2c.problem import Problem
from tests.audit.worlds import Populated, populated
from tests.embedded import embedded
from tests.loan import JOHN, LOAN

if TYPE_CHECKING:
    from p2c._audit.audit import Audit


def assert_counts(world: Populated) -> None:
    """Compare every count with what the slow planner says of each person."""
    column = next(iter(world.rows[0]))
    audit = world.problem.audit(world.frame, by=[column])
    for tally in audit.tallies:
        value = dict(tally.traits).get(column)
        chosen = [
            answer
            for row, answer in zip(world.rows, world.answers, strict=True)
            if value is None or str("unknown" if row[column] is None else row[column]) == value
        ]
        assert_tally(tally.to_dict(), [each.document for each in chosen])


def assert_tally(found: dict[str, Any], documents: list[dict[str, Any]]) -> None:
    statuses = Counter(each["status"] for each in documents)
    assert found["statuses"] == dict(statuses)
    assert found["people"] == len(documents)
    assert found["refused"]["count"] == statuses["found"] + statuses["infeasible"]
    assert found["without_a_way"]["count"] == statuses["infeasible"]
    assert found["exceptions"] == sum(bool(each["exceptions"]) for each in documents)
    plans = [each for each in documents if each["status"] == "found"]
    costs = sorted(each["cost"] for each in plans)
    if plans:
        median = costs[(len(costs) + 1) // 2 - 1]
        assert found["cost_quantiles"]["50%"] == pytest.approx(median)
        assert found["cost_quantiles"]["100%"] == pytest.approx(costs[-1])
    acts = [[act for step in each["steps"] for act in step["actions"]] for each in plans]
    direct = [[act["feature"] for act in some if act["kind"] == "direct"] for some in acts]
    assert found["actions"] == {str(k): v for k, v in sorted(Counter(map(len, direct)).items())}
    assert found["first_actions"] == dict(Counter(some[0] if some else "" for some in direct))
    every = sum(map(len, acts))
    effects = sum(act["kind"] == "causal" for some in acts for act in some)
    assert found["share_of_effects"] == (pytest.approx(effects / every) if every else None)


@pytest.mark.parametrize("seed", range(3))
def test_every_count_is_that_of_the_slow_planner(seed: int) -> None:
    for world in populated(seed, 10):
        assert_counts(world)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_every_count_is_that_of_the_slow_planner_in_many_more_worlds(seed: int) -> None:
    for world in populated(seed + 100, 100):
        assert_counts(world)


@pytest.fixture(scope="module")
def german() -> tuple[Audit, pd.DataFrame]:
    problem, people = embedded("german"), load_frame("german")
    table = problem.plan_many(people)
    return problem.audit(people, ["age:<30,>=30", "housing"], answers=table), table.join(
        people[["age", "housing"]]
    )


def test_the_figures_are_those_of_plain_pandas_on_the_table_of_answers(
    german: tuple[Audit, pd.DataFrame],
) -> None:
    audit, table = german
    table = table.assign(age=np.where(table["age"] < 30, "<30", ">=30"))
    for tally in audit.tallies:
        part = table
        for column, value in tally.traits:
            part = part[part[column] == value]
        refused = part[part["status"].isin(["found", "infeasible", "gave_up"])]
        assert tally.people == len(part)
        assert tally.refused.count == len(refused)
        assert tally.stuck.count == (part["status"] == "infeasible").sum()
        ways = part[part["status"] == "found"]
        steps = ways["steps"].astype(str).map(lambda text: sum(map(len, json.loads(text))))
        own = ways["actions"].astype(str).map(lambda text: len(json.loads(text)))
        if len(ways):
            assert tally.costs["50%"] == ways["cost"].sort_values().iloc[(len(ways) + 1) // 2 - 1]
            assert tally.effects == pytest.approx(1 - own.sum() / steps.sum())
        assert tally.actions == own.value_counts().sort_index().to_dict()


def test_groups_too_small_to_compare_are_counted_and_no_more(
    german: tuple[Audit, pd.DataFrame],
) -> None:
    audit, _ = german
    small = {each.group for each in audit.tallies if each.is_small}
    assert small
    compared = {each.group for each in audit.differences if each.measure != "refused"}
    assert not small & compared
    assert all(each.compared >= FEW for each in audit.differences)


def people_of(gaps: dict[str, tuple[int, int, int]]) -> Any:
    """Return people of groups of whom so many lack money, which they can mend, and so many a thing they cannot."""
    rows = [
        {**JOHN, "debt": 0, "credit_score": 599 if number < stuck else 700, "group": group,
         "bank_balance": 0 if number < stuck + poor else 70_000}
        for group, (size, stuck, poor) in gaps.items()
        for number in range(size)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def test_a_difference_that_need_explains_is_gone_at_equal_need() -> None:
    problem = Problem.from_dict(LOAN)
    frame = people_of({"a": (400, 200, 100), "b": (400, 20, 280)})
    columns = {name: frame[name].tolist() for name in problem.theory.feature}
    told = read_answers(problem.plan_many(frame))
    people = place_people(problem.compiled, columns, told)
    groups = divide(read_divisions("group"), {"group": frame["group"].tolist()}, len(frame))
    found = {
        (each.measure, each.equal_need): each
        for each in differences(people, groups, seed=0)
        if each.group == "group: a"
    }
    raw, alike = found["no_way", False], found["no_way", True]
    assert (raw.here, raw.others, raw.is_sure) == (200 / 300, 20 / 300, True)
    assert raw.interval.low < raw.gap < raw.interval.high
    assert (alike.gap, alike.is_sure) == (0.0, False)
    assert differences(people, groups, seed=0) == differences(people, groups, seed=0)
