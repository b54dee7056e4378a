"""A batch with a model: Adult with a boosted one of 100 trees, Parquet to Parquet, killed again and again, every end asked.

    python -m benchmarks.desk [--rows 1000000] [--workers 2] [--part-rows 100000] [--kills 10] [--many 2000] [--compared 200]

The model is trained on all of Adult and saved as a folder with the causal rules; the input is Adult with its rows drawn again
and again. `p2c batch` runs undisturbed and is timed; then it runs once more, is killed with signal 9 at random moments and taken
up again, and its hashes are compared. Of the answers, every end is put together here and the model asked about it; some
people, drawn at random, are asked about one by one and compared with the library. `plan_many` plans for some rows of
Adult as they are. The exit code is 1 where the model refuses an end, an answer is not the library's or hashes differ; nothing
is recorded then.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.batch import timed
from benchmarks.clock import processor_time
from benchmarks.proved import MODELS
from benchmarks.record import recorded
from benchmarks.verified import adult, pipeline
from p2c.problem import Problem

if TYPE_CHECKING:
    import pandas as pd

    from benchmarks.batch import Run

ASKED = 100_000
"""About how many rows the model is asked at a time."""


def adult_recourse() -> tuple[Problem, Any, pd.DataFrame]:
    """Return Adult with a boosted model and causal rules, the model, and the rows."""
    data = adult()
    model = pipeline(MODELS["GBC 100x3"]()).fit(data.frame, data.label)
    recourse = Problem.from_model(
        model,
        data.frame,
        desired=data.desired,
        name="adult",
        actions=data.actions,
        features=data.features,
        causal=data.causal,
        law=data.law,
    )
    return recourse, model, data.frame


def draw(people: pd.DataFrame, path: Path, *, rows: int, group: int) -> pa.Table:
    """Write and return rows drawn again and again, the same for the same number, in row groups of a size."""
    drawn = np.random.default_rng(0).integers(0, len(people), rows)
    table = pa.Table.from_pandas(people, preserve_index=False).take(pa.array(drawn))
    pq.write_table(table, path, row_group_size=group)
    return table


def hashes(target: Path) -> dict[str, str]:
    """Return the hash of everything that a batch has written."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in target.iterdir()}


def kill_and_resume(command: list[str], whole: Run, times: int) -> int:
    """Run a command, kill it at random moments and begin it again, so many times; return how often it was not done yet."""
    chance, killed = random.Random(0), 0
    for _ in range(times):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        try:
            process.wait(chance.uniform(0, 1.5 * whole.seconds / times))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            killed += 1
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return killed


@dataclass(frozen=True, slots=True)
class Flipped:
    """How many answers there are of each kind, and of how many of them the model says the same."""

    found: int
    refused: int
    accepted: int
    verified: int
    proved: int
    paid: int
    already: int
    kept: int
    others: int
    helpless: int
    """Those who have neither a plan nor need of one, and whom the model refuses."""

    @property
    def is_right(self) -> bool:
        """Tell whether the model says the same of all; that a plan is proved is no part of it."""
        told = {self.refused, self.accepted, self.verified, self.paid}
        return told == {self.found} and self.kept == self.already and self.helpless == self.others

    def __str__(self) -> str:
        return (
            f"found {self.found:,}: {self.refused:,} refused before, {self.accepted:,} accepted at the end, "
            f"{self.verified:,} verified, {self.proved:,} proved, {self.paid:,} at a cost\n"
            f"already {self.already:,}: {self.kept:,} accepted, at no cost\n"
            f"anything else {self.others:,}, of them {self.others - self.helpless:,} accepted"
        )


