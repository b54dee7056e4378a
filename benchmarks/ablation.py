"""What each bound and each pruning of the search buys: every one left out in turn, on the same people.

    python -m benchmarks.ablation [--people 200] [--limit 10] [--record]

Processor time and expanded nodes, both a person on average, what blocks a person included: for the embedded problems (their
examples and rows of their data), with routes of classes and without; for synthetic people near to and far from somebody
accepted; for independent numbers of which some must change; for numbers of which rules refuse any three that are low
(hitting sets); and for random problems with nothing planted, where most people have no way: as they come, those of which most
takes long, with `supported` effects, with moves of features that have causes, and with so many moves that states are followed
one by one. Who takes longer than the limit, by the
clock, is counted as over and left out of the averages.
"""

from __future__ import annotations

import argparse
import random
import time
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from benchmarks.handover import VARIANTS
from benchmarks.record import recorded
from benchmarks.world import embedded
from p2c import Problem, datasets
from p2c._plan.blockers import find_blockers
from p2c._plan.planner import find_plan
from p2c._plan.search.best_first import Limits
from p2c._plan.search.devices import ALL, Device
from tests.synthetic import synthetic
from tests.unplanted import SIZES, unplanted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Document = dict[str, Any]
Asked = list[tuple[Document, list[Document]]]
"""Problems with their people."""

SYNTHETIC = (30, 100, 40)
SEEDS = 3
HARD = (54, 58, 100, 106, 133, 141)
"""Those of 160 random problems of 20/40/15 on which the search takes longest, but for one."""


@dataclass
class Tally:
    """What the people took in all who were answered within the limit, and how many were not."""

    people: int = 0
    seconds: float = 0.0
    nodes: int = 0
    over: int = 0

    def __str__(self) -> str:
        people = max(self.people, 1)
        mean = f"{1e3 * self.seconds / people:.2f} ms, {self.nodes / people:,.1f} nodes"
        return mean + (f", {self.over} over" if self.over else "")


def of_embedded(count: int) -> Asked:
    """Return the embedded problems with their example people and so many rows of their data."""
    found: Asked = []
    for name in datasets.names():
        document = embedded(name).to_dict()
        rows = list(datasets.rows(name).values())
        if name != "loan":
            keys = list(document["features"])
            data = islice(datasets.load_rows(name, "all"), count)
            rows += [{key: row[key] for key in keys} for row in data]
        found.append((document, rows))
    return found


def of_synthetic(count: int, changes: tuple[int, int]) -> Asked:
    """Return synthetic problems with people so many changes away from somebody accepted."""
    return [
        synthetic(*SYNTHETIC, seed=seed, people=count, changes=changes)
        for seed in range(1, SEEDS + 1)
    ]


def of_unplanted(
    seeds: Iterable[int],
    size: tuple[int, int, int],
    variant: str = "",
) -> Asked:
    """Return random problems with nothing planted, a person each."""
    drawn = (unplanted(seed, *size) for seed in seeds)
    return [(VARIANTS[variant](document), [row]) for document, row in drawn]


def of_many_moves(seeds: Iterable[int], size: tuple[int, int, int]) -> Asked:
    """Return random problems in which a choice of six may go from each value to every other."""
    found: Asked = []
    for seed in seeds:
        document, row = unplanted(seed, *size)
        for feature in document["features"].values():
            if feature["type"] == "category" and feature.get("action", "free") == "free":
                values = [*feature["values"], *(f"x{n}" for n in range(6 - len(feature["values"])))]
                moves = {start: [end for end in values if end != start] for start in values}
                feature |= {"values": values, "moves": moves}
        found.append((document, [row]))
    return found


def of_independent(count: int, needed: int) -> Asked:
    """Return numbers that nothing ties together, of which some must change."""
    names = [f"f{number}" for number in range(count)]
    bars = [5 if number < needed else 1 for number in range(count)]
    rules = [f"bad(X) :- {name}(X,N), N<{bar}." for name, bar in zip(names, bars, strict=True)]
    features = {
        name: {"type": "int", "min": 0, "max": 9, "weight": 1 + number % 3}
        for number, name in enumerate(names)
    }
    document = {"goal": "not bad(X)", "rules": "\n".join(rules), "features": features}
    return [(document, [dict.fromkeys(names, 2)])]


