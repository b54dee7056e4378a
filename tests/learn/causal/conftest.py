"""What the tests of a review share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from p2c._learn.causal.review import Review, write_review
from tests.learn.causal.reviews import CANDIDATES, FEATURES

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "review.jsonl"


@pytest.fixture
def review(path: Path) -> Review:
    return write_review(path, CANDIDATES, features=FEATURES)
