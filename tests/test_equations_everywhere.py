"""Equations through tables, files, audits, reasons and the command line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from p2c import P2CError, Problem
from tests.cli.test_relations import run

if TYPE_CHECKING:
    from pathlib import Path

LENDER: dict[str, Any] = {
    "name": "lender",
    "goal": "not reject(X)",
    "rules": "reject(X) :- dti(X,R), R>0.38. reject(X) :- score(X,S), S<620.",
    "features": {
        "debt": {"type": "int", "min": 0, "max": 100_000},
        "income": {"type": "int", "min": 0, "max": 200_000, "action": "up"},
        "dti": {"type": "float", "equation": "debt / income"},
        "score": {"type": "int", "min": 300, "max": 850, "equation": "710.5 - 0.004 * debt"},
    },
}
PEOPLE = pd.DataFrame(
    {
        "debt": [45_000, 0, 45_000, 1_000],
        "income": [100_000, 0, 0, 150_000],
        "score": [600, 600, 700, 700],
    }
)


@pytest.fixture
def lender() -> Problem:
    return Problem.from_dict(LENDER)


def test_a_table_may_lack_computed_columns(lender: Problem) -> None:
    with_dti = PEOPLE.assign(dti=PEOPLE["debt"] / PEOPLE["income"].where(PEOPLE["income"] > 0))
    plans = [lender.plan(row) for row in PEOPLE.to_dict("records")]
    for table in (PEOPLE, with_dti):
        answers = lender.plan_many(table)
        assert answers["status"].tolist() == [plan.status for plan in plans]
        assert answers["cost"].dropna().tolist() == [p.cost for p in plans if p.cost is not None]


def test_batches_and_audits_read_files_without_computed_columns(
    lender: Problem, tmp_path: Path
) -> None:
    lender.save(tmp_path / "lender.toml")
    PEOPLE.to_csv(tmp_path / "people.csv", index=False)
    args = (str(tmp_path / "lender.toml"), str(tmp_path / "people.csv"))
    batch = run("batch", *args, str(tmp_path / "out"), "--json")
    assert batch.exit_code == 0, batch.output
    answers = pd.read_parquet(tmp_path / "out" / "part-000000.parquet")
    expected = lender.plan_many(PEOPLE)
    assert answers["status"].tolist() == expected["status"].tolist()
    assert answers["end_dti"].equals(expected["end_dti"])
    audit = run("audit", *args, "-o", str(tmp_path / "audit"))
    assert audit.exit_code == 0, audit.output
    found = json.loads((tmp_path / "audit" / "audit.json").read_text())
    assert found["groups"][0]["people"] == len(PEOPLE)


def test_an_audit_counts_what_plans_say(lender: Problem) -> None:
    everybody = lender.audit(PEOPLE).everybody
    statuses = lender.plan_many(PEOPLE)["status"].tolist()
    assert everybody.stuck.count == statuses.count("infeasible")
    assert everybody.refused.count == sum(each != "already" for each in statuses)


def test_a_share_is_shown_as_percent() -> None:
    features = {**LENDER["features"], "dti": {**LENDER["features"]["dti"], "unit": "1=100%"}}
    rules = "reject(X) :- dti(X,R), R>0.38."
    problem = Problem.from_dict({**LENDER, "rules": rules, "features": features})
    letter = problem.plan({"debt": 45_678, "income": 100_000}).explain()
    assert "from 45.678% to 38%" in letter


def test_reasons_name_computed_features(lender: Problem) -> None:
    reasons = {each.feature: each for each in lender.reasons(PEOPLE.iloc[0].to_dict())}
    assert reasons["dti"].own == 0.45
    assert reasons["dti"].direction == "high"


def test_reasons_of_a_person_without_a_plan_name_the_computed_feature(lender: Problem) -> None:
    stuck = {"debt": 0, "income": 100_000, "score": 600}
    assert lender.plan(stuck).status == "infeasible"
    (reason,) = lender.reasons(stuck)
    assert (reason.feature, reason.direction, reason.mended) == ("score", "low", 620)


def test_a_computed_feature_has_no_restriction(lender: Problem) -> None:
    with pytest.raises(P2CError, match="dti: a computed feature follows its equation"):
        lender.restricted({"dti": "fixed"})


@pytest.fixture
def loans(tmp_path: Path) -> Path:
    rows = [(1_000 * debt, 1_000 * income) for debt in range(1, 41) for income in range(40, 60)]
    frame = pd.DataFrame(rows, columns=["debt", "income"])
    frame["debt ratio"] = frame["debt"] / frame["income"]
    frame["paid"] = (frame["debt ratio"] < 0.4).map({True: "yes", False: "no"})
    frame.to_csv(tmp_path / "loans.csv", index=False)
    return tmp_path / "loans.csv"


def test_fit_takes_equations_of_columns(loans: Path) -> None:
    made = loans.with_name("paid.toml")
    fit = (
        "fit",
        "--data",
        str(loans),
        "--target",
        "paid",
        "--desired",
        "yes",
        "-o",
        str(made),
        "--yes",
    )
    result = run(*fit, "--equation", '"debt ratio" = debt / income')
    assert result.exit_code == 0, result.output
    assert "relation" not in result.output
    end = Problem.load(made).plan({"debt": 30_000, "income": 50_000}).counterfactual
    assert end is not None
    assert end["debt_ratio"] == end["debt"] / end["income"]


def test_fit_names_a_faulty_equation(loans: Path) -> None:
    made = str(loans.with_name("paid.toml"))
    fit = ("fit", "--data", str(loans), "--target", "paid", "--desired", "yes", "-o", made, "--yes")
    with pytest.raises(P2CError, match="--equation: expected 'dti = debt / income'"):
        run(*fit, "--equation", "debt ratio")


def test_a_model_plans_for_tables_without_computed_columns(loans: Path) -> None:
    tree = pytest.importorskip("sklearn.tree")
    frame = pd.read_csv(loans)
    paid = frame.pop("paid")
    model = tree.DecisionTreeClassifier(max_depth=2).fit(frame, paid == "yes")
    problem = Problem.from_model(model, frame, equations={"debt ratio": "debt / income"})
    people = frame[paid == "no"].head(5)
    whole, without = problem.plan_many(people), problem.plan_many(people.drop(columns="debt ratio"))
    assert whole["verified"].all()
    assert whole["cost"].tolist() == without["cost"].tolist()
    assert problem.predict(people.drop(columns="debt ratio")).tolist() == [False] * 5
    assert problem.audit(people.drop(columns="debt ratio")).everybody.refused.count == 5
