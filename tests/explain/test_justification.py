from __future__ import annotations

import random
import tomllib
from typing import TYPE_CHECKING

import pytest

from p2c._engines.scasp.engine import find_solver
from p2c._explain import justification
from p2c._explain.justification import grounds_of, justify
from p2c.datasets import names, problem_text, rows
from p2c.errors import EngineError
from p2c.problem import Problem
from tests.loan import JOHN, LOAN
from tests.strategies import random_problem

if TYPE_CHECKING:
    from p2c._rules.proof import Proof

installed = pytest.mark.skipif(find_solver() is None, reason="s(CASP) is not installed here")


@installed
def test_it_says_what_it_rests_on_in_the_features_own_words() -> None:
    problem = Problem.from_dict(tomllib.loads(problem_text("loan")))
    found = justify(problem.theory, problem.read_row(rows("loan")["john"]))
    assert not found.holds
    assert "you have 40000 in the bank, which is below 60,000 dollars" in found.english
    assert "bank_balance_below_60000(40000)" in found.tree
    assert found.grounds == {
        ("bank_balance", "<", "60000", True),
        ("credit_score", "<", "620", True),
    }


@installed
@pytest.mark.parametrize("name", names())
def test_it_rests_on_the_literals_of_our_proof(name: str) -> None:
    problem = Problem.from_dict(tomllib.loads(problem_text(name)))
    for row in list(rows(name).values())[:2]:
        state = problem.read_row(row)
        found, proof = justify(problem.theory, state), problem.why(row)
        assert found.holds is proof.holds
        assert found.grounds == grounds_of(proof, first=True)
        assert found.grounds <= grounds_of(proof)


@installed
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100))
def test_it_rests_on_the_literals_of_our_proof_in_random_worlds(seed: int) -> None:
    document, row = random_problem(random.Random(f"justified {seed}"))
    problem = Problem.from_dict(document)
    found = justify(problem.theory, problem.read_row(row))
    assert found.grounds == grounds_of(problem.why(row), first=True)


@installed
def test_another_verdict_than_ours_is_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Problem.from_dict(LOAN)
    rich = {**JOHN, "bank_balance": 70_000, "credit_score": 700}

    def why_of_another(*_: object) -> Proof:
        return problem.why(rich)

    monkeypatch.setattr(justification, "why", why_of_another)
    with pytest.raises(EngineError, match="does not agree with our proof"):
        justify(problem.theory, problem.read_row(JOHN))


def test_without_s_casp_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCASP", "/nowhere/scasp")
    problem = Problem.from_dict(LOAN)
    with pytest.raises(EngineError, match="cannot be started"):
        justify(problem.theory, problem.read_row(JOHN))


def test_of_a_rule_that_fails_the_first_literal_is_enough() -> None:
    problem = Problem.from_dict(
        {
            "goal": "good(X)",
            "rules": "good(X) :- a(X,'y'), b(X,'y').",
            "features": {n: {"type": "category", "values": ["y", "n"]} for n in "ab"},
        }
    )
    proof = problem.why({"a": "n", "b": "n"})
    assert grounds_of(proof) == {("a", "=", "y", False), ("b", "=", "y", False)}
    assert grounds_of(proof, first=True) == {("a", "=", "y", False)}
