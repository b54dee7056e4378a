"""The adapter for RecourseBench, and the tables and rows that people have at hand."""

from __future__ import annotations

import json

import narwhals as nw
import numpy as np
import polars as pl
from sklearn.ensemble import GradientBoostingClassifier

from benchmarks.recourse_bench import P2CMethod
from p2c.problem import Problem
from tests.lending import loans


def fitted() -> tuple[GradientBoostingClassifier, Problem]:
    people = loans()[["income", "debt", "age"]]
    model = GradientBoostingClassifier(n_estimators=10, random_state=0)
    model.fit(people, people["income"] - people["debt"] > 30)
    return model, Problem.from_model(model, people, actions={"age": "fixed"})


def test_counterfactuals_keep_rows_and_columns_and_flip_the_model() -> None:
    model, recourse = fitted()
    people = loans()[["income", "debt", "age"]]
    refused = people[~model.predict(people)].head(8)
    found = P2CMethod(recourse).get_counterfactuals(refused)
    assert list(found.columns) == list(refused.columns)
    assert list(found.index) == list(refused.index)
    assert model.predict(found).all()


def test_somebody_without_a_way_has_no_counterfactual() -> None:
    model, recourse = fitted()
    people = loans()[["income", "debt", "age"]]
    stuck = recourse.restricted({"income": "fixed", "debt": "fixed"})
    found = P2CMethod(stuck).get_counterfactuals(people[~model.predict(people)].head(3))
    assert found.shape == (3, 3)
    assert found.isna().to_numpy().all()


def test_lists_of_rows_and_frames_of_others_are_tables_too() -> None:
    model, recourse = fitted()
    people = loans()[["income", "debt", "age"]]
    records = json.loads(people.to_json(orient="records"))
    row = records[int(np.flatnonzero(~model.predict(people))[0])]
    expected = recourse.plan(row).to_dict()
    for table in (records, pl.from_pandas(people), nw.from_native(people)):
        other = Problem.from_model(model, table, actions={"age": "fixed"})
        assert other.plan(row).to_dict() == expected
        assert len(other.plan_many(table[:3], progress=False)) == 3
    assert recourse.plan(pl.DataFrame([row])).to_dict() == expected
