"""Every different person whom the rules refuse."""

from __future__ import annotations

import pytest

from benchmarks.tables import everyone


@pytest.mark.parametrize("name", ["cars", "german", "adult"])
def test_every_plan_is_consistent_and_legal_and_replays_without_a_fault(name: str) -> None:
    count = everyone.measure(name, 300)
    assert count["refused"] > 50
    assert count["found"] + count.get("infeasible", 0) == count["refused"]
    assert count["consistent"] == count["legal"] == count["found"]
    assert "faulty" not in count


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cars", "german", "adult"])
def test_so_it_is_for_all_rows_of_the_data(name: str) -> None:
    count = everyone.measure(name)
    assert count["consistent"] == count["legal"] == count["found"]
    assert "faulty" not in count
