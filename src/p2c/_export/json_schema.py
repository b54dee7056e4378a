"""JSON schemas of problems, and of the rows and plans of one problem."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from p2c._export.programs import file_name
from p2c._plan.plan_json import PlanRecord
from p2c._spec.feature import Kind
from p2c._spec.spec import ProblemSpec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p2c._plan.compiled.space import Space
    from p2c._spec.feature import Feature, Value

DIALECT = "https://json-schema.org/draft/2020-12/schema"
Schema = dict[str, Any]


def schema_files(space: Space, state: Mapping[str, Value]) -> dict[str, str]:
    """Return the schemas of a problem, its rows and its plans.

    The person's row is the example of a row.
    """
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
    """Return the schema of a problem's JSON; one with a model needs no goal."""
    schema = ProblemSpec.model_json_schema()
    needed = [key for key in schema["required"] if key != "goal"]
    return {
        **schema,
        "required": needed,
        "anyOf": [{"required": [key]} for key in ("goal", "model")],
    }


def plan_schema(features: tuple[Feature, ...]) -> Schema:
    """Return the schema of a plan for a problem with these features."""
    names: Schema = {"enum": [each.name for each in features]}
    parts = {"feature": names, "state": {"$ref": "#/$defs/state"}}
    schema: Schema = _closed(PlanRecord.model_json_schema(), parts)
    # No limits: a path that lifting them would open goes past them.
    schema["$defs"]["state"] = _object({each.name: _type(each) for each in features})
    return schema


def _closed(node: Any, parts: Mapping[str, Schema]) -> Any:
    """Return a schema without further keys, with the features of the problem."""
    if isinstance(node, list):
        return [_closed(each, parts) for each in node]
    if not isinstance(node, dict):
        return node
    if node.get("format") in parts:
        return parts[node["format"]]
    found = {key: _closed(each, parts) for key, each in node.items()}
    return {**found, "additionalProperties": False} if "properties" in node else found


def _object(keys: Schema, **more: str) -> Schema:
    return {
        **more,
        "type": "object",
        "properties": keys,
        "required": list(keys),
        "additionalProperties": False,
    }


def _value(feature: Feature) -> Schema:
    """Return the schema of a feature's value in a row, null included."""
    if not feature.kind.is_number or feature.kept:
        return _type(feature)
    low, high = feature.span
    return {**_type(feature), "minimum": low, "maximum": high}


def _type(feature: Feature) -> Schema:
    if feature.kind.is_number:
        return {"type": ["integer" if feature.kind is Kind.INT else "number", "null"]}
    values = [feature.domain.value(place) for place in range(feature.domain.size)]
    return {"enum": [*values, None]}
