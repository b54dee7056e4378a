"""Time plans for larger problems with a planted solution, one line for each size.

python -m benchmarks.synthetic
"""

from __future__ import annotations

import time
from collections import Counter

from p2c._plan.outcome import Found
from p2c.problem import Problem
from tests.synthetic import SIZES, synthetic


def main() -> None:
    for size in SIZES:
        document, rows = synthetic(*size, seed=1)
        problem = Problem.from_dict(document)
        started = time.perf_counter()
        plans = [problem.plan(row, time_limit=60) for row in rows]
        seconds = time.perf_counter() - started
        actions = Counter(len(plan.actions) for plan in plans if isinstance(plan, Found))
        statuses = Counter(plan.status for plan in plans)
        print(
            size,
            dict(statuses),
            dict(sorted(actions.items())),
            f"{seconds / len(rows):.3f} s a row",
        )


if __name__ == "__main__":
    main()
