"""JSON schemas of the documents that go in and out: problems, rows of this problem, and plans for it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from p2c.domain.feature import Kind
from p2c.domain.spec import Norm, ProblemSpec, Teacher
from p2c.export.scasp_text import file_name
from p2c.plan.document import Status

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p2c.domain.feature import Feature, Value
    from p2c.plan.compiled.space import Space

DIALECT = "https://json-schema.org/draft/2020-12/schema"
Schema = dict[str, Any]


def schema_files(space: Space, state: Mapping[str, Value]) -> dict[str, str]:
    """Return the schemas of a problem, of its rows and of its plans; the person's row is the rows' example."""
    theory = space.theory
    name = file_name(theory.name)
    row = _object({each.name: _value(each) for each in theory.features}, title=f"a row of {name}")
    documents = {
        "problem": problem_schema(),
        "row": row | {"examples": [dict(state)]},
        "plan": plan_schema(theory.features),
    }
    return {
        f"{name}-{kind}.schema.json": json.dumps(
            {"$schema": DIALECT, **schema}, indent=2, ensure_ascii=False
        )
        + "\n"
        for kind, schema in documents.items()
    }


def problem_schema() -> Schema:
    """Return the schema of a problem's JSON."""
    return ProblemSpec.model_json_schema()


def plan_schema(features: tuple[Feature, ...]) -> Schema:
    """Return the schema of a plan for a problem with these features (contract §3)."""
    state = _object({each.name: _value(each) for each in features})
    names = {"enum": [each.name for each in features]}
    anything = {"type": ["string", "number", "null"]}
    change = {"feature": names, "from": anything, "to": anything}
    texts = {"type": "array", "items": {"type": "string"}}
    direct = {"kind": {"const": "direct"}, **change, "cost": {"type": "number", "minimum": 0}}
    causal = {
        "kind": {"const": "causal"},
        **change,
        "cost": {"const": 0},
        "because": texts,
        "assumed": {"type": "boolean"},
    }
    actions = {
        "type": "array",
        "items": {"anyOf": [_object(direct), _object(causal)]},
        "minItems": 1,
    }
    step = _object({"actions": actions, "state": {"$ref": "#/$defs/state"}})
    exception = [
        _object({"feature": names, "rules": texts}),
        _object({"constraint": texts["items"]}),
    ]
    end = {"anyOf": [{"$ref": "#/$defs/state"}, {"type": "null"}]}
    keys: Schema = {
        "status": {"enum": [each.value for each in Status]},
        "problem": {"type": "string"},
        "norm": {"enum": [each.value for each in Norm]},
        "cost": {"type": ["number", "null"], "minimum": 0},
        "initial": {"$ref": "#/$defs/state"},
        "counterfactual": end,
        "exceptions": {"type": "array", "items": {"anyOf": exception}},
        "steps": {"type": "array", "items": step},
    }
    more: Schema = {
        "optimal": {"type": "boolean"},
        "bound": {"type": "number"},
        "blockers": {
            "type": "array",
            "items": _object({"feature": names, "restriction": texts["items"]}),
        },
        "explained": {"type": "boolean"},
        "unknown": {"type": "array", "items": names},
        "source": _source(),
        "opened": {"anyOf": [{"$ref": "#"}, {"type": "null"}]},
    }
    return {
        **_object(keys, title="a plan"),
        "properties": keys | more,
        "$defs": {"state": state},
    }


def _source() -> Schema:
    """Return what a plan says of the rules that it was made with, where they were learned."""
    keys: Schema = {
        "from": {"enum": [each.value for each in Teacher]},
        "fidelity": {"type": "number", "minimum": 0, "maximum": 1},
        "rows": {"type": "integer", "minimum": 1},
        "name": {"type": "string"},
    }
    return _object(keys) | {"required": ["from"]}


def _object(keys: Schema, **more: str) -> Schema:
    return {
        **more,
        "type": "object",
        "properties": keys,
        "required": list(keys),
        "additionalProperties": False,
    }


def _value(feature: Feature) -> Schema:
    """Return what a row may hold for a feature: a value, or nothing."""
    if feature.kind.is_number:
        kind = "integer" if feature.kind is Kind.INT else "number"
        return {"type": [kind, "null"], "minimum": feature.minimum, "maximum": feature.maximum}
    values = [feature.domain.value(place) for place in range(feature.domain.size)]
    return {"enum": [*values, None]}
