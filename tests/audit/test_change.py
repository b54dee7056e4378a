"""Before and after, beside what the slow planner says of each person under both problems."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pandas as pd
import pytest

from p2c.problem import Problem
from tests.audit.worlds import populated
from tests.loan import JOHN, LOAN
from tests.oracle import OraclePlan, best_plan

RANKS = {"infeasible": 0, "found": 1, "already": 2}


def gains(before: OraclePlan, after: OraclePlan) -> int:
    """Return 1 for a gain, -1 for a loss, 0 for neither."""
    one, other = RANKS[before.status], RANKS[after.status]
    if one != 1 or other != 1:
        return (other > one) - (other < one)
    assert before.cost is not None
    assert after.cost is not None
    same = before.cost == pytest.approx(after.cost)
    return 0 if same else (after.cost < before.cost) - (after.cost > before.cost)


@pytest.mark.parametrize("seed", range(2))
def test_who_gains_and_who_loses_is_what_the_slow_planner_says(seed: int) -> None:
    for world in populated(seed + 70, 10):
        features = {
            name: {**keys, "action": "free"} if keys.get("action") != "effect" else keys
            for name, keys in world.document["features"].items()
        }
        other = Problem.from_dict({**world.document, "name": "free", "features": features})
        column = next(iter(features))
        change = world.problem.audit(world.frame, by=column, against=other).change
        assert change is not None
        after = [best_plan(other.theory, other.read_row(row)) for row in world.rows]
        pairs = [(a, b) for a, b in zip(world.answers, after, strict=True) if b is not None]
        assert change.moves == Counter((a.status, b.status) for a, b in pairs)
        for shift in change.shifts:
            told = Counter(
                gains(*pair)
                for row, pair in zip(world.rows, pairs, strict=True)
                if not shift.traits
                or shift.traits[0][1] == ("unknown" if row[column] is None else str(row[column]))
            )
            assert (shift.gain.count, shift.lose.count) == (told[1], told[-1])
            assert shift.gain.of == told.total()


def test_the_report_says_who_gains_and_what_it_costs() -> None:
    loan = Problem.from_dict(LOAN)
    rules = LOAN["rules"].replace("60000", "50000").replace("620", "680")
    stricter: dict[str, Any] = {**LOAN, "name": "stricter", "rules": rules}
    people = pd.DataFrame(
        [
            JOHN,
            {**JOHN, "credit_score": 650, "bank_balance": 70_000, "debt": 0},
            {**JOHN, "debt": -1},
        ]
    )
    audit = loan.audit(people, against=Problem.from_dict(stricter))
    lines = audit.report(format="md").decode().splitlines()
    assert any(
        line.startswith("**If “stricter” took the place of “loan”, 1 would gain, 1 would lose")
        for line in lines
    )
    assert "| accepted → refused, without a way | 1 of 3 (33.3%) |" in lines
    assert "One of the two answers is not known for: 1." in lines
    found = audit.to_dict()
    assert found["change"]["cheaper"] == 1
    assert set(found["asked"]["hashes"]) == {"problem", "against", "data"}
