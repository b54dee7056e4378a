"""From a model's file and a table to a confirmed plan in two commands: six kinds of models, seconds for each.

    python -m benchmarks.two_commands [--only skops xgboost] [--seconds 60]

Each model is trained on a data set that comes with p2c, and stored as its library stores it, beside its table as CSV. Then
two commands run, each as a process of its own: `p2c fit`, and the command that it names at its end, for the first person who
is refused. The answer has to be a plan that the model was asked about and accepted; how far it is proved is told. A
kind whose library is not installed is named and left out (`pip install 'p2c-recourse[skops,onnx,xgboost,lightgbm,catboost]'
skl2onnx`). The exit code is 1 where an answer is no confirmed plan or both commands took longer than `--seconds`.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

from benchmarks.proved import MODELS
from benchmarks.record import recorded
from benchmarks.verified import adult, german, pipeline

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.verified import Data

NEXT = "next: p2c "
"""What stands before the command that `p2c fit` names at its end."""
GAPS = 0.05
"""The share of CatBoost's numbers that are taken away."""


@dataclass(frozen=True, slots=True)
class Desk:
    """What somebody has at hand: a model's file, its table, and what else `p2c fit` has to be told."""

    model: Path
    table: Path
    options: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the two commands came to, and the seconds of each by the clock."""

    fit: float
    plan: float
    answer: dict[str, Any]

    @property
    def is_confirmed(self) -> bool:
        """Tell whether there is a plan whose end the model accepted."""
        return self.answer["status"] == "found" and self.answer["model"]["verified"] is True


def skops_boosting(folder: Path) -> Desk:
    """Adult with scikit-learn's boosting of 100 trees, texts encoded in a pipeline."""
    from skops import io

    data = adult()
    io.dump(pipeline(MODELS["GBC 100x3"]()).fit(data.frame, data.label), folder / "model.skops")
    return _desk(data, folder, "model.skops")


def xgboost_file(folder: Path) -> Desk:
    """German with XGBoost, which keeps its categories itself."""
    from xgboost import XGBClassifier

    data = german()
    model = XGBClassifier(n_estimators=60, max_depth=3, enable_categorical=True, random_state=0)
    model.fit(_categorical(data.frame), data.label == data.desired)
    model.save_model(folder / "model.ubj")
    return _desk(data, folder, "model.ubj", named=False)


def lightgbm_file(folder: Path) -> Desk:
    """German with LightGBM, which keeps its categories itself."""
    from lightgbm import LGBMClassifier

    data = german()
    model = LGBMClassifier(n_estimators=60, num_leaves=8, random_state=0, verbose=-1)
    model.fit(_categorical(data.frame), data.label == data.desired)
    model.booster_.save_model(str(folder / "model.txt"))
    return _desk(data, folder, "model.txt", named=False)


def catboost_file(folder: Path) -> Desk:
    """Adult with CatBoost: texts as they are, and numbers that are missing here and there."""
    from catboost import CatBoostClassifier

    data = adult()
    frame, chance = data.frame.copy(), np.random.default_rng(0)
    for name in frame.select_dtypes("number"):
        frame[name] = frame[name].astype(float).mask(chance.random(len(frame)) < GAPS)
    texts = list(_texts(frame))
    model = CatBoostClassifier(
        iterations=100, depth=4, random_seed=0, verbose=False, allow_writing_files=False
    )
    model.fit(frame, data.label, cat_features=texts)
    model.save_model(str(folder / "model.cbm"))
    frame.assign(label=data.label).to_csv(folder / "table.csv", index=False)
    return Desk(folder / "model.cbm", folder / "table.csv", _options(data, named=True))


def onnx_pipeline(folder: Path) -> Desk:
    """German with a linear pipeline, scaled and encoded, as ONNX."""
    from skl2onnx import to_onnx
    from skl2onnx.common.data_types import FloatTensorType, StringTensorType

    data = german()
    texts = _texts(data.frame)
    model = pipeline(LogisticRegression(max_iter=2_000)).fit(data.frame, data.label)
    kinds = [
        (name, StringTensorType([None, 1]) if name in texts else FloatTensorType([None, 1]))
        for name in data.frame
    ]
    graph = to_onnx(model, initial_types=kinds, options={"zipmap": False})
    (folder / "model.onnx").write_bytes(graph.SerializeToString())
    return _desk(data, folder, "model.onnx")


