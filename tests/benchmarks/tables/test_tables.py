"""The tables that are made of stored results."""

from __future__ import annotations

import doctest
from typing import TYPE_CHECKING, Any

import pytest

import benchmarks.growth
from benchmarks.growth import EVERY_STATE
from benchmarks.store import Store
from benchmarks.tables import (
    compliance,
    growth,
    nearest,
    published,
    space,
    summary,
    supplement,
    table,
)
from benchmarks.world import world
from p2c import datasets

if TYPE_CHECKING:
    from pathlib import Path

MODULES = (benchmarks.growth, compliance, published, supplement, table)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_the_examples_in_docstrings_hold(module: Any) -> None:
    found = doctest.testmod(module)
    assert found.attempted
    assert not found.failed


@pytest.mark.parametrize("name", space.PUBLISHED)
def test_the_papers_sizes_of_table_1_are_those_of_its_data(name: str) -> None:
    states, _, reduced, _ = space.PUBLISHED[name]
    assert space.rebuilt_sizes(name) == (states, reduced)


def test_by_the_contract_adults_nearest_takes_the_gain_that_c3g_takes() -> None:
    problem = nearest.on_the_papers_grid("adult")
    person = dict(datasets.rows("adult")["paper"])
    found = nearest.figures(problem, person, "l1")
    assert found is not None
    assert found[0] == pytest.approx(published.rebuilt("adult")["C3G"]["l1"][0])


def test_charging_every_change_is_never_cheaper_than_effects_that_follow() -> None:
    found = nearest.measure("german", 6)
    for norm in published.NORMS:
        pairs = zip(found["C3G"][norm]["people"], found["p2c"][norm]["people"], strict=True)
        for charged, ours in pairs:
            assert ours is None or charged is None or charged[0] >= ours[0] - 1e-9


def result(method: str, row: int, **facts: Any) -> dict[str, Any]:
    usual = {
        "status": "found", "proved": True, "note": "", "consistent": True, "rules_accept": True,
        "model_accepts": True, "legal": True, "illegal": [], "arrives": True, "asked_cost": 1.0,
        "executed_cost": 1.0, "processor": 0.01,
    }  # fmt: skip
    return {"data": "cars", "method": method, "row": row, **usual, **facts}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store.open(tmp_path / "store.jsonl")
    for row in range(4):
        store.add(result("p2c", row))
    store.add(result("mace", 0, executed_cost=2.0))
    store.add(result("mace", 1, executed_cost=0.5, processor=0.001))
    store.add(result("mace", 2, legal=False, consistent=False, illegal=["score: an effect"]))
    store.add({"data": "cars", "method": "mace", "row": 3, "status": "error", "note": "boom"})
    return store


def row_of(shown: table.Table, title: str) -> dict[str, str]:
    cells = next(row for row in shown.rows if row[1] == title)
    return dict(zip(shown.head, cells, strict=True))


def test_table_3_counts_only_rows_with_a_counterfactual(store: Store) -> None:
    row = row_of(compliance.table_3(store, ["cars"]), "MACE")
    assert row["consistent"] == "67% (2/3)"
    assert row["only legal actions"] == "67% (2/3)"


def test_a_peer_is_compared_row_by_row_and_credited_where_it_is_cheaper(store: Store) -> None:
    row = row_of(compliance.duels(store, ["cars"]), "MACE")
    counts = [row[outcome] for outcome in compliance.OUTCOMES]
    assert counts == ["1", "0", "1", "2", "0", "0"]
    assert any(
        "MACE" in sentence and "on 1 rows" in sentence
        for sentence in compliance.wins(store, ["cars"])
    )


def test_a_failure_is_listed_with_its_reason(store: Store) -> None:
    assert ("cars", "MACE", "error: boom", "1") in compliance.failures(store, ["cars"]).rows


def test_the_people_of_a_world_are_refused_by_the_rules_and_by_the_model() -> None:
    here = world("german")
    assert len(here.people) >= 100
    for person in here.people[:20]:
        assert not here.model.accepts(person)
        assert here.problem.plan(person).status != "already"


def test_the_summary_counts_usable_paths_over_all_rows(store: Store) -> None:
    told = list(summary.sentences(store, ["cars"], ["cars"]))
    assert any("p2c 100% (4/4); MACE 50% (2/4)" in sentence for sentence in told)


def test_a_peer_is_credited_where_it_proves_more(store: Store) -> None:
    assert not any("prove more" in sentence for sentence in compliance.wins(store, ["cars"]))
    store.add(result("p2c", 1, proved=False))
    store.add(result("p2c", 2, proved=False))
    assert "cars: MACE (3) prove more rows than p2c (2)." in compliance.wins(store, ["cars"])


def test_a_method_is_credited_where_it_grows_less(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "store.jsonl")
    times = {"p2c": (0.1, 0.5, None), EVERY_STATE: (0.2, 0.25, 0.3)}
    for method, spans in times.items():
        for size, span in enumerate(spans, start=2):
            store.add({"data": "rules", "method": f"growth {method}", "row": size, "found": span})
    assert list(growth.wins(store)) == [
        f"growth of rules: {EVERY_STATE} is faster at 3 (0.250 s, p2c 0.500), 4 (0.300 s, p2c gave up)."
    ]


def test_a_method_that_is_missing_is_not_counted_as_failing(store: Store) -> None:
    for row in range(4):
        store.add({"data": "cars", "method": "mint", "row": row, "status": "missing", "note": "x"})
    assert not any("MINT" in sentence for sentence in summary.sentences(store, ["cars"], ["cars"]))
