"""People remembered between tables and workers: each gets the own answer, and no other leaves a trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from p2c._batch import confirmed
from p2c._batch.confirmed import ENDING, Memory

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

WORDS = pa.dictionary(pa.int32(), pa.string())


def people(*jobs: str | None) -> pa.Table:
    return pa.table({"job": pa.array(jobs).dictionary_encode(), "age": [30] * len(jobs)})


def answers(*words: str | None) -> pa.Table:
    return pa.table({"status": pa.array(words).dictionary_encode(), "cost": [0.5] * len(words)})


def empty(shelf: Path | None = None) -> Memory:
    return Memory(people("x").slice(0, 0), answers("x").slice(0, 0), shelf)


def test_each_person_gets_the_own_answer_and_no_trace_of_others() -> None:
    memory = empty()
    memory.add(people("clerk", "cook", None), answers("yes", "no", None))
    memory.add(people("smith", "clerk"), answers("maybe", "yes"))
    found = memory.of(people("smith", None, "clerk"))
    assert found.column("status").to_pylist() == ["maybe", None, "yes"]
    assert found.column("status").combine_chunks().dictionary.to_pylist() == ["maybe", "yes"]
    rest = memory.unknown(people("cook", "baker", "clerk", "monk"))
    assert rest.column("job").to_pylist() == ["baker", "monk"]


def test_workers_learn_from_one_another_and_pass_over_what_is_damaged(tmp_path: Path) -> None:
    one, other = empty(tmp_path), empty(tmp_path)
    one.add(people("clerk"), answers("yes"))
    one.tell(people("clerk"), answers("yes"))
    assert not one.look_around()
    whole = next(tmp_path.glob(f"*{ENDING}")).read_bytes()
    (tmp_path / f"half{ENDING}").write_bytes(whole[: len(whole) // 2])
    assert other.look_around()
    assert other.of(people("clerk")).column("status").to_pylist() == ["yes"]
    assert not other.look_around()


def test_people_whose_columns_are_of_another_make_are_left_aside(tmp_path: Path) -> None:
    aged = people("clerk").set_column(1, "age", pa.array([30.0]))
    empty(tmp_path).tell(aged, answers("yes"))
    assert not empty(tmp_path).look_around()


def test_no_more_is_told_than_there_is_room_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = empty(tmp_path)
    memory.tell(people("clerk"), answers("yes"))
    monkeypatch.setattr(confirmed, "MOST", 10)
    memory.tell(people("cook"), answers("no"))
    assert len(list(tmp_path.glob(f"*{ENDING}"))) == 1
    memory.add(people("clerk"), answers("yes"))
    assert memory.is_full
