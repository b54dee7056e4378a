"""Time families of problems that grow, beside clingo.

    python -m benchmarks.families [--limit 10] [--only NAME] [--quick] [--record]

Each line of the table is one problem: the time of the search and of clingo; then, for people without a plan, the time of their
blockers.
"""

from __future__ import annotations

import argparse
from functools import partial

from benchmarks.clock import processor_time
from benchmarks.record import recorded
from p2c import Problem
from p2c._engines import ENGINES
from p2c._plan.blockers import find_blockers
from p2c._plan.compiled.person import place_person
from p2c._plan.compiled.transitions import Transitions
from p2c._plan.planner import search_plan
from p2c._plan.search.best_first import Limits
from tests.growing import FAMILIES


def line(name: str, size: int, limit: float) -> str:
    """Return one line of the table."""
    document, row = FAMILIES[name][0](size)
    problem = Problem.from_dict(document)
    space, state = problem.compiled, problem.read_row(row)
    _ = space.body_masks
    cells, answers = [], set()
    transitions = Transitions(place_person(space, state))
    plan, taken = processor_time(partial(search_plan, transitions, Limits.within(limit)))
    cells.append(f"{1e3 * taken:,.0f}{'' if plan.status != 'gave_up' else ' (gave up)'}")
    answers.add((plan.status, plan.cost and round(plan.cost, 9)))
    if not space.theory.norm.largest:
        asked = partial(ENGINES["clingo"].plan, space, state, time_limit=limit)
        plan, taken = processor_time(asked)
        cells.append(f"{1e3 * taken:,.0f}{'' if plan.status != 'gave_up' else ' (gave up)'}")
        answers.add((plan.status, plan.cost and round(plan.cost, 9)))
    else:
        cells.append("")
    settled = sorted(f"{status} {cost}" for status, cost in answers if status != "gave_up")
    blocked = ""
    if any(status == "infeasible" for status, _ in answers):
        reasons, taken = processor_time(partial(find_blockers, space, state, Limits.within(limit)))
        blocked = f"{1e3 * taken:,.0f} ({len(reasons.blockers) if reasons.known else '?'}) "
    return f"| {name} | {size} | {' / '.join(settled)} | {' | '.join(cells)} | {blocked}|"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=float, default=10.0, help="seconds for an answer")
    parser.add_argument("--only", help="name of one family")
    parser.add_argument("--quick", action="store_true", help="the smallest size of each")
    options = parser.parse_args()
    print("| family | size | answer | ms | clingo ms | blockers ms |")
    print("|---|---|---|---|---|---|")
    for name, (_, sizes) in FAMILIES.items():
        if options.only in (None, name):
            for size in sizes[:1] if options.quick else sizes:
                print(line(name, size, options.limit), flush=True)


if __name__ == "__main__":
    recorded("families", main)
