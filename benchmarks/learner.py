"""FOLD-SE on the three data sets: ours, the plain one, and a tree of depth 5 behind one-hot columns.

python -m benchmarks.learner                   accuracy, size and CPU time over five random splits of 80/20
python -m benchmarks.learner --scale 5000000   time and memory of one fit, tables of 1/100, 1/10 and all of the rows
"""

from __future__ import annotations

import argparse
import random
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from benchmarks.record import recorded
from p2c._learn.foldse import FoldSE
from p2c._learn.foldse.literals import count_literals
from p2c.datasets import load_frame
from tests.learn.foldse.reference import Reference

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SEEDS = range(5)
PAGE = 4_096


@dataclass(frozen=True, slots=True)
class Data:
    """A data set as the learners take it."""

    name: str
    features: pd.DataFrame
    label: pd.Series
    positive: str


@dataclass(frozen=True, slots=True)
class Run:
    """One fit: accuracy on the rest, rules and literals, CPU milliseconds."""

    accuracy: float
    rules: int
    literals: int
    milliseconds: float


def data_sets() -> list[Data]:
    adult = load_frame("adult").drop(columns=["capital_gain_raw", "capital_loss"])
    german, cars = load_frame("german"), load_frame("cars")
    cars["label"] = cars["label"].where(cars["label"] == "unacc", "rest")
    named = [("adult", adult, "<=50K"), ("german", german, "good"), ("car", cars, "unacc")]
    return [
        Data(name, frame.drop(columns="label"), frame["label"], positive)
        for name, frame, positive in named
    ]


def splits(data: Data) -> Iterator[tuple[Any, Any]]:
    for seed in SEEDS:
        order = list(range(len(data.features)))
        random.Random(seed).shuffle(order)
        cut = int(0.8 * len(order))
        yield order[:cut], order[cut:]


def timed(work: Callable[[], Any], repeats: int) -> tuple[Any, float]:
    """Return the result and the least CPU time of some repeats, in milliseconds."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        result = work()
        times.append(time.process_time() - start)
    return result, 1_000 * min(times)


def run_ours(data: Data, train: Any, test: Any) -> tuple[Run, str]:
    features, label = data.features.iloc[train], data.label.iloc[train]
    model, spent = timed(lambda: FoldSE(positive=data.positive).fit(features, label), 5)
    accuracy = model.score(data.features.iloc[test], data.label.iloc[test])
    rules, literals = count_literals(model.to_program())
    return Run(accuracy, rules, literals, spent), model.program_


def run_reference(data: Data, train: Any, test: Any) -> tuple[Run, str]:
    rows = [
        {name: cell if isinstance(cell, str) else float(cell) for name, cell in row.items()}
        for row in data.features.to_dict("records")
    ]
    label = data.label.tolist()
    learn, known = [rows[place] for place in train], [label[place] for place in train]
    model, spent = timed(lambda: Reference().fit(learn, known, data.positive), 2)
    predicted = model.predict([rows[place] for place in test])
    right = [said == label[place] for said, place in zip(predicted, test, strict=True)]
    rules, literals = model.size()
    return Run(float(np.mean(right)), rules, literals, spent), model.text()


def run_tree(data: Data, train: Any, test: Any) -> tuple[Run, str]:
    features, label = data.features.iloc[train], data.label.iloc[train]
    names = [n for n, c in features.items() if not pd.api.types.is_numeric_dtype(c)]
    one_hot = (OneHotEncoder(handle_unknown="ignore"), names)

    def fit() -> Any:
        tree = DecisionTreeClassifier(max_depth=5, random_state=0)
        return make_pipeline(make_column_transformer(one_hot, remainder="passthrough"), tree).fit(
            features, label
        )

    model, spent = timed(fit, 3)
    tree = model[-1].tree_
    leaves = np.flatnonzero(tree.children_left < 0)
    depths = tree.compute_node_depths()[leaves] - 1
    accuracy = model.score(data.features.iloc[test], data.label.iloc[test])
    return Run(accuracy, len(leaves), int(depths.sum()), spent), ""


LEARNERS = {"ours": run_ours, "plain Python": run_reference, "tree, depth 5": run_tree}


def compare() -> None:
    print(f"{'':8}{'':16}{'accuracy':>9}{'rules':>7}{'literals':>9}{'CPU ms':>9}{'of ours':>9}")
    for data in data_sets():
        texts: dict[str, list[str]] = {}
        ours = 0.0
        for name, learner in LEARNERS.items():
            pairs = [learner(data, train, test) for train, test in splits(data)]
            texts[name] = [text for _, text in pairs]
            runs = [(r.accuracy, r.rules, r.literals, r.milliseconds) for r, _ in pairs]
            accuracy, rules, literals, spent = np.mean(runs, axis=0)
            ours = ours or spent
            figures = f"{accuracy:9.3f}{rules:7.1f}{literals:9.1f}{spent:9.1f}{spent / ours:8.1f}x"
            print(f"{data.name:8}{name:16}{figures}")
        same = texts["ours"] == texts["plain Python"]
        print(f"{'':8}the programs of ours and plain Python are {'equal' if same else 'DIFFERENT'}")


def mixed_table(count: int) -> tuple[pd.DataFrame, pd.Series]:
    data = data_sets()[0]
    picked = np.random.default_rng(0).integers(0, len(data.features), count)
    features = data.features.iloc[picked].reset_index(drop=True)
    return features, data.label.iloc[picked].reset_index(drop=True)


def measured_table(count: int) -> tuple[pd.DataFrame, pd.Series]:
    values = np.random.default_rng(0).normal(size=(count, 10))
    label = values[:, 0] + values[:, 1] * values[:, 2] > 0
    return pd.DataFrame(values).add_prefix("c"), pd.Series(label)


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE


def scale(count: int) -> None:
    for name, table in {"like Adult": mixed_table, "ten measures": measured_table}.items():
        for rows in (count // 100, count // 10, count):
            features, label = table(rows)
            before, peak = resident(), [0]
            done = threading.Event()

            def watch(peak: list[int] = peak, done: threading.Event = done) -> None:
                while not done.wait(0.005):
                    peak[0] = max(peak[0], resident())

            watcher = threading.Thread(target=watch)
            watcher.start()
            start = time.process_time()
            FoldSE().fit(features, label)
            spent = time.process_time() - start
            done.set()
            watcher.join()
            size = int(features.memory_usage().sum())
            extra = max(peak[0] - before, 0) / size
            print(
                f"{name:14}{rows:10,} rows {1e6 * spent / rows:6.2f} µs a row, "
                f"memory beside the frame {extra:.2f} of its size"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=int, metavar="ROWS")
    rows = parser.parse_args().scale
    if rows:
        scale(rows)
    else:
        compare()


if __name__ == "__main__":
    recorded("learner", main)
