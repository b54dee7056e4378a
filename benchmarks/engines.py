"""What each engine takes on the embedded problems, a person: by the clock, and by the processor with all that is started.

Run from the root of the repository: python -m benchmarks.engines [people]
The people are refused ones of the data, no two alike to the problem; for the loan, which has none, made-up ones.
The first person is shown apart: for them clingo grounds the problem. Time by the clock means something on a quiet machine only.
"""

from __future__ import annotations

import math
import random
import resource
import statistics
import sys
import time
import tomllib
from typing import TYPE_CHECKING, Any

from benchmarks.record import recorded
from p2c._engines import ENGINES
from p2c._engines.instance import Instance
from p2c._engines.scasp.program import ScaspProgram
from p2c._plan.compiled.space import Space
from p2c.datasets import load_rows, names, problem_text
from p2c.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from p2c._engines import Engine
    from p2c._spec.row import State

ASKED: dict[str, Engine] = {
    "native": ENGINES["native"],
    "clingo": ENGINES["clingo"],
    "scasp": ENGINES["scasp"],
}
MADE_UP = 10_000
"""Random rows of a problem that has no data."""


def everybody(problem: Problem) -> Iterator[dict[str, Any]]:
    """Yield the people of a problem in random order, always the same."""
    rng = random.Random(problem.name)
    if problem.name != "loan":
        data = load_rows(problem.name)
        for row in rng.sample(data, len(data)):
            yield {name: row[name] for name in problem.theory.feature}
        return
    for _ in range(MADE_UP):
        yield {
            each.name: each.domain.value(rng.randrange(each.domain.size))
            for each in problem.theory.features
        }


def refused(problem: Problem, count: int) -> list[State]:
    """Return people whom a problem refuses, no two alike."""
    found: dict[tuple[Any, ...], State] = {}
    for row in everybody(problem):
        if len(found) == count:
            break
        if problem.plan(row, engine="native").status != "already":
            found.setdefault(tuple(row.values()), problem.read_row(row))
    return list(found.values())


def spent() -> float:
    """Return the processor time of this process and of those that it started and that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def timed(
    engine: Engine, problem: Problem, people: list[State]
) -> tuple[list[float], float, list[Any]]:
    """Return the seconds of each person by the clock, those of all by the processor, and the costs."""
    space = Space(problem.theory)
    times, costs = [], []
    before = spent()
    for state in people:
        begin = time.perf_counter()
        costs.append(engine.plan(space, state).cost)
        times.append(time.perf_counter() - begin)
    return times, spent() - before, costs


def same(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, rel_tol=1e-9)


def measure(name: str, count: int) -> None:
    problem = Problem.from_dict(tomllib.loads(problem_text(name)))
    people = refused(problem, count)
    expected: list[Any] = []
    for title, engine in ASKED.items():
        if engine.version() is None:
            continue
        times, processor, costs = timed(engine, problem, people)
        expected = expected or costs
        agree = all(map(same, expected, costs))
        first, rest = times[0] * 1e3, [each * 1e3 for each in times[1:]]
        shown = f"{first:9.1f} {statistics.median(rest):10.2f} {max(rest):9.1f}"
        mean = processor / len(people) * 1e3
        print(f"{name:8} {title:10} {shown} {mean:13.2f}  {'yes' if agree else 'NO'}", flush=True)
    lines = ScaspProgram(Instance.of(problem.compiled, people[0]).dynamics).text.splitlines()
    print(f"{name:8} {len(people)} people; s(CASP)'s program has {len(lines)} lines")


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    titles = f"{'first ms':>9} {'median ms':>10} {'worst ms':>9} {'processor ms':>13}"
    print(f"{'problem':8} {'engine':10} {titles}  same costs")
    for name in names():
        measure(name, count)


if __name__ == "__main__":
    recorded("engines", main)
