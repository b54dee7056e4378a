"""Random small problems with people in them, and what the slow planner says of each person."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from p2c._learn.model.read_model import ReadModel
from p2c._spec.feature import Kind
from p2c.problem import Problem
from tests.oracle import best_plan
from tests.plan.judged import never, random_score
from tests.strategies import random_problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.oracle import OraclePlan

Document = dict[str, Any]


@dataclass(frozen=True)
class Populated:
    """A problem, the people in it, and the slow planner's answer for each."""

    document: Document
    problem: Problem
    rows: list[Document]
    answers: list[OraclePlan]

    @property
    def frame(self) -> pd.DataFrame:
        return pd.DataFrame(
            {name: [r[name] for r in self.rows] for name in self.rows[0]}, dtype=object
        )

    def stuck(self) -> list[Document]:
        return [r for r, a in zip(self.rows, self.answers, strict=True) if a.status == "infeasible"]


def populated(seed: int, count: int, *, people: int = 12) -> Iterator[Populated]:
    """Yield random small problems with a few people each, some of whom lack a value."""
    for number in range(count):
        rng = random.Random(f"audit {seed}/{number}")
        document, row = random_problem(rng, tiny=True)
        document["exceptions"] = "abduce"
        problem = with_own_scales(document)
        rows = [row, *(somebody(problem, rng) for _ in range(people - 1))]
        answers = [best_plan(problem.theory, problem.read_row(each)) for each in rows]
        yield Populated(document, problem, rows, [each for each in answers if each is not None])


def judged(seed: int, count: int, *, people: int = 12) -> Iterator[Populated]:
    """Yield the same with a model in the place of rules, in every other world with the causal rules left."""
    for number in range(count):
        rng = random.Random(f"judged {seed}/{number}")
        document, _ = random_problem(rng, tiny=True)
        score = random_score(rng, Problem.from_dict(document).theory.features)
        document |= {"exceptions": "abduce", "goal": "accepted(X)"}
        if number % 2:
            document["rules"] = ""
            for keys in document["features"].values():
                keys.pop("law", None)
                if keys.get("action") == "effect":
                    keys["action"] = "fixed"
        problem = with_own_scales(document, ReadModel(score, never))
        rows = [somebody(problem, rng) for _ in range(people)]
        answers = [best_plan(problem.theory, problem.read_row(each)) for each in rows]
        yield Populated(document, problem, rows, [each for each in answers if each is not None])


def unruly(seed: int, count: int, *, people: int = 20) -> Iterator[tuple[Problem, list[Document]]]:
    """Yield problems by rules and by models with unruly people.

    Their values are off the grid, outside of the limits, or missing.
    """
    for number in range(count):
        rng = random.Random(f"unruly {seed}/{number}")
        document, _ = random_problem(rng, tiny=True)
        document["exceptions"] = "abduce"
        model = None
        if number % 2:
            score = random_score(rng, Problem.from_dict(document).theory.features)
            document["goal"] = "accepted(X)"
            model = ReadModel(score, never)
        problem = Problem.from_dict(document, model=model, bounded=rng.random() < 0.5)
        yield problem, [stray(problem, rng) for _ in range(people)]


def stray(problem: Problem, rng: random.Random) -> Document:
    """Return a person with half of the numbers off the grid or outside of the limits.

    They are so only where rows may hold them.
    """
    row = somebody(problem, rng)
    for feature in problem.theory.features:
        if feature.kind.is_number and row[feature.name] is not None and rng.random() < 0.5:
            room = 0 if feature.bounded else 4
            low, high = feature.minimum - room, feature.maximum + room
            drawn = low + (high - low) * rng.random()
            row[feature.name] = round(drawn) if feature.kind is Kind.INT else round(drawn, 2)
    return row


def with_own_scales(document: Document, model: ReadModel | None = None) -> Problem:
    """Return the problem, its numbers measured by what they are measured by anyway, also where their limits are lifted."""
    for feature in Problem.from_dict(document, model=model).theory.features:
        if feature.kind.is_number:
            document["features"][feature.name]["scale"] = float(feature.divisor)
    return Problem.from_dict(document, model=model)


def somebody(problem: Problem, rng: random.Random) -> Document:
    return {
        feature.name: None
        if rng.random() < 0.08
        else feature.domain.value(rng.randrange(feature.domain.size))
        for feature in problem.theory.features
    }
