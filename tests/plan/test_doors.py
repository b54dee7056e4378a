"""Every door leads to the same answers: one person, the nearest, a data frame and a batch of files."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from p2c import datasets
from p2c.domain.feature import Grid
from tests.batch.people import answer, read, write_parquet
from tests.embedded import embedded

if TYPE_CHECKING:
    from pathlib import Path

Document = dict[str, Any]
MANY = 10_000


def drawn(name: str, count: int) -> list[Document]:
    """Return so many people of an embedded problem: those of its data, and others drawn from its domains."""
    problem = embedded(name)
    rng = Random(f"doors {name}")
    features = problem.theory.features
    known = [] if name == "loan" else datasets.load_rows(name)
    found = [{each.name: row[each.name] for each in features} for row in known]
    if len(found) >= count:
        return rng.sample(found, count)
    for _ in range(count - len(found)):
        found.append({each.name: _value(rng, each.domain) for each in features})
    return found


def _value(rng: Random, domain: Any) -> Any:
    """Return a value of a domain, the low ones of a wide range as likely as all others together."""
    size = domain.size
    near = isinstance(domain, Grid) and rng.random() < 0.5
    return domain.value(rng.randrange(min(size, 1000) if near else size))


def assert_doors_agree(name: str, count: int, folder: Path) -> None:
    """Compare status and cost of every person at every door."""
    problem, rows = embedded(name), drawn(name, count)
    source = write_parquet(folder / "people.parquet", rows)
    answer(problem, source, folder / "answers")
    many = problem.plan_many(pd.DataFrame(rows)).to_dict("records")
    for row, framed, filed in zip(rows, many, read(folder / "answers"), strict=True):
        plan = problem.plan(row)
        first = [each.cost for each in problem.nearest(row, k=1)]
        assert framed["status"] == filed["status"] == plan.status, row
        if plan.cost is None:
            assert not first, row
            assert filed["cost"] is None, row
        else:
            assert first == [plan.cost], row
            assert [framed["cost"], filed["cost"]] == pytest.approx([plan.cost] * 2, abs=1e-9), row


@pytest.mark.parametrize("name", datasets.names())
def test_every_door_gives_the_same_cost(name: str, tmp_path: Path) -> None:
    assert_doors_agree(name, 200, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", datasets.names())
def test_every_door_gives_ten_thousand_people_the_same_cost(name: str, tmp_path: Path) -> None:
    assert_doors_agree(name, MANY, tmp_path)
