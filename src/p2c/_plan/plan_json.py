"""A plan as the contract's JSON (`docs/meaning.md`, "The plan as JSON"): the one description of it, from which it is read and JSON schema and OpenAPI are written.

Reading asks for the shape only: that a key is there and holds a number, a list or a value of some kind. What has another
shape is refused in one line. Whether the plan is a good one is the validator's question; the written schemas already
say more of that, such as that no cost is below 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    PlainValidator,
    StrictBool,
    StrictInt,
    StrictStr,
    Tag,
    ValidationError,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError

from p2c._plan.outcome import (
    Already,
    Blocker,
    CausalAction,
    DirectAction,
    Ended,
    Found,
    GaveUp,
    Infeasible,
    ModelEvidence,
    ProofKind,
    Question,
    Step,
    TakenAction,
)
from p2c._rules.meaning import Change
from p2c._spec.cost import Norm
from p2c._spec.feature import RestrictionKind, is_finite
from p2c._spec.spec import SourceSpec  # noqa: TC001 - pydantic needs it at run time
from p2c.errors import PlanError, shown, suggestion

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic_core import ErrorDetails

    from p2c._plan.outcome import Plan


def _number(raw: Any) -> int | float:
    if isinstance(raw, int | float) and not isinstance(raw, bool) and is_finite(raw):
        return raw
    raise PydanticCustomError("p2c", "expected a number")


def _value(raw: Any) -> str | int | float | None:
    return raw if raw is None or isinstance(raw, str) else _number(raw)


VALUE = {"type": ["string", "number", "null"]}
Value = Annotated[str | int | float | None, PlainValidator(_value), WithJsonSchema(VALUE)]
Number = Annotated[int | float, PlainValidator(_number), WithJsonSchema({"type": "number"})]
Cost = Annotated[Number, WithJsonSchema({"type": "number", "minimum": 0})]
Name = Annotated[StrictStr, WithJsonSchema({"type": "string", "format": "feature"})]
"""The name of a feature; the schema of one problem lists those that it has."""
State = Annotated[
    dict[StrictStr, Value],
    WithJsonSchema({"type": "object", "additionalProperties": VALUE, "format": "state"}),
]
"""A value for each feature; the schema of one problem says which."""


class Part(BaseModel):
    """What every part of a plan has in common; further keys are somebody else's and are not looked at."""

    model_config = ConfigDict(frozen=True, defer_build=True)


class Status(Enum):
    """What a planner says that it found."""

    FOUND = "found"
    ALREADY = "already"
    INFEASIBLE = "infeasible"
    GAVE_UP = "gave_up"


Amounts = Annotated[
    dict[StrictStr, Cost], Field(description="The amount of each resource, those of 0 left out.")
]


class DirectRecord(Part):
    """A change of one feature that the person makes."""

    kind: Literal["direct"]
    feature: Name
    start: Value = Field(alias="from")
    end: Value = Field(alias="to")
    cost: Cost
    uses: Amounts = Field(default_factory=dict)
    direct: ClassVar[bool] = True
    because: ClassVar[tuple[str, ...]] = ()
    assumed: ClassVar[bool] = False

    def action(self) -> DirectAction:
        """Return it as an action of a plan."""
        uses = tuple(self.uses.items())
        return DirectAction(self.feature, self.start, self.end, self.cost, uses)


class ChangeRecord(Part):
    """A change that a named action makes."""

    feature: Name
    start: Value = Field(alias="from")
    end: Value = Field(alias="to")


class TakenRecord(Part):
    """A named action that the person takes, with its consecutive repetitions."""

    kind: Literal["direct"]
    action_name: StrictStr = Field(alias="action")
    count: Annotated[StrictInt, Field(ge=1)] = Field(description="How often it is repeated here.")
    changes: tuple[ChangeRecord, ...]
    cost: Cost
    uses: Amounts = Field(default_factory=dict)
    direct: ClassVar[bool] = True

    def action(self) -> TakenAction:
        """Return it as an action of a plan."""
        changes = tuple(Change(each.feature, each.start, each.end) for each in self.changes)  # type: ignore[arg-type]
        uses = tuple(self.uses.items())
        return TakenAction(self.action_name, self.count, changes, self.cost, uses)


