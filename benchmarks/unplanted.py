"""Random problems with nothing planted: every literal, head and action is drawn at random, so most people have no way.

What a planner makes of such a problem shows how quickly it proves that there is no way and finds out what blocks it.

    python -m benchmarks.unplanted [--problems 40] [--limit 10] [--record]

For each size, what became of the people; processor time of those without a way, what blocks them included, median and most;
and how often clingo, where it answers within the limit, says the same.
"""

from __future__ import annotations

import argparse
import random
import statistics
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

from benchmarks.clock import processor_time
from benchmarks.record import recorded
from p2c import Problem
from p2c.engines import ENGINES
from p2c.plan.outcome import Infeasible

if TYPE_CHECKING:
    from p2c.plan.outcome import Plan

Document = dict[str, Any]

SIZES = {"12/16/6": (12, 16, 6), "20/40/15": (20, 40, 15), "30/100/40": (30, 100, 40)}
"""Features, decision rules and causal rules."""


def unplanted(seed: int, features: int, decisions: int, causes: int) -> tuple[Document, Document]:
    """Return a problem and a person, everything drawn at random."""
    rng = random.Random(f"{seed} {features} {decisions} {causes}")
    table = {f"f{number}": _feature(rng) for number in range(features)}
    heads = rng.sample(list(table), max(2, features // 3))
    rules = [f"refused(X) :- {_body(rng, list(table), table)}." for _ in range(decisions)]
    for number in range(causes):
        name = rng.choice(heads)
        others = [other for other in table if other != name]
        rules.append(_cause(rng, number, name, others, table))
    document = {
        "name": f"unplanted-{seed}",
        "goal": "not refused(X)",
        "law": rng.choice(["iff", "if", "only_if"]),
        "rules": "\n".join(rules),
        "features": table,
    }
    return document, {name: _value(rng, keys) for name, keys in table.items()}


def _feature(rng: random.Random) -> Document:
    action = rng.choice(["free", "free", "up", "down", "fixed"])
    if rng.random() < 0.5:
        keys: Document = {"type": "int", "min": 0, "max": rng.choice([10, 100, 1000])}
    else:
        keys = {"type": "category", "values": [f"v{n}" for n in range(rng.randint(2, 5))]}
        action = rng.choice(["free", "free", "fixed"])
    return keys if rng.random() < 0.4 else {**keys, "action": action}


def _value(rng: random.Random, keys: Document) -> Any:
    if keys["type"] == "int":
        return rng.randint(keys["min"], keys["max"])
    return rng.choice(keys["values"])


def _literal(rng: random.Random, name: str, keys: Document, number: int) -> str:
    if keys["type"] == "int":
        sign = rng.choice(["<", ">=", "=<", ">"])
        return f"{name}(X,N{number}), N{number}{sign}{_value(rng, keys)}"
    return f"{rng.choice(['', 'not '])}{name}(X,'{_value(rng, keys)}')"


def _body(rng: random.Random, names: list[str], table: Document) -> str:
    chosen = rng.sample(names, rng.randint(1, 3))
    return ", ".join(_literal(rng, name, table[name], n) for n, name in enumerate(chosen))


def _cause(rng: random.Random, number: int, name: str, others: list[str], table: Document) -> str:
    keys, body = table[name], _body(rng, others, table)
    if keys["type"] == "int":
        sign = rng.choice(["<", ">=", "=<", ">"])
        return f"{name}(X,H{number}) :- {body}, H{number}{sign}{_value(rng, keys)}."
    return f"{name}(X,'{_value(rng, keys)}') :- {body}."


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
