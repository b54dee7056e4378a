"""A plan as the contract's JSON (§3), read into typed records; what has another shape is refused in one line.

Only the shape is asked here: that a key is there and holds a number, a list or a value of some kind. Whether the plan is
a good one is the validator's question.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeVar

from p2c.domain.spec import Norm
from p2c.errors import PlanError, suggestion

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from p2c.domain.feature import Number, Value

    Record = Mapping[str, Value]

LARGEST = sys.float_info.max
Choice = TypeVar("Choice", bound=Enum)
Part = TypeVar("Part")


class Status(Enum):
    """What a planner says that it found."""

    FOUND = "found"
    ALREADY = "already"
    INFEASIBLE = "infeasible"
    GAVE_UP = "gave_up"


@dataclass(frozen=True, slots=True)
class ActionRecord:
    """One action; `because` and `assumed` are those of a causal one."""

    direct: bool
    feature: str
    start: Value
    end: Value
    cost: Number
    because: tuple[str, ...]
    assumed: bool


@dataclass(frozen=True, slots=True)
class StepRecord:
    """The actions of one step, and the state in which it says that it ends."""

    actions: tuple[ActionRecord, ...]
    state: Record


@dataclass(frozen=True, slots=True)
class ExceptionRecord:
    """An exception: of a feature with rules, or, where `feature` is empty, of a constraint."""

    feature: str
    rules: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """A whole plan; None stands for a key that an answer of this status may leave out or set to null."""

    status: Status
    problem: str | None
    norm: Norm | None
    cost: Number | None
    optimal: bool | None
    initial: Record
    counterfactual: Record | None
    exceptions: tuple[ExceptionRecord, ...] | None
    steps: tuple[StepRecord, ...]
    bound: Number | None = None
    blockers: tuple[tuple[str, str], ...] | None = None
    unknown: tuple[str, ...] | None = None


def read_document(raw: object, features: Iterable[str]) -> Document:
    """Return the plan that a JSON object holds, or raise a PlanError that names the first misfit."""
    names = tuple(features)
    data = _table("", raw)
    status = _choice(data, "status", Status)
    path = status in (Status.FOUND, Status.ALREADY)
    for key in ("initial", *(("cost", "counterfactual", "exceptions", "steps") if path else ())):
        _required("", data, key)
    return Document(
        status=status,
        problem=_optional(data, "problem", _text),
        norm=None if data.get("norm") is None else _choice(data, "norm", Norm),
        cost=_optional(data, "cost", _number),
        optimal=_optional(data, "optimal", _flag),
        initial=_record("initial", data["initial"], names),
        counterfactual=_optional(data, "counterfactual", lambda at, raw: _record(at, raw, names)),
        exceptions=_optional(data, "exceptions", _exceptions),
        steps=_optional(data, "steps", lambda at, raw: _steps(at, raw, names)) or (),
        bound=_optional(data, "bound", _number),
        blockers=_optional(data, "blockers", _blockers),
        unknown=_optional(data, "unknown", _texts),
    )


def _optional(
    data: Mapping[str, Any], key: str, reader: Callable[[str, object], Part]
) -> Part | None:
    return None if data.get(key) is None else reader(key, data[key])


def _steps(at: str, raw: object, names: tuple[str, ...]) -> tuple[StepRecord, ...]:
    found = []
    for number, each in enumerate(_list(at, raw), start=1):
        place = f"step {number}"
        data = _table(place, each)
        actions = _list(f"{place}: actions", _required(place, data, "actions"))
        state = _record(f"{place}: state", _required(place, data, "state"), names)
        records = (_action(f"{place}, action {n}", a) for n, a in enumerate(actions, start=1))
        found.append(StepRecord(tuple(records), state))
    return tuple(found)


def _action(place: str, raw: object) -> ActionRecord:
    data = _table(place, raw)
    kind = _required(place, data, "kind")
    if kind not in ("direct", "causal"):
        raise PlanError(f"{place}: kind: expected 'direct' or 'causal', found {_shown(kind)}")
    causal = kind == "causal"
    because = _required(place, data, "because") if causal else []
    return ActionRecord(
        direct=not causal,
        feature=_text(f"{place}: feature", _required(place, data, "feature")),
        start=_value(f"{place}: from", _required(place, data, "from")),
        end=_value(f"{place}: to", _required(place, data, "to")),
        cost=_number(f"{place}: cost", _required(place, data, "cost")),
        because=_texts(f"{place}: because", because),
        assumed=causal and _flag(f"{place}: assumed", _required(place, data, "assumed")),
    )


def _exceptions(place: str, raw: object) -> tuple[ExceptionRecord, ...]:
    found = []
    for number, each in enumerate(_list(place, raw), start=1):
        at = f"exception {number}"
        data = _table(at, each)
        if "constraint" in data:
            text = _text(f"{at}: constraint", data["constraint"])
            found.append(ExceptionRecord("", (text,)))
            continue
        name = _text(f"{at}: feature", _required(at, data, "feature"))
        rules = _texts(f"{at}: rules", _required(at, data, "rules"))
        found.append(ExceptionRecord(name, rules))
    return tuple(found)


def _blockers(place: str, raw: object) -> tuple[tuple[str, str], ...]:
    found = []
    for number, each in enumerate(_list(place, raw), start=1):
        at = f"blocker {number}"
        data = _table(at, each)
        feature = _text(f"{at}: feature", _required(at, data, "feature"))
        restriction = _text(f"{at}: restriction", _required(at, data, "restriction"))
        found.append((feature, restriction))
    return tuple(found)


def _record(place: str, raw: object, names: tuple[str, ...]) -> Record:
    data = _table(place, raw)
    return {name: _value(f"{place}: {name}", _required(place, data, name)) for name in names}


def _required(place: str, data: Mapping[str, Any], key: str) -> Any:
    if key not in data:
        hint = suggestion(key, map(str, data))
        near = f"; {hint}" if hint.startswith("did") else ""
        raise PlanError(f"{_at(place)}the key '{key}' is missing{near}")
    return data[key]


def _choice(data: Mapping[str, Any], key: str, kind: type[Choice]) -> Choice:
    raw = _required("", data, key)
    for each in kind:
        if each.value == raw:
            return each
    known = ", ".join(f"'{each.value}'" for each in kind)
    raise PlanError(f"{key}: expected one of {known}, found {_shown(raw)}")


def _table(place: str, raw: object) -> Mapping[str, Any]:
    if isinstance(raw, Mapping):
        return raw
    raise PlanError(f"{_at(place)}expected an object of keys and values, found {_shown(raw)}")


def _list(place: str, raw: object) -> list[Any] | tuple[Any, ...]:
    if isinstance(raw, list | tuple):
        return raw
    raise PlanError(f"{place}: expected a list, found {_shown(raw)}")


def _texts(place: str, raw: object) -> tuple[str, ...]:
    return tuple(_text(place, each) for each in _list(place, raw))


def _text(place: str, raw: object) -> str:
    if isinstance(raw, str):
        return raw
    raise PlanError(f"{place}: expected text, found {_shown(raw)}")


def _flag(place: str, raw: object) -> bool:
    if isinstance(raw, bool):
        return raw
    raise PlanError(f"{place}: expected true or false, found {_shown(raw)}")


def _number(place: str, raw: object) -> Number:
    if isinstance(raw, int | float) and not isinstance(raw, bool) and abs(raw) <= LARGEST:
        return raw
    raise PlanError(f"{place}: expected a number, found {_shown(raw)}")


def _value(place: str, raw: object) -> Value:
    if raw is None or isinstance(raw, str):
        return raw
    return _number(place, raw)


def _at(place: str) -> str:
    return f"{place}: " if place else "plan: "


def _shown(raw: object) -> str:
    try:
        text = " ".join(repr(raw).split())
    except ValueError:  # Python does not write whole numbers of thousands of digits
        return "a number of thousands of digits"
    return text if len(text) <= 40 else f"{text[:40]}…"
