"""Answers as values: what is put into one that can tell itself, and what stays as it was."""

from __future__ import annotations

from dataclasses import MISSING, fields, replace
from typing import TYPE_CHECKING, Any

import pytest

from p2c import Problem, datasets
from p2c._answers import PlanRenderer
from p2c._plan import outcome
from p2c._plan.outcome import Already, Blocker, Found, GaveUp, Infeasible, Question, answer_to

if TYPE_CHECKING:
    from p2c._plan.outcome import Plan

LOAN = Problem.example("loan")
JOHN = datasets.rows("loan")["john"]
ANOTHER = Question("another", "l0", {"debt": 1}, ())


def _john() -> Found:
    plan = LOAN.plan(JOHN)
    assert isinstance(plan, Found)
    return plan


def _answers() -> list[Plan]:
    plan = _john()
    stuck = Infeasible(
        plan.question, (Blocker("debt", "fixed"),), plan, explained=False, proof="certificate"
    )
    return [
        replace(plan, proof="none", stated_slack={"debt": {"min": 0}}),
        Already(plan.question, "certificate"),
        stuck,
        GaveUp(plan.question, 0.25, plan),
    ]


def _left_at_defaults(value: Any) -> list[str]:
    return [
        each.name
        for each in fields(value)
        if each.default is not MISSING and getattr(value, each.name) == each.default
    ]


@pytest.mark.parametrize("plan", _answers(), ids=lambda plan: plan.status)
def test_an_answer_to_another_question_keeps_all_but_the_question(plan: Plan) -> None:
    assert not _left_at_defaults(plan)
    moved = answer_to(ANOTHER, plan)
    assert moved.question is ANOTHER
    assert answer_to(plan.question, moved) == plan


@pytest.mark.parametrize("plan", _answers()[2:], ids=lambda plan: plan.status)
def test_a_path_inside_an_answer_is_asked_the_same(plan: Plan) -> None:
    moved = answer_to(ANOTHER, plan)
    inside = moved.opened if isinstance(moved, Infeasible) else moved.best  # type: ignore[union-attr]
    assert inside == replace(_john(), question=ANOTHER)


def test_a_question_that_is_told_keeps_the_person_and_what_a_model_said() -> None:
    law = {"feature": "debt", "rules": ["debt(X,0)."]}
    said = outcome.ModelEvidence(True, 3)
    proof = {"certificate": {"cover": ["r"]}, "uncertified": "no time", "omitted": ("age",)}
    put = Question("loan", "l1", {"debt": 1}, (law,), evidence=said, **proof)  # type: ignore[arg-type]
    asked = {"goal": "debt(X,0)"}
    rendered = put.with_renderer(
        PlanRenderer(LOAN.theory),
        unknown=("debt",),
        source={"rows": 1},
        asked=asked,
        as_columns=lambda start, end: dict(end),
    )
    assert not _left_at_defaults(rendered)
    assert rendered == replace(put, unknown=("debt",), source={"rows": 1}, asked=asked)
    assert rendered.renderer == PlanRenderer(LOAN.theory)


def test_what_one_answer_was_asked_is_not_shared_with_the_next() -> None:
    problem = LOAN.with_keys(minimize="actions")
    first, second = problem.plan(JOHN), problem.plan(JOHN)
    assert first.question.asked == second.question.asked == {"minimize": "actions"}
    assert first.question.asked is not second.question.asked
