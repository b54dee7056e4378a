"""Who has no way to a model's yes, beside reachml: the same verdicts, and people a second, in one run.

python -m benchmarks.reachable                  people who are drawn
python -m benchmarks.reachable --sdist FILE     those of reachml's own audit of German credit

It needs `pip install --pre reachml cplex` (its solver SCIP imports the other one) beside p2c. The people who are drawn have the
features of the action set in reachml's README: age and marital status that nobody changes, years since the last default that
only rise, and a job out of three, one-hot there and a category here. With `--sdist`, the source archive of reachml, its German
data are described as its audit describes them, with its actions `complex_1D`: who one is, what the loan is and what lies in the past
stays; accounts, savings, employment, instalments and a guarantor can only be gained; and at one's address one stays two years more at
most. reachml enumerates every point that somebody can reach and asks the model about all of them; p2c proves boxes.
"""

from __future__ import annotations

import argparse
import io
import tarfile
import time
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.ensemble import GradientBoostingClassifier

from benchmarks.record import recorded
from p2c.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

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
    recourse = Problem.from_model(model, people, desired=True, actions=actions, features=ranges)
    audit = recourse.audit(people, progress=False)
    ways = np.ones(len(people), dtype=bool)
    for box, _ in audit.confined:
        ways[box.rows] = False
    return ways


STAY, LONGEST, MORE = "YearsAtResidence", 7, 2
"""The feature that only rises, its greatest value, and by how much it may rise."""
GAINED = (
    "HasGuarantor",
    "HistoryOfBankInstallments",
    "HistoryOfStoreInstallments",
    "YearsEmployed_geq_1",
    "SavingsAcct_exists",
    "SavingsAcct_geq_100",
    "CheckingAcct_exists",
    "CheckingAcct_geq_0",
)
AS_IT_IS = {
    "Age": "age",
    STAY: "residence_since",
    "LiablePersons": "liable_persons",
    "LoanRate": "installment_rate",
    "ForeignWorker": "is_foreign_worker",
    "Housing_is_Renter": "housing_is_renter",
    "Housing_is_Owner": "housing_is_owner",
    "Housing_is_Free": "housing_is_free",
    "Job_is_Unskilled": "job_is_unskilled",
    "Job_is_Skilled": "job_is_skilled",
    "Job_is_Management": "job_is_management",
    "HasGuarantor": "guarantor",
    "LoanRequiredForBusiness": "purpose_is_business",
    "NoCreditHistory": "credit_history_no_credits_taken",
    "HistoryOfLatePayments": "credit_history_delay_in_paying_credits",
    "HistoryOfDelinquency": "credit_history_critical_credit_history",
    "HistoryOfBankInstallments": "has_bank_installments",
    "HistoryOfStoreInstallments": "has_store_installments",
}
ANY_OF = {
    "Male": "male_divorced male_single male_married",
    "Single": "male_single female_single",
    "YearsEmployed_geq_1": "employed_bt_1_4_yr employed_bt_4_7_yr employed_geq_7_yr",
    "LoanRequiredForEducation": "purpose_is_education purpose_is_retraining",
    "LoanRequiredForCar": "purpose_is_car_new purpose_is_car_used",
    "LoanRequiredForHome": "purpose_is_furniture purpose_is_radio/tv purpose_is_domestic_appliances purpose_is_repairs",
    "CheckingAcct_geq_0": "checking_acct_bt_0_200 checking_acct_ge_200",
    "SavingsAcct_geq_100": "savings_acct_bt_100_499 savings_acct_bt_500_999 savings_acct_ge_1000",
}


