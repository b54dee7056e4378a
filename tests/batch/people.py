"""Tables of people for batches: written as Parquet or CSV, and the answers read back."""

from __future__ import annotations

import hashlib
import random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from p2c._batch import Options, plan_files
from p2c.problem import Problem
from tests.loan import JOHN, LOAN

if TYPE_CHECKING:
    from pathlib import Path

    from p2c._batch.summary import Summary
    from p2c._rules.theory import Theory

Document = dict[str, Any]

RICH = {"age": 31, "debt": 0, "bank_balance": 70000, "credit_score": 700}
STUCK = JOHN | {"debt": 0}
WRONG = JOHN | {"debt": -5}
PEOPLE: list[Document] = [JOHN, RICH, STUCK, WRONG, JOHN | {"age": 50}, JOHN | {"age": None}]


def loan() -> Problem:
    return Problem.from_dict(LOAN)


def loan_people(count: int, seed: int = 0) -> list[Document]:
    """Return people of the loan, a few of whom do not fit it."""
    rng = random.Random(seed)
    return [
        {
            "age": rng.choice([None, 17, 40, 99, 120]),
            "debt": rng.randrange(0, 5000, 1000),
            "bank_balance": rng.randrange(0, 100_000, 20_000),
            "credit_score": rng.choice([300, 599, 620, 700]),
        }
        for _ in range(count)
    ]


def write_parquet(path: Path, rows: list[Document], **keys: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), path, **keys)
    return path


def answer(problem: Problem, source: Path, target: Path, **options: Any) -> Summary:
    return plan_files(problem, source, target, Options(**options))


def read(target: Path) -> list[Document]:
    """Return the rows of an output, part after part."""
    return [
        row for path in sorted(target.glob("*.parquet")) for row in pq.read_table(path).to_pylist()
    ]


def hashes(target: Path) -> dict[str, str]:
    """Return the hash of every file in a folder."""
    return {
        path.relative_to(target).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(target.rglob("*"))
        if path.is_file()
    }


def typed_person(theory: Theory, rng: random.Random) -> Document:
    """Return a row of values of the right types: missing ones, off the grid or out of range here and there."""
    row: Document = {}
    for feature in theory.features:
        chance = rng.random()
        value: Any = feature.domain.value(rng.randrange(feature.domain.size))
        if not feature.kind.is_number and any(isinstance(each, str) for each in feature.places):
            value = rng.choice([each for each in feature.places if isinstance(each, str)])
        if chance < 0.06:
            value = None
        elif feature.kind.is_number and chance < 0.12:
            number = rng.uniform(feature.minimum, feature.maximum)
            value = int(number) if feature.kind.value == "int" else number
        elif feature.kind.is_number and chance < 0.15:
            value = type(value)(10**6)
        elif chance < 0.15:
            value = "nonsense" if isinstance(value, str) else 99
        row[feature.name] = value
    return row
