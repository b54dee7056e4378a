"""The paper's rules and the measured figures, from the public data."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import StratifiedKFold

import p2c
from p2c._learn.foldse import FoldSE
from p2c._learn.foldse.literals import count_literals
from p2c._rules.evaluate import goal_holds
from p2c.datasets import load_frame

ADULT_RULES = """\
label(X,'<=50K') :- not marital_status(X,'Married-civ-spouse'), capital_gain(X,N1), N1=<6849.0.
label(X,'<=50K') :- marital_status(X,'Married-civ-spouse'), capital_gain(X,N1), N1=<5013.0, \
education_num(X,N2), N2=<12.0."""


def adult() -> tuple[pd.DataFrame, pd.Series, str]:
    frame = load_frame("adult").drop(columns=["capital_gain_raw", "capital_loss"])
    return frame.drop(columns="label"), frame["label"], "<=50K"


def german() -> tuple[pd.DataFrame, pd.Series, str]:
    frame = load_frame("german")
    return frame.drop(columns="label"), frame["label"], "good"


def cars() -> tuple[pd.DataFrame, pd.Series, str]:
    frame = load_frame("cars")
    label = frame["label"].where(frame["label"] == "unacc", "rest")
    return frame.drop(columns="label"), label, "unacc"


def test_adult_gives_the_rules_of_the_paper_letter_for_letter() -> None:
    features, label, positive = adult()
    folds = StratifiedKFold(5, shuffle=True, random_state=42).split(features, label)
    train, _ = next(iter(folds))
    model = FoldSE(positive=positive).fit(features.iloc[train], label.iloc[train])
    assert model.program_ == ADULT_RULES


@pytest.mark.parametrize(
    ("data", "accuracy", "rules", "literals"),
    [(adult, 0.845, 2, 5), (german, 0.670, 4, 11.8), (cars, 0.976, 7.8, 15)],
)
def test_five_splits_give_the_measured_figures(
    data: object, accuracy: float, rules: float, literals: float
) -> None:
    assert callable(data)
    features, label, positive = data()
    figures = []
    for seed in range(5):
        order = list(range(len(features)))
        random.Random(seed).shuffle(order)
        train, test = np.split(np.array(order), [int(0.8 * len(order))])
        model = FoldSE(positive=positive).fit(features.iloc[train], label.iloc[train])
        score = model.score(features.iloc[test], label.iloc[test])
        figures.append((score, *count_literals(model.to_program())))
    found = np.mean(figures, axis=0)
    assert round(found[0], 3) == accuracy
    assert found[1:].tolist() == pytest.approx([rules, literals])


def test_a_learned_program_decides_in_a_problem_as_the_model_predicts() -> None:
    features, label, positive = german()
    model = FoldSE(positive=positive).fit(features, label)
    described = {
        name: {"type": "float", "min": float(column.min()), "max": float(column.max())}
        if pd.api.types.is_numeric_dtype(column)
        else {"type": "category", "values": sorted(set(column))}
        for name, column in features.items()
    }
    problem = p2c.Problem.from_dict(
        {
            "name": "german",
            "goal": "label(X,'good')",
            "rules": model.program_,
            "features": described,
        }
    )
    rows: list[Any] = features.head(200).to_dict("records")
    decided = [goal_holds(problem.theory, problem.read_row(row)) for row in rows]
    assert decided == (model.predict(features.head(200)) == "good").tolist()