class CausalRecord(Part):
    """Something that then happens by itself, because of the rules that fired."""

    kind: Literal["causal"]
    feature: Name
    start: Value = Field(alias="from")
    end: Value = Field(alias="to")
    cost: Annotated[Number, WithJsonSchema({"const": 0})]
    because: tuple[StrictStr, ...]
    assumed: StrictBool = Field(description="Whether the planner counted on one of several ends.")
    direct: ClassVar[bool] = False

    def action(self) -> CausalAction:
        """Return it as an action of a plan."""
        return CausalAction(self.feature, self.start, self.end, self.because, self.assumed)


ActionRecord = DirectRecord | TakenRecord | CausalRecord


def _kind_of_action(raw: object) -> object:
    if isinstance(raw, Part):
        return "taken" if isinstance(raw, TakenRecord) else getattr(raw, "kind", None)
    if not isinstance(raw, Mapping):
        return None
    return "taken" if raw.get("kind") == "direct" and "action" in raw else raw.get("kind")


Record = dict[str, Value]


class StepRecord(Part):
    """Actions up to the next consistent state, and that state."""

    actions: tuple[
        Annotated[
            Annotated[DirectRecord, Tag("direct")]
            | Annotated[TakenRecord, Tag("taken")]
            | Annotated[CausalRecord, Tag("causal")],
            Discriminator(_kind_of_action),
        ],
        ...,
    ] = Field(json_schema_extra={"minItems": 1})
    state: State


class LawRecord(Part):
    """A feature that breaks its law at the start, and the rules that it breaks."""

    feature: Name
    rules: tuple[StrictStr, ...]


class ConstraintRecord(Part):
    """A constraint that is broken at the start."""

    constraint: StrictStr
    feature: ClassVar[str] = ""

    @property
    def rules(self) -> tuple[str, ...]:
        """Return the constraint as the one rule that is broken."""
        return (self.constraint,)


class EquationRecord(Part):
    """A computed feature whose value in the row contradicts its equation."""

    feature: Name
    equation: StrictStr
    stated: Number = Field(alias="given")
    computed: Number | None = None
    rules: ClassVar[tuple[str, ...]] = ()


def _kind_of_exception(raw: object) -> str:
    if isinstance(raw, EquationRecord) or (isinstance(raw, Mapping) and "equation" in raw):
        return "equation"
    named = isinstance(raw, Mapping) and "constraint" in raw
    return "constraint" if named or isinstance(raw, ConstraintRecord) else "law"


ExceptionRecord = LawRecord | ConstraintRecord | EquationRecord


class BlockerRecord(Part):
    """A restriction of a feature, a resource or the number of actions."""

    feature: Name | None = None
    resource: StrictStr | None = None
    restriction: RestrictionKind

    @property
    def blocker(self) -> Blocker:
        """Return the restriction as plans have it."""
        return Blocker(self.feature or self.resource or "", self.restriction.value)


class ModelRecord(Part):
    """What the model that decides has said: whether it accepted the end, and whether the answer is proved against it."""

    verified: StrictBool
    proved: StrictBool
    asked: StrictInt
    refused: StrictBool = Field(
        False, description="True where it was asked about the end and said no."
    )
    score: Number | None = None
    threshold: Number | None = None
    ended: Ended | None = Field(
        None, description="What ended the search before it was through, if anything did."
    )

    @property
    def evidence(self) -> ModelEvidence:
        """Return the block as plans have it."""
        accepted = self.verified or (False if self.refused else None)
        return ModelEvidence(
            accepted, self.asked, self.proved, self.score, self.threshold, ended=self.ended
        )


class AskedRecord(Part):
    """What a question adds to the problem: keys that it replaces, what the person restricts, which of the nearest it wants."""

    goal: StrictStr | None = None
    law: StrictStr | None = None
    exceptions: StrictStr | None = None
    effects: StrictStr | None = None
    minimize: StrictStr | list[StrictStr] | None = None
    limits: dict[StrictStr, Number] | None = None
    max_actions: StrictInt | None = None
    restrict: dict[StrictStr, dict[StrictStr, Any]] | None = None
    nearest: Annotated[StrictInt, Field(ge=2)] | None = Field(
        None, description="Which of the nearest ends it leads to, where it is not the first."
    )
    distinct: Literal["points", "cells"] | None = Field(
        None, description="What makes two of the nearest different."
    )

    def __str__(self) -> str:
        stated = self.model_dump(exclude_none=True)
        own = stated.pop("restrict", {})
        most = stated.pop("limits", {})
        keys = [f"{key} = {each}" for key, each in stated.items()]
        keys += [f"{name} =< {each}" for name, each in most.items()]
        return ", ".join(
            keys + [f"{n}.{key} = {each}" for n in own for key, each in own[n].items()]
        )