def german(sdist: Path) -> tuple[pd.DataFrame, Any]:
    """Return the people of reachml's audit of German credit as it describes them, and who of them is a good risk."""
    with tarfile.open(sdist) as archive:
        (name,) = (
            each
            for each in archive.getnames()
            if each.endswith("iclr2024/data/german/german_data.csv")
        )
        file = archive.extractfile(name)
        assert file is not None
        raw = pd.read_csv(io.BytesIO(file.read())).astype(int)
    columns = {name: raw[column] for name, column in AS_IT_IS.items()}
    columns |= {name: raw[some.split()].any(axis=1) for name, some in ANY_OF.items()}
    for name in ("checking_acct", "savings_acct"):
        columns[f"{name.title().replace('_', '')}_exists"] = raw[f"no_{name}"] == 0
    for least in (1000, 2000, 5000, 10000):
        columns[f"CreditAmt_geq_{least}K"] = raw["credit_amt"] >= least
    for least in (12, 24, 36):
        columns[f"LoanDuration_geq_{least}"] = raw["duration"] >= least
    columns["LoanDuration_leq_6"] = raw["duration"] <= 6
    return pd.DataFrame(columns).astype(int), raw["is_credit_risk_good"] == 1


def german_by_reachml(model: Any, people: pd.DataFrame) -> Any:
    from reachml import ActionSet, ReachableSetDatabase, ResponsivenessAuditor

    actions = ActionSet(people)
    actions[[name for name in people if name not in (STAY, *GAINED)]].actionable = False
    actions[[STAY, *GAINED]].step_direction = 1
    actions[STAY].lb, actions[STAY].ub, actions[STAY].step_ub = 0, LONGEST, MORE
    with TemporaryDirectory() as folder:
        database = ReachableSetDatabase(actions, path=str(Path(folder) / "sets.h5"))
        database.generate(people, overwrite=True)
        auditor = ResponsivenessAuditor(database, model)
        told = auditor(people.to_numpy(), np.zeros(len(people)), target=True)
    return told["recourse"].to_numpy(dtype=bool)


def german_by_p2c(model: Any, people: pd.DataFrame) -> Any:
    """Return the same verdicts; how long one may stay hangs on how long one has stayed, so each such group has its own limit."""
    actions = {name: "up" if name in (STAY, *GAINED) else "fixed" for name in people}
    ways = pd.Series(True, index=people.index)
    for years in people[STAY].unique().tolist():
        group = people[people[STAY] == years]
        limits = {"min": 0, "max": min(LONGEST, years + MORE)}
        ranges = {name: {"min": 0, "max": 1} for name in GAINED} | {STAY: limits}
        recourse = Problem.from_model(model, people, desired=True, actions=actions, features=ranges)
        audit = recourse.audit(group, progress=False)
        for box, _ in audit.confined:
            ways.loc[group.index[box.rows]] = False
    return ways.to_numpy()


def compare(people: pd.DataFrame, ways: Mapping[str, Callable[[], Any]]) -> None:
    """Print what each finds in what time, and on how many people they agree."""
    found = {}
    for name, verdicts in ways.items():
        begin = time.process_time()
        found[name] = verdicts()
        spent = time.process_time() - begin
        print(
            f"{name}: {len(people) / spent:,.0f} people a second of processor time, {(~found[name]).sum()} without a way"
        )
    same = int((found["p2c"] == found["reachml"]).sum())
    print(f"the same verdict for {same} of {len(people)} people")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--people", type=int, default=300)
    parser.add_argument("--years", type=int, default=21)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sdist", type=Path, metavar="FILE", help="the source archive of reachml")
    asked = parser.parse_args()
    if asked.sdist:
        people, fine = german(asked.sdist)
        model = GradientBoostingClassifier(random_state=0).fit(people, fine)
        people = people.sample(min(asked.people, len(people)), random_state=asked.seed)
        ways = {
            "p2c": partial(german_by_p2c, model, people),
            "reachml": partial(german_by_reachml, model, people),
        }
    else:
        people, fine = draw_people(asked.people, asked.years, asked.seed)
        model = learn(people, fine)
        ways = {
            "p2c": partial(verdicts_by_p2c, model, people, asked.years),
            "reachml": partial(verdicts_by_reachml, model, people, asked.years),
        }
    compare(people, ways)


if __name__ == "__main__":
    recorded("reachable", main)
