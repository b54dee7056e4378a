from __future__ import annotations

import json
import tomllib
from typing import Any

import jsonschema
import pytest

from p2c._export import EXPORTS
from p2c.datasets import names, problem_text, rows
from p2c.problem import Problem


def schemas(name: str) -> tuple[Problem, dict[str, Any]]:
    problem = Problem.from_dict(tomllib.loads(problem_text(name)))
    row = next(iter(rows(name).values()))
    files = EXPORTS["json-schema"](problem.compiled, problem.read_row(row))
    kinds = ("problem", "row", "plan")
    return problem, dict(zip(kinds, map(json.loads, files.values()), strict=True))


@pytest.mark.parametrize("name", names())
def test_they_accept_our_own_documents(name: str) -> None:
    problem, known = schemas(name)
    for schema in known.values():
        jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(tomllib.loads(problem_text(name)), known["problem"])
    jsonschema.validate(problem.to_dict(), known["problem"])
    for row in rows(name).values():
        jsonschema.validate(dict(problem.read_row(row)), known["row"])
        plan = json.loads(json.dumps(problem.plan(row).to_dict()))
        jsonschema.validate(plan, known["plan"])


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("row", {"age": 500}),
        ("row", {"debt": "much"}),
        ("row", {"shoe_size": 43}),
        ("plan", {"status": "perhaps"}),
        ("plan", {"cost": -1}),
        ("plan", {"steps": [{"actions": []}]}),
        ("problem", {"norm": "l7"}),
        ("problem", {"goal": 5}),
    ],
)
def test_they_refuse_what_is_none(kind: str, change: dict[str, Any]) -> None:
    problem, known = schemas("loan")
    john = rows("loan")["john"]
    documents = {
        "problem": problem.to_dict(),
        "row": john,
        "plan": problem.plan(john).to_dict(),
    }
    jsonschema.validate(documents[kind], known[kind])
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(documents[kind] | change, known[kind])
