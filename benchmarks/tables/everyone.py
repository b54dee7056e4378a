"""Every different refused person of the data, and whether p2c's plan replays: consistent, legal, without a fault."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from benchmarks.paths.walk import walk
from benchmarks.tables.compliance import share
from benchmarks.tables.table import Table
from benchmarks.world import embedded
from p2c import datasets
from p2c._plan.outcome import Found
from p2c._rules.evaluate import goal_holds

if TYPE_CHECKING:
    from p2c import Problem

STATUSES = ("found", "infeasible", "gave_up")


def measure(name: str, most: int | None = None) -> dict[str, int]:
    """Return how many different people the rules refuse, what became of them, and what the validator says."""
    problem = embedded(name)
    names = list(problem.theory.feature)
    rows = datasets.load_rows(name, "all")
    different = list(dict.fromkeys(tuple(row[each] for each in names) for row in rows))[:most]
    count: Counter[str] = Counter()
    for values in different:
        person = dict(zip(names, values, strict=True))
        if not goal_holds(problem.theory, person):
            count.update(_facts(problem, person))
    return dict(count)


def _facts(problem: Problem, person: dict[str, str | int | float | None]) -> list[str]:
    plan = problem.plan(person)
    facts = ["refused", plan.status]
    if not problem.check(plan):
        facts.append("faulty")
    if isinstance(plan, Found):
        path = [(action.feature, action.end) for action in plan.actions]
        walked = walk(problem.theory, person, path, aim=dict(plan.end))
        facts += ["consistent"] * walked.consistent + ["legal"] * walked.legal
    return facts


def table(found: dict[str, dict[str, int]]) -> Table:
    """Return the counts, a row for each data set."""
    rows = []
    for name, count in found.items():
        plans = count.get("found", 0)
        statuses = [f"{count.get(status, 0):,}" for status in STATUSES]
        shares = [share(count.get(fact, 0), plans) for fact in ("consistent", "legal")]
        rows.append(
            (name, f"{count.get('refused', 0):,}", *statuses, *shares, str(count.get("faulty", 0)))
        )
    return Table(
        "p2c on every different person of the data whom the rules refuse",
        (
            "data set",
            "refused",
            "plan",
            "proved that there is none",
            "gave up",
            "consistent",
            "only legal actions",
            "faults",
        ),
        tuple(rows),
        (
            "All rows of the published files, training and test, each combination of the problem's features once. Faults are those "
            "that the validator finds when it replays a plan.",
        ),
    )