def flipped(model: Any, table: pa.Table, answers: pa.Table, desired: str) -> Flipped:
    """Ask the model about every row and every end, and return how often the answers are as it says."""
    status = np.array(answers.column("status").to_pylist())
    ends = pa.table(
        {
            name: answers.column(f"end_{name}").cast(table.schema.field(name).type)
            for name in table.column_names
        }
    )
    before, after = (np.concatenate(list(_asked(model, each, desired))) for each in (table, ends))
    found, already = status == "found", status == "already"
    optimal, verified = (
        np.array(answers.column(each).to_pylist()) for each in ("optimal", "verified")
    )
    cost = answers.column("cost").to_numpy()
    others = ~found & ~already
    counted = {
        "found": found,
        "refused": found & ~before,
        "accepted": found & after,
        "verified": found & verified,
        "proved": found & optimal,
        "paid": found & (cost > 0),
        "already": already,
        "kept": already & before & (cost == 0),
        "others": others,
        "helpless": others & ~before,
    }
    return Flipped(**{name: int(each.sum()) for name, each in counted.items()})


def _asked(model: Any, rows: pa.Table, desired: str) -> Any:
    for begin in range(0, len(rows), ASKED):
        yield model.predict(rows.slice(begin, ASKED).to_pandas()) == desired


def compared(problem: Problem, table: pa.Table, answers: pa.Table, count: int) -> int:
    """Return how many of some people, planned for alone, have the same status, cost and end as in the batch."""
    names, same = problem.theory.feature, 0
    for place in random.Random(1).sample(range(len(table)), count):
        row, line = (each.slice(place, 1).to_pylist()[0] for each in (table, answers))
        plan = problem.plan(row)
        ends = {name: line[f"end_{name}"] for name in names}
        same += (line["status"], line["cost"]) == (
            plan.status,
            plan.cost,
        ) and plan.end in (None, ends)
    return same


def measure(folder: Path, given: argparse.Namespace) -> bool:
    """Print all figures, and return whether every answer is as the model, the library and the undisturbed run have it."""
    recourse, model, people = adult_recourse()
    desk, source = folder / "adult", folder / "people.parquet"
    recourse.save(desk)
    table = draw(people, source, rows=given.rows, group=given.part_rows)
    print(f"{given.rows:,} rows of Adult, {len(people.drop_duplicates()):,} people, {recourse}")
    plan = [sys.executable, "-m", "p2c", "batch", str(desk), str(source)]
    options = ["--workers", str(given.workers), "--part-rows", str(given.part_rows)]
    run = timed([*plan, str(folder / "whole"), *options])
    print(
        f"p2c batch, {given.workers} workers: {run}, {_rate(given.rows, run.seconds)} by the clock"
    )
    some = people.sample(min(given.many, len(people)), random_state=0)
    begin = time.monotonic()
    _, used = processor_time(lambda: recourse.plan_many(some, progress=False))
    print(
        f"plan_many: {_rate(len(some), time.monotonic() - begin)} by the clock, {_rate(len(some), used)} of a processor"
    )
    answers = pq.read_table(folder / "whole")
    asked = flipped(model, table, answers, ">50K")
    print(asked)
    alike = compared(Problem.load(desk), table, answers, given.compared)
    print(f"{alike} of {given.compared} are the library's")
    good = asked.is_right and alike == given.compared
    if given.kills:
        killed = kill_and_resume([*plan, str(folder / "killed"), *options], run, given.kills)
        same = hashes(folder / "killed") == hashes(folder / "whole")
        told = "the same hashes" if same else "OTHER HASHES"
        print(f"killed {killed} times and taken up again: {told}")
        good = good and same
    print(
        f"load of the machine at the end: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors"
    )
    return good


def _rate(rows: int, seconds: float) -> str:
    return f"{rows / seconds:,.0f} rows a second"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--part-rows", type=int, default=100_000)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--many", type=int, default=2_000, help="rows for plan_many")
    parser.add_argument(
        "--compared", type=int, default=200, help="people who are asked about alone"
    )
    parser.add_argument(
        "--folder", type=Path, help="where to work; a folder for a while by default"
    )
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as place:
        good = measure(Path(place), given)
    if not good:
        sys.exit(1)


if __name__ == "__main__":
    recorded("desk", main)
