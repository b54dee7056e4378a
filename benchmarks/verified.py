"""Plans that the model confirms: how often, at what cost and with how many questions, beside a sample and DiCE.

python -m benchmarks.verified                             Adult and German, four models, 50 refused rows each
python -m benchmarks.verified --rows 200 --dice 0         the same on 200 rows, without DiCE
python -m benchmarks.verified --data german --model GBC --dice 20

A model is trained on the first four fifths of a data set. The rows are the refused ones of the last fifth and, where
those are too few, of the rest from its end. With `--tune` they come from the first hundred rows, which are for trying
things out and are never measured.

`found` is the share of rows with a verified plan among those that can be helped: where the plan or an exhaustive look at
a sample of reachable states (all single changes to the trial values of each feature, and random changes of two to four
features) is accepted by the model. `flipped` counts the verified plans whose end, put together here and not by the
search, the model accepts. `beaten` counts the rows where the sample holds an accepted state that costs over one percent
less than the plan. DiCE (`pip install 'p2c-recourse[bench]'`) changes the same features on the first `--dice` of the same rows;
its answers are priced by the same distances, and count where the model accepts them.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import random
import time
import tomllib
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from benchmarks.record import recorded
from p2c._blackbox.walk import Walker
from p2c._rules.parse import parse
from p2c._rules.render import render
from p2c._rules.syntax import Program
from p2c._spec.feature import distance
from p2c.datasets import load_frame, problem_text
from p2c.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Callable

    from p2c._plan.outcome import Plan

MODELS: dict[str, Callable[[], Any]] = {
    "GBC": lambda: GradientBoostingClassifier(random_state=0),
    "RF": lambda: RandomForestClassifier(random_state=0),
    "LR": lambda: LogisticRegression(max_iter=2_000),
    "MLP": lambda: MLPClassifier((64, 32), early_stopping=True, random_state=0),
}
TUNING = 100
TEXT = ["object", "str"]
DROPPED = ["capital_gain_raw", "capital_loss", "fnlwgt", "education"]


@dataclass(frozen=True, slots=True)
class Data:
    """A data set, what may be done about its features, and what follows from what."""

    frame: pd.DataFrame
    label: pd.Series
    desired: str
    actions: dict[str, str]
    features: dict[str, dict[str, Any]]
    causal: str
    law: str


@dataclass(frozen=True, slots=True)
class Row:
    """What became of one row; a cost is None where no accepted state was found."""

    confirmed: Plan
    valid: bool
    flipped: bool
    sampled: float | None
    seconds: float


def causal_part(name: str) -> tuple[dict[str, Any], str]:
    """Return a packaged problem and its causal rules as text."""
    problem = tomllib.loads(problem_text(name))
    heads = problem["features"].keys()
    rules = parse(problem["rules"]).rules
    causal = tuple(rule for rule in rules if rule.head and rule.head.predicate in heads)
    return problem, render(Program(causal))


def adult() -> Data:
    frame = load_frame("adult").drop(columns=DROPPED)
    problem, causal = causal_part("adult")
    fixed = dict.fromkeys(("race", "sex", "native_country"), "fixed")
    free = {"relationship": "free", "marital_status": "effect", "age": "up", "education_num": "up"}
    moves = {"marital_status": {"moves": problem["features"]["marital_status"]["moves"]}}
    return Data(frame, frame.pop("label"), ">50K", fixed | free, moves, causal, "only_if")


def german() -> Data:
    frame = load_frame("german")
    _, causal = causal_part("german")
    fixed = ("personal_status_and_sex", "foreign_worker", "credit_history", "age", "people_liable")
    return Data(frame, frame.pop("label"), "good", dict.fromkeys(fixed, "fixed"), {}, causal, "iff")


DATA = {"adult": adult, "german": german}


def pipeline(model: Any) -> Any:
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    columns = make_column_transformer(
        (encoder, make_column_selector(dtype_include=TEXT)), remainder=StandardScaler()
    )
    return make_pipeline(columns, model)


def cheapest_sample(recourse: Problem, row: pd.Series, *, count: int, seed: int) -> float | None:
    """Return the least cost of an accepted state among all single changes and random larger ones."""
    assert recourse.surrogate is not None
    assert recourse.decider is not None
    state = recourse.surrogate.read_row(recourse.decider.source.view.row(row))
    walker = Walker(recourse.surrogate.theory, state)
    chance = random.Random(seed)
    table = recourse.decider.source.table
    assert recourse is not None
    assert recourse.decider is not None
    trials, _ = recourse.decider.trial_values(recourse.theory)
    changes: list[tuple[tuple[str, Any], ...]] = [
        ((name, value),) for name, values in trials.items() for value in values
    ]
    for _ in range(count):
        names = chance.sample(list(trials), min(chance.choice((2, 2, 3, 4)), len(trials)))
        places = [chance.randrange(len(table)) for _ in names]
        drawn = [table[name].iloc[place] for name, place in zip(names, places, strict=True)]
        values = [each.item() if isinstance(each, np.generic) else each for each in drawn]
        changes.append(tuple(zip(names, values, strict=True)))
    walks = [walk for each in changes for walk in walker.follow(each)]
    if not walks:
        return None
    assert recourse.decider.source.model is not None
    rows = recourse.decider.source.view.ask(row, [walk.state for walk in walks])
    accepted = recourse.decider.source.model.answer(rows).accepted
    costs = [walker.cost(walk) for walk, good in zip(walks, accepted, strict=True) if good]
    return min(costs, default=None)


def flips(model: Any, row: pd.Series, confirmed: Plan, *, dtypes: Any, desired: str) -> bool:
    """Tell whether the model accepts the end of a plan, put into the row here."""
    end = confirmed.end or {}
    told = row.to_dict() | {name: value for name, value in end.items() if value is not None}
    return bool(model.predict(pd.DataFrame([told]).astype(dtypes))[0] == desired)


def _is_verified(plan: Plan) -> bool:
    return plan.model is not None and plan.model.verified


def _guide_accepted(plan: Plan) -> bool:
    """Tell whether the model accepts the end of the plan made from the rules alone."""
    guide = plan.model.guide if plan.model is not None else None
    return _is_verified(guide or plan)


def run(
    recourse: Problem, rows: pd.DataFrame, model: Any, *, desired: str, samples: int
) -> list[Row]:
    found = []
    for place, (_, row) in enumerate(rows.iterrows()):
        start = time.perf_counter()
        confirmed = recourse.plan(row)
        seconds = time.perf_counter() - start
        valid = bool(recourse.check(confirmed)) if _is_verified(confirmed) else True
        good = _is_verified(confirmed)
        flipped = good and flips(model, row, confirmed, dtypes=rows.dtypes, desired=desired)
        sampled = cheapest_sample(recourse, row, count=samples, seed=place)
        found.append(Row(confirmed, valid, flipped, sampled, seconds))
    return found


def dice_line(data: Data, model: Any, recourse: Problem, rows: pd.DataFrame, method: str) -> str:
    """Return what a method of DiCE finds on the rows, priced by the same distances."""
    import dice_ml

    train = data.frame.assign(label=(data.label == data.desired).astype(int))
    numbers = list(data.frame.select_dtypes("number").columns)
    described = dice_ml.Data(dataframe=train, continuous_features=numbers, outcome_name="label")
    flag = Flag(model, data.desired)
    dice = dice_ml.Dice(described, dice_ml.Model(model=flag, backend="sklearn"), method=method)
    features = recourse.theory.feature
    free = [name for name, feature in features.items() if feature.action.is_direct]
    seeded: dict[str, Any] = {"random_seed": 0} if method == "random" else {}
    costs: list[float] = []
    asked: list[float] = []
    start = time.perf_counter()
    for place in range(len(rows)):
        random.seed(0)
        np.random.seed(0)
        row = rows.iloc[[place]]
        flag.rows = 0
        # DiCE raises an error of its own where it finds nothing, and others on some rows.
        with contextlib.suppress(Exception), contextlib.redirect_stderr(io.StringIO()):
            limits = {
                name: [float(row[name].iloc[0]), float(data.frame[name].max())]
                for name in free
                if data.actions.get(name) == "up"
            }
            answer = dice.generate_counterfactuals(
                row,
                total_CFs=1,
                desired_class=1,
                features_to_vary=free,
                permitted_range=limits,
                verbose=False,
                **seeded,
            )
            end = answer.cf_examples_list[0].final_cfs_df[list(data.frame)].astype(row.dtypes)
            asked.append(flag.rows)
            if flag.predict(end)[0] == 1:
                pairs = [(features[n], row[n].iloc[0], end[n].iloc[0]) for n in features]
                costs.append(sum(float(distance(f, _plain(a), _plain(b))) for f, a, b in pairs))
    seconds = (time.perf_counter() - start) / max(len(rows), 1)
    return (
        f"        DiCE {method}: found {len(costs)} of {len(rows)}"
        f"  cost {np.median(costs or [np.nan]):.3f}"
        f"  rows asked {np.median(asked or [np.nan]):.0f}  s {seconds:.2f}"
    )


class Flag:
    """A pipeline whose classes are 0 and 1, as DiCE wants them."""

    def __init__(self, model: Any, desired: str) -> None:
        self.model, self.place = model, list(model.classes_).index(desired)
        self.rows = 0

    def predict(self, rows: Any) -> Any:
        """Return 0 or 1 for each row."""
        return self.predict_proba(rows).argmax(axis=1)

    def predict_proba(self, rows: Any) -> Any:
        """Return the shares of 0 and 1 for each row."""
        self.rows += len(rows)
        share = self.model.predict_proba(rows)[:, self.place]
        return np.column_stack([1 - share, share])


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def report(name: str, kind: str, found: list[Row], recourse: Problem) -> None:
    good = [each for each in found if _is_verified(each.confirmed)]
    able = [each for each in found if _is_verified(each.confirmed) or each.sampled is not None]
    both = [(each.sampled, each) for each in good if each.sampled is not None]
    beaten = [e for sampled, e in both if sampled < (e.confirmed.cost or 0) * 0.99 - 1e-9]
    guided = np.mean([_guide_accepted(each.confirmed) for each in found])
    print(
        f"{name:7}{kind:5}fidelity {recourse.extraction.fidelity if recourse.extraction else 0:.3f}"
        f"  found {len(good)} of {len(able)} ({len(found)} rows)"
        f"  flipped {sum(e.flipped for e in good)}  valid {sum(e.valid for e in good)}"
        f"  rules alone {guided:.2f}"
        f"  cost {np.median([e.confirmed.cost for e in good] or [np.nan]):.3f}"
        f"  sample {np.median([sampled for sampled, _ in both] or [np.nan]):.3f}"
        f"  beaten {len(beaten)}"
        f"  rows asked {np.median([e.confirmed.model.queries for e in found if e.confirmed.model]):.0f}"
        f"  calls {np.median([e.confirmed.model.calls for e in found if e.confirmed.model]):.0f}"
        f"  s {np.median([e.seconds for e in found]):.2f}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=50)
    parser.add_argument("--tune", action="store_true", help="rows that are never measured")
    parser.add_argument("--samples", type=int, default=1_000)
    parser.add_argument("--dice", type=int, default=0, metavar="ROWS")
    parser.add_argument("--budget", type=int, default=2_000)
    parser.add_argument("--data", choices=DATA, nargs="*", default=list(DATA))
    parser.add_argument("--model", choices=MODELS, nargs="*", default=list(MODELS))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in options.data:
        data = DATA[name]()
        cut = int(0.8 * len(data.frame))
        train, test = data.frame[:cut], data.frame[cut:]
        for kind in options.model:
            model = pipeline(MODELS[kind]()).fit(train, data.label[:cut])
            recourse = Problem.from_model(
                model,
                data.frame,
                causal=data.causal,
                law=data.law,
                actions=data.actions,
                features=data.features,
                desired=data.desired,
                budget=options.budget,
            )
            others = pd.concat([test, train[TUNING:][::-1]])
            pool = train[:TUNING] if options.tune else others
            refused = pool[model.predict(pool) != data.desired][: options.rows]
            found = run(recourse, refused, model, desired=data.desired, samples=options.samples)
            report(name, kind, found, recourse)
            for method in ("random", "genetic") if options.dice else ():
                line = dice_line(data, model, recourse, refused[: options.dice], method)
                print(line, flush=True)


if __name__ == "__main__":
    recorded("verified", main)
