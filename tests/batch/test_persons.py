"""Who is who: rows are one person exactly where all their values are, however wide these are."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

from p2c.batch.persons import tell_apart

POOLS: list[list[object]] = [
    [0, 1, 2, 3, 4],
    [0, 0, 0, 2**62 - 2],
    [-(2**62), 5, 2**62],
    [-(2**63), 2**63 - 1, None],
    [None, 7],
    ["a", "b", None],
    [0.5, -0.0, 1e300],
]


@pytest.mark.parametrize("seed", range(200))
def test_people_are_told_apart_as_by_comparing_rows(seed: int) -> None:
    rng = random.Random(seed)
    count = rng.randrange(1, 40)
    pools = [rng.choice(POOLS) for _ in range(rng.randrange(1, 7))]
    columns = {str(n): rng.choices(pool, k=count) for n, pool in enumerate(pools)}
    table = pa.table(columns)
    known: dict[tuple[object, ...], int] = {}
    expected = [known.setdefault(row, len(known)) for row in zip(*columns.values(), strict=True)]
    who, first = tell_apart(table, list(columns))
    assert who.tolist() == expected
    assert first.tolist() == [expected.index(person) for person in range(len(known))]
    sliced = tell_apart(table.slice(count // 2), list(columns))
    rest = expected[count // 2 :]
    places = {person: place for place, person in enumerate(dict.fromkeys(rest))}
    assert sliced.who.tolist() == [places[person] for person in rest]
