"""Boxes where a model decides: few of them are enough, with causal rules too."""

from __future__ import annotations

from itertools import product
from typing import Any

import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

from p2c.problem import Problem

FEW = 120
"""Nodes within which everybody's plan is proved; without prices of leaves it takes thousands."""

CAUSAL = """
status(X,'single') :- not partner(X,'spouse'), age(X,N), N=<2.
status(X,'married') :- partner(X,'spouse').
status(X,V) :- not partner(X,'spouse'), V \\= 'married', V \\= 'single', V \\= 'away'.
partner(X,'spouse') :- age(X,N), N>1.
"""
STATUSES = ("single", "married", "parted", "away")
MOVES = {"single": ["married"], "married": ["parted"], "parted": ["married"], "away": ["parted"]}


@pytest.fixture(scope="module")
def fitted() -> tuple[Any, pd.DataFrame, Problem]:
    values = product(range(6), ("none", "friend", "spouse"), STATUSES, range(12), range(12))
    table = pd.DataFrame(list(values), columns=["age", "partner", "status", "income", "saved"])
    points = 2 * table["income"] + table["saved"] + table["age"]
    points += 5 * table["status"].isin(["married", "away"])
    coded = make_column_transformer(
        (OrdinalEncoder(), ["partner", "status"]), remainder="passthrough"
    )
    forest = RandomForestClassifier(60, max_depth=6, random_state=0)
    model = make_pipeline(coded, forest).fit(table, points >= 32)
    recourse = Problem.from_model(
        model,
        table,
        desired=True,
        causal=CAUSAL,
        law="only_if",
        actions={"age": "up", "status": "effect", "partner": "free"},
        features={"status": {"moves": MOVES}},
    )
    return model, table, recourse


def test_few_boxes_prove_a_plan_through_causal_rules_moves_and_a_forest(
    fitted: tuple[Any, pd.DataFrame, Problem],
) -> None:
    model, table, recourse = fitted
    refused = table[~model.predict(table)].sample(15, random_state=1)
    for row in refused.to_dict("records"):
        answer = recourse.plan(row, node_limit=FEW)
        assert answer.optimal, (row, answer.status)
        assert answer.status == "infeasible" or recourse.check(answer)
