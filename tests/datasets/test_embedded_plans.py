"""Every problem gets the plans that its page promises."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

import p2c
from p2c.datasets import load_rows, names, problem_text, rows

EXAMPLES = [(name, person) for name in names() for person in rows(name)]

# Status and cost of every named row, worked out by hand from the rules, scales and bounds.
EXPECTED: dict[tuple[str, str], tuple[str, float | None]] = {
    ("loan", "john"): ("found", 5_000 / 1_000_000 + 20_000 / 1_000_000_000),
    ("loan", "only_balance"): ("found", 20_000 / 1_000_000_000),
    ("loan", "exception"): ("found", 20_000 / 1_000_000_000),
    ("loan", "no_way"): ("infeasible", None),
    ("loan", "already"): ("already", 0),
    ("cars", "paper"): ("found", 1),
    ("cars", "unsafe"): ("found", 1),
    ("cars", "costly"): ("found", 1),
    ("cars", "everything_wrong"): ("found", 3),
    ("cars", "already"): ("already", 0),
    ("adult", "paper"): ("found", 6_850 / 7475.55),
    ("adult", "one_year_short"): ("found", 1 / 2.57),
    ("adult", "better_marry"): ("found", 1),
    ("adult", "wait_and_marry"): ("found", 2 / 13.71 + 1),
    ("adult", "exception"): ("found", 6_850 / 7475.55),
    ("adult", "already"): ("already", 0),
    ("german", "refused"): ("found", 27 / 12.06),
    ("german", "loan_too_small"): ("found", 51 / 2822.74),
    ("german", "exception"): ("found", 9 / 12.06),
    ("german", "no_way"): ("infeasible", None),
    ("german", "paper"): ("already", 0),
    ("german", "already"): ("already", 0),
}


def load(name: str) -> p2c.Problem:
    return p2c.Problem.from_dict(tomllib.loads(problem_text(name)))


def plan(name: str, person: str, **options: Any) -> dict[str, Any]:
    answer: dict[str, Any] = load(name).plan(rows(name)[person], **options).to_dict()
    return answer


def test_every_named_row_has_an_expected_answer() -> None:
    assert set(EXPECTED) == set(EXAMPLES)


@pytest.mark.parametrize(("name", "person"), EXAMPLES)
def test_a_named_row_gets_the_answer_worked_out_by_hand(name: str, person: str) -> None:
    status, cost = EXPECTED[name, person]
    answer = plan(name, person)
    assert answer["status"] == status
    assert answer["cost"] == (None if cost is None else pytest.approx(cost, rel=1e-9))


@pytest.mark.parametrize("name", ["loan", "adult", "german"])
def test_the_row_named_exception_has_exactly_one(name: str) -> None:
    assert len(plan(name, "exception")["exceptions"]) == 1


def test_john_ends_where_the_paper_says() -> None:
    assert plan("loan", "john")["counterfactual"] == {
        "age": 31,
        "debt": 0,
        "loan_duration": 12,
        "bank_balance": 60_000,
        "credit_score": 620,
    }


def test_a_wedding_changes_the_marital_status_for_nothing_and_for_certain() -> None:
    (step,) = plan("adult", "better_marry")["steps"]
    wedding, status = step["actions"]
    assert (wedding["kind"], wedding["to"]) == ("direct", "Husband")
    assert (status["kind"], status["to"]) == ("causal", "Married-civ-spouse")
    assert status["assumed"] is False


def test_a_young_man_first_waits() -> None:
    first, second = plan("adult", "wait_and_marry")["steps"]
    assert (first["actions"][0]["feature"], first["actions"][0]["to"]) == ("age", 28)
    assert second["actions"][0]["feature"] == "relationship"


@pytest.mark.parametrize(
    ("norm", "nearest", "furthest", "mean"),
    [("l1", 1, 3, 2.3), ("l2", 1, 3**0.5, 1.499927), ("l0", 1, 3, 2.3)],
)
def test_the_twenty_nearest_cars_give_the_row_of_the_paper(
    norm: str, nearest: float, furthest: float, mean: float
) -> None:
    plans = load("cars").nearest(rows("cars")["paper"], k=20, norm=norm)
    costs = [found.to_dict()["cost"] for found in plans]
    assert len(costs) == 20
    assert costs[0] == pytest.approx(nearest)
    assert costs[-1] == pytest.approx(furthest)
    assert sum(costs) / 20 == pytest.approx(mean, abs=1e-6)


@pytest.mark.parametrize("name", ["cars", "adult", "german"])
def test_every_hundredth_row_of_the_data_gets_an_answer(name: str) -> None:
    problem = load(name)
    for row in load_rows(name, "all")[::100]:
        person = {feature: row[feature] for feature in next(iter(rows(name).values()))}
        assert problem.plan(person).to_dict()["status"] in {"found", "already", "infeasible"}