def of_hitting(count: int, features: int, rules: int) -> Asked:
    """Return problems in which each rule refuses who is low in three numbers, and people who are low in all."""
    found: Asked = []
    for seed in range(count):
        rng = random.Random(seed)
        names = [f"f{number}" for number in range(features)]
        lines = []
        for _ in range(rules):
            tests = [
                f"{name}(X,N{n}), N{n}<{rng.randint(3, 8)}"
                for n, name in enumerate(rng.sample(names, 3))
            ]
            lines.append(f"bad(X) :- {', '.join(tests)}.")
        table = {
            name: {"type": "int", "min": 0, "max": 9, "weight": rng.randint(1, 5)} for name in names
        }
        document = {"goal": "not bad(X)", "rules": "\n".join(lines), "features": table}
        found.append((document, [dict.fromkeys(names, 0)]))
    return found


WORLDS: dict[str, Callable[[int], Asked]] = {
    "embedded": of_embedded,
    "embedded, no classes": of_embedded,
    "synthetic, near": lambda people: of_synthetic(max(people // 20, 1), (1, 3)),
    "synthetic, far": lambda people: of_synthetic(max(people // 40, 1), (3, 6)),
    "synthetic, large": lambda people: [
        synthetic(60, 400, 100, seed=1, people=max(people // 40, 1), changes=(3, 6))
    ],
    "independent, 14/6": lambda _: of_independent(14, 6),
    "hitting sets, 14/20": lambda people: of_hitting(max(people // 20, 1), 14, 20),
    "nothing planted, 12/16/6": lambda people: of_unplanted(range(people // 4), SIZES["12/16/6"]),
    "nothing planted, 20/40/15": lambda people: of_unplanted(range(people // 8), SIZES["20/40/15"]),
    "nothing planted, hard": lambda people: of_unplanted(HARD[: people // 10], SIZES["20/40/15"]),
    "supported, 8/9/4": lambda people: of_unplanted(range(people // 10), (8, 9, 4), "supported"),
    "set along moves, 8/9/4": lambda people: of_unplanted(
        range(people // 10), (8, 9, 4), "set and governed, moves"
    ),
    "set along moves, 20/40/15": lambda people: of_unplanted(
        range(people // 10), SIZES["20/40/15"], "set and governed, moves"
    ),
    "many moves, 10/12/5": lambda people: of_many_moves(range(people // 5), (10, 12, 5)),
}


def measured(asked: Asked, left_out: frozenset[Device], limit: float) -> Tally:
    """Return what the people take without some devices; compiling is not counted."""
    tally = Tally()
    for document, rows in asked:
        problem = Problem.from_dict(document)
        states = [problem.read_row(row) for row in rows]
        find_plan(problem.compiled, states[0], Limits.within(limit), devices=ALL - left_out)
        for state in states:
            limits = Limits.within(limit)
            begin = time.process_time()
            plan = find_plan(problem.compiled, state, limits, devices=ALL - left_out)
            known = plan.status != "gave_up"
            if plan.status == "infeasible":
                known = find_blockers(problem.compiled, state, limits, devices=ALL - left_out).known
            seconds = time.process_time() - begin
            if known:
                tally.people += 1
                tally.seconds += seconds
                tally.nodes += limits.expanded
            else:
                tally.over += 1
    return tally


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=200)
    parser.add_argument("--limit", type=float, default=10.0, help="seconds for a person")
    options = parser.parse_args()
    worlds = {name: make(options.people) for name, make in WORLDS.items()}
    print(f"| left out | {' | '.join(worlds)} |")
    print("|---|" + "---|" * len(worlds))
    for device in (None, *Device):
        cells = []
        for name, asked in worlds.items():
            left_out = {device} if device else set[Device]()
            if "no classes" in name:
                left_out.add(Device.CLASS_ROUTES)
            cells.append(str(measured(asked, frozenset(left_out), options.limit)))
        print(f"| {device.value if device else 'nothing'} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    recorded("ablation", main)
