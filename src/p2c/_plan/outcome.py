"""What a planner answers: found, already there, proved impossible, or gave up.

Each answer is its own type and holds only what it needs; all share what `p2c.Plan` has (`plan/rendered.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from p2c._plan import rendered
from p2c._spec.feature import RestrictionKind
from p2c._spec.resources import number_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from p2c._plan.rendered import Renderer
    from p2c._rules.meaning import Change
    from p2c._spec.feature import Number, Value
    from p2c._spec.resources import NamedAction

    Record = Mapping[str, Any]
    Amounts = tuple[tuple[str, Number], ...]


@dataclass(frozen=True, slots=True)
class DirectAction:
    """A change of one feature that the person makes."""

    feature: str
    start: Value
    end: Value
    cost: float
    uses: Amounts = ()
    """The amounts of resources that it uses, without amounts of 0."""

    def to_dict(self) -> dict[str, Any]:
        """Return the action as the contract's JSON."""
        return {
            "kind": "direct",
            "feature": self.feature,
            "from": self.start,
            "to": self.end,
            "cost": self.cost,
            **({"uses": dict(self.uses)} if self.uses else {}),
        }


@dataclass(frozen=True, slots=True)
class TakenAction:
    """A named action that the person takes, with its consecutive repetitions.

    >>> TakenAction("wait", 3, (), 0, (("months", 3),)).to_dict()
    {'kind': 'direct', 'action': 'wait', 'count': 3, 'changes': [], 'cost': 0, 'uses': {'months': 3}}
    """

    action: str
    count: int
    changes: tuple[Change, ...]
    cost: float
    uses: Amounts = ()
    start: ClassVar[None] = None
    end: ClassVar[None] = None

    @property
    def feature(self) -> str:
        """Return the name of the action, where lists of actions have that of a feature."""
        return self.action

    @classmethod
    def of(cls, action: NamedAction, count: int, changes: tuple[Change, ...]) -> TakenAction:
        """Return the action with its cost and uses."""
        uses = tuple((name, number_of(count * amount)) for name, amount in action.uses)
        return cls(action.name, count, changes, float(count * action.cost), uses)

    def to_dict(self) -> dict[str, Any]:
        """Return the action as the contract's JSON."""
        return {
            "kind": "direct",
            "action": self.action,
            "count": self.count,
            "changes": [
                {"feature": each.feature, "from": each.start, "to": each.end}
                for each in self.changes
            ],
            "cost": self.cost,
            **({"uses": dict(self.uses)} if self.uses else {}),
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


Action = DirectAction | TakenAction | CausalAction


@dataclass(frozen=True, slots=True)
class Step:
    """Actions up to the next consistent state, and that state."""

    actions: tuple[Action, ...]
    state: Record

    def to_dict(self) -> dict[str, Any]:
        """Return the step as the contract's JSON."""
        return {"actions": [each.to_dict() for each in self.actions], "state": dict(self.state)}


ProofKind = Literal["certificate", "exhausted", "none"]
"""Proof of an answer: a checked certificate, an exhausted search, or none."""


class Ended(Enum):
    """The limit that ended a search with a model: time, nodes, or queries."""

    TIME = "time"
    NODES = "nodes"
    QUERIES = "queries"


@dataclass(frozen=True, slots=True)
class Border:
    """Threshold of the model near the end of a plan, other values being equal.

    `refused` is the tested value nearest to `accepted`, on the way from the initial value, that the model refused.
    """

    feature: str
    refused: Value
    accepted: Value


@dataclass(frozen=True, slots=True)
class ModelEvidence:
    """Evidence of the model: its decision on the end state, and the proof.

    >>> import pandas as pd
    >>> import p2c
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> loans = pd.DataFrame({"income": range(20, 80), "rooms": [1 + i % 4 for i in range(60)]})
    >>> tree = DecisionTreeClassifier(max_depth=1).fit(loans, loans["income"] > 51)
    >>> evidence = p2c.Problem.from_model(tree, loans).plan({"income": 40, "rooms": 3}).model
    >>> evidence.verified, evidence.queries, evidence.score, evidence.threshold
    (True, 2, 1.0, 0.5)
    """

    accepted: bool | None
    """Whether the end state is accepted, or meets the goal; None if not asked."""
    queries: int
    """Number of states that the model was asked about."""
    proved: bool = False
    """Whether the answer is proved against the model itself."""
    score: float | None = None
    """The model's score of the end state, where it has scores."""
    threshold: float | None = None
    """The score from which on the model accepts."""
    replayed: str = field(default="", compare=False)
    """Result of replaying the path with the model in the place of the goal."""
    exact: bool = field(default=False, compare=False)
    """Whether the model is a parsed one, or the surrogate rules are the model's own."""
    ended: Ended | None = None
    """The limit that ended the search; None if the search was exhausted."""
    wanted: bool = field(default=True, compare=False)
    """Whether the goal is that the model accepts."""
    scores: tuple[tuple[float, float], ...] = field(default=(), compare=False, repr=False)
    """Score and threshold of the initial state and of the state after each step."""
    calls: int = field(default=0, compare=False, repr=False)
    """Number of times that the model was asked, each time about one or more states."""
    guide: Plan | None = field(default=None, compare=False, repr=False)
    """The plan of the surrogate rules, from which the search started."""
    borders: tuple[Border, ...] = field(default=(), compare=False, repr=False)
    """Thresholds of a black-box model that were found near the end of the plan."""

    @property
    def verified(self) -> bool:
        """Tell whether the model was asked about the end state and accepted it."""
        return self.accepted is True

    def to_dict(self) -> dict[str, Any]:
        """Return the evidence as the `model` block of a plan's JSON.

        >>> evidence.to_dict()
        {'verified': True, 'proved': True, 'asked': 2, 'score': 1.0, 'threshold': 0.5}
        """
        scored = {"score": self.score, "threshold": self.threshold}
        return {
            "verified": self.verified,
            "proved": self.proved,
            "asked": self.queries,
            **({"refused": True} if self.accepted is False else {}),
            **({"ended": self.ended.value} if self.ended else {}),
            **({} if self.score is None else scored),
        }


def broken_law(feature: str, fired: Iterable[str], headed: Iterable[str]) -> dict[str, Any]:
    """Return the exception of a feature: the rules that fired in vain, or where none did, those that would have had to."""
    return {"feature": feature, "rules": list(fired) or list(headed)}


def broken_equation(feature: str, equation: str, stated: Value, computed: Value) -> dict[str, Any]:
    """Return the exception of a row that contradicts an equation without residual."""
    return {"feature": feature, "equation": equation, "given": stated, "computed": computed}


@dataclass(frozen=True, slots=True)
class Question:
    """What was asked: the problem, the norm, the person, and the exceptions that were abduced."""

    problem: str
    norm: str
    initial: Record
    exceptions: tuple[Record, ...]
    renderer: Renderer | None = field(default=None, compare=False, repr=False)
    """What tells the answer in words and pictures (`plan/rendered.py`); no part of the question itself."""
    evidence: ModelEvidence | None = field(default=None, repr=False)
    """The model's part in the answer, where a model decides."""
    unknown: tuple[str, ...] = ()
    """The features that the rules read and whose values are not known: the answer rests on that."""
    source: Record | None = None
    """What the rules were learned from, where they were."""
    as_columns: Callable[[Record, Record], dict[str, Any]] | None = field(
        default=None, compare=False, repr=False
    )
    """Translates an end state, given the initial one, to columns of the model."""
    asked: Record = field(default_factory=dict)
    """What the question adds to the problem: keys that it replaces, what the person restricts, which of the nearest it wants."""
    certificate: Record | None = field(default=None, compare=False, repr=False)
    """The certificate of the answer, verified by the independent checker."""
    uncertified: str = field(default="", compare=False, repr=False)
    """The reason for having no certificate, where one was asked for."""
    omitted: tuple[str, ...] = ()
    """Computed features that the row omits; they have no residual."""

    @property
    def row(self) -> dict[str, Value]:
        """Return the initial state without the computed features that the row omits."""
        return {name: each for name, each in self.initial.items() if name not in self.omitted}

    def with_renderer(
        self,
        renderer: Renderer,
        *,
        unknown: tuple[str, ...],
        source: Record | None,
        asked: Record,
        as_columns: Callable[[Record, Record], dict[str, Any]] | None = None,
    ) -> Question:
        """Attach the renderer, unknown features, the source and the overrides."""
        return Question(
            self.problem,
            self.norm,
            self.initial,
            self.exceptions,
            renderer,
            self.evidence,
            unknown,
            source,
            as_columns,
            dict(asked),
            self.certificate,
            self.uncertified,
            self.omitted,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the question's share of the contract's JSON."""
        return {
            "problem": self.problem,
            "norm": self.norm,
            "initial": dict(self.initial),
            "exceptions": [dict(each) for each in self.exceptions],
            **({"omitted": list(self.omitted)} if self.omitted else {}),
            **({"unknown": list(self.unknown)} if self.unknown else {}),
            **({"source": dict(self.source)} if self.source else {}),
            **({"asked": dict(self.asked)} if self.asked else {}),
            **({"model": self.evidence.to_dict()} if self.evidence else {}),
        }


@dataclass(frozen=True, slots=True, repr=False)
class Found(rendered.Plan):
    """A path of least cost."""

    question: Question
    cost: float
    steps: tuple[Step, ...]
    proof: ProofKind = "exhausted"
    stated_slack: Record | None = field(default=None, compare=False, repr=False)
    """The slack in the JSON that the plan was read from."""
    status: ClassVar[Literal["found"]] = "found"

    @property
    def slack(self) -> Record | None:
        """Return the values around each target that reach the goal as well.

        Any values may be chosen together: the same actions in the same order still reach the goal.

        Returns:
            By feature `min`, `max` and `suggested` of a number, or `values`; None where it is not known: the model is
            a black box, or an exact answer takes too long.
        """
        renderer = self.question.renderer
        return self.stated_slack if renderer is None else renderer.slack(self)

    @property
    def end(self) -> Record:
        """Return the state at the end of the path."""
        return self.steps[-1].state

    if TYPE_CHECKING:

        @property
        def counterfactual(self) -> dict[str, Any]:
            """Return the end state, which every path has."""

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as the contract's JSON."""
        # Thousands of the nearest may be written at a time.
        slack = None if "nearest" in self.question.asked else self.slack
        return {**_written(self), **({"slack": slack} if slack else {})}


@dataclass(frozen=True, slots=True, repr=False)
class Already(rendered.Plan):
    """The goal holds at the start: there is nothing to do."""

    question: Question
    proof: ProofKind = "exhausted"
    cost: ClassVar[float] = 0
    steps: ClassVar[tuple[Step, ...]] = ()
    status: ClassVar[Literal["already"]] = "already"

    @property
    def end(self) -> Record:
        """Return the initial state, which is the end state too."""
        return self.question.initial

    if TYPE_CHECKING:

        @property
        def counterfactual(self) -> dict[str, Any]:
            """Return the end state, which every path has."""

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as the contract's JSON."""
        return _written(self)


@dataclass(frozen=True, slots=True)
class Blocker:
    """A restriction that stands in the way: `sex` is `fixed`.

    The `limit` of a resource has the resource in the place of the feature, and `max_actions` nothing.
    """

    feature: str
    restriction: str

    def to_dict(self) -> dict[str, Any]:
        """Return the blocker as JSON."""
        kind = {"restriction": self.restriction}
        key = "resource" if self.restriction == RestrictionKind.LIMIT.value else "feature"
        return {key: self.feature, **kind} if self.feature else kind


@dataclass(frozen=True, slots=True, repr=False)
class Infeasible(rendered.Plan):
    """No path exists, which was proved; lifting the blockers, a smallest such set, would open one.

    Without blockers it is the rules themselves that leave none, or, unless `explained`, there was no time to find out.
    """

    question: Question
    blockers: tuple[Blocker, ...] = ()
    opened: Found | None = None
    explained: bool = True
    proof: ProofKind = "exhausted"
    cost: ClassVar[None] = None
    steps: ClassVar[tuple[Step, ...]] = ()
    end: ClassVar[None] = None
    status: ClassVar[Literal["infeasible"]] = "infeasible"

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as JSON: `opened` is the path that lifting the blockers would open."""
        return {
            **_written(self),
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
    bound: float = 0.0
    best: Found | None = None
    proof: ClassVar[ProofKind] = "none"
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
    def end(self) -> Record | None:
        """Return the end of the best path found so far."""
        return self.best.end if self.best else None

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as JSON."""
        return {**_written(self), "bound": self.bound}


Plan = Found | Already | Infeasible | GaveUp
"""One of the four, which `match` takes apart; the class that they share is `p2c.Plan`."""


def answer_to(question: Question, plan: Plan) -> Plan:
    """Return an answer as the one to another question, and those inside it too."""
    match plan:
        case Found():
            return replace(plan, question=question)
        case Already():
            return replace(plan, question=question)
        case Infeasible(opened=inner):
            opened = inner and replace(inner, question=question)
            return replace(plan, question=question, opened=opened)
        case GaveUp(best=inner):
            best = inner and replace(inner, question=question)
            return replace(plan, question=question, best=best)


def _written(plan: Plan) -> dict[str, Any]:
    """Return the keys that every answer has in the contract's JSON."""
    return {
        "status": plan.status,
        **plan.question.to_dict(),
        "cost": plan.cost,
        **({"uses": plan.uses} if plan.uses else {}),
        "optimal": plan.optimal,
        "proof": plan.proof,
        "counterfactual": None if plan.end is None else dict(plan.end),
        "steps": [step.to_dict() for step in plan.steps],
    }
