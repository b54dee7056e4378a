"""The pace of parts under way, by which a process learns of another's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from p2c._batch import part

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_rows_are_counted_while_a_part_is_made_and_no_longer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(part, "SECONDS", 0.0)
    with part.paced(tmp_path / "a") as one, part.paced(tmp_path / "b") as other:
        one.advance(3)
        one.advance(4.5)
        other.advance(10)
        assert part.rows_under_way(tmp_path) == 17
        (tmp_path / "c.rows").write_text("")  # in the midst of being written
        assert part.rows_under_way(tmp_path) == 17
    assert part.rows_under_way(tmp_path) == 0


def test_a_disk_that_takes_no_more_stops_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(part, "SECONDS", 0.0)
    with part.paced(tmp_path / "nowhere" / "a") as one:
        one.advance(1)
    assert one.rows == 1
