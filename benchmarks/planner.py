"""How fast the planner is: one command, one table, ratios measured in the same run.

    python -m benchmarks.planner [--rows 100] [--quick] [--plot growth.svg]

Warm plans on the embedded problems, beside clingo asked the same; the first call of a fresh process; tables of a million
rows; synthetic problems of growing size; growth with rules, features and the size of domains. Times are medians of
processor time, so that a busy machine disturbs them less.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from functools import partial
from itertools import product, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.record import recorded
from benchmarks.world import embedded
from p2c import Problem, datasets
from p2c._engines import ENGINES
from tests.synthetic import synthetic

if TYPE_CHECKING:
    from collections.abc import Callable

    from p2c._plan.outcome import Plan

SIZES = ((30, 100, 40), (60, 400, 100), (100, 800, 150))
CHANGES = ((1, 3), (3, 6))
"""How many changes away from somebody accepted the people of synthetic problems are, at least and at most."""
SEEDS = 3


@dataclass(frozen=True)
class Timing:
    """Milliseconds for each person: the median and the most."""

    median: float
    most: float
    answered: int
    asked: int

    def __str__(self) -> str:
        rest = "" if self.answered == self.asked else f" ({self.answered} of {self.asked} answered)"
        return f"{self.median:.3f} / {self.most:.1f}{rest}"


def refused(name: str, count: int) -> list[dict[str, Any]]:
    """Return different refused people of an embedded problem."""
    problem = embedded(name)
    names = list(problem.theory.feature)
    if name == "loan":
        rows = [
            {"age": 20 + i % 60, "debt": 97 * i, "loan_duration": 1 + i % 60,
             "bank_balance": 500 * i, "credit_score": 400 + i % 200}
            for i in range(1, 4 * count)
        ]  # fmt: skip
    else:
        rows = [{key: row[key] for key in names} for row in datasets.load_rows(name, "all")]
    different = {tuple(row.values()): row for row in rows}
    solvable = []
    for row in different.values():
        if problem.plan(row).status == "found":
            solvable.append(row)
        if len(solvable) == count:
            break
    return solvable


def timed(ask: Callable[[Any], Any], rows: list[Any], *, rounds: int = 3) -> Timing:
    """Return how long each row takes once everything is warm."""
    answered = sum(ask(row).status in ("found", "already", "infeasible") for row in rows)
    spans = []
    for row in rows:
        best = min(_span(ask, row) for _ in range(rounds))
        spans.append(best * 1e3)
    return Timing(statistics.median(spans), max(spans), answered, len(rows))


def _span(ask: Callable[[Any], Any], row: Any) -> float:
    begin = time.process_time()
    ask(row)
    return time.process_time() - begin


def warm(count: int, *, engines: list[str]) -> None:
    """Print warm plans on the embedded problems."""
    print("\n## Warm plan(), ms a person: median / most\n")
    print(f"| problem | people | {' | '.join(engines)} | ratio |")
    print("|---|---|" + "---|" * (len(engines) + 1))
    for name in datasets.names():
        rows = refused(name, count)
        problem = embedded(name)
        spans = [timed(partial(_ask, problem, engine, None), rows) for engine in engines]
        ratio = f"{spans[-1].median / spans[0].median:.1f}×" if len(spans) > 1 else ""
        print(f"| {name} | {len(rows)} | {' | '.join(map(str, spans))} | {ratio} |")


def first_call() -> None:
    """Print what the first plan of a fresh process takes, imports included."""
    code = (
        "import time; t=time.perf_counter(); import p2c, tempfile, pathlib\n"
        "from p2c import datasets\n"
        "f=pathlib.Path(tempfile.mkdtemp())/'loan.toml'; f.write_text(datasets.problem_text('loan'))\n"
        "p2c.Problem.load(f).plan(datasets.rows('loan')['john']); print(time.perf_counter()-t)"
    )
    spans = [
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)
        for _ in range(3)
    ]
    print(f"\n## First call of a fresh process, imports included: {min(spans):.2f} s")


def tables(size: int) -> None:
    """Print how many refused Adult rows a second plan_many answers on one core."""
    import pandas as pd

    problem = embedded("adult")
    frame = datasets.load_frame("adult", "all")[list(problem.theory.feature)]
    status = problem.plan_many(frame, details=False)["status"]
    rejected = frame[status != "already"]
    big = pd.concat([rejected] * (size // len(rejected) + 1), ignore_index=True)[:size]
    ask = partial(problem.plan_many, details=False, progress=False)
    span = min(_span(ask, big) for _ in range(3))
    print(f"\n## plan_many, Adult, {size:,} rows: {size / span:,.0f} rows a second of one core")


def large(count: int, *, engines: list[str], limit: float) -> None:
    """Print plans on synthetic problems, a few of each size."""
    print(f"\n## Synthetic problems, ms a person: median / most (limit {limit:g} s for clingo)\n")
    print(f"| features / rules / causal rules | changes away | {' | '.join(engines)} | ratio |")
    print("|---|---|" + "---|" * (len(engines) + 1))
    for size, changes in product(SIZES, CHANGES):
        people: list[tuple[Problem, Any]] = []
        for seed in range(1, SEEDS + 1):
            document, rows = synthetic(*size, seed=seed, people=count, changes=changes)
            people += zip(repeat(Problem.from_dict(document)), rows)
        limits = [None if engine == "native" else limit for engine in engines]
        asking = [partial(_ask_one, *each) for each in zip(engines, limits, strict=True)]
        spans = [timed(ask, people, rounds=1) for ask in asking]
        ratio = f"{spans[-1].median / spans[0].median:.1f}×" if len(spans) > 1 else ""
        shown = f"{' / '.join(map(str, size))} | {changes[0]} to {changes[1]}"
        print(f"| {shown} | {' | '.join(map(str, spans))} | {ratio} |")


def growth() -> dict[str, list[tuple[int, float]]]:
    """Return how the time for a person grows with rules, features and the size of a domain."""
    curves: dict[str, list[tuple[int, float]]] = {"rules": [], "features": [], "domain size": []}
    for count in (10, 20, 40, 80):
        document, rows = synthetic(20, count, 10, seed=2)
        curves["rules"].append((count, _median(document, rows)))
    for count in (10, 20, 40):
        document, rows = synthetic(count, 40, count // 3, seed=3)
        curves["features"].append((count, _median(document, rows)))
    for power in range(2, 10):
        document = dict(embedded("loan").to_dict())
        features = {key: dict(keys) for key, keys in document["features"].items()}
        features["bank_balance"]["max"] = 60_000 + 10**power
        row = {**datasets.rows("loan")["john"], "bank_balance": 40_000}
        problem = {**document, "features": features}
        curves["domain size"].append((60_000 + 10**power, _median(problem, [row] * 20)))
    print("\n## Growth, ms a person\n")
    for name, points in curves.items():
        print(f"- {name}: " + ", ".join(f"{x:,}: {y:.3f}" for x, y in points))
    return curves


def _ask(problem: Problem, engine: str, limit: float | None, row: Any) -> Plan:
    return problem.plan(row, engine=engine, time_limit=limit)


def _ask_one(engine: str, limit: float | None, person: tuple[Problem, Any]) -> Plan:
    problem, row = person
    return _ask(problem, engine, limit, row)


def _median(document: dict[str, Any], rows: list[Any]) -> float:
    problem = Problem.from_dict(document)
    return timed(partial(_ask, problem, "native", 5.0), rows[:10], rounds=1).median


def plot(curves: dict[str, list[tuple[int, float]]], path: Path) -> None:
    """Draw the growth curves."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(curves), figsize=(4 * len(curves), 3))
    for axis, (name, points) in zip(axes, curves.items(), strict=True):
        axis.plot(*zip(*points, strict=True), marker="o", color="black")
        axis.set(xlabel=name, ylabel="ms a person", xscale="log", yscale="log")
    figure.tight_layout()
    figure.savefig(path)


def main() -> None:
    """Run all measurements."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--limit", type=float, default=10.0)
    parser.add_argument("--plot", type=Path)
    options = parser.parse_args()
    engines = [name for name in ("native", "clingo") if ENGINES[name].version() is not None]
    warm(10 if options.quick else options.rows, engines=engines)
    first_call()
    tables(100_000 if options.quick else 1_000_000)
    large(2 if options.quick else 10, engines=engines, limit=options.limit)
    curves = growth()
    if options.plot:
        plot(curves, options.plot)


if __name__ == "__main__":
    recorded("planner", main)
