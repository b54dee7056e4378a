"""An audit of a file with a model: the figures of the batch's own table, whoever plans and however often it is killed."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from sklearn.ensemble import GradientBoostingClassifier

from p2c._batch.audited import DECIDED_PART_ROWS, audit_files
from p2c.problem import Problem
from tests.batch.people import hashes
from tests.batch.test_run import begin_and_kill, command_line, go_on
from tests.folder.test_store import piped, table

if TYPE_CHECKING:
    from pathlib import Path

    from p2c._audit.audit import Audit

BY = ("Debt now:<20,>=20", "member", "region")


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a boosted model, and people enough for several parts of a batch."""
    folder = tmp_path_factory.mktemp("audited")
    model = piped(GradientBoostingClassifier(n_estimators=15, random_state=0))
    actions = {"age": "fixed", "income": "fixed", "Debt now": "down"}
    Problem.from_model(model, table(), desired="good", actions=actions).save(folder / "model")
    people = table().sample(DECIDED_PART_ROWS + 50, replace=True, random_state=0)
    people = people.assign(region=np.where(np.arange(len(people)) % 3, "north", "south"))
    people.to_csv(folder / "people.csv", index=False)
    return folder


def audited(desk: Path, target: Path, **how: Any) -> Audit:
    return audit_files(Problem.load(desk / "model"), desk / "people.csv", target, by=BY, **how)


@pytest.fixture(scope="module")
def whole(desk: Path) -> Audit:
    return audited(desk, desk / "whole")


def test_the_figures_are_those_of_plain_pandas_on_the_batchs_table(
    desk: Path, whole: Audit
) -> None:
    answers = pq.read_table(desk / "whole/people").to_pandas()
    people = pd.read_csv(desk / "people.csv")
    answers["Debt now"] = np.where(people["Debt now"] < 20, "<20", ">=20")
    answers["member"] = people["member"].astype(str)
    assert whole.everybody.stuck.count > 0
    for tally in whole.tallies:
        part = answers
        for column, value in tally.traits:
            part = part[part[column].astype(str) == value]
        assert tally.statuses == part["status"].astype(str).value_counts().sort_index().to_dict()
        ways = part[part["status"] == "found"]
        costs = ways["cost"].sort_values()
        if len(costs):
            assert tally.costs["50%"] == costs.iloc[(len(costs) + 1) // 2 - 1]
        first = ways["first"].astype(str).map(lambda text: json.loads(text)["feature"])
        assert tally.first == first.value_counts().to_dict()
    found = answers[answers["status"] == "found"]
    assert whole.asked.ends_confirmed == (int(found["verified"].sum()), len(found))


def test_the_model_is_named_by_the_hash_of_its_file(desk: Path, whole: Audit) -> None:
    (file,) = (desk / "model").glob("model.*")
    assert whole.asked.hashes["model"] == sha256(file.read_bytes()).hexdigest()
    assert f"| SHA-256 of the model | {whole.asked.hashes['model']} |" in (
        whole.report(format="md").decode()
    )


def test_the_figures_are_the_same_whatever_the_number_of_processes(
    desk: Path, whole: Audit, tmp_path: Path
) -> None:
    assert audited(desk, tmp_path / "two", workers=2).to_dict() == whole.to_dict()
    assert hashes(tmp_path / "two/people") == hashes(desk / "whole/people")


def test_a_table_in_python_gives_the_same_figures(desk: Path, whole: Audit) -> None:
    people = pd.read_csv(desk / "people.csv")
    here = Problem.load(desk / "model").audit(people, BY, progress=False).to_dict()
    there = whole.to_dict()
    for each in (here, there):
        del each["asked"]
    assert here == there


def test_an_audit_with_a_model_that_was_killed_goes_on_to_the_same_bytes(
    desk: Path, whole: Audit, tmp_path: Path
) -> None:
    options = [word for each in BY for word in ("--by", each)]
    line = command_line("audit", desk / "model", desk / "people.csv", "-o", tmp_path, *options)
    begin_and_kill(line, tmp_path / "people", files=1, named="part-*.parquet.json")
    assert not (tmp_path / "audit.json").exists()
    assert (tmp_path / "people/part-000000.parquet").exists()
    begun = (tmp_path / "people/part-000000.parquet").stat().st_mtime_ns
    go_on(line)
    assert (tmp_path / "people/part-000000.parquet").stat().st_mtime_ns == begun
    assert hashes(tmp_path / "people") == hashes(desk / "whole/people")
    found, expected = json.loads((tmp_path / "audit.json").read_text("utf-8")), whole.to_dict()
    del found["asked"]["command"], expected["asked"]["command"]
    assert found == json.loads(json.dumps(expected))
