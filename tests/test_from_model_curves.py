"""Plans along curves of a model cost as much as brute force finds."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    PowerTransformer,
    QuantileTransformer,
    SplineTransformer,
    StandardScaler,
)

from p2c._learn.model import Read
from p2c.problem import Problem

pytestmark = pytest.mark.filterwarnings("ignore")

SIZES = {"debt": 30, "saved": 24, "months": 12}
"""The number of values of each feature; `saved` grows in steps of a half."""

MODELS: dict[str, Any] = {
    "log": make_pipeline(FunctionTransformer(np.log1p), LogisticRegression()),
    "quantile": make_pipeline(QuantileTransformer(n_quantiles=9), LogisticRegression()),
    "normal": make_pipeline(
        QuantileTransformer(n_quantiles=9, output_distribution="normal"), LogisticRegression()
    ),
    "power": make_pipeline(PowerTransformer(), LogisticRegression()),
    "spline": make_pipeline(SplineTransformer(n_knots=4), LogisticRegression(C=50)),
    "square": make_pipeline(
        StandardScaler(), FunctionTransformer(lambda t: (t - 0.4) ** 2), LogisticRegression()
    ),
    "wave": make_pipeline(FunctionTransformer(np.sin), LogisticRegression(C=50)),
    "gaussian": GaussianNB(),
    "bernoulli": make_pipeline(StandardScaler(), BernoulliNB()),
    "components": make_pipeline(StandardScaler(), PCA(2), LogisticRegression()),
    "discriminant": LinearDiscriminantAnalysis(),
}
RULES = "months(X,N) :- debt(X,D), D=<3, N>=6. months(X,N) :- debt(X,D), D>3, N<10."


def grid() -> pd.DataFrame:
    """Return every state."""
    rows = list(product(*(range(size) for size in SIZES.values())))
    return pd.DataFrame(rows, columns=list(SIZES)).assign(saved=lambda t: t["saved"] / 2)


def labels(table: pd.DataFrame, seed: int) -> Any:
    """Return outcomes that a curve and chance decide."""
    generator = np.random.default_rng(seed)
    bent = np.sin(table["debt"] / 4) + np.log1p(table["saved"]) - np.abs(table["months"] - 5) / 4
    return (bent + generator.normal(0, 0.3, len(table)) > 1.2).astype(int)


def least(costs: np.ndarray, accepted: np.ndarray) -> float | None:
    """Return the least cost of an accepted state."""
    return float(costs[accepted].min()) if accepted.any() else None


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
@pytest.mark.parametrize("name", MODELS)
def test_the_least_cost_along_curves_is_that_of_brute_force(name: str, norm: str) -> None:
    table = grid()
    sample = table.sample(500, random_state=1)
    model = MODELS[name].fit(sample, labels(sample, 3))
    keys = {"saved": {"type": "float", "min": 0, "max": 11.5, "step": 0.5}}
    problem = Problem.from_model(
        model, table, desired=1, features=keys, actions=dict.fromkeys(SIZES, "free")
    )
    assert isinstance(problem.reading, Read), problem.reading
    accepted = model.predict(table) == 1
    spans = table.max() - table.min()
    for row in table[~accepted].sample(4, random_state=5).to_dict("records"):
        apart = ((table - pd.Series(row)).abs() / spans).to_numpy()
        costs = {
            "l1": apart.sum(axis=1),
            "l2": np.sqrt((apart**2).sum(axis=1)),
            "linf": apart.max(axis=1),
        }
        plan = problem.plan(row, norm=norm)
        assert plan.optimal
        assert plan.cost == pytest.approx(least(costs[norm], accepted))


@pytest.mark.parametrize("name", ["log", "spline", "square", "gaussian"])
def test_curves_beside_causal_rules_are_those_of_the_state_search(name: str) -> None:
    table = grid().astype({"saved": int}).drop_duplicates()
    sample = table.sample(400, random_state=2)
    model = MODELS[name].fit(sample, labels(sample, 4))
    problem = Problem.from_model(
        model, table, causal=RULES, desired=1, actions={"debt": "free", "saved": "up"}
    )
    assert isinstance(problem.reading, Read), problem.reading
    accepted = model.predict(table) == 1
    for row in table[~accepted].sample(4, random_state=7).to_dict("records"):
        plan = problem.plan(row)
        assert plan.optimal
        expected = _by_states(model, table, row)
        if expected is None:
            assert plan.status == "infeasible"
        else:
            assert plan.cost == pytest.approx(expected)


def _by_states(model: Any, table: pd.DataFrame, row: dict[str, int]) -> float | None:
    """Return the least cost over all end states.

    Months go to the nearest number that its law allows."""
    allowed = {
        True: [each for each in range(SIZES["months"]) if each >= 6],
        False: [each for each in range(SIZES["months"]) if each < 10],
    }
    early = row["debt"] <= 3
    broken = row["months"] not in allowed[early]
    ends = table[table["saved"] >= row["saved"]].copy()
    before = row["months"]
    nearest = {
        side: before if before in some else min(some, key=lambda each: abs(each - before))
        for side, some in allowed.items()
    }
    if broken:
        nearest[early] = before
    ends = ends[ends["months"] == (ends["debt"] <= 3).map(nearest)]
    chosen = ends[model.predict(ends) == 1]
    if chosen.empty:
        return None
    spans = table.max() - table.min()
    costs = (chosen["debt"] - row["debt"]).abs() / spans["debt"] + (
        chosen["saved"] - row["saved"]
    ).abs() / spans["saved"]
    return float(costs.min())
