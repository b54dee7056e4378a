"""Who is who: rows are one person exactly where all their values are, however wide these are."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest

from p2c._batch.persons import tell_apart, to_array, to_numbers, to_texts

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


KINDS = ["int8", "uint8", "int32", "int64", "uint64", "float32", "float64"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [0, 1, 9])
def test_numbers_go_over_and_come_back(kind: str, size: int) -> None:
    numbers = np.arange(size, dtype=kind)
    array = to_array(numbers)
    assert array.equals(pa.array(numbers))
    assert to_numbers(array).tolist() == numbers.tolist()
    assert to_numbers(array.slice(size // 2)).tolist() == numbers[size // 2 :].tolist()
    assert to_array(numbers[::2]).equals(pa.array(numbers[::2]))


@pytest.mark.parametrize("known", [[True] * 9, [False] * 9, [True, False, False] * 3])
def test_what_is_not_known_is_missing(known: list[bool]) -> None:
    found = to_array(np.arange(9), np.array(known))
    found.validate(full=True)
    assert found.to_pylist() == [number if known[number] else None for number in range(9)]


@pytest.mark.parametrize("texts", [[], [""], ["a", "", "Grüße ☃", "\n"]])
def test_texts_go_over(texts: list[str]) -> None:
    found = to_texts(texts)
    found.validate(full=True)
    assert found.equals(pa.array(texts, pa.string()))
