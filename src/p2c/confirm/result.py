"""What a confirmed search answers: the plan, what the model had to do with it, and at which values the model turns."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from p2c.plan import rendered
from p2c.plan.outcome import Found

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from p2c.confirm.judge import Judge
    from p2c.domain.feature import Value
    from p2c.plan.outcome import Plan, Question, Step


@dataclass(frozen=True, slots=True)
class Border:
    """Where the model changes its mind about a feature, all else as at the end of the plan.

    `refused` is the value nearest to the one in the plan, on the way to it, that the model was asked about and refused.
    """

    feature: str
    refused: Value
    accepted: Value


@dataclass(frozen=True, slots=True, repr=False)
class VerifiedPlan(rendered.Plan):
    """A plan and whether the model itself accepts its end.

    `verified` is True only where the model was asked about the very end state and accepted it. `guide` is the plan
    that the rules alone would have given, and `guide_accepted` what the model says of its end, None where it was not
    asked. `model_calls` counts the rows put to the model, each once also where it was asked for
    both its class and its probability; `batches` counts the times that it was asked. `borders` is what was learned
    from its answers about the thresholds that the plan ends at.

    >>> import pandas as pd
    >>> import p2c
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> loans = pd.DataFrame({"income": range(20, 80), "age": [20 + i % 40 for i in range(60)]})
    >>> model = DecisionTreeClassifier(max_depth=1).fit(loans, loans["income"] > 51)
    >>> confirmed = p2c.Recourse.fit(model, loans).plan({"income": 40, "age": 30})
    >>> confirmed
    <VerifiedPlan 'recourse': found, cost 0.20339, income 40 -> 52, verified, proved>
    """

    plan: Plan
    verified: bool
    model_calls: int
    batches: int
    guide: Plan
    guide_accepted: bool | None
    borders: tuple[Border, ...] = ()
    proved: bool = False
    """Whether the plan, or that there is none, was proved against the model itself."""
    scores: tuple[tuple[float, float], ...] = ()
    """The model's score at the start and after each step, each with what it must reach."""

    @property
    def _outcome(self) -> Plan:
        """Return the plan, as those take it apart who know the four kinds."""
        return self.plan

    @property
    def question(self) -> Question:
        """Return what was asked."""
        return self.plan.question

    @property
    def optimal(self) -> bool:
        """Tell whether it is proved against the model that nothing is cheaper, or that there is no way."""
        return self.proved

    @property
    def status(self) -> str:
        """Return the status of the plan."""
        return self.plan.status

    @property
    def cost(self) -> float | None:
        """Return the cost of the plan."""
        return self.plan.cost

    @property
    def steps(self) -> tuple[Step, ...]:
        """Return the steps of the plan."""
        return self.plan.steps

    @property
    def counterfactual(self) -> Mapping[str, Any] | None:
        """Return the state at the end of the plan."""
        return self.plan.counterfactual

    def __repr__(self) -> str:
        return f"<VerifiedPlan {self.summary()}>"

    def summary(self) -> str:
        """Return the plan in less than a line, with whether the model confirms it and whether it is proved.

        >>> confirmed.summary()
        "'recourse': found, cost 0.20339, income 40 -> 52, verified, proved"
        """
        confirmed = ", verified" if self.verified else ", not verified"
        return f"{self.plan.summary()}{confirmed}{', proved' if self.proved else ''}"

    @property
    def overshoot(self) -> float | None:
        """Return how much dearer the plan is than the one that the rules gave; None where one of them has no path."""
        if self.plan.cost is None or self.guide.cost is None:
            return None
        return self.plan.cost - self.guide.cost

    @property
    def shifts(self) -> dict[str, tuple[Value, Value]]:
        """Return the features that end elsewhere than the rules alone would have it: their value, and the plan's."""
        ruled, told = self.guide.counterfactual, self.plan.counterfactual
        if ruled is None or told is None:
            return {}
        return {name: (ruled[name], told[name]) for name in told if ruled[name] != told[name]}

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as the contract's JSON, with what the model said beside it.

        >>> confirmed.to_dict()["verified"]
        True
        """
        return {
            **self.plan.to_dict(),
            "verified": self.verified,
            "model_calls": self.model_calls,
            "batches": self.batches,
            "guide": {
                "cost": self.guide.cost,
                "accepted": self.guide_accepted,
                "off": self.overshoot,
                "shifts": {name: list(pair) for name, pair in self.shifts.items()},
            },
            "borders": [asdict(each) for each in self.borders],
        }


def find_borders(judge: Judge, plan: Plan) -> tuple[Border, ...]:
    """Return for each number that a plan sets the nearest value before it that the model refused, all else equal."""
    return tuple(_borders(judge, plan)) if isinstance(plan, Found) else ()


def _borders(judge: Judge, plan: Found) -> Iterator[Border]:
    end = plan.counterfactual
    for action in plan.direct_actions:
        accepted = end[action.feature]
        if isinstance(accepted, int | float) and isinstance(action.start, int | float):
            place = list(end).index(action.feature)
            refused = _refused_beside(judge, tuple(end.values()), place)
            low, high = sorted((action.start, accepted))
            before = [value for value in refused if low <= value <= high]
            if before:
                nearest = max(before) if accepted == high else min(before)
                yield Border(action.feature, nearest, accepted)


def _refused_beside(judge: Judge, end: tuple[Value, ...], place: int) -> Iterator[int | float]:
    """Yield the numbers in one place of states that the model refused and that are else like the end."""
    for key, answer in judge.known.items():
        value = key[place]
        alike = key[:place] == end[:place] and key[place + 1 :] == end[place + 1 :]
        if alike and not answer.accepted and isinstance(value, int | float):
            yield value
