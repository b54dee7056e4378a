"""Numbers and texts between numpy and pyarrow: the same as by pyarrow's own ways, wherever in memory they begin."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from p2c.batch.arrays import to_array, to_numbers, to_texts

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
