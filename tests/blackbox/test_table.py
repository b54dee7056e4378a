"""Tables of confirmed plans: the same answers as one by one, with few questions to the model."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier

from p2c._blackbox import table as tables
from p2c.problem import Problem
from tests.evidence import evidence_of
from tests.test_from_model_proved import CAUSAL, answers, people


class Counted(GradientBoostingClassifier):  # type: ignore[misc]
    """A boosted model that counts the times it is asked."""

    asked = 0

    def predict_proba(self, X: Any) -> Any:
        type(self).asked += 1
        return super().predict_proba(X)


@pytest.fixture(scope="module")
def recourse() -> Problem:
    table = people()
    model = Counted(n_estimators=15, max_depth=2, random_state=0).fit(table, answers(table))
    actions = {"age": "fixed", "saved": "fixed"}
    return Problem.from_model(model, table, desired=1, actions=actions, causal=CAUSAL)


def test_a_table_holds_the_plan_of_each_person(
    recourse: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = people().sample(60, random_state=2).astype(object)
    rows.iloc[7, 1] = "many"
    monkeypatch.setattr(tables, "CHUNK", 25)
    Counted.asked = 0
    found = recourse.plan_many(rows)
    assert Counted.asked <= 6
    assert {"found", "already", "invalid", "infeasible"} <= set(found["status"])
    assert found.index.equals(rows.index)
    for (_, row), line in zip(rows.iterrows(), found.to_dict("records"), strict=True):
        if line["status"] == "invalid":
            assert "many" in line["message"]
            continue
        alone = recourse.plan(row)
        assert (line["status"], line["verified"], line["optimal"]) == (
            alone.status,
            evidence_of(alone).verified,
            alone.optimal,
        )
        assert alone.cost == (None if pd.isna(line["cost"]) else pytest.approx(line["cost"]))
        for name, value in (alone.end or {}).items():
            assert line[f"end_{name}"] == value


def test_a_limit_for_each_person_holds_in_a_table(recourse: Problem) -> None:
    refused = people().query("score == 0 and saved == 0").head(3)
    found = recourse.plan_many(refused, time_limit=0)
    assert set(found["status"]) == {"gave_up"}
    assert not found["optimal"].any()
    assert found["message"].str.startswith("the search stopped at its limit").all()


def test_a_polars_frame_has_the_types_of_the_columns_whatever_is_missing(
    recourse: Problem,
) -> None:
    polars = pytest.importorskip("polars")
    assert recourse is not None
    rows = people().query("score == 0 and saved == 0").head(3)
    planned = recourse.plan_many(polars.DataFrame(rows.to_dict("list")), time_limit=0)
    assert planned["cost"].null_count() == 3
    assert (planned.schema["cost"], planned.schema["end_debt"]) == (polars.Float64, polars.Int64)
    assert (planned.schema["optimal"], planned.schema["actions"]) == (polars.Boolean, polars.String)
