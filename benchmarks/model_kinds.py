"""Measure kinds of models: parsed or asked, seconds to fit and for a person.

python -m benchmarks.model_kinds                                         German and Adult, every kind
python -m benchmarks.model_kinds --data german --kind 'calibrated LR'    one of them
python -m benchmarks.model_kinds --sdists DIR --taiwan FILE              with data sets that are not shipped

The data sets are those of `benchmarks.beside_treecf`, which says where they come from. A model is trained on four
fifths of the rows; the people are refused ones of the rest, drawn at random by `--seed`. Seconds are processor time;
the limit for a person is one of the clock. Each end is put to the model once more: `wrong` counts the refused ones.
`gap` is the median of cost over bound, less 1, of people whose plan is not proved.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, QuantileTransformer, StandardScaler

from benchmarks.beside_treecf import DATA, xgboost
from benchmarks.clock import processor_time
from benchmarks.record import recorded
from p2c.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.beside_treecf import People
    from p2c.problem import Plan


def linear() -> Any:
    return make_pipeline(StandardScaler(), LogisticRegression())


def forest(trees: int = 50, depth: int = 6) -> Any:
    return RandomForestClassifier(trees, max_depth=depth, random_state=0)


def boosted() -> Any:
    return GradientBoostingClassifier(random_state=0)


def lightgbm() -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_estimators=300, num_leaves=63, verbose=-1, n_jobs=1, random_state=0)


def several() -> list[tuple[str, Any]]:
    return [("linear", linear()), ("forest", forest()), ("boosted", boosted())]


KINDS: dict[str, Callable[[], Any]] = {
    "LR": linear,
    "LR of quantiles": lambda: make_pipeline(
        QuantileTransformer(n_quantiles=100), LogisticRegression()
    ),
    "LR of products": lambda: make_pipeline(
        StandardScaler(), PolynomialFeatures(2), LogisticRegression(max_iter=1000)
    ),
    "calibrated LR": lambda: CalibratedClassifierCV(linear()),
    "bag of 5 LR": lambda: BaggingClassifier(linear(), n_estimators=5, random_state=0),
    "naive Bayes": GaussianNB,
    "Bernoulli": lambda: make_pipeline(StandardScaler(), BernoulliNB()),
    "RF 50x6": forest,
    "extra trees 50x6": lambda: ExtraTreesClassifier(50, max_depth=6, random_state=0),
    "calibrated RF": lambda: CalibratedClassifierCV(forest(), method="isotonic", cv=3),
    "RF 300x10": lambda: forest(300, 10),
    "GBC 100x3": boosted,
    "histogram": lambda: HistGradientBoostingClassifier(random_state=0),
    "calibrated GBC": lambda: CalibratedClassifierCV(boosted(), cv=3),
    "LightGBM 300x63": lightgbm,
    "XGBoost 500x6": lambda: xgboost(500, 6),
    "XGBoost 1000x8": lambda: xgboost(1000, 8),
    "vote of shares": lambda: VotingClassifier(several(), voting="soft"),
    "vote": lambda: VotingClassifier(several()),
    "stack": lambda: StackingClassifier(several(), cv=3),
    "neighbours": lambda: make_pipeline(StandardScaler(), KNeighborsClassifier()),
}


def measure(people: People, kind: str, options: argparse.Namespace) -> str:
    """Return the line of one kind of model on a data set."""
    frame, wanted = people.frame, people.accepted.to_numpy().astype(int)
    order = np.random.default_rng(options.seed).permutation(len(frame))
    cut = len(frame) * 4 // 5
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = KINDS[kind]().fit(frame.iloc[order[:cut]], wanted[order[:cut]])
    actions = {name: "fixed" for name in frame.columns if name in people.fixed}
    problem, fit = processor_time(
        lambda: Problem.from_model(model, frame, desired=1, actions=actions)
    )
    rest = frame.iloc[order[cut:]]
    refused = rest[model.predict(rest) == 0].head(options.rows).to_dict("records")
    problem.plan(refused[0], time_limit=options.seconds)
    timed = [
        processor_time(lambda row=row: problem.plan(row, time_limit=options.seconds))
        for row in refused
    ]
    plans, seconds = [plan for plan, _ in timed], [each for _, each in timed]
    ends = [plan.counterfactual for plan in plans if plan.counterfactual is not None]
    wrong = int((model.predict(pd.DataFrame(ends)[list(frame.columns)]) != 1).sum()) if ends else 0
    assert problem.decider is not None
    gaps = list(filter(None, map(_gap, plans)))
    return (
        f"{'parsed' if problem.decider.is_read else 'asked':6} {fit:7.2f} {median(seconds):9.3f} {max(seconds):9.3f}"
        f" {sum(bool(plan.optimal) for plan in plans):6}/{len(plans)} {len(ends):6} {wrong:6}"
        f" {median(gaps) if gaps else 0:7.1%}"
    )


def _gap(plan: Plan) -> float | None:
    """Return how far a cost may be above the least; None without a bound."""
    if plan.optimal or not plan.cost or not plan.bound:
        return None
    return float(plan.cost / plan.bound - 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--data", choices=DATA, nargs="*", default=["german", "adult"])
    parser.add_argument("--kind", choices=KINDS, nargs="*", default=list(KINDS))
    parser.add_argument("--sdists", type=Path)
    parser.add_argument("--taiwan", type=Path)
    options = parser.parse_args()
    print(
        f"{'data':9} {'model':17} {'':6} {'fit s':>7} {'median s':>9} {'most s':>9} {'proved':>8} {'plans':>6} {'wrong':>6} {'gap':>7}"
    )
    for name in options.data:
        people = DATA[name](options)
        for kind in options.kind:
            print(f"{name:9} {kind:17} {measure(people, kind, options)}", flush=True)


if __name__ == "__main__":
    recorded("model_kinds", main)
