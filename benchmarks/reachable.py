"""Who has no way to a model's yes, beside reachml: the same verdicts, and people a second, in one run.

`python -m benchmarks.reachable` needs `pip install --pre reachml cplex` (its solver SCIP imports the other one) beside p2c. The people have the features of reachml's own example of an
action set: age and marital status that nobody changes, years since the last default that only rise, and a job out of
three, one-hot there and a category here. reachml enumerates every point that somebody can reach and asks the model about all of
them; p2c proves boxes.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd

from p2c.recourse import Recourse

JOBS = ("a", "b", "c")


def draw_people(count: int, years: int, seed: int) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(seed)
    people = pd.DataFrame(
        {
            "job": rng.choice(JOBS, count),
            "age": rng.integers(18, 80, count),
            "marital_status": rng.integers(0, 2, count),
            "years_since_last_default": rng.integers(0, years + 1, count),
        }
    )
    score = people["years_since_last_default"] / years + (people["job"] == "a") + people["age"] / 60
    return people, score + rng.normal(0, 0.3, count) > 2.6


def learn(people: pd.DataFrame, fine: Any) -> Any:
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import GradientBoostingClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    coded = (OneHotEncoder(categories=[list(JOBS)], sparse_output=False), ["job"])
    table = make_column_transformer(coded, remainder="passthrough", verbose_feature_names_out=False)
    booster = GradientBoostingClassifier(n_estimators=60, random_state=0)
    return make_pipeline(table, booster).fit(people, fine)


def verdicts_by_reachml(model: Any, people: pd.DataFrame, years: int) -> Any:
    from reachml import ActionSet, ReachableSetDatabase, ResponsivenessAuditor
    from reachml.constraints import OneHotEncoding

    coded = model[0].transform(people)
    names = [str(name) for name in model[0].get_feature_names_out()]
    actions = ActionSet(pd.DataFrame(coded, columns=names))
    actions[["age", "marital_status"]].actionable = False
    actions["years_since_last_default"].lb, actions["years_since_last_default"].ub = 0, years
    actions["years_since_last_default"].step_direction = 1
    actions.constraints.add(constraint=OneHotEncoding(names=names[: len(JOBS)]))
    with TemporaryDirectory() as folder:
        database = ReachableSetDatabase(actions, path=str(Path(folder) / "sets.h5"))
        database.generate(pd.DataFrame(coded, columns=names), overwrite=True)
        auditor = ResponsivenessAuditor(database, model[-1])
        told = auditor(coded, np.zeros(len(coded)), target=True)
    return told["recourse"].to_numpy(dtype=bool)


def verdicts_by_p2c(model: Any, people: pd.DataFrame, years: int) -> Any:
    actions = {"age": "fixed", "marital_status": "fixed", "years_since_last_default": "up"}
    ranges = {"years_since_last_default": {"min": 0, "max": years}}
    recourse = Recourse.fit(model, people, desired=True, actions=actions, features=ranges)
    audit = recourse.audit(people, progress=False)
    ways = np.ones(len(people), dtype=bool)
    for box, _ in audit.confined:
        ways[box.rows] = False
    return ways


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=300)
    parser.add_argument("--years", type=int, default=21)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    people, fine = draw_people(asked.people, asked.years, asked.seed)
    model = learn(people, fine)
    found = {}
    for name, verdicts in (("p2c", verdicts_by_p2c), ("reachml", verdicts_by_reachml)):
        begin = time.process_time()
        found[name] = verdicts(model, people, asked.years)
        spent = time.process_time() - begin
        print(
            f"{name}: {len(people) / spent:,.0f} people a second of processor time, {(~found[name]).sum()} without a way"
        )
    same = int((found["p2c"] == found["reachml"]).sum())
    print(f"the same verdict for {same} of {len(people)} people")


if __name__ == "__main__":
    main()
