"""The MILP beside which linear models are measured asks for the same least cost as the search."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from benchmarks.milp import MARGINS, CheapestChange
from benchmarks.verified import pipeline
from p2c.problem import Problem


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_milp_finds_the_least_cost_that_the_search_proves() -> None:
    draws = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "income": draws.integers(0, 90_000, 500),
            "hours": draws.integers(1, 80, 500),
            "age": draws.integers(18, 70, 500),
            "job": draws.choice(["clerk", "nurse", "none"], 500),
        }
    )
    worth = table["income"] / 1_000 + table["hours"] + 20 * (table["job"] == "nurse")
    label = (worth + draws.normal(0, 15, 500) > 90).map({True: "yes", False: "no"})
    model = pipeline(LogisticRegression(max_iter=2_000)).fit(table, label)
    recourse = Problem.from_model(model, table, desired="yes", actions={"age": "up", "job": "free"})
    assert recourse is not None
    program = CheapestChange(model, recourse.theory.features, "yes")
    for _, row in table[model.predict(table) == "no"].head(15).iterrows():
        answer = recourse.plan(row)
        assert answer.optimal
        found = [program.change(row, margin) for margin in MARGINS]
        ends = [each for each in found if each and model.predict(each[1].to_frame().T) == "yes"]
        assert answer.cost == pytest.approx(min(cost for cost, _ in ends), rel=1e-9)
