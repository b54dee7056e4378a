"""One-hot columns of a model as one category."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from p2c import P2CError, Problem
from p2c._learn.model import Read
from p2c._learn.tables.look import Why

if TYPE_CHECKING:
    from pathlib import Path

HOME = ["home_own", "home_rent", "home_free"]
JOB = ["job=cook", "job=clerk"]


def applicants(rows: int = 500, seed: int = 0) -> pd.DataFrame:
    """Return people with a complete one-hot group and an optional one."""
    rng = np.random.default_rng(seed)
    home, job = rng.integers(0, 3, rows), rng.integers(0, 3, rows)
    columns: dict[str, Any] = {"income": rng.integers(10, 100, rows)}
    columns |= {name: (home == place).astype(int) for place, name in enumerate(HOME)}
    columns |= {"debt": rng.integers(0, 50, rows)}
    columns |= {name: job == place for place, name in enumerate(JOB)}
    return pd.DataFrame(columns)


X = applicants()
Y = (X["income"] - X["debt"] + 25 * X["home_own"] + 15 * X["job=clerk"] > 45).astype(int)
WEIGHT = 5
MODELS = [
    GradientBoostingClassifier(n_estimators=12, random_state=0),
    RandomForestClassifier(8, max_depth=5, random_state=0),
    make_pipeline(StandardScaler(), LogisticRegression()),
]


@pytest.fixture(scope="module", params=MODELS, ids=lambda model: type(model).__name__)
def fitted(request: pytest.FixtureRequest) -> tuple[Any, Problem]:
    model = request.param.fit(X, Y)
    features = {"income": {"weight": WEIGHT}}
    return model, Problem.from_model(model, X, actions={"debt": "fixed"}, features=features)


def test_groups_are_found_and_listed_and_the_model_stays_parsed(
    fitted: tuple[Any, Problem],
) -> None:
    model, problem = fitted
    assert isinstance(problem.reading, Read)
    assert problem.reading.kind == type(model).__name__
    assert set(problem.spec.features) == {"income", "home", "debt", "job"}
    assert problem.spec.features["home"].values == ["free", "own", "rent"]
    assert problem.spec.features["job"].values == ["clerk", "cook", "none"]
    reasons = {each.column: each.why for each in problem.assumptions}
    assert reasons["home"] is reasons["job"] is Why.GROUP


def test_no_plan_leaves_a_group_with_none_or_two_set(fitted: tuple[Any, Problem]) -> None:
    model, problem = fitted
    refused = X[model.predict(X) == 0].head(40)
    moved = 0
    for _, row in refused.iterrows():
        plan = problem.plan(row)
        if plan.status != "found":
            continue
        assert plan.proof == "exhausted"
        assert plan.counterfactual is not None
        assert list(plan.counterfactual) == list(X.columns)
        assert sum(plan.counterfactual[each] for each in HOME) == 1
        assert sum(plan.counterfactual[each] for each in JOB) <= 1
        assert model.predict(pd.DataFrame([plan.counterfactual]).astype(X.dtypes))[0] == 1
        moved += bool({"home", "job"} & plan.changes.keys())
    assert moved


def test_the_cheapest_plan_is_that_of_all_values_of_the_group(fitted: tuple[Any, Problem]) -> None:
    model, problem = fitted
    grid = pd.DataFrame(
        [
            {
                "income": income,
                **dict.fromkeys(HOME, 0),
                home: 1,
                **{each: each == job for each in JOB},
            }
            for income in range(10, 100)
            for home in HOME
            for job in (*JOB, "")
        ]
    )
    width = X["income"].max() - X["income"].min()
    for _, row in X[model.predict(X) == 0].head(6).iterrows():
        ends = grid.assign(debt=row["debt"])[list(X.columns)].astype(X.dtypes)
        cost = WEIGHT * (ends["income"] - row["income"]).abs() / width
        cost += (ends[HOME] != row[HOME]).any(axis=1).astype(float)
        cost += (ends[JOB] != row[JOB]).any(axis=1).astype(float)
        within = ends["income"].between(X["income"].min(), X["income"].max())
        best = cost[within & (model.predict(ends) == 1)].min()
        assert problem.plan(row).cost == pytest.approx(best)


def test_tables_are_answered_in_either_form(fitted: tuple[Any, Problem]) -> None:
    model, problem = fitted
    assert (problem.predict(X).to_numpy() == (model.predict(X) == 1)).all()
    people = X[model.predict(X) == 0].head(8)
    answers = problem.plan_many(people)
    assert answers["verified"].all()
    assert set(answers["end_home"]) <= {"own", "rent", "free"}
    again = problem.plan_many(pl.from_pandas(people))
    assert isinstance(again, pl.DataFrame)
    assert again["cost"].to_list() == answers["cost"].tolist()
    by_category = {"income": 20, "home": "rent", "debt": 9, "job": "none"}
    own = {
        "income": 20,
        "home_own": 0,
        "home_rent": 1,
        "home_free": 0,
        "debt": 9,
        "job=cook": False,
        "job=clerk": False,
    }
    assert problem.plan(by_category).cost == problem.plan(own).cost


def test_a_saved_folder_gives_the_same_answers(fitted: tuple[Any, Problem], tmp_path: Path) -> None:
    model, problem = fitted
    again = Problem.load(problem.save(tmp_path / "folder"))
    row = X[model.predict(X) == 0].iloc[0]
    assert again.plan(row).cost == problem.plan(row).cost
    assert again.plan(row).counterfactual == problem.plan(row).counterfactual
    assert again.to_dict()["model"]["groups"] == {"home": HOME, "job": JOB}


def test_an_encoder_behind_the_groups_is_read_too() -> None:
    table = X.assign(town=np.where(X["income"] % 2, "Ulm", "Bonn"))
    encoder = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["town"]), remainder="passthrough"
    )
    model = make_pipeline(encoder, GradientBoostingClassifier(n_estimators=5, random_state=0))
    problem = Problem.from_model(model.fit(table, Y), table)
    assert isinstance(problem.reading, Read)
    assert problem.plan(table[model.predict(table) == 0].iloc[0]).proof == "exhausted"


def test_a_function_on_tables_is_asked_in_its_own_columns() -> None:
    problem = Problem.from_model(lambda rows: rows["income"] + 30 * rows["home_own"] > 60, X)
    plan = problem.plan(X[X["income"] < 25].iloc[0])
    assert plan.model is not None
    assert plan.model.verified


def test_columns_that_the_caller_speaks_of_stay_columns() -> None:
    model = GradientBoostingClassifier(n_estimators=5, random_state=0).fit(X, Y)
    problem = Problem.from_model(model, X, actions={"home_own": "fixed"})
    assert "home_own" in problem.spec.features
    assert "job" in problem.spec.features
    assert set(Problem.from_model(model, X, groups={}).spec.features) >= {
        "home_rent",
        "job_cook",
    } - {"job_cook"}


def test_a_rule_speaks_of_the_category() -> None:
    model = GradientBoostingClassifier(n_estimators=12, random_state=0).fit(X, Y)
    never = ":- home(X,'own'), income(X,N), N<40."
    problem = Problem.from_model(model, X, causal=never, groups={"home": HOME})
    for _, row in X[(model.predict(X) == 0) & (X["home_own"] == 0)].head(15).iterrows():
        end = problem.plan(row).counterfactual
        assert end is None or not (end["home_own"] and end["income"] < 40)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ({"home": ["home_own", "home_let"]}, "no column is called 'home_let'; did you mean"),
        ({"home": ["home_own"]}, "expected a name and two columns or more"),
        ({"income": ["home_own", "home_rent"]}, "the table has a column called 'income' too"),
        ({"a": HOME, "b": HOME[1:]}, "'home_rent' is in 'a' and in 'b'"),
        ({"a": ["income", "debt"]}, "expected 0 or 1 in the column 'income'"),
        ({"a": ["home_own", "job=cook"]}, "of the rows set several of home_own, job=cook"),
    ],
)
def test_groups_that_are_none_are_refused_in_one_line(groups: Any, message: str) -> None:
    model = GradientBoostingClassifier(n_estimators=3).fit(X, Y)
    with pytest.raises(P2CError, match=message):
        Problem.from_model(model, X, groups=groups)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"home_own": 1, "home_rent": 1}, "expected exactly one of home_own, home_rent, home_free"),
        (dict.fromkeys(HOME, 0), "to be 1, found 0"),
        ({"job=cook": True, "job=clerk": True}, "expected at most one of job=cook, job=clerk"),
        ({"home_own": 3}, "expected 0 or 1 for home_own, found 3"),
        ({"home_own": None}, "expected 0 or 1 for home_own, found nothing"),
    ],
)
def test_a_row_that_breaks_its_group_is_refused(
    fitted: tuple[Any, Problem], change: dict[str, Any], message: str
) -> None:
    row = X.iloc[0].to_dict() | change
    with pytest.raises(P2CError, match=message):
        fitted[1].plan(row)
