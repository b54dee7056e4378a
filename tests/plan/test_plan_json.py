"""The one description of a plan's JSON: what it reads, what it writes, and what schemas say of it."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings

from p2c import Problem, datasets
from p2c._export.programs import plan_schema
from p2c._plan.outcome import Infeasible
from p2c._plan.plan_json import PlanRecord
from p2c.errors import PlanError
from tests.embedded import embedded, people
from tests.loan import JOHN, LOAN
from tests.strategies import problems


def assert_described(problem: Problem, answer: Any) -> None:
    """Check that an answer is what the description says, and that nothing is lost in reading it."""
    written = json.loads(answer.to_json())
    assert written == answer.to_dict()
    jsonschema.validate(written, plan_schema(problem.theory.features))
    record = PlanRecord.model_validate(written)
    assert record.model_dump(mode="json", by_alias=True, exclude_unset=True) == written
    read = problem.read_plan(written)
    assert read.to_dict() == written
    assert type(read) is type(answer)
    assert problem.check(read).ok


@given(problems())
@settings(max_examples=100, deadline=None)
def test_what_is_written_is_described_and_read_back(
    world: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    data, row = world
    problem = Problem.from_dict(data | {"exceptions": "abduce"})
    assert_described(problem, problem.plan(row))


@pytest.mark.parametrize("name", datasets.names())
def test_every_answer_of_the_embedded_problems_is_described(name: str) -> None:
    problem = embedded(name)
    for row in people(name, 30):
        assert_described(problem, problem.plan(row))
    assert_described(problem, problem.plan(people(name, 1)[0], node_limit=1))


def test_what_was_learned_or_is_not_explained_or_unknown_is_described_too() -> None:
    source = {"from": "model", "fidelity": 0.983, "rows": 32561, "name": "model.skops"}
    problem = Problem.from_dict({**LOAN, "source": source})
    assert_described(problem, problem.plan({**JOHN, "bank_balance": None}))
    answer = problem.restricted({"bank_balance": "fixed"}).plan(JOHN)
    assert isinstance(answer, Infeasible)
    assert_described(problem, answer)
    assert_described(problem, Infeasible(answer.question, explained=False))


def test_a_proof_that_contradicts_optimal_is_a_fault() -> None:
    problem = Problem.from_dict(LOAN)
    document = {**problem.plan(JOHN).to_dict(), "proof": "none"}
    verdict = problem.check(document)
    assert [str(each) for each in verdict.faults] == [
        "proof: 'none' contradicts optimal, which is True"
    ]


def test_a_plan_read_back_tells_itself() -> None:
    problem = Problem.from_dict(LOAN)
    plan = problem.plan(JOHN)
    assert problem.read_plan(plan.to_dict()).explain() == plan.explain()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"opened": {"status": "found"}}, "opened: the key 'initial' is missing"),
        ({"explained": "no"}, "explained: expected true or false, found 'no'"),
        ({"blockers": [{"feature": "age"}]}, "blocker 1: the key 'restriction' is missing"),
        ({"unknown": [5]}, "unknown: expected text, found 5"),
        ({"source": {"from": "hearsay"}}, "source: from: expected one of 'model', 'labels'"),
        ({"steps": []}, "steps: 'found' needs at least one step, and there is none"),
    ],
)
def test_what_is_no_plan_is_refused_in_one_line(change: dict[str, Any], message: str) -> None:
    problem = Problem.from_dict(LOAN)
    with pytest.raises(PlanError, match=message) as caught:
        problem.read_plan(problem.plan(JOHN).to_dict() | change)
    assert "\n" not in str(caught.value)
