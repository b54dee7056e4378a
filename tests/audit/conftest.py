"""Worlds with people in them, by rules and by models: a few in every run, many more in the slow one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.audit.worlds import judged, populated

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.audit.worlds import Populated

KINDS = {"rules": (populated, 3, 20), "models": (judged, 2, 10)}
"""Who makes worlds, how many sets of ten in every run, and how many of a hundred in the slow one."""


def sets() -> Iterator[object]:
    for kind, (_, few, many) in KINDS.items():
        for seed in range(few):
            yield pytest.param((kind, seed + 50, 10, 12), id=f"{kind}-{seed}")
        for seed in range(many):
            slow = (kind, seed + 700, 100, 6)
            yield pytest.param(slow, id=f"many-{kind}-{seed}", marks=pytest.mark.slow)


@pytest.fixture(params=sets())
def worlds(request: pytest.FixtureRequest) -> Iterator[Populated]:
    kind, seed, count, people = request.param
    return KINDS[kind][0](seed, count, people=people)
