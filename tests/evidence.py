"""The model's part in a plan, for tests of problems in which a model decides."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from p2c.plan.outcome import ModelEvidence
    from p2c.plan.rendered import Plan


def evidence_of(plan: Plan) -> ModelEvidence:
    """Return the model's part in a plan."""
    assert plan.model is not None
    return plan.model
