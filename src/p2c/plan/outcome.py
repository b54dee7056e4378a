"""What a planner answers: found, already there, proved impossible, or gave up.

Each answer is its own type and holds only what it needs; all share what `p2c.Plan` has (`plan/rendered.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from p2c.plan import rendered

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from p2c.domain.feature import Value
    from p2c.plan.rendered import Renderer

    Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class DirectAction:
    """Something that the person does."""

    feature: str
    start: Value
    end: Value
    cost: float

    def to_dict(self) -> dict[str, Any]:
        """Return the action as the contract's JSON."""
        return {
            "kind": "direct",
            "feature": self.feature,
            "from": self.start,
            "to": self.end,
            "cost": self.cost,
        }


@dataclass(frozen=True, slots=True)
class CausalAction:
    """Something that then happens by itself; `assumed` when the planner counted on one of several outcomes."""

    feature: str
    start: Value
    end: Value
    because: tuple[str, ...]
    assumed: bool

    def to_dict(self) -> dict[str, Any]:
        """Return the action as the contract's JSON."""
        return {
            "kind": "causal",
            "feature": self.feature,
            "from": self.start,
            "to": self.end,
            "cost": 0,
            "because": list(self.because),
            "assumed": self.assumed,
        }


Action = DirectAction | CausalAction


@dataclass(frozen=True, slots=True)
class Step:
    """Actions up to the next consistent state, and that state."""

    actions: tuple[Action, ...]
    state: Record

    def to_dict(self) -> dict[str, Any]:
        """Return the step as the contract's JSON."""
        return {"actions": [each.to_dict() for each in self.actions], "state": dict(self.state)}


class Ended(Enum):
    """What ended a search with a model: the caller's time or nodes, or the number of questions that the model is asked."""

    TIME = "time"
    NODES = "nodes"
    QUERIES = "queries"


@dataclass(frozen=True, slots=True)
class Testimony:
    """What the model behind the rules had to do with an answer.

    `accepted` is what it said of the end, None where it was not asked; `asked` counts the states that it was asked
    about; `proved` tells that the answer is proved against it. `score` is the model's, with what it must reach.
    `replayed` is what came of replaying the path with the model in the place of the goal.
    """

    accepted: bool | None
    asked: int
    proved: bool = False
    score: tuple[float, float] | None = None
    replayed: str = field(default="", compare=False)
    exact: bool = field(default=False, compare=False)
    """Whether the problem's model was read or its rules are the model's own."""
    ended: Ended | None = None
    """What ended the search before it was through; None where nothing did."""
    wanted: bool = field(default=True, compare=False)
    """Whether the problem's goal is that the model accepts; if not, `accepted` says whether it is met with its answer."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as the contract's JSON, and that the model refused the end, where it did."""
        return {
            "verified": self.accepted is True,
            "proved": self.proved,
            "asked": self.asked,
            **({"refused": True} if self.accepted is False else {}),
            **({"ended": self.ended.value} if self.ended else {}),
            **(dict(zip(("score", "threshold"), self.score, strict=True)) if self.score else {}),
        }


def broken_law(feature: str, fired: Iterable[str], headed: Iterable[str]) -> dict[str, Any]:
    """Return the exception of a feature: the rules that fired in vain, or where none did, those that would have had to."""
    return {"feature": feature, "rules": list(fired) or list(headed)}