def scorecard(folder: Path) -> Desk:
    """German with points for ranges and categories, from a logistic regression on them; 20 points double the odds."""
    names = [
        "checking_account_status",
        "savings_account",
        "duration_months",
        "credit_amount",
        "age",
    ]
    data = german()
    data = replace(data, frame=data.frame[names])
    ranges = {
        name: [-np.inf, *np.unique(data.frame[name].quantile([0.2, 0.4, 0.6, 0.8])), np.inf]
        for name in names[2:]
    }
    parts = {
        name: pd.cut(data.frame[name], ranges[name], right=False)
        if name in ranges
        else data.frame[name]
        for name in names
    }
    columns = pd.get_dummies(pd.DataFrame(parts))
    model = LogisticRegression(C=1.0, max_iter=2_000).fit(columns, data.label == data.desired)
    points = dict(zip(columns, np.round(model.coef_[0] * 20 / np.log(2)), strict=True))
    base = round(600 + model.intercept_[0] * 20 / np.log(2))
    lines = ["feature,from,to,points", f",600,,{base}"]
    for name, part in parts.items():
        for value in part.unique():
            ends = _ends(value) if name in ranges else (value, "")
            lines.append(f"{name},{ends[0]},{ends[1]},{points[f'{name}_{value}']:.0f}")
    (folder / "model.csv").write_text("\n".join(lines) + "\n")
    return _desk(data, folder, "model.csv", named=False)


def _ends(part: pd.Interval) -> tuple[str, str]:
    """Return the ends of a range as a scorecard has them: nothing where it is open."""
    low, high = ("" if np.isinf(each) else f"{each:g}" for each in (part.left, part.right))
    return low, high


def _texts(frame: pd.DataFrame) -> frozenset[str]:
    return frozenset(frame.columns) - frozenset(frame.select_dtypes("number").columns)


def _categorical(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.astype(dict.fromkeys(_texts(frame), "category"))


def _desk(data: Data, folder: Path, model: str, *, named: bool = True) -> Desk:
    """Write the table beside a model, whose classes are those of the data or, not `named`, 0 and 1."""
    data.frame.assign(label=data.label).to_csv(folder / "table.csv", index=False)
    return Desk(folder / model, folder / "table.csv", _options(data, named=named))


def _options(data: Data, *, named: bool) -> tuple[str, ...]:
    """Return what only a person knows: the column of outcomes, the wanted one, and who may change what."""
    told = ["--target", "label"]
    if named:
        told += ["--desired", data.desired]
    for name, action in data.actions.items():
        if name in data.frame and action in ("fixed", "up", "down"):
            told += [f"--{action}", name]
    return tuple(told)


KINDS: dict[str, Callable[[Path], Desk]] = {
    "skops": skops_boosting,
    "xgboost": xgboost_file,
    "lightgbm": lightgbm_file,
    "catboost": catboost_file,
    "onnx": onnx_pipeline,
    "scorecard": scorecard,
}


def two_commands(desk: Desk, folder: Path) -> Outcome:
    """Run `p2c fit` and the command that it names next, and return the answer as JSON."""
    words = ["fit", str(desk.model), "--data", str(desk.table), *desk.options, "-o", str(folder)]
    told, fit = _run(words)
    *_, last = told.splitlines()
    assert last.startswith(NEXT), told
    answer, plan = _run([*shlex.split(last.removeprefix(NEXT)), "--json"])
    return Outcome(fit, plan, json.loads(answer))


def _run(words: list[str]) -> tuple[str, float]:
    begin = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "p2c", *words],
        stdout=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
        check=False,
    )
    seconds = time.monotonic() - begin
    # One who cannot be helped is an answer too, and ends with 1.
    assert done.returncode in (0, 1), shlex.join(["p2c", *words])
    return done.stdout, seconds


def measure(kinds: list[str], most: float) -> bool:
    """Print a line for each kind, and return whether all have a confirmed plan in time."""
    print(f"{'':10}  fit, s  plan, s  answer")
    good = True
    for kind in kinds:
        with tempfile.TemporaryDirectory() as place:
            try:
                desk = KINDS[kind](Path(place))
            except ImportError as error:
                print(f"{kind:10}  left out: {error.name} is not installed")
                continue
            found = two_commands(desk, Path(place) / "desk")
        said = found.answer.get("model") or {}
        told = [
            found.answer["status"],
            *(word for word in ("verified", "proved") if said.get(word)),
        ]
        late = found.fit + found.plan > most
        good = good and found.is_confirmed and not late
        line = f"{kind:10} {found.fit:7.1f} {found.plan:8.1f}  {', '.join(told)}"
        print(f"{line}{', TOO SLOW' if late else ''}", flush=True)
    print(
        f"load of the machine at the end: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors"
    )
    return good


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=KINDS, nargs="+", default=list(KINDS))
    parser.add_argument("--seconds", type=float, default=60, help="for both commands together")
    given = parser.parse_args()
    if not measure(given.only, given.seconds):
        sys.exit(1)


if __name__ == "__main__":
    recorded("two_commands", main)
