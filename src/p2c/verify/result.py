"""What a confirmed search answers: the plan, and what the model had to do with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from p2c.plan.outcome import Plan


@dataclass(frozen=True, slots=True)
class VerifiedPlan:
    """A plan and whether the model itself accepts its end.

    `verified` is True only where the model was asked about the very end state and accepted it. `guide` is the plan
    that the rules alone would have given, and `guide_accepted` what the model says of its end, None where it was not
    asked. `model_calls` counts the rows put to the model, each once also where it was asked for
    both its class and its probability; `batches` counts the times that it was asked.
    """

    plan: Plan
    verified: bool
    model_calls: int
    batches: int
    guide: Plan
    guide_accepted: bool | None

    @property
    def status(self) -> str:
        """Return the status of the plan."""
        return self.plan.status

    @property
    def cost(self) -> float | None:
        """Return the cost of the plan."""
        return self.plan.cost

    @property
    def overshoot(self) -> float | None:
        """Return how much dearer the plan is than the one that the rules gave; None where one of them has no path."""
        if self.plan.cost is None or self.guide.cost is None:
            return None
        return self.plan.cost - self.guide.cost

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as the contract's JSON, with what the model said beside it."""
        return {
            **self.plan.to_dict(),
            "verified": self.verified,
            "model_calls": self.model_calls,
            "batches": self.batches,
            "guide": {"cost": self.guide.cost, "accepted": self.guide_accepted},
        }
