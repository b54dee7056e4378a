"""What the tests of the command line share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.desk import Desk

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def desk(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Desk:
    """Return a folder with the loan and its people, and a way to run the program in this process."""
    return Desk(tmp_path, capsys, monkeypatch)
