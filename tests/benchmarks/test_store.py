"""Results that outlive the run that makes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.store import EDITION, Store, shared_rows

if TYPE_CHECKING:
    from pathlib import Path


def test_what_was_stored_is_there_for_the_next_run(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "store.jsonl"
    Store.open(path).add({"data": "cars", "method": "p2c", "row": 3, "status": "found"})
    again = Store.open(path)
    assert ("cars", "p2c", 3) in again
    assert ("cars", "p2c", 4) not in again
    assert again.of("cars", "p2c")[0]["status"] == "found"


def test_a_line_that_was_cut_off_is_dropped_and_the_next_one_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "store.jsonl"
    Store.open(path).add({"data": "cars", "method": "p2c", "row": 0})
    with path.open("a") as file:
        file.write('{"data": "cars", "meth')
    again = Store.open(path)
    again.add({"data": "cars", "method": "p2c", "row": 1})
    assert [record["row"] for record in Store.open(path).of("cars", "p2c")] == [0, 1]


def test_results_of_another_edition_are_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "store.jsonl"
    path.write_text(f'{{"edition": {EDITION - 1}, "data": "a", "method": "b", "row": 0}}\n')
    assert ("a", "b", 0) not in Store.open(path)


def test_results_of_one_run_have_its_date_and_come_from_one_state_of_the_code(
    tmp_path: Path,
) -> None:
    path = tmp_path / "store.jsonl"
    store = Store.open(path)
    for row in range(2):
        store.add({"data": "cars", "method": "p2c", "row": row})
    assert Store.open(path).of_one_code
    assert len(Store.open(path).dates) == 1
    store.add({"data": "cars", "method": "p2c", "row": 2, "code": "of yesterday"})
    assert not Store.open(path).of_one_code


def test_only_rows_that_every_method_has_are_compared(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "store.jsonl")
    for method, rows in {"p2c": 2, "mace": 3}.items():
        for row in range(rows):
            store.add({"data": "cars", "method": method, "row": row})
    store.add({"data": "cars", "method": "table 1", "row": 100})
    shared = shared_rows(store, ["cars"], ["p2c", "mace"])
    assert [record["row"] for record in shared.of("cars", "mace")] == [0, 1]
    assert len(shared.of("cars", "table 1")) == 1
