"""Decisions nest to any depth: thousands of them are planned, proved, told and checked without a deep stack."""

from __future__ import annotations

import json

import pytest

from p2c._explain.sentences import explain_proof, to_text
from p2c._rules.evaluate import decision_holds, goal_holds
from p2c._rules.proof import DEEPEST, MOST
from p2c._rules.theory import Decision
from p2c.problem import Problem
from tests.loan import whole

DEPTH = 3_000


@pytest.fixture(scope="module")
def chain() -> Problem:
    """Return a problem whose goal calls a decision that calls another, and so on, every second one under `not`."""
    rules = ["d0(X) :- debt(X,N), N>10."]
    rules += [f"d{n}(X) :- {'not ' if n % 2 else ''}d{n - 1}(X)." for n in range(1, DEPTH)]
    # Of the calls, an even number is negated, so the goal fails just where d0 holds.
    document = {
        "name": "chain",
        "goal": f"not d{DEPTH - 1}(X)" if (DEPTH // 2) % 2 == 0 else f"d{DEPTH - 1}(X)",
        "rules": "\n".join(rules),
        "features": {"debt": whole(0, 100)},
    }
    return Problem.from_dict(document)


def test_a_deep_chain_is_evaluated(chain: Problem) -> None:
    assert goal_holds(chain.theory, {"debt": 10})
    assert not goal_holds(chain.theory, {"debt": 11})
    assert decision_holds(chain.theory, Decision("d1"), {"debt": 0})


def test_a_deep_chain_is_planned_and_the_plan_is_checked(chain: Problem) -> None:
    plan = chain.plan({"debt": 50})
    assert (plan.status, plan.cost) == ("found", 0.4)
    assert chain.check(plan, prove=True).proved == "that no cheaper path exists"
    assert chain.plan({"debt": 5}).status == "already"


def test_a_deep_proof_is_whole_and_is_written_as_far_as_can_be_read(chain: Problem) -> None:
    proof = chain.why({"debt": 50})
    assert not proof.holds
    (leaf,) = proof.root.leaves()
    assert leaf.claim.text == "debt(X,N), N>10"
    lines = proof.to_text().splitlines()
    assert len(lines) == DEEPEST + 2
    assert lines[-1].strip() == "… what this rests on is left out"
    document = proof.to_dict()
    assert json.loads(json.dumps(document, indent=2)) == document
    depth = 0
    while document["because"]:
        (document,) = document["because"]
        depth += 1
    assert depth == DEEPEST
    assert document["cut"] is True


def test_a_deep_proof_is_told_in_sentences_to_a_depth_that_it_names(chain: Problem) -> None:
    sentences = explain_proof(chain.theory, chain.why({"debt": 50}))
    assert sentences[-1].text == "The reasons behind this are left out here."
    assert sentences[-1].depth == DEEPEST + 1
    assert to_text(sentences).count("\n") == DEEPEST + 1


def test_what_is_short_enough_is_never_cut(chain: Problem) -> None:
    theory = chain.with_keys(goal="d9(X)").theory
    proof = chain.with_keys(goal="d9(X)").why({"debt": 50})
    assert "left out" not in proof.to_text()
    assert "cut" not in json.dumps(proof.to_dict())
    assert all("left out" not in each.text for each in explain_proof(theory, proof))


def test_decisions_that_share_their_reasons_are_settled_once() -> None:
    rules = ["d0(X) :- n(X,N), N>4."]
    for n in range(1, 60):
        rules += [f"d{n}(X) :- d{n - 1}(X).", f"d{n}(X) :- n(X,N), N>3, d{n - 1}(X)."]
    document = {"goal": "d59(X)", "rules": "\n".join(rules), "features": {"n": whole(0, 9)}}
    problem = Problem.from_dict(document)
    proof = problem.why({"n": 5})
    assert proof.holds
    assert len(list(proof.root.leaves())) == 60
    assert MOST <= len(proof.to_text().splitlines()) < 2 * MOST
    assert MOST <= len(explain_proof(problem.theory, proof)) < 2 * MOST
    assert problem.plan({"n": 5}).status == "already"


@pytest.fixture(scope="module")
def deep_cause(chain: Problem) -> Problem:
    """Return the chain with a causal rule that reads it, and a goal that reads both."""
    document = chain.to_dict()
    document["rules"] += f"grade(X,'a') :- d{DEPTH - 1}(X)."
    document["features"]["grade"] = {"type": "category", "values": ["a", "b"]}
    return Problem.from_dict(document)


def test_a_deep_chain_has_a_certificate(deep_cause: Problem) -> None:
    plan = deep_cause.plan({"debt": 50, "grade": "a"}, certificate=True)
    assert (plan.status, plan.proof) == ("found", "certificate")


def test_the_nearest_ends_of_a_deep_chain_are_found(deep_cause: Problem) -> None:
    plans = deep_cause.nearest({"debt": 50, "grade": "b"}, k=2)
    ends = [plan.counterfactual for plan in plans]
    assert [end["debt"] for end in ends if end is not None] == [10, 9]
