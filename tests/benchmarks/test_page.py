"""What was recorded since is written into a report that is there, and nothing else of it changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchmarks.page import Section, html, markdown, renewed
from benchmarks.record import Result

if TYPE_CHECKING:
    from collections.abc import Callable


def report(*lines: str) -> list[Section]:
    """Return a report in which a script has printed some lines."""
    printed = Result("python -m benchmarks.some", "2026-01-01", "a machine", "3.11", 1.0, lines)
    return [
        Section("Before", ("kept",)),
        Section("Measured", listings=(printed,)),
        Section("Failed", ("kept, too",)),
    ]


@pytest.mark.parametrize("render", [markdown, html])
def test_only_what_was_recorded_is_renewed(render: Callable[[list[Section]], str]) -> None:
    old, new = report("## Warm", "old"), report("## Warm", "new", "more")
    assert renewed(render(old), render([new[1]]), "Measured", "Failed") == render(new)
