"""Random problems with nothing planted: every literal, head and action is drawn at random, so most people have no way.

What a planner makes of such a problem shows how quickly it proves that there is no way and finds out what blocks it.

    python -m benchmarks.unplanted [--problems 40] [--limit 10] [--record]

For each size, what became of the people; processor time of those without a way, what blocks them included, median and most;
and how often clingo, where it answers within the limit, says the same.
"""

from __future__ import annotations

import argparse
import statistics
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

from benchmarks.clock import processor_time
from benchmarks.record import recorded
from p2c import Problem
from p2c._engines import ENGINES
from p2c._plan.outcome import Infeasible
from tests.unplanted import SIZES, unplanted

if TYPE_CHECKING:
    from p2c._plan.outcome import Plan


def agrees(plan: Plan, other: Plan) -> bool | None:
    """Tell whether two answers say the same; None where one of them has given up."""
    if "gave_up" in (plan.status, other.status):
        return None
    if plan.cost is None or other.cost is None:
        return plan.status == other.status
    return plan.status == other.status and abs(plan.cost - other.cost) < 1e-9


def measure(size: str, problems: int, limit: float) -> str:
    """Return one line of the table: what became of the people of a size."""
    statuses: Counter[str] = Counter()
    agreed: Counter[bool | None] = Counter()
    seconds, unexplained = [], 0
    for seed in range(problems):
        document, row = unplanted(seed, *SIZES[size])
        problem = Problem.from_dict(document)
        _ = problem.compiled.axes
        plan, taken = processor_time(partial(problem.plan, row, engine="native", time_limit=limit))
        statuses[plan.status] += 1
        if isinstance(plan, Infeasible):
            seconds.append(taken)
            unexplained += not plan.explained
        state = problem.read_row(row)
        other = ENGINES["clingo"].plan(problem.compiled, state, time_limit=limit)
        agreed[agrees(plan, other)] += 1
    shown = ", ".join(f"{count} {status}" for status, count in sorted(statuses.items()))
    median, most = statistics.median(seconds or [0.0]), max(seconds, default=0.0)
    same = f"{agreed[True]} of {agreed[True] + agreed[False]}"
    return f"| {size} | {shown} | {1e3 * median:.1f} | {1e3 * most:,.0f} | {unexplained} | {same} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", type=int, default=40)
    parser.add_argument("--limit", type=float, default=10.0, help="seconds for an answer")
    options = parser.parse_args()
    print(
        "| features/decision rules/causal rules | people | no way: median ms | most ms | not explained | as clingo says |"
    )
    print("|---|---|---|---|---|---|")
    for size in SIZES:
        print(measure(size, options.problems, options.limit), flush=True)


if __name__ == "__main__":
    recorded("unplanted", main)