WRITTEN = ["status", "problem", "norm", "initial", "exceptions", "cost", "counterfactual", "steps"]
"""The keys of every plan that we write."""
OF_A_PATH = ("cost", "counterfactual", "exceptions", "steps")
"""The keys without which there is no plan to be checked."""


def _written(schema: dict[str, Any]) -> None:
    """Say in a schema what we write: more keys than a reader needs, and null only where it means that there is none."""
    schema["required"] = WRITTEN
    for key, each in schema["properties"].items():
        each.pop("default", None)
        if "anyOf" in each and key not in ("cost", "counterfactual", "opened"):
            each.update(each.pop("anyOf")[0])


class PlanRecord(Part):
    """A plan, or what stands in its way."""

    model_config = ConfigDict(json_schema_extra=_written)

    status: Status
    problem: StrictStr | None = None
    norm: Norm | None = None
    initial: State
    exceptions: (
        tuple[
            Annotated[
                Annotated[LawRecord, Tag("law")]
                | Annotated[ConstraintRecord, Tag("constraint")]
                | Annotated[EquationRecord, Tag("equation")],
                Discriminator(_kind_of_exception),
            ],
            ...,
        ]
        | None
    ) = None
    cost: Cost | None = None
    uses: Amounts | None = Field(None, description="The amount of each resource in all.")
    optimal: StrictBool | None = None
    proof: ProofKind | None = Field(
        None,
        description="Proved by a checked certificate, by a search that was exhausted, or not at all.",
    )
    counterfactual: State | None = None
    steps: Annotated[tuple[StepRecord, ...], BeforeValidator(lambda raw: raw or ())] = ()
    unknown: tuple[Name, ...] | None = Field(
        None, description="Features that the rules read and whose values are not known."
    )
    omitted: tuple[Name, ...] = Field(
        (),
        description="Computed features that the row omits: they start at their computed values.",
    )
    source: SourceSpec | None = Field(None, description="Given where the rules were learned.")
    bound: Number | None = Field(None, description="No path is cheaper, where the search gave up.")
    blockers: tuple[BlockerRecord, ...] | None = Field(
        None, description="Restrictions that stand in the way, a smallest set of them."
    )
    opened: PlanRecord | None = Field(None, description="The path that opens without blockers.")
    explained: StrictBool = Field(True, description="False where time ended before the blockers.")
    model: ModelRecord | None = Field(None, description="Given where a model decides.")
    slack: dict[StrictStr, dict[StrictStr, Any]] | None = Field(
        None,
        description="By directly changed feature, the values that reach the goal as well, whichever are chosen together.",
    )
    asked: AskedRecord | None = Field(
        None, description="What was asked besides the problem and the norm, where something was."
    )

    @property
    def row(self) -> Record:
        """Return the initial state without the computed features that the row omits."""
        return {name: each for name, each in self.initial.items() if name not in self.omitted}

    def states(self) -> Iterator[tuple[str, Record]]:
        """Yield every state with its place."""
        yield "initial", self.initial
        if self.counterfactual is not None:
            yield "counterfactual", self.counterfactual
        for number, step in enumerate(self.steps, start=1):
            yield f"step {number}: state", step.state


def read_record(raw: object, features: Iterable[str]) -> PlanRecord:
    """Return the plan that a JSON object holds, or raise a PlanError that names the first misfit.

    Every state must have a value for each of the features; what else it has is left out.
    """
    try:
        plan = PlanRecord.model_validate(raw)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=True)[0]
        raise PlanError(_refusal(first)) from None
    assert isinstance(raw, Mapping)
    if plan.status in (Status.FOUND, Status.ALREADY):
        _require("plan", raw, OF_A_PATH)
    names = tuple(features)
    for place, state in plan.states():
        _require(place, state, names)
        for other in state.keys() - names:
            del state[other]
    return plan


