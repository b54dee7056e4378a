"""A person's question for s(CASP), clingo or `p2c_verify`, and as schemas."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from p2c._engines.clingo.encoding import Encoding, contract
from p2c._engines.instance import Instance, first_actions
from p2c._engines.places import most_effort
from p2c._engines.scasp.program import ScaspProgram
from p2c._plan.certificate.canonical import canonical, canonical_row
from p2c._plan.plan_json import PlanRecord
from p2c._spec.feature import Kind
from p2c._spec.spec import ProblemSpec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p2c._plan.compiled.space import Space
    from p2c._spec.feature import Feature, Value


SCASP_HEADER = """\
% {name}: a path to the goal for one person, as s(CASP) finds it.
%
%   scasp -s1 --forall=prev --unknown=error {name}.pl
%
% prints a path with the fewest direct actions there are. In plan(Depth, Most, Budget, Path), Depth to Most is how many
% direct actions are tried, and Budget is the effort that a path may take: the sum of the last arguments of the may(...) of
% its actions. To see that a path is the cheapest, ask again with a Budget of one less than its effort.
%
% A state is the list [{features}].
"""
MOST_STEPS = 24
"""Steps of a path that are looked for at most, unless the reader asks for more."""
CLINGO_HEADER = """\
% {name}: the cheapest path to the goal for one person, as clingo finds it.
%
%   clingo --opt-strategy=bb,lin {name}.lp
%
% The cost of the path is {words}, where cost is the {place} number after `Optimization:`.
% Paths have up to `horizon` steps, one action each, effects included; {proof}.
%
% do(F,V,W,T): at step T the person sets the feature F from V to W, where T is `end` for features of which no effect hears:
% they are set last, in any order. then(F,W,T): F takes the value W by itself.

#const horizon = {horizon}.
"""
ALL = "no path has more"
LONG = "{} would surely be enough, -c horizon=... asks for more"
ASTRAY = "effects may go on without end, -c horizon=... asks for more"


def scasp_files(space: Space, state: Mapping[str, Value]) -> dict[str, str]:
    """Return the program of a person, with its query."""
    instance = Instance.of(space, state)
    program = ScaspProgram(instance)
    name = file_name(space.theory.name)
    header = SCASP_HEADER.format(name=name, features=", ".join(instance.features))
    query = f"?- plan(1, {instance.most_actions}, {most_effort(instance.reaches.values())}, Path)."
    return {f"{name}.pl": f"{header}\n{program.text}\n% The question.\n{query}\n"}


def file_name(name: str) -> str:
    """Return a problem's name as a file may have it.

    >>> file_name("My loan/2")
    'My_loan_2'
    """
    plain = "".join(
        each if each.isascii() and (each.isalnum() or each in "-_") else "_" for each in name
    )
    return plain or "problem"


def clingo_files(space: Space, state: Mapping[str, Value]) -> dict[str, str]:
    """Return the program of a person."""
    instance = Instance.of(space, state)
    encoding = Encoding(instance)
    enough = encoding.enough
    name = file_name(space.theory.name)
    header = CLINGO_HEADER.format(
        name=name,
        words=encoding.tariff.words,
        place="second" if first_actions(instance) else "first",
        horizon=MOST_STEPS if encoding.astray else min(enough, MOST_STEPS),
        proof=ASTRAY if encoding.astray else LONG.format(enough) if enough > MOST_STEPS else ALL,
    )
    return {f"{name}.lp": "\n".join([header, *encoding.lines(), "", contract()])}


def canonical_files(space: Space, state: Mapping[str, Value]) -> dict[str, str]:
    """Return the problem with its parsed model, and the row, as canonical JSON files."""
    name = file_name(space.theory.name)
    documents = {"problem": canonical(space.theory), "row": canonical_row(state)}
    return {
        f"{name}-{kind}.json": json.dumps(document, ensure_ascii=False) + "\n"
        for kind, document in documents.items()
    }


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
