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
