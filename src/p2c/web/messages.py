"""What the service is asked and what it answers, as types: OpenAPI is written from them."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictFloat, StrictInt, StrictStr

from p2c.domain.limits import LONGEST

Value = StrictStr | StrictInt | StrictFloat | None
Number = StrictInt | StrictFloat
Row = dict[str, Value]
"""A value for each feature; null is one that is not known."""


class Message(BaseModel):
    """What every message has in common: no key that is not listed."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Restriction(Message):
    """What a person adds to a feature: who may change it, own limits, how hard it is, or a restriction lifted."""

    action: Literal["free", "up", "down", "fixed", "effect"] | None = None
    min: Number | None = None
    max: Number | None = None
    only: list[StrictStr | StrictInt | StrictFloat] | None = None
    weight: Number | None = Field(None, ge=0)
    lift: list[Literal["moves", "limits"]] = Field(default_factory=list, max_length=2)


class WhyRequest(Message):
    """A person, and the problem where the server has several."""

    problem: StrictStr | None = Field(None, description="An id that /problems lists.")
    row: Row = Field(description="A value for each feature of the problem; null: not known.")


class PlanRequest(WhyRequest):
    """A person, and what is asked otherwise than the problem says."""

    norm: Literal["l0", "l1", "l2"] | None = None
    effects: Literal["triggered", "supported"] | None = None
    minimize: Literal["cost", "actions"] | None = None
    exceptions: Literal["abduce", "strict"] | None = None
    causal: Literal["iff", "if", "only_if"] | None = None
    restrictions: dict[str, Restriction] = Field(default_factory=dict)
    time_limit: Number | None = Field(
        None,
        gt=0,
        le=LONGEST,
        description="Seconds; a longer limit than the server's is the server's.",
    )


class NearestRequest(PlanRequest):
    """A row of a problem, as for a plan, and how many end states are wanted."""

    k: StrictInt = Field(1, ge=1, description="How many end states; the server has a limit.")
    distinct: Literal["points", "cells"] = "points"


class CheckRequest(Message):
    """A plan to replay."""

    problem: StrictStr | None = Field(None, description="An id that /problems lists.")
    plan: dict[str, Any] = Field(description="A plan, as /plan returns it.")


class Answer(BaseModel):
    """What every answer has in common."""

    model_config = ConfigDict(frozen=True)


class ActionAnswer(Answer):
    """Something that the person does, or that then happens by itself."""

    kind: Literal["direct", "causal"]
    feature: str
    start: Value = Field(alias="from")
    end: Value = Field(alias="to")
    cost: float
    because: list[str] = Field(default_factory=list)
    assumed: bool = False


class StepAnswer(Answer):
    """Actions up to the next consistent state, and that state."""

    actions: list[ActionAnswer]
    state: Row


class BlockerAnswer(Answer):
    """A restriction that stands in the way."""

    feature: str
    restriction: Literal["fixed", "up", "down", "effect", "moves", "limits"]


class SourceAnswer(Answer):
    """What the rules were learned from, and on which share of how many rows they agree with it."""

    origin: Literal["model", "labels"] = Field(alias="from")
    fidelity: float | None = None
    rows: int | None = None
    name: str = ""


class FoundAnswer(Answer):
    """A path."""

    status: Literal["found", "already", "infeasible", "gave_up"]
    problem: str
    norm: Literal["l0", "l1", "l2"]
    initial: Row
    exceptions: list[dict[str, Any]]
    cost: float | None
    optimal: bool = False
    counterfactual: Row | None
    steps: list[StepAnswer]
    unknown: list[str] = Field(
        default_factory=list, description="Values that the rules read and that are not known."
    )
    source: SourceAnswer | None = Field(None, description="Given where the rules were learned.")


class PlanAnswer(FoundAnswer):
    """A plan, or what stands in its way: `blockers`, and the path that is `opened` without them."""

    bound: float | None = None
    blockers: list[BlockerAnswer] = Field(default_factory=list)
    opened: FoundAnswer | None = None
    explained: bool = Field(True, description="False where time ended before the blockers.")


class NearestAnswer(Answer):
    """Plans to distinct end states, cheapest first; none where no way exists."""

    plans: list[PlanAnswer]


class SentenceAnswer(Answer):
    """A sentence; those that explain it follow, one level deeper."""

    text: str
    depth: int


class WhyAnswer(Answer):
    """Why the decision is what it is."""

    holds: bool
    sentences: list[SentenceAnswer]
    proof: dict[str, Any]
    unknown: list[str] = Field(default_factory=list)
    source: SourceAnswer | None = None


class FaultAnswer(Answer):
    """One thing that is wrong, and where."""

    place: str
    message: str


class CheckAnswer(Answer):
    """Whether a plan keeps the rules, what is wrong with it, and what a replay tells and cannot tell."""

    valid: bool
    faults: list[FaultAnswer]
    checked: str
    unchecked: str


class ProblemAnswer(Answer):
    """A problem that the server has; `error` is what is wrong with a newer version of its file."""

    id: str
    name: str
    goal: str
    norm: Literal["l0", "l1", "l2"]
    features: list[str]
    digest: str
    loaded: str
    error: str | None


class ProblemsAnswer(Answer):
    """Every problem that the server has."""

    problems: list[ProblemAnswer]


class HealthAnswer(Answer):
    """Whether the server is well."""

    status: Literal["ok", "starting"]


class Complaint(Answer):
    """What was wrong with a request, in one line, and fault by fault."""

    code: str
    message: str
    faults: list[FaultAnswer] = Field(default_factory=list)


class ErrorAnswer(Answer):
    """Every answer that is no success has this shape."""

    error: Complaint