@dataclass(frozen=True, slots=True)
class Question:
    """What was asked: the problem, the norm, the person, and the exceptions that were abduced."""

    problem: str
    norm: str
    initial: Record
    exceptions: tuple[Record, ...]
    renderer: Renderer | None = field(default=None, compare=False, repr=False)
    """What tells the answer in words and pictures (`plan/rendered.py`); no part of the question itself."""
    testimony: Testimony | None = field(default=None, repr=False)
    """What a model said of the answer, where one decides."""
    unknown: tuple[str, ...] = ()
    """The features that the rules read and whose values are not known: the answer rests on that."""
    source: Record | None = None
    """What the rules were learned from, where they were."""
    asked: Record = field(default_factory=dict)
    """What the question adds to the problem: keys that it replaces, what the person restricts, which of the nearest it wants."""

    def told(
        self,
        renderer: Renderer,
        *,
        unknown: tuple[str, ...],
        source: Record | None,
        asked: Record,
    ) -> Question:
        """Return the question of an answer that can tell itself, and says what it rests on and was asked."""
        return Question(
            self.problem,
            self.norm,
            self.initial,
            self.exceptions,
            renderer,
            self.testimony,
            unknown,
            source,
            dict(asked),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the question's share of the contract's JSON."""
        return {
            "problem": self.problem,
            "norm": self.norm,
            "initial": dict(self.initial),
            "exceptions": [dict(each) for each in self.exceptions],
            **({"unknown": list(self.unknown)} if self.unknown else {}),
            **({"source": dict(self.source)} if self.source else {}),
            **({"asked": dict(self.asked)} if self.asked else {}),
            **({"model": self.testimony.to_dict()} if self.testimony else {}),
        }


@dataclass(frozen=True, slots=True, repr=False)
class Found(rendered.Plan):
    """A path of least cost."""

    question: Question
    cost: float
    steps: tuple[Step, ...]
    optimal: bool = True
    status: ClassVar[Literal["found"]] = "found"

    @property
    def counterfactual(self) -> Record:
        """Return the state at the end of the path."""
        return self.steps[-1].state

    @property
    def direct_actions(self) -> tuple[DirectAction, ...]:
        """Return what the person does, in order."""
        return tuple(a for s in self.steps for a in s.actions if isinstance(a, DirectAction))

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as the contract's JSON."""
        return _written(self, {"optimal": self.optimal})


@dataclass(frozen=True, slots=True, repr=False)
class Already(rendered.Plan):
    """The goal holds at the start: there is nothing to do."""

    question: Question
    cost: ClassVar[float] = 0
    steps: ClassVar[tuple[Step, ...]] = ()
    status: ClassVar[Literal["already"]] = "already"

    @property
    def counterfactual(self) -> Record:
        """Return the state at the start, which is the end too."""
        return self.question.initial

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as the contract's JSON."""
        return _written(self, {"optimal": True})


@dataclass(frozen=True, slots=True)
class Blocker:
    """A restriction of the person that stands in the way: `sex` is `fixed`."""

    feature: str
    restriction: str

    def to_dict(self) -> dict[str, Any]:
        """Return the blocker as JSON."""
        return {"feature": self.feature, "restriction": self.restriction}


@dataclass(frozen=True, slots=True, repr=False)
class Infeasible(rendered.Plan):
    """No path exists, which was proved; lifting the blockers, a smallest such set, would open one.

    Without blockers it is the rules themselves that leave none, or, unless `explained`, there was no time to find out.
    """

    question: Question
    blockers: tuple[Blocker, ...] = ()
    opened: Found | None = None
    explained: bool = True
    cost: ClassVar[None] = None
    steps: ClassVar[tuple[Step, ...]] = ()
    counterfactual: ClassVar[None] = None
    status: ClassVar[Literal["infeasible"]] = "infeasible"

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as JSON: `opened` is the path that lifting the blockers would open."""
        return {
            **_written(self, {}),
            "blockers": [blocker.to_dict() for blocker in self.blockers],
            "opened": self.opened.to_dict() if self.opened else None,
            **({} if self.explained else {"explained": False}),
        }

    def _changes(self) -> Iterator[str]:
        yield from (f"blocked by {each.feature} ({each.restriction})" for each in self.blockers)


@dataclass(frozen=True, slots=True, repr=False)
class GaveUp(rendered.Plan):
    """The caller's limit was reached: no path is cheaper than `bound`; `best` is the best found so far."""

    question: Question
    bound: float
    best: Found | None = None
    status: ClassVar[Literal["gave_up"]] = "gave_up"

    @property
    def cost(self) -> float | None:
        """Return the cost of the best path found so far."""
        return self.best.cost if self.best else None

    @property
    def steps(self) -> tuple[Step, ...]:
        """Return the best path found so far."""
        return self.best.steps if self.best else ()

    @property
    def counterfactual(self) -> Record | None:
        """Return the end of the best path found so far."""
        return self.best.counterfactual if self.best else None

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as JSON."""
        return _written(self, {"optimal": False, "bound": self.bound})


Plan = Found | Already | Infeasible | GaveUp
"""One of the four, which `match` takes apart; the class that they share is `p2c.Plan`."""


def answer_to(question: Question, plan: Plan) -> Plan:
    """Return an answer as the one to another question, and those inside it too."""
    match plan:
        case Found():
            return Found(question, plan.cost, plan.steps, plan.optimal)
        case Already():
            return Already(question)
        case Infeasible(opened=inner):
            opened = inner and replace(inner, question=question)
            return replace(plan, question=question, opened=opened)
        case GaveUp(best=inner):
            best = inner and replace(inner, question=question)
            return replace(plan, question=question, best=best)


def _written(plan: Plan, claims: Record) -> dict[str, Any]:
    """Return what every answer has in the contract's JSON, with what it claims of its cost."""
    end = plan.counterfactual
    return {
        "status": plan.status,
        **plan.question.to_dict(),
        "cost": plan.cost,
        **claims,
        "counterfactual": None if end is None else dict(end),
        "steps": [step.to_dict() for step in plan.steps],
    }
