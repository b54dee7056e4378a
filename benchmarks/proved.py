"""Plans proved against the model itself: how many, at what cost and in what time, with the causal rules in place.

python -m benchmarks.proved                         Adult and German, a boosted model and a forest, 30 refused rows each
python -m benchmarks.proved --rows 100 --limit 1    more rows, one second for each

A model is trained on the first four fifths of a data set; the rows are refused ones of the last fifth, drawn at random by
`--seed`. Times are processor time of one person, everything else warm.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from statistics import median
from typing import TYPE_CHECKING, Any

from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier

from benchmarks.record import recorded
from benchmarks.verified import DATA, pipeline
from p2c.recourse import Recourse

if TYPE_CHECKING:
    from collections.abc import Callable

MODELS: dict[str, Callable[[], Any]] = {
    "GBC 100x3": lambda: GradientBoostingClassifier(n_estimators=100, max_depth=3, random_state=0),
    "RF 100x6": lambda: RandomForestClassifier(100, max_depth=6, random_state=0),
}


def measure(name: str, kind: str, *, rows: int, limit: float, seed: int) -> str:
    """Return one line on a model of a data set."""
    data = DATA[name]()
    cut = len(data.frame) * 4 // 5
    model = pipeline(MODELS[kind]())
    model.fit(data.frame[:cut], data.label[:cut])
    recourse = Recourse.fit(
        model,
        data.frame[:cut],
        desired=data.desired,
        actions=data.actions,
        features=data.features,
        causal=data.causal,
        law=data.law,
    )
    last = data.frame[cut:]
    refused = last[model.predict(last) != data.desired]
    people = refused.sample(min(rows, len(refused)), random_state=seed)
    recourse.plan(people.iloc[0])
    times, answers = [], []
    for _, row in people.iterrows():
        begin = time.process_time()
        answers.append(recourse.plan(row, time_limit=limit))
        times.append(time.process_time() - begin)
    proved = sum(each.optimal for each in answers)
    statuses = ", ".join(
        f"{count} {word}" for word, count in Counter(a.status for a in answers).items()
    )
    return (
        f"{name:7} {kind:10} {len(people):4} people: {statuses}; proved {proved}; "
        f"median {1000 * median(times):.1f} ms, most {1000 * max(times):.0f} ms"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=30)
    parser.add_argument("--limit", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    for name in DATA:
        for kind in MODELS:
            line = measure(name, kind, rows=given.rows, limit=given.limit, seed=given.seed)
            print(line, flush=True)


if __name__ == "__main__":
    recorded("proved", main)
