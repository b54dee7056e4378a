"""An answer that gave up has the best plan that asking finds in the same limits."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier

from p2c._answers import model_table
from p2c._engines import policy as policies
from p2c._learn.model import Read, cheapest_cells
from p2c._learn.model.leaves import Leaves
from p2c._plan.outcome import GaveUp
from p2c._plan.planner import find_plan
from p2c.problem import Problem

if TYPE_CHECKING:
    from pathlib import Path

Row = dict[str, Any]


def people(size: int = 1_000) -> pd.DataFrame:
    draws = np.random.default_rng(0)
    return pd.DataFrame({f"f{each}": draws.integers(0, 200, size) for each in range(8)})


def wanted(table: pd.DataFrame) -> Any:
    waves = [np.sin(each + table[f"f{(each + 1) % 8}"] / 40) for each in range(8)]
    return (sum((table[f"f{each}"] / 200 - 0.5) * waves[each] for each in range(8)) > 0.5).astype(
        int
    )


@pytest.fixture(scope="module")
def fitted() -> tuple[Problem, Problem, list[Row]]:
    """Return a parsed model of many trees, its black box, and refused people."""
    table = people()
    model = GradientBoostingClassifier(n_estimators=150, random_state=0).fit(table, wanted(table))
    parsed = Problem.from_model(model, table, desired=1)
    asked = Problem.from_model(lambda rows: model.predict(rows) == 1, table, desired=True)
    assert isinstance(parsed.reading, Read)
    return parsed, asked, table[model.predict(table) == 0].head(6).to_dict("records")


def test_where_asking_finds_a_plan_the_parsed_model_has_one(
    fitted: tuple[Problem, Problem, list[Row]],
) -> None:
    parsed, black_box, rows = fitted
    given_up = 0
    for row in rows:
        other, answer = black_box.plan(row, node_limit=2), parsed.plan(row, node_limit=2)
        if answer.status != "gave_up":
            continue
        given_up += 1
        assert answer.cost is not None or other.cost is None
        if answer.cost is not None:
            assert answer.model is not None
            assert answer.model.verified
            assert not answer.optimal
            assert isinstance(answer, GaveUp)
            assert answer.bound <= answer.cost
            assert parsed.check(answer)
            told = answer.to_dict()["model"]
            assert (told["verified"], told["proved"], told["ended"]) == (True, False, "nodes")
    assert given_up


def test_what_ended_the_search_survives_the_file_and_is_told(
    fitted: tuple[Problem, Problem, list[Row]],
) -> None:
    parsed, _, rows = fitted
    plan = parsed.plan(rows[0], node_limit=1)
    again = parsed.read_plan(plan.to_dict())
    assert again.to_dict() == plan.to_dict()
    assert "As many states were looked at as may be." in parsed.report(again).decode()


def test_the_nearest_that_gave_up_are_filled_with_plans_to_distinct_ends(
    fitted: tuple[Problem, Problem, list[Row]],
) -> None:
    parsed, _, rows = fitted
    answers = parsed.nearest(rows[0], 3, node_limit=1)
    assert [each.status for each in answers] == ["gave_up"] * 3
    ends = [tuple((each.counterfactual or {}).values()) for each in answers]
    assert len(set(ends)) == 3
    costs = [each.cost or 0.0 for each in answers]
    assert costs == sorted(costs)


def test_a_table_has_the_plans_of_people_whose_proof_did_not_end(
    fitted: tuple[Problem, Problem, list[Row]],
) -> None:
    parsed, _, rows = fitted
    table = model_table(parsed, pd.DataFrame(rows), policies.Policy(node_limit=1))
    assert set(table["status"]) == {"gave_up"}
    single = [parsed.plan(row, node_limit=1) for row in rows]
    assert table["cost"].tolist() == [each.cost for each in single]
    assert table["verified"].tolist() == [
        each.model is not None and each.model.verified for each in single
    ]
    assert table["verified"].all()
    assert not table["optimal"].any()


def test_a_time_limit_leaves_a_plan(fitted: tuple[Problem, Problem, list[Row]]) -> None:
    parsed, _, rows = fitted
    for row in rows:
        answer = parsed.plan(row, time_limit=2)
        assert answer.cost is not None
        assert answer.optimal or answer.to_dict()["model"]["ended"] == "time"


def test_what_a_proof_needs_of_a_model_is_prepared_before_the_first_question(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    table = people(300)
    forest = RandomForestClassifier(20, max_depth=4, random_state=0).fit(table, wanted(table))
    made = Problem.from_model(forest, table, desired=1)
    made.save(tmp_path / "model")
    stored = Problem.load(tmp_path / "model")
    row = table[forest.predict(table) == 0].iloc[0].to_dict()
    monkeypatch.setattr(Leaves, "of", too_late)
    monkeypatch.setattr(cheapest_cells, "forest_of", too_late)
    monkeypatch.setattr(cheapest_cells, "compile_search", too_late)
    for problem in (made, stored):
        for keys in ({}, {"norm": "l2"}, {"restrict": {"f0": "fixed"}}):
            assert problem.plan(row, time_limit=5, **keys).cost is not None


def too_late(*_: object) -> Any:
    raise AssertionError("this takes the time of a question")


def test_a_slow_model_keeps_the_time_limit() -> None:
    def slow(rows: pd.DataFrame) -> Any:
        time.sleep(pause * len(rows))
        return rows.f0 + rows.f1 > 350

    pause, table = 0.0, people(200)
    problem = Problem.from_model(slow, table, desired=True)
    row = table[~slow(table)].iloc[0].to_dict()
    pause = 0.02
    begun = time.monotonic()
    problem.plan(row, time_limit=1)
    assert time.monotonic() - begun < 2


def test_no_time_at_all_means_that_the_model_is_not_asked_for_plans(
    fitted: tuple[Problem, Problem, list[Row]],
) -> None:
    for problem in fitted[:2]:
        answer = problem.plan(fitted[2][0], time_limit=0)
        assert (answer.status, answer.cost) == ("gave_up", None)
        assert answer.to_dict()["model"]["ended"] == "time"


def test_a_black_box_model_says_that_its_questions_were_used_up(
    fitted: tuple[Problem, Problem, list[Row]],
) -> None:
    table = people(200)
    rare = table.iloc[0].tolist()
    problem = Problem.from_model(
        lambda rows: (rows == rare).all(axis=1), table, desired=True, budget=5
    )
    answer = problem.plan(table.iloc[1])
    assert answer.status == "gave_up"
    assert answer.to_dict()["model"]["ended"] == "queries"


def test_a_person_without_a_way_is_searched_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    table = people(300)
    model = GradientBoostingClassifier(n_estimators=5, random_state=0).fit(table, wanted(table))
    fixed = dict.fromkeys(table, "fixed")
    problem = Problem.from_model(model, table, desired=1, actions=fixed)
    row = table[model.predict(table) == 0].iloc[0].to_dict()
    calls: list[object] = []

    def counted(*arguments: Any) -> Any:
        calls.append(arguments)
        return find_plan(*arguments)

    monkeypatch.setattr(policies, "find_plan", counted)
    answer = problem.plan(row, time_limit=30)
    assert (answer.status, answer.optimal, len(calls)) == ("infeasible", True, 1)


def test_the_largest_cost_on_a_feature_keeps_its_time_limit() -> None:
    table = people()
    forest = RandomForestClassifier(60, max_depth=7, random_state=0).fit(table, wanted(table))
    problem = Problem.from_model(forest, table, desired=1, norm="linf")
    row = table[forest.predict(table) == 0].iloc[0].to_dict()
    problem.plan(row, node_limit=1)
    begun = time.process_time()
    assert problem.plan(row, time_limit=1).status == "gave_up"
    assert time.process_time() - begun < 4