def read_plan(raw: object, features: Iterable[str]) -> Plan:
    """Return the answer that `to_dict` wrote, as it is: whether it is right is not asked."""
    return answer_of(read_record(raw, features))


def answer_of(record: PlanRecord) -> Plan:
    """Return the answer that a record tells."""
    exceptions = tuple(each.model_dump(mode="json") for each in record.exceptions or ())
    question = Question(
        record.problem or "",
        (record.norm or Norm.L1).value,
        record.initial,
        exceptions,
        evidence=record.model.evidence if record.model else None,
        unknown=record.unknown or (),
        source=record.source.to_dict() if record.source else None,
        asked=record.asked.model_dump(mode="json", exclude_none=True) if record.asked else {},
        omitted=record.omitted,
    )
    steps = tuple(
        Step(tuple(each.action() for each in step.actions), step.state) for step in record.steps
    )
    claimed = record.proof or ("exhausted" if record.optimal else "none")
    parts = (record.cost or 0, steps, claimed, record.slack)
    found = Found(question, *parts) if steps else None
    match record.status:
        case Status.ALREADY:
            return Already(question, record.proof or "exhausted")
        case Status.INFEASIBLE:
            opened = None if record.opened is None else answer_of(record.opened)
            blockers = tuple(each.blocker for each in record.blockers or ())
            path = opened if isinstance(opened, Found) else None
            return Infeasible(
                question, blockers, path, record.explained, record.proof or "exhausted"
            )
        case Status.GAVE_UP:
            return GaveUp(question, record.bound or 0.0, found)
    if found is None:
        raise PlanError("steps: 'found' needs at least one step, and there is none")
    return found


COUNTED = {"steps": "step", "actions": "action", "exceptions": "exception", "blockers": "blocker"}
EXPECTED = {
    "model_type": "expected an object of keys and values",
    "dict_type": "expected an object of keys and values",
    "tuple_type": "expected a list",
    "string_type": "expected text",
    "bool_type": "expected true or false",
    "int_type": "expected a whole number",
    "greater_than_equal": "expected a greater number",
}


def _require(place: str, data: Mapping[Any, Any], keys: Iterable[str]) -> None:
    for key in keys:
        if key not in data:
            raise PlanError(_missing(place, key, data))


def _missing(place: str, key: str, data: Mapping[Any, Any]) -> str:
    hint = suggestion(key, map(str, data))
    near = f"; {hint}" if hint.startswith("did") else ""
    return f"{place}: the key '{key}' is missing{near}"


def _refusal(error: ErrorDetails) -> str:
    """Return what is wrong and where, in one line."""
    kind, found, keys = error["type"], error["input"], list(error["loc"])
    context = error.get("ctx", {})
    if kind == "missing":
        return _missing(_place(keys[:-1]) or "plan", str(keys[-1]), found)
    if kind == "union_tag_not_found" and isinstance(found, Mapping):
        return _missing(_place(keys), "kind", found)
    if kind == "union_tag_invalid":
        keys, found = [*keys, "kind"], found["kind"]
        tags = context["expected_tags"].replace(", 'taken'", "")
        expected = "expected " + tags.replace(", ", " or ")
    elif kind in ("enum", "literal_error"):
        expected = "expected one of " + context["expected"].replace(" or ", ", ")
    elif kind in ("union_tag_not_found", "model_attributes_type"):
        expected = EXPECTED["model_type"]
    else:
        expected = EXPECTED.get(kind, error["msg"])
    return f"{_place(keys) or 'plan'}: {expected}, found {shown(found)}"


def _place(keys: list[int | str]) -> str:
    """Return where something stands: `step 1, action 2: cost`."""
    counts: list[str] = []
    names: list[str] = []
    for before, key in zip([None, *keys], keys, strict=False):
        if isinstance(key, int):
            if before in COUNTED:
                names.pop()
                counts.append(f"{COUNTED[before]} {key + 1}")
        elif not isinstance(before, int) or key not in (
            "direct",
            "causal",
            "taken",
            "law",
            "constraint",
            "equation",
        ):
            names.append(key)
    return ": ".join([*([", ".join(counts)] if counts else []), *names])
