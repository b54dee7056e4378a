"""The family of growing problems, and looking at every state as a yardstick."""

from __future__ import annotations

import pytest

from benchmarks.growth import METHODS, family, point
from benchmarks.peers.enumeration import min_cf
from tests.benchmarks.tiny import JOHN, LOAN


def test_looking_at_every_state_finds_the_known_answer() -> None:
    found = min_cf(LOAN.theory, JOHN, limit=60)
    assert found is not None
    state, cost = found
    assert state == {**JOHN, "debt": 0, "balance": 6, "score": "high"}
    assert cost == pytest.approx(0.7)


def test_looking_at_every_state_stops_at_its_limit() -> None:
    with pytest.raises(TimeoutError):
        min_cf(LOAN.theory, JOHN, limit=-1)


@pytest.mark.parametrize("method", METHODS)
def test_every_way_to_grow_has_a_first_point_that_is_answered(method: str) -> None:
    assert point("features", 2, method) is not None


def test_more_rules_never_make_a_member_of_the_family_cheaper() -> None:
    costs = []
    for rules in (1, 2, 4, 8):
        problem, person = family(rules=rules)
        costs.append(problem.plan(person).cost or 0.0)
    assert costs == sorted(costs)
    assert costs[0] > 0
