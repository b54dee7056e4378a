"""Proofs as the reader sees them, and the promise that they never say what is not so."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

from p2c._rules.evaluate import clause_fires, condition_holds, decision_holds, goal_holds
from p2c._rules.proof import Applied, Compared, Decided, Proof, ProofNode, Query, Related, why
from tests.loan import JOHN, LOAN, category, small, theory_of, whole
from tests.strategies import problems

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

    from p2c._rules.theory import Theory
    from p2c._spec.feature import Value

RICH = JOHN | {"debt": 0, "bank_balance": 75000, "credit_score": 700}
NESTED = """
    good(P) :- pay(P,N), not(N=<20.5), not ab1(P).
    ab1(P) :- job(P,'none'), not ab2(P,'True').
    ab2(P,'True') :- home(P,V), V \\= 'rented'.
"""
NESTED_FEATURES = {
    "pay": {"type": "float", "min": 0, "max": 100},
    "job": category("none", "some"),
    "home": category("own", "rented"),
}


def text(theory: Theory, state: Mapping[str, Value]) -> list[str]:
    return why(theory, state).to_text().splitlines()


def test_a_failing_goal_rests_on_every_rule_that_fires() -> None:
    assert text(theory_of(LOAN), JOHN) == [
        "✗ not reject_loan(X)",
        "  ✓ reject_loan(X)",
        "    ✓ rule 1: reject_loan(X) :- bank_balance(X,N), N<60000.",
        "      ✓ bank_balance(X,N), N<60000: bank_balance is 40000",
        "    ✓ rule 2: reject_loan(X) :- credit_score(X,N), N<620.",
        "      ✓ credit_score(X,N), N<620: credit_score is 599",
    ]


def test_a_holding_goal_rests_on_what_fails_in_every_rule() -> None:
    assert text(theory_of(LOAN), RICH) == [
        "✓ not reject_loan(X)",
        "  ✗ reject_loan(X)",
        "    ✗ rule 1: reject_loan(X) :- bank_balance(X,N), N<60000.",
        "      ✗ bank_balance(X,N), N<60000: bank_balance is 75000",
        "    ✗ rule 2: reject_loan(X) :- credit_score(X,N), N<620.",
        "      ✗ credit_score(X,N), N<620: credit_score is 700",
    ]


def test_rules_that_do_not_fire_are_no_part_of_why_a_decision_holds() -> None:
    lines = text(theory_of(LOAN), RICH | {"credit_score": 600})
    assert not any("rule 1" in line for line in lines)


def test_a_proof_goes_down_through_nested_exceptions() -> None:
    theory = small(NESTED, NESTED_FEATURES, goal="good(P)")
    assert text(theory, {"pay": 30.0, "job": "none", "home": "rented"}) == [
        "✗ good(P)",
        "  ✗ rule 1: good(P) :- pay(P,N), not(N=<20.5), not ab1(P).",
        "    ✗ not ab1(P)",
        "      ✓ ab1(P)",
        "        ✓ rule 2: ab1(P) :- job(P,'none'), not ab2(P,'True').",
        "          ✓ job(P,'none'): job is none",
        "          ✓ not ab2(P,'True')",
        "            ✗ ab2(P,'True')",
        "              ✗ rule 3: ab2(P,'True') :- home(P,V), V \\= 'rented'.",
        "                ✗ home(P,V), V \\= 'rented': home is rented",
    ]


def test_a_rule_that_does_not_fire_shows_each_literal_that_fails() -> None:
    theory = small("good(X) :- pay(X,N), N>5, job(X,'some'), home(X,'own').", NESTED_FEATURES)
    assert text(theory, {"pay": 3.0, "job": "some", "home": "rented"})[2:] == [
        "    ✗ pay(X,N), N>5: pay is 3.0",
        "    ✗ home(X,'own'): home is rented",
    ]


def test_a_goal_of_several_literals_has_a_root_of_its_own() -> None:
    theory = small("good(X).", NESTED_FEATURES, goal="good(X), pay(X,N), N>=50")
    assert text(theory, {"pay": 60.0, "job": "some", "home": "own"}) == [
        "✓ good(X), pay(X,N), N>=50",
        "  ✓ good(X)",
        "    ✓ rule 1: good(X).",
        "  ✓ pay(X,N), N>=50: pay is 60.0",
    ]
    assert text(theory, {"pay": 40.0, "job": "some", "home": "own"}) == [
        "✗ good(X), pay(X,N), N>=50",
        "  ✗ pay(X,N), N>=50: pay is 40.0",
    ]


def test_a_missing_value_is_shown_as_unknown() -> None:
    theory = small("good(X) :- n(X,N), not(N=<5).", {"n": whole(0, 9)})
    assert text(theory, {"n": None})[2] == "    ✓ n(X,N), not(N=<5): n is unknown"


def test_a_proof_is_data() -> None:
    proof = why(theory_of(LOAN), JOHN)
    data = proof.to_dict()
    assert json.loads(json.dumps(data)) == data
    assert {key: data[key] for key in data if key != "because"} == {
        "kind": "decision",
        "decision": "reject_loan",
        "arguments": [],
        "negated": True,
        "text": "not reject_loan(X)",
        "holds": False,
    }
    rule = data["because"][0]["because"][0]
    assert (rule["kind"], rule["rule"], rule["holds"]) == ("rule", 1, True)
    assert rule["because"] == [
        {
            "kind": "test",
            "feature": "bank_balance",
            "value": 40000,
            "comparator": "<",
            "constant": 60000,
            "negated": False,
            "text": "bank_balance(X,N), N<60000",
            "holds": True,
            "because": [],
        }
    ]


def test_a_proof_can_be_compared_and_hashed() -> None:
    theory = theory_of(LOAN)
    assert why(theory, JOHN) == why(theory, dict(JOHN))
    assert len({why(theory, JOHN), why(theory, JOHN), why(theory, RICH)}) == 2


World = tuple[dict[str, Any], dict[str, Any]]


def random_state(theory: Theory, rng: random.Random) -> dict[str, Value]:
    """Return any state: a value of the domain, or a missing one, for each feature."""
    state: dict[str, Value] = {}
    for feature in theory.features:
        place = rng.randrange(-1, feature.domain.size)
        state[feature.name] = None if place < 0 else feature.domain.value(place)
    return state


@given(problems(), st.randoms(use_true_random=False))
@settings(max_examples=200, deadline=None)
def test_the_root_holds_just_where_the_goal_does(world: World, rng: random.Random) -> None:
    theory = theory_of(world[0])
    for _ in range(5):
        state = random_state(theory, rng)
        proof = why(theory, state)
        assert proof.holds == goal_holds(theory, state)
        assert_true(theory, state, proof)


def assert_true(theory: Theory, state: Mapping[str, Value], proof: Proof) -> None:
    """Assert that every node says what the reference meaning says, and follows from those below it."""
    waiting = [proof.root]
    while waiting:
        node = waiting.pop()
        waiting += node.children
        assert node.holds == _meant(theory, state, node)
        assert _follows(node)
    for leaf in proof.root.leaves():
        assert isinstance(leaf.claim, Compared | Applied)
        if isinstance(leaf.claim, Compared):
            assert leaf.claim.value == state[leaf.claim.test.feature]


def _meant(theory: Theory, state: Mapping[str, Value], node: ProofNode) -> bool:
    match node.claim:
        case Query():
            return goal_holds(theory, state)
        case Decided(call):
            return decision_holds(theory, call.decision, state) is not call.negated
        case Applied(clause):
            return clause_fires(theory, clause, state)
        case Compared(test):
            return condition_holds(theory, test, state)
        case Related(relation):
            return condition_holds(theory, relation, state)


def _follows(node: ProofNode) -> bool:
    """Tell whether the children have the truth that settles the claim, and there is one where needed."""
    same = all(child.holds is node.holds for child in node.children)
    match node.claim:
        case Related():
            return not node.children
        case Decided(call) if call.negated:
            (child,) = node.children
            return child.holds is not node.holds
        case Decided():
            return same and bool(node.children)
        case Applied() | Query():
            return same and (node.holds or bool(node.children))
        case Compared():
            return not node.children
