"""Claims beyond a replay are named, and a second answer refutes false ones."""

from __future__ import annotations

from typing import Any

import pytest

from p2c import _answers as answers
from p2c._engines.clingo.engine import ClingoEngine
from p2c.problem import Problem
from tests.loan import JOHN, LOAN
from tests.plan.check.claimed import BALANCE, DEBT, SCORE, loan_plan, plan_of

STUCK = JOHN | {"debt": 0}
DEARER = plan_of(
    JOHN,
    [DEBT, SCORE],
    [BALANCE | {"to": 70000, "cost": 0.00003}],
    cost=0.00503,
    problem="loan",
)


@pytest.fixture(scope="module")
def loan() -> Problem:
    return Problem.from_dict(LOAN)


def modified(status: str, initial: dict[str, Any] = JOHN, **keys: Any) -> dict[str, Any]:
    """Return an answer without a path."""
    empty: dict[str, Any] = {"cost": None, "counterfactual": None, "exceptions": [], "steps": []}
    return {"status": status, "problem": "loan", "norm": "l1", "initial": initial, **empty, **keys}


@pytest.mark.parametrize(
    ("document", "claimed", "fault"),
    [
        (DEARER, "that no cheaper path exists", "optimal: a better path exists: it costs 0.00502"),
        (modified("infeasible"), "that no path exists", "status: a path exists: it costs 0.00502"),
        (
            modified("gave_up", bound=0.5),
            "that no path costs less than 0.5",
            "bound: a path costs 0.00502, which is less than 0.5",
        ),
    ],
)
def test_a_false_claim_is_left_open_by_a_replay_and_refuted_by_a_proof(
    loan: Problem, document: dict[str, Any], claimed: str, fault: str
) -> None:
    replayed = loan.check(document)
    assert replayed.ok
    assert replayed.unchecked == claimed
    assert str(replayed).splitlines()[1] == f"not checked: {claimed}"
    proved = loan.check(document, prove=True)
    assert not proved
    assert fault in str(proved)


def test_a_true_claim_is_proved_by_another_solver(loan: Problem) -> None:
    verdict = loan.check(loan_plan(), prove=True, engine="clingo")
    assert verdict.ok
    assert (verdict.unchecked, verdict.repeated) == ("", "")
    assert "proved by clingo: that no cheaper path exists" in str(verdict)


def test_a_true_claim_is_proved_by_a_certificate(loan: Problem) -> None:
    verdict = loan.check(loan_plan(), prove=True)
    assert verdict.ok
    assert (verdict.unchecked, verdict.repeated) == ("", "")
    assert "proved by a certificate that p2c_verify has checked: that no cheaper" in str(verdict)


def test_the_same_search_repeats_a_claim_and_proves_nothing(loan: Problem) -> None:
    verdict = loan.check(loan_plan(), prove=True, engine="native")
    assert verdict.ok
    assert (verdict.unchecked, verdict.proved) == ("", "")
    assert "repeated by the same search: that no cheaper path exists" in str(verdict)
    assert "proved" not in str(verdict)


def test_without_a_certificate_or_another_solver_the_claim_is_repeated(
    loan: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "CERTIFY_SECONDS", 0.0)
    assert "proved by clingo" in str(loan.check(loan_plan(), prove=True))
    monkeypatch.setattr(ClingoEngine, "version", lambda _: None)
    assert loan.check(loan_plan(), prove=True).repeated == "that no cheaper path exists"


def test_what_another_solver_cannot_take_is_repeated(
    loan: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "CERTIFY_SECONDS", 0.0)
    plan = loan.plan(JOHN, norm="linf")
    assert loan.check(plan, prove=True).repeated == "that no cheaper path exists"


def test_blockers_are_only_repeated(loan: Problem) -> None:
    plan = loan.plan(STUCK).to_dict()
    verdict = loan.check(plan, prove=True)
    assert (verdict.proved, verdict.repeated) == ("that no path exists", "what blocks it")
    wrong = plan | {"blockers": [{"feature": "age", "restriction": "fixed"}], "opened": None}
    assert loan.check(wrong).ok
    found = str(loan.check(wrong, prove=True))
    assert found == "blockers: expected credit_score (effect), found age (fixed)"


def test_a_plan_that_claims_no_more_than_its_path_leaves_nothing_open(loan: Problem) -> None:
    modest = loan.check(loan_plan() | {"optimal": False}, prove=True)
    assert str(modest) == "the path is valid: every step, the cost and the end"
    rich = JOHN | {"debt": 0, "bank_balance": 70000, "credit_score": 700}
    already = loan.check(loan.plan(rich))
    assert str(already) == "the answer is valid: the goal holds at the start"


def test_an_answer_without_a_path_is_not_called_a_valid_plan(loan: Problem) -> None:
    told = str(loan.check(modified("infeasible")))
    assert "valid" not in told
    assert told.startswith("there is no path to replay: only that the goal does not hold")


def test_a_second_search_that_runs_out_of_time_proves_nothing(loan: Problem) -> None:
    infeasible = modified("infeasible", STUCK, exceptions=None)
    wide = Problem.from_dict(LOAN)
    verdict = wide.check(infeasible, prove=True, time_limit=0, engine="clingo")
    assert verdict.ok
    assert (verdict.unchecked, verdict.proved) == ("that no path exists", "")


def test_a_shorter_path_refutes_where_the_number_of_actions_comes_first() -> None:
    problem = Problem.from_dict(
        {
            "goal": "ok(X)",
            "minimize": "actions",
            "rules": "ok(X) :- a(X,N), N>=9.\nok(X) :- b(X,N), N>=1, c(X,M), M>=1.",
            "features": {name: {"type": "int", "min": 0, "max": 10} for name in "abc"},
        }
    )
    start = {"a": 0, "b": 0, "c": 0}
    steps = [
        [{"kind": "direct", "feature": name, "from": 0, "to": 1, "cost": 0.1}] for name in "bc"
    ]
    plan = plan_of(start, *steps, cost=0.2)
    assert problem.check(plan).unchecked == "that no shorter or cheaper path exists"
    assert "optimal: a better path exists" in str(problem.check(plan, prove=True))
    assert problem.check(problem.plan(start), prove=True).proved


def test_a_bound_above_the_cost_of_the_path_beside_it_is_a_fault(loan: Problem) -> None:
    plan = loan_plan() | {"status": "gave_up", "optimal": False, "bound": 0.1}
    assert "bound: expected at most its own cost of 0.00502, found 0.1" in str(loan.check(plan))
