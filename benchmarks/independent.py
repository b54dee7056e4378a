"""What the nearest ends cost beside one plan: independent numbers, of which some must change.

    python -m benchmarks.independent [--rounds 5] [--record]

Processor time, the least of some rounds: a plan in a problem that was just compiled, and one after it; the nearest end and the
nearest twenty as many times a plan of the same kind.
"""

from __future__ import annotations

import argparse
from functools import partial

from benchmarks.ablation import of_independent
from benchmarks.clock import processor_time
from benchmarks.record import recorded
from p2c import Problem

SIZES = ((10, 4), (12, 5), (14, 6), (16, 7), (24, 8))
"""How many numbers there are, and how many of them must change."""
ENDS = (1, 20)


def measure(count: int, needed: int, rounds: int) -> str:
    """Return one line of the table."""
    ((document, (row,)),) = of_independent(count, needed)
    least: dict[tuple[int, bool], float] = {}
    for _ in range(rounds):
        for ends in (0, *ENDS):
            problem = Problem.from_dict(document)
            _ = problem.compiled.axes
            asked = partial(problem.nearest, row, k=ends) if ends else partial(problem.plan, row)
            for warm in (False, True):
                _, seconds = processor_time(asked)
                least[ends, warm] = min(seconds, least.get((ends, warm), seconds))
    cells = [f"{1e3 * least[0, warm]:.2f}" for warm in (False, True)]
    cells += [f"{least[k, warm] / least[0, warm]:.1f}" for k in ENDS for warm in (False, True)]
    return f"| {count}/{needed} | {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    print(
        "| numbers / to change | plan, first: ms | plan, warm: ms "
        "| nearest, first | nearest, warm | nearest 20, first | nearest 20, warm |"
    )
    print("|---|---|---|---|---|---|---|")
    for count, needed in SIZES:
        print(measure(count, needed, options.rounds), flush=True)


if __name__ == "__main__":
    recorded("independent", main)
