"""Whether clingo ever answers a person sooner than our own planner: both with the same limit, in processor time.

Large problems with a planted answer, near and far; problems drawn at random; and variants of both in which sets of actions cannot
simply be chosen first: features with moves, supported effects, features that are both set and governed, and those with moves.

    python -m benchmarks.handover --people 12 --limit 20 --record
"""

from __future__ import annotations

import argparse
import statistics
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from benchmarks.clock import processor_time
from benchmarks.record import recorded
from p2c._engines import ENGINES
from p2c.errors import EngineError
from p2c.problem import Problem
from tests.synthetic import synthetic
from tests.unplanted import SIZES, unplanted, with_moves

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Document = dict[str, Any]
    Person = tuple[Problem, Document]

ASKED = ("native", "clingo")
NEAR, FAR = (3, 6), (6, 10)
"""Changes away from somebody who is accepted."""
PER_PROBLEM = 4
"""People of one planted problem."""


def supported(document: Document) -> Document:
    """Return a problem in which a fired rule is enough for an effect."""
    return {**document, "effects": "supported"}


def set_and_governed(document: Document) -> Document:
    """Return a problem in which people may also set what causal rules govern."""
    causes = {line.partition("(")[0] for line in document["rules"].splitlines()}
    features = {
        name: {**keys, "action": keys.get("action", "free")} if name in causes else keys
        for name, keys in document["features"].items()
    }
    return {**document, "features": features}


VARIANTS: dict[str, Callable[[Document], Document]] = {
    "": lambda document: document,
    "moves": with_moves,
    "two with moves": partial(with_moves, most=2),
    "supported": supported,
    "set and governed": set_and_governed,
    "set and governed, moves": lambda document: with_moves(set_and_governed(document)),
}


def planted_people(
    size: tuple[int, int, int], changes: tuple[int, int], variant: str, count: int
) -> Iterator[Person]:
    """Yield people of made-up problems that have an answer."""
    for seed in range(1, count // PER_PROBLEM + 1):
        document, rows = synthetic(*size, seed=seed, people=PER_PROBLEM, changes=changes)
        problem = Problem.from_dict(VARIANTS[variant](document))
        yield from ((problem, row) for row in rows)


def random_people(size: tuple[int, int, int], variant: str, count: int) -> Iterator[Person]:
    """Yield people of problems drawn at random, one each."""
    for seed in range(count):
        document, row = unplanted(seed, *size)
        yield Problem.from_dict(VARIANTS[variant](document)), row


@dataclass(frozen=True, slots=True)
class Attempt:
    """What an engine came to for a person, and the processor time that it took."""

    status: str
    cost: float | None
    seconds: float


def attempt(engine: str, person: Person, limit: float) -> Attempt:
    """Ask an engine about a person."""
    space, state = person[0].compiled, person[0].read_row(person[1])

    def ask() -> tuple[str, float | None]:
        try:
            plan = ENGINES[engine].plan(space, state, time_limit=limit)
        except EngineError:
            return "refused", None
        return plan.status, plan.cost

    (status, cost), seconds = processor_time(ask)
    return Attempt(status, cost, seconds)


def line(name: str, people: Iterator[Person], limit: float) -> str:
    """Return a row of the table: who answered, how fast, and who was first."""
    pairs = [[attempt(engine, person, limit) for engine in ASKED] for person in people]
    answered = [[each.status not in ("gave_up", "refused") for each in pair] for pair in pairs]
    alone = sum(theirs and not ours for ours, theirs in answered)
    both = [pair for pair, (ours, theirs) in zip(pairs, answered, strict=True) if ours and theirs]
    faster = sum(theirs.seconds < ours.seconds for ours, theirs in both)
    later = sum(theirs.seconds < ours.seconds > 0.2 for ours, theirs in both)
    agree = all(
        a.status == b.status and (a.cost is None or abs(a.cost - (b.cost or 0)) < 1e-6)
        for a, b in both
    )
    shown = []
    for place in range(len(ASKED)):
        seconds = [pair[place].seconds for pair in pairs]
        done = sum(each[place] for each in answered)
        shown.append(f"{done} | {statistics.median(seconds):.3f} / {max(seconds):.2f}")
    return (
        f"| {name} | {len(pairs)} | {' | '.join(shown)} | {faster} | {later} | {alone} "
        f"| {'all' if agree else 'NOT all'} |"
    )


def lines(people: int, limit: float) -> Iterator[str]:
    """Yield the table's rows."""
    for size in ((30, 100, 40), (60, 400, 100)):
        for words, changes in (("near", NEAR), ("far", FAR)):
            name = f"planted {'/'.join(map(str, size))}, {words}"
            yield line(name, planted_people(size, changes, "", people), limit)
    for shown, size in SIZES.items():
        yield line(f"random {shown}", random_people(size, "", people), limit)
    for variant in [each for each in VARIANTS if each]:
        planted = planted_people((30, 100, 40), NEAR, variant, people)
        yield line(f"planted 30/100/40, near, {variant}", planted, limit)
        for shown, size in list(SIZES.items())[:2]:
            yield line(f"random {shown}, {variant}", random_people(size, variant, people), limit)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--people", type=int, default=24)
    parser.add_argument("--limit", type=float, default=20.0)
    options = parser.parse_args()
    # Limits count processor time, as all times here do: the machine may have other things to do.
    time.monotonic = time.process_time
    print(f"Processor time a person in seconds, at most {options.limit:g} s each.\n")
    print(
        "| problems | people | native answers | median / most | clingo answers | median / most | clingo first "
        "| first after 0.2 s | clingo alone | costs agree |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    for each in lines(options.people, options.limit):
        print(each, flush=True)


if __name__ == "__main__":
    recorded("handover", main)
