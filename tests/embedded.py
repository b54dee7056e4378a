"""The embedded problems and some of their people."""

from __future__ import annotations

import tomllib
from functools import cache
from random import Random
from typing import Any

from p2c import Problem, datasets


@cache
def embedded(name: str) -> Problem:
    """Return an embedded problem."""
    return Problem.from_dict(tomllib.loads(datasets.problem_text(name)))


def people(name: str, count: int) -> list[dict[str, Any]]:
    """Return the named rows of a problem and some of its data, always the same."""
    named: list[dict[str, Any]] = [dict(row) for row in datasets.rows(name).values()]
    if name == "loan":
        return named
    known = embedded(name).theory.feature
    data = datasets.load_rows(name)
    chosen = Random(7).sample(range(len(data)), count)
    return named + [{key: data[place][key] for key in known} for place in chosen]


def refused_people(name: str, count: int) -> list[dict[str, Any]]:
    """Return people of a problem's data whom it refuses, no two alike to it, always the same."""
    problem = embedded(name)
    data = datasets.load_rows(name)
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for place in Random(f"refused {name}").sample(range(len(data)), len(data)):
        row = {key: data[place][key] for key in problem.theory.feature}
        if problem.plan(row, engine="native").status != "already":
            found.setdefault(tuple(row.values()), row)
        if len(found) == count:
            break
    return list(found.values())
