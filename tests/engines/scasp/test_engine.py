"""s(CASP) itself, where it is installed: it agrees with the slow planner and with the native one."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

from p2c._engines import ENGINES
from p2c._engines.scasp.engine import LIBRARY, find_solver
from p2c.datasets import names, rows
from p2c.problem import Problem
from tests.embedded import embedded, refused_people
from tests.engines.test_contract import difference, same_cost
from tests.loan import JOHN, LOAN
from tests.strategies import seeded_problems

if TYPE_CHECKING:
    from p2c._spec.feature import Points

pytestmark = pytest.mark.skipif(find_solver() is None, reason="s(CASP) is not installed here")

LIMIT = 60.0
"""Seconds after which s(CASP) may give up on one of the larger random problems."""


def assert_same(problem: Problem, row: dict[str, Any]) -> None:
    state = problem.read_row(row)
    plans = [ENGINES[each].plan(problem.compiled, state) for each in ("native", "clingo", "scasp")]
    assert len({plan.status for plan in plans}) == 1, row
    assert all(same_cost(plans[0].cost, plan.cost) for plan in plans), row


def assert_agreement(seed: int, count: int) -> None:
    """Compare with the slow planner; where s(CASP) ran out of time nothing is said, but that is rare."""
    given_up = 0
    for document, row in seeded_problems(seed, count):
        found = difference("scasp", document, row, time_limit=LIMIT)
        given_up += found.endswith("found gave_up")
        assert not found or found.endswith("found gave_up"), f"{found}\n{document!r}\n{row!r}"
    assert given_up <= count // 10


def test_it_agrees_with_the_slow_planner_on_small_problems() -> None:
    assert_agreement(2100, 8)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2100, 2110))
def test_it_agrees_with_the_slow_planner_on_two_hundred_more(seed: int) -> None:
    assert_agreement(seed, 20)


def test_it_agrees_on_the_named_rows_of_the_loan() -> None:
    for row in rows("loan").values():
        assert_same(embedded("loan"), row)


@pytest.mark.slow
@pytest.mark.parametrize("name", names())
@pytest.mark.parametrize("norm", ["l0", "l1", "l2"])
def test_it_agrees_on_all_named_rows(name: str, norm: str) -> None:
    for row in rows(name).values():
        assert_same(embedded(name).with_keys(norm=norm), row)


@pytest.mark.slow
def test_it_agrees_on_every_rejected_car() -> None:
    problem = embedded("cars")
    domains: list[Points] = [each.domain for each in problem.theory.features]  # type: ignore[misc]
    cars = [
        dict(zip(problem.theory.feature, car, strict=True))
        for car in product(*(domain.values for domain in domains))
    ]
    rejected = [car for car in cars if problem.plan(car, engine="native").status != "already"]
    assert len(rejected) == 92
    for car in rejected:
        assert_same(problem, car)


def test_prolog_with_the_library_answers_as_the_binary_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SCASP", " ".join(f"'{each}'" for each in LIBRARY))
    if ENGINES["scasp"].version() is None:
        pytest.skip("SWI-Prolog has no library(scasp) here")
    assert_same(embedded("loan"), rows("loan")["john"])


BALANCE_ALONE = {
    **LOAN,
    "rules": "reject_loan(X) :- bank_balance(X,N), N<60000.",
}
"""The paper's first example; the loan itself is its second."""


@pytest.mark.parametrize(
    ("document", "cost", "actions"),
    [(BALANCE_ALONE, 0.00002, 1), (LOAN, 0.00502, 3)],
    ids=["example 1", "example 2"],
)
def test_all_engines_agree_on_the_examples_of_the_paper(
    document: dict[str, Any], cost: float, actions: int
) -> None:
    problem = Problem.from_dict(document)
    assert_same(problem, JOHN)
    plan = ENGINES["scasp"].plan(problem.compiled, problem.read_row(JOHN))
    assert plan.cost == pytest.approx(cost)
    assert sum(len(step.actions) for step in plan.steps) == actions


@pytest.mark.parametrize("name", ["adult", "german"])
def test_all_engines_agree_on_some_refused_people_of_the_data(name: str) -> None:
    for row in refused_people(name, 4):
        assert_same(embedded(name), row)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["adult", "german"])
def test_all_engines_agree_on_fifty_refused_people_of_the_data(name: str) -> None:
    people = refused_people(name, 50)
    assert len(people) == 50
    for row in people:
        assert_same(embedded(name), row)
