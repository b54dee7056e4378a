"""An audit of a model: proved where it was read, counted as found where it could only be asked."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.neighbors import KNeighborsClassifier

from p2c.problem import Problem

KEYS: dict[str, Any] = {"desired": True, "actions": {"the age": "fixed", "income": "up"}}


@pytest.fixture(scope="module")
def loans() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    columns = {"the age": (18, 70), "income": (10, 90), "debt": (0, 60)}
    return pd.DataFrame({name: rng.integers(*ends, 200) for name, ends in columns.items()})


def labels(loans: pd.DataFrame) -> Any:
    return (loans["income"] - loans["debt"] > 20) & (loans["the age"] > 24)


def test_a_model_that_was_read_is_audited_as_its_own_plans_say(loans: pd.DataFrame) -> None:
    model = GradientBoostingClassifier(n_estimators=20, random_state=0).fit(loans, labels(loans))
    recourse = Problem.from_model(model, loans, **KEYS)
    people = loans.assign(region=np.where(loans.index % 3, "north", "south"))
    audit = recourse.audit(people, by=["region", "the age:<=24,>24"])
    table = recourse.plan_many(loans)
    for tally in audit.tallies:
        rows = np.ones(len(loans), dtype=bool)
        for column, value in tally.traits:
            old = people["the age"] > 24
            rows &= (people["region"] == value) if column == "region" else old == (value == ">24")
        part = table[rows]
        assert tally.statuses == part["status"].value_counts().sort_index().to_dict()
        costs = part.loc[part["status"] == "found", "cost"].sort_values()
        if len(costs):
            assert tally.costs["50%"] == pytest.approx(costs.iloc[(len(costs) + 1) // 2 - 1])
    stuck = table["status"] == "infeasible"
    assert stuck.any()
    inside = np.zeros(len(loans), dtype=bool)
    for box, _ in audit.confined:
        inside[box.rows] = True
    assert (inside == stuck).all()
    assert audit.asked.proved
    found = int((table["status"] == "found").sum())
    assert audit.asked.ends_confirmed == (found, found)
    assert audit.obstacles is not None
    assert {name for name, _ in audit.obstacles.features} <= {"the_age", "income", "debt"}


def test_of_how_many_it_was_found_out_which_values_force_the_no_is_said(
    loans: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("p2c._audit.lifting.FORCED", 3)
    model = GradientBoostingClassifier(n_estimators=20, random_state=0).fit(loans, labels(loans))
    audit = Problem.from_model(model, loans, **KEYS).audit(loans)
    assert audit.obstacles is not None
    forced, stuck = audit.obstacles.forced, audit.everybody.stuck.count
    assert 3 <= forced < stuck
    page = audit.report(format="md").decode()
    assert f"was found out for {forced} of {stuck} (" in page
    (_, count), *_ = audit.obstacles.features
    assert f"{count} of {forced} (" in page


def test_where_a_model_is_only_asked_nobody_is_said_to_have_no_way(loans: pd.DataFrame) -> None:
    model = KNeighborsClassifier(5).fit(loans, labels(loans))
    audit = Problem.from_model(model, loans, **KEYS).audit(loans[:12], by="debt:<30,>=30")
    assert not audit.asked.proved
    assert audit.everybody.stuck.count == 0
    assert audit.obstacles is None
    page = audit.report(format="md").decode()
    assert "The model could only be asked, not read" in page
    assert "Every refused person" not in page
    assert re.search(
        "searched for by rules that agree with the model on [0-9.]+% of the rows", page
    )
    assert "The search is exact" not in page
    assert "| what counts as a yes | the model accepts |" in page


def test_recorded_decisions_are_audited_by_the_rules_learned_from_them(loans: pd.DataFrame) -> None:
    problem = Problem.from_table(loans, labels(loans), **KEYS)
    audit = problem.audit(loans)
    assert audit.everybody.people == len(loans)
    assert audit.theory.source is not None


def test_people_with_one_hot_columns_are_audited_by_their_groups() -> None:
    rng = np.random.default_rng(0)
    job = rng.integers(0, 3, 300)
    table = pd.DataFrame({"income": rng.integers(0, 100, 300)})
    table = table.assign(**{f"job_{name}": (job == k) * 1 for k, name in enumerate("abc")})
    wanted = table["income"] + 20 * table["job_a"] > 60
    model = GradientBoostingClassifier(n_estimators=5, random_state=0).fit(table, wanted)
    problem = Problem.from_model(model, table, desired=True)
    people = table.head(40)
    audit = problem.audit(people, by=["job"])
    assert audit.everybody.refused.count == int((~problem.predict(people)).sum())
    assert {tally.traits[0][1] for tally in audit.tallies if tally.traits} == {"a", "b", "c"}
