"""What each engine takes on the embedded problems: seconds of processor time a person, the first one apart.

Run from the root of the repository: python -m benchmarks.engines [people]
Processor time is that of this process and of those that it starts, so that a busy machine hardly counts.
"""

from __future__ import annotations

import random
import resource
import statistics
import sys
import time
import tomllib
from typing import TYPE_CHECKING, Any

from benchmarks.record import recorded
from p2c.datasets import names, problem_text
from p2c.engines import ENGINES
from p2c.engines.case import Case
from p2c.engines.scasp.program import Program
from p2c.plan.space import Space
from p2c.problem import Problem

if TYPE_CHECKING:
    from p2c.domain.row import State


def refused(problem: Problem, count: int) -> list[State]:
    """Return random people whom a problem refuses."""
    rng = random.Random(problem.name)
    found: list[State] = []
    while len(found) < count:
        row = {
            each.name: each.domain.value(rng.randrange(each.domain.size))
            for each in problem.theory.features
        }
        if problem.plan(row, engine="native").status != "already":
            found.append(problem.read_row(row))
    return found


def spent() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def timed(engine: str, problem: Problem, people: list[State]) -> tuple[list[float], list[Any]]:
    space = Space(problem.theory)
    times, costs = [], []
    for state in people:
        begin = spent()
        costs.append(ENGINES[engine].plan(space, state).cost)
        times.append(spent() - begin)
    return times, costs


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    print(
        f"{'problem':8} {'engine':7} {'first ms':>9} {'median ms':>10} {'worst ms':>9}  same costs"
    )
    for name in names():
        problem = Problem.from_dict(tomllib.loads(problem_text(name)))
        people = refused(problem, count)
        expected: list[Any] = []
        for engine in ("native", "clingo", "scasp"):
            if ENGINES[engine].version() is None:
                continue
            times, costs = timed(engine, problem, people)
            expected = expected or costs
            same = all(
                (one is None) == (other is None) and abs((one or 0) - (other or 0)) < 1e-9
                for one, other in zip(expected, costs, strict=True)
            )
            first, rest = times[0] * 1e3, [each * 1e3 for each in times[1:]]
            shown = f"{first:9.1f} {statistics.median(rest):10.2f} {max(rest):9.1f}"
            print(f"{name:8} {engine:7} {shown}  {'yes' if same else 'NO'}", flush=True)
        case = Case.of(problem.compiled, people[0])
        lines = Program(case.dynamics).text.splitlines()
        print(f"{name:8} s(CASP)'s program has {len(lines)} lines")


if __name__ == "__main__":
    recorded("engines", main)
