"""The supplement's table: how well rules stand in for a model, ours beside the paper's.

python -m benchmarks.fidelity                      four models, three data sets, five random splits of 80/20
python -m benchmarks.fidelity --data german car --seeds 2

A model is trained on four fifths; FOLD-SE learns from its answers on the same rows; both are measured on the rest. In
percent: the mean over the seeds and, after ±, the standard deviation. Precision, recall and F1 are weighted by class.
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import precision_recall_fscore_support
from sklearn.neural_network import MLPClassifier

from benchmarks.tables.supplement import PRINTED, mean
from benchmarks.verified import pipeline
from p2c._learn.extract.logic import extract_logic
from p2c.datasets import load_frame

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd
    from numpy.typing import NDArray

MODELS: dict[str, Callable[[int], Any]] = {
    "DNN": lambda seed: MLPClassifier((64, 32), alpha=1.0, max_iter=40, random_state=seed),
    "GBC": lambda seed: GradientBoostingClassifier(random_state=seed),
    "RF": lambda seed: RandomForestClassifier(random_state=seed),
    "LR": lambda _: LogisticRegression(max_iter=2_000),
}

PAPER = {
    (name, model): (
        *map(mean, PRINTED[name, f"FOLD-SE[{model}]"]),
        mean(PRINTED[name, model][1]),
    )
    for name in ("adult", "german", "car")
    for model in MODELS
}
"""Fidelity, accuracy, precision, recall and F1 of FOLD-SE[model], and the accuracy of the model itself."""


@dataclass(frozen=True, slots=True)
class Scores:
    """One split: fidelity, accuracy, precision, recall and F1 of the rules, and the same but fidelity of the model."""

    rules: tuple[float, ...]
    model: tuple[float, ...]


def tables() -> dict[str, tuple[pd.DataFrame, pd.Series, str]]:
    """Return the data sets: features, labels and the class that counts as desired."""
    adult, german, car = load_frame("adult"), load_frame("german"), load_frame("cars")
    adult = adult.drop(columns=["capital_gain_raw", "capital_loss"])
    car["label"] = car["label"].where(car["label"] == "unacc", "acc")
    return {
        "adult": (adult, adult.pop("label"), ">50K"),
        "german": (german, german.pop("label"), "good"),
        "car": (car, car.pop("label"), "acc"),
    }


def one_split(
    frame: pd.DataFrame, label: pd.Series, desired: str, make: Callable[[int], Any], seed: int
) -> Scores:
    held_out: NDArray[np.bool_] = np.zeros(len(frame), dtype=bool)
    held_out[np.random.default_rng(seed).permutation(len(frame))[: len(frame) // 5]] = True
    model = pipeline(make(seed)).fit(frame[~held_out], label[~held_out])
    found = extract_logic(model, frame, label, desired=desired, held_out=held_out, seed=seed)
    rules = (found.fidelity, found.accuracy, found.precision, found.recall, found.f1)
    true, said = label[held_out], model.predict(frame[held_out])
    shares = precision_recall_fscore_support(true, said, average="weighted", zero_division=0)
    return Scores(rules, (float((true == said).mean()), *shares[:3]))


def shown(values: list[tuple[float, ...]]) -> str:
    table = 100 * np.array(values, dtype=float)
    pairs = zip(table.mean(axis=0), table.std(axis=0), strict=True)
    return "  ".join(f"{mean:5.1f}±{spread:3.1f}" for mean, spread in pairs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    known = tables()
    parser.add_argument("--data", choices=known, nargs="*", default=list(known))
    parser.add_argument("--model", choices=MODELS, nargs="*", default=list(MODELS))
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print("                         Fid.       Acc.       Prec.      Rec.       F1     ")
    for name in options.data:
        frame, label, desired = known[name]
        for kind, make in ((each, MODELS[each]) for each in options.model):
            runs = [one_split(frame, label, desired, make, seed) for seed in range(options.seeds)]
            *paper, paper_model = PAPER[name, kind]
            print(f"{name:7}{kind:14}{'':13}{shown([each.model for each in runs])}")
            print(f"{name:7}FOLD-SE[{kind}]".ljust(21) + shown([each.rules for each in runs]))
            line = "  ".join(f"{value:5.1f}    " for value in paper)
            print(
                f"{'':7}the paper".ljust(21) + f"{line}  (the model itself {paper_model})",
                flush=True,
            )


if __name__ == "__main__":
    main()
