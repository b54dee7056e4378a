"""What the service is asked and what it answers, as types: OpenAPI is written from them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictFloat, StrictInt, StrictStr

from p2c._plan.plan_json import PlanRecord  # noqa: TC001
from p2c._plan.restriction import Restriction  # noqa: TC001
from p2c._spec.cost import Norm  # noqa: TC001 - pydantic needs them at run time
from p2c._spec.feature import Law  # noqa: TC001
from p2c._spec.overrides import LONGEST
from p2c._spec.spec import (  # noqa: TC001
    Effects,
    Exceptions,
    SourceSpec,
)

Value = StrictStr | StrictInt | StrictFloat | StrictBool | None
Row = dict[str, Value]
"""A value for each feature; null is one that is not known, true and false stand in tables of models only."""


class Message(BaseModel):
    """What every message has in common: no key that is not listed."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class WhyRequest(Message):
    """A person, and the problem where the server has several."""

    problem: StrictStr | None = Field(None, description="An id that /problems lists.")
    row: Row = Field(description="A value for each feature of the problem; null: not known.")


class PlanRequest(WhyRequest):
    """A person, and what is asked otherwise than the problem says."""

    norm: Norm | None = None
    effects: Effects | None = None
    minimize: StrictStr | list[StrictStr] | None = Field(
        None, description="What comes first: cost, actions, a resource, or a list of these."
    )
    limits: dict[StrictStr, Annotated[float, Field(ge=0)]] | None = Field(
        None, description="The most of each resource that may be used."
    )
    max_actions: Annotated[StrictInt, Field(ge=0)] | None = Field(
        None, description="The most direct actions of a plan."
    )
    exceptions: Exceptions | None = None
    law: Law | None = None
    restrictions: dict[str, Restriction] = Field(default_factory=dict)
    engine: Literal["auto", "native", "clingo"] = Field("auto", description="Who answers.")
    time_limit: Annotated[StrictFloat, Field(gt=0, le=LONGEST)] | None = Field(
        None, description="Seconds; a longer limit than the server's is the server's."
    )


class NearestRequest(PlanRequest):
    """A row of a problem, as for a plan, and how many end states are wanted."""

    k: StrictInt = Field(1, ge=1, description="How many end states; the server has a limit.")
    distinct: Literal["points", "cells"] = "points"


class ReportRequest(PlanRequest):
    """A row of a problem, as for a plan, and the file to make of it.

    The file is a letter, a notice, or a report for experts.
    """

    format: Literal["html", "md", "txt", "pdf"] = "pdf"
    language: StrictStr = Field("en", description="The language of the file, such as en or de.")
    audience: Literal["applicant", "expert"] = "applicant"
    notice: Literal["reg-b", "ccd2", "colorado", "plain"] | None = Field(
        None, description="A notice; its sender is the lender of the server's own file."
    )
    case: dict[str, Value | list[StrictStr]] = Field(
        default_factory=dict,
        description="The fields of this case, such as applicant and reference.",
    )


class LetterRequest(PlanRequest):
    """A row of a problem, as for a plan, and the language of the letter."""

    language: StrictStr = Field("en", description="The language of the letter, such as en or de.")


class CheckRequest(Message):
    """A plan to replay."""

    problem: StrictStr | None = Field(None, description="An id that /problems lists.")
    plan: dict[str, Any] = Field(description="A plan, as /plan returns it.")


class VerifyRequest(CheckRequest):
    """A plan whose claim is verified, with its certificate if there is one."""

    row: Row = Field(description="The row that the plan was made for.")
    certificate: dict[str, Any] | None = Field(
        None, description="The plan's certificate; without one, one is made and verified."
    )
    time_limit: Annotated[StrictFloat, Field(gt=0, le=LONGEST)] | None = Field(
        None, description="Seconds; a longer limit than the server's is the server's."
    )


class FollowUpRequest(WhyRequest):
    """A plan, and the person's values now."""

    plan: dict[str, Any] = Field(description="A plan with steps, as /plan returns it.")
    language: StrictStr = Field("en", description="The language of the text, such as en or de.")
    time_limit: Annotated[StrictFloat, Field(gt=0, le=LONGEST)] | None = Field(
        None, description="Seconds; a longer limit than the server's is the server's."
    )


class AuditRequest(Message):
    """Many people, and the features that divide them into groups."""

    problem: StrictStr | None = Field(None, description="An id that the server lists.")
    rows: list[Row] = Field(min_length=1, max_length=10_000, description="A row for each person.")
    by: list[StrictStr] = Field(
        default_factory=list, description='Features that divide people, such as "age:<30,>=30".'
    )


class Answer(BaseModel):
    """What every answer has in common."""

    model_config = ConfigDict(frozen=True)


class NearestAnswer(Answer):
    """Plans to distinct end states, cheapest first; none where no way exists."""

    plans: list[PlanRecord]


class SentenceAnswer(Answer):
    """A sentence; those that explain it follow, one level deeper."""

    text: str
    depth: int


class ModelReasonsAnswer(Answer):
    """What the model that decides says, whether it was read, and values that force its no where they are known.

    None of them can be spared; `smallest` tells whether it is proved that no fewer do.
    """

    accepted: bool
    read: bool
    forcing: list[str] | None
    smallest: bool | None = None


class WhyAnswer(Answer):
    """Why the decision is what it is."""

    holds: bool
    sentences: list[SentenceAnswer]
    proof: dict[str, Any]
    unknown: list[str] = Field(default_factory=list)
    source: SourceSpec | None = None
    model: ModelReasonsAnswer | None = None


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


class FollowUpAnswer(Answer):
    """The done part of a plan, the rest, and the cheapest plan from the values now."""

    done: list[dict[str, Any]]
    left: list[dict[str, Any]]
    changed: dict[str, dict[str, Any]]
    valid: bool
    cheapest: bool | None
    plan: PlanRecord
    text: str


class ProblemAnswer(Answer):
    """A problem that the server has; `error` is what is wrong with a newer version of its file."""

    id: str
    name: str
    goal: str
    norm: Norm
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
