"""The slow planner asked about small worlds, and its actions in short."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.loan import whole
from tests.oracle import best_plan

if TYPE_CHECKING:
    from p2c._rules.theory import Theory
    from p2c._spec.feature import Value
    from tests.oracle import OraclePlan

Document = dict[str, Any]


def planned(theory: Theory, **row: Value) -> OraclePlan:
    """Return the answer for a row that is not refused."""
    plan = best_plan(theory, row)
    assert plan is not None
    return plan


def bit(**keys: Any) -> Document:
    """Return the keys of a feature that is 0 or 1."""
    return whole(0, 1, **keys)


def direct(feature: str, to: Value) -> tuple[str, str, Value]:
    return "direct", feature, to


def causal(feature: str, to: Value) -> tuple[str, str, Value]:
    return "causal", feature, to
