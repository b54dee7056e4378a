"""Audits of whole data sets with a boosted model: who has a way, who has none and why, in how many seconds; the figures repeated by pandas.

python -m benchmarks.audits                          Adult and German, by sex, race and age or by age alone, on two processes
python -m benchmarks.audits --taiwan FILE            the same for UCI's credit card clients of Taiwan
python -m benchmarks.audits --data german            one of them

The model is a boosted one of 100 trees of depth 3, trained on all rows. Nobody changes sex, race, age, where they come from, their
marriage or what they have gained on the market; education only rises. The audit is that of `p2c audit`: it begins with a folder and a CSV file and ends with the report in all
formats. Seconds are those on the clock, with the processor time of all processes beside them.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.parquet as pq

from benchmarks.proved import MODELS, taiwan
from benchmarks.record import recorded
from benchmarks.verified import DATA, pipeline
from p2c._audit.audit import FORMATS
from p2c._batch.audited import audit_files
from p2c.problem import Problem

if TYPE_CHECKING:
    import pandas as pd

    from benchmarks.verified import Data
    from p2c._audit.audit import Audit

AGES = "age:<30,30-50,>50"
GROUPS = {"adult": ["sex", "race", AGES], "german": [AGES], "taiwan": ["sex", AGES]}
FIXED = {
    "adult": ("age", "race", "sex", "native_country", "marital_status", "relationship", "capital_gain"),
    "german": ("age", "personal_status_and_sex", "foreign_worker", "credit_history", "people_liable"),
    "taiwan": ("age", "sex", "marriage"),
}  # fmt: skip


def audited(name: str, data: Data, workers: int) -> str:
    """Return one line on the audit of a data set."""
    label = data.label.astype(str)
    model = pipeline(MODELS["GBC 100x3"]()).fit(data.frame, label)
    actions = dict.fromkeys(FIXED[name], "fixed")
    actions |= {"education_num": "up"} if "education_num" in data.frame else {}
    recourse = Problem.from_model(
        model, data.frame, desired=data.desired, actions=actions, name=name
    )
    with TemporaryDirectory() as folder:
        home, people, target = (Path(folder, each) for each in ("model", "people.csv", "out"))
        recourse.save(home)
        data.frame.to_csv(people, index=False)
        begin, before = time.monotonic(), _processors()
        found = audit_files(Problem.load(home), people, target, by=GROUPS[name], workers=workers)
        for ending in FORMATS:
            (target / f"audit.{ending}").write_bytes(found.report(format=ending))
        seconds, spent = time.monotonic() - begin, _processors() - before
        told = json.loads((target / "audit.json").read_text(encoding="utf-8"))
        _repeat(found, pq.read_table(target / "people").to_pandas(), data.frame)
    whole = found.everybody
    boxes = 0 if found.confinement is None else len(found.confinement.boxes)
    left = 0 if told["why_not"] is None else told["why_not"]["not_found_out"]
    left += 0 if told["confined"] is None else told["confined"]["not_found_out"]
    return (
        f"{name:7} {whole.people:6,} people, {len(found.tallies)} groups: {whole.refused.count:,} refused, {whole.stuck.count:,} without a way "
        f"in {boxes} boxes, {left} not found out; {seconds:.0f} s on {workers} processes, {spent:.0f} s of processor time; figures as by pandas"
    )


def _processors() -> float:
    """Return the processor time of this process and of those that it started and that have ended."""
    return sum(os.times()[:4])


def _repeat(found: Audit, answers: pd.DataFrame, people: pd.DataFrame) -> None:
    """Raise where a figure is not what plain pandas counts in the table of the batch."""
    bands = {"<30": people["age"] < 30, ">50": people["age"] > 50}
    bands["30-50"] = ~bands["<30"] & ~bands[">50"]
    for tally in found.tallies:
        rows = np.ones(len(answers), dtype=bool)
        for column, value in tally.traits:
            rows &= (
                bands[value] if column == "age" else people[column].astype(str) == value
            ).to_numpy()
        part = answers[rows]
        assert tally.statuses == part["status"].astype(str).value_counts().to_dict(), tally.group
        ways = part[part["status"] == "found"]
        costs: Any = ways["cost"].sort_values()
        assert not len(costs) or tally.costs["50%"] == costs.iloc[(len(costs) + 1) // 2 - 1]
        first = ways["first"].astype(str).map(lambda text: json.loads(text)["feature"])
        assert tally.first == first.value_counts().to_dict(), tally.group


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", choices=GROUPS, nargs="*", default=list(GROUPS))
    parser.add_argument("--taiwan", metavar="FILE", help="the credit card clients of Taiwan")
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    for name in given.data:
        if name == "taiwan" and not given.taiwan:
            continue
        data = taiwan(given.taiwan) if name == "taiwan" else DATA[name]()
        print(audited(name, data, given.workers), flush=True)


if __name__ == "__main__":
    recorded("audits", main)
