"""Plans proved against the model itself: how many, at what cost and in what time, with the causal rules in place.

python -m benchmarks.proved                         Adult and German: a boosted model, a forest, a linear one; 30 refused rows each
python -m benchmarks.proved --rows 100 --limit 1    more rows, one second for each
python -m benchmarks.proved --table --rows 2000     `Problem.plan_many` on so many refused rows of Adult, without and with causal rules
python -m benchmarks.proved --milp                  the linear model beside scipy's MILP, without causal rules
python -m benchmarks.proved --milp --taiwan FILE    the same on UCI's credit card clients of Taiwan, too

A model is trained on the first four fifths of a data set; the rows are refused ones of the last fifth, drawn at random by
`--seed`. Times are processor time of one person, everything else warm. A table is planned for when a hundred other rows have
been, so that what the model and the space keep is there.

Beside the MILP (`milp.py`), both are timed from the row to the cost, the model itself not asked by either; `recourse` is the whole
answer, with what asking the model takes. The model itself is asked about the MILP's end too, and where it refuses it the MILP is
solved once more, farther from the border, which is not timed.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Any

import pandas as pd
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from benchmarks.milp import MARGINS, CheapestChange
from benchmarks.record import recorded
from benchmarks.verified import DATA, Data, pipeline
from p2c._plan.outcome import Found
from p2c._plan.planner import find_plan
from p2c._plan.search.best_first import Limits
from p2c.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Callable

MODELS: dict[str, Callable[[], Any]] = {
    "GBC 100x3": lambda: GradientBoostingClassifier(n_estimators=100, max_depth=3, random_state=0),
    "RF 100x6": lambda: RandomForestClassifier(100, max_depth=6, random_state=0),
    "LR": lambda: LogisticRegression(max_iter=2_000),
}
SAME = 1e-9
"""By what share two costs may differ that are the same, as the contract has it."""


def fitted(
    name: str, kind: str, *, rows: int, seed: int, causes: bool = True
) -> tuple[Problem, pd.DataFrame]:
    """Return a model of a data set, with its causal rules or without, and rows that it refuses."""
    data = DATA[name]()
    cut = len(data.frame) * 4 // 5
    model = pipeline(MODELS[kind]())
    model.fit(data.frame[:cut], data.label[:cut])
    rules: dict[str, Any] = {"features": data.features, "causal": data.causal, "law": data.law}
    actions = {name: each for name, each in data.actions.items() if causes or each != "effect"}
    recourse = Problem.from_model(
        model,
        data.frame[:cut],
        desired=data.desired,
        actions=actions,
        **(rules if causes else {}),
    )
    last = data.frame[cut:]
    refused = last[model.predict(last) != data.desired]
    return recourse, refused.sample(min(rows, len(refused)), random_state=seed)


def table(*, causes: bool, rows: int, seed: int) -> str:
    """Return one line on how many people of a table are planned for in a second of one core."""
    recourse, people = fitted("adult", "GBC 100x3", rows=rows + 100, seed=seed, causes=causes)
    recourse.plan_many(people[:100], progress=False)
    begin = time.process_time()
    found = recourse.plan_many(people[100:], progress=False)
    seconds = time.process_time() - begin
    return (
        f"adult   GBC 100x3 plan_many, {'with' if causes else 'without'} causal rules: {len(found)} people, "
        f"verified {found.verified.sum()}, proved {found.optimal.sum()}; {len(found) / seconds:.0f} people a second"
    )


def measure(name: str, kind: str, *, rows: int, limit: float, seed: int) -> str:
    """Return one line on a model of a data set."""
    recourse, people = fitted(name, kind, rows=rows, seed=seed)
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


def taiwan(path: str) -> Data:
    """Return the credit card clients of Taiwan: who will pay, with what nobody changes fixed."""
    frame = pd.read_csv(path).drop(columns="id")
    names = ["sex", "education", "marriage"]
    frame[names] = frame[names].astype(str)
    fixed = dict.fromkeys(("sex", "age", "marriage"), "fixed")
    return Data(frame, frame.pop("will_default_next_month"), "0", fixed, {}, "", "iff")


def beside_milp(name: str, data: Data, *, rows: int, limit: float, seed: int) -> str:
    """Return one line on the linear model of a data set, with the least cost that a MILP finds beside ours."""
    cut, label = len(data.frame) * 4 // 5, data.label.astype(str)
    model = pipeline(MODELS["LR"]()).fit(data.frame[:cut], label[:cut])
    actions = {name: each for name, each in data.actions.items() if each != "effect"}
    recourse = Problem.from_model(model, data.frame, desired=data.desired, actions=actions)
    judged = recourse
    assert judged is not None
    last = data.frame[cut:]
    refused = last[model.predict(last) != data.desired]
    people = refused.sample(min(rows, len(refused)), random_state=seed)
    program = CheapestChange(model, judged.theory.features, data.desired)
    recourse.plan(people.iloc[0])
    seconds: dict[str, list[float]] = {"ours": [], "MILP": [], "recourse": []}
    found: Counter[str] = Counter()
    for _, row in people.iterrows():
        moments = [time.process_time()]
        state = judged.read_row(row)
        plan = find_plan(judged.compiled, state, Limits.within(limit))
        moments.append(time.process_time())
        change = program.change(row, MARGINS[0])
        moments.append(time.process_time())
        assert recourse.plan(row).optimal
        moments.append(time.process_time())
        for kind, (begin, end) in zip(seconds, pairwise(moments), strict=True):
            seconds[kind].append(end - begin)
        for margin in MARGINS[1:]:
            if change is None or recourse.decide(change[1].to_frame().T.astype(last.dtypes)).all():
                break
            change = program.change(row, margin)
        cost = change and change[0]
        found[_beside(plan.cost if isinstance(plan, Found) else None, cost)] += 1
    times = ", ".join(f"{kind} {1000 * median(each):.2f}" for kind, each in seconds.items())
    compared = ", ".join(f"{count} {word}" for word, count in found.items())
    return f"{name:7} LR beside a MILP {len(people):4} people: {compared}; median ms: {times}"


def _beside(ours: float | None, theirs: float | None) -> str:
    if ours is None or theirs is None:
        return "the same" if ours is theirs else "only one has a way"
    if abs(ours - theirs) <= SAME * max(ours, theirs):
        return "the same"
    return "dearer" if ours > theirs else "cheaper"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=30)
    parser.add_argument("--limit", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--milp", action="store_true", help="the linear model beside a MILP")
    parser.add_argument("--taiwan", metavar="FILE", help="the credit card clients of Taiwan")
    parser.add_argument("--table", action="store_true", help="people a second, as a table")
    given = parser.parse_args()
    if given.table:
        for causes in (False, True):
            print(table(causes=causes, rows=given.rows, seed=given.seed), flush=True)
        return
    if given.milp:
        sets = [(name, data()) for name, data in DATA.items()]
        sets += [("taiwan", taiwan(given.taiwan))] if given.taiwan else []
        for name, data in sets:
            line = beside_milp(name, data, rows=given.rows, limit=given.limit, seed=given.seed)
            print(line, flush=True)
        return
    for name in DATA:
        for kind in MODELS:
            line = measure(name, kind, rows=given.rows, limit=given.limit, seed=given.seed)
            print(line, flush=True)


if __name__ == "__main__":
    recorded("proved", main)
