"""Whatever comes in, nothing but our own errors comes out; `benchmarks/fuzz_rules.py` tries many more."""

from __future__ import annotations

import random

import pytest

from tests.fuzz import ATTACKS


@pytest.mark.parametrize("name", ATTACKS)
def test_only_our_own_errors_come_out(name: str) -> None:
    for seed in range(2_000):
        ATTACKS[name](random.Random(f"{name}/{seed}"))
