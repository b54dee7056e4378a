"""Measure what the tables need beside the answers of the methods, part by part, each stored as it is made.

    python -m benchmarks.measure                   all of it; table 4 with five splits
    python -m benchmarks.measure --quick           few people, small sizes, one split of the two small data sets
    python -m benchmarks.measure --only growth     the growth figure

Goes on where a killed run ended, like `benchmarks.run`, and writes to the same store.
"""

from __future__ import annotations

import argparse
import warnings
from functools import partial
from typing import TYPE_CHECKING, Any

from benchmarks import growth
from benchmarks.clock import processor_time
from benchmarks.fidelity import MODELS
from benchmarks.paths.standard import PLANNERS, standard_path
from benchmarks.paths.walk import walk
from benchmarks.peers import PEERS
from benchmarks.run import DATA, WORLDS, store_path
from benchmarks.store import Store, shared_rows
from benchmarks.tables import everyone, fidelity, nearest, published, space
from benchmarks.tables.compliance import found
from benchmarks.world import world

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Part = tuple[str, str, int, Callable[[], Any]]

PEOPLE, QUICK_PEOPLE = 100, 10
SPLITS = 5
SLOWEST_LAST = ("LR", "GBC", "RF", "DNN")
QUICK_EVERYONE = 200


def second_paths(answers: Store, name: str, method: str) -> int:
    """Return how many of a method's ends the second planner has a legal path to."""
    theory, legal = world(name).problem.theory, 0
    for record in found(answers.of(name, method)):
        person, end = world(name).people[record["row"]], record["end"]
        path = standard_path(theory, person, end, planner=PLANNERS[1])
        legal += path is not None and walk(theory, person, path, aim=end).legal
    return legal


def parts(answers: Store, *, quick: bool) -> Iterator[Part]:
    """Return what is to be measured: about what, by what, a number, and how; the quick parts first."""
    people = QUICK_PEOPLE if quick else PEOPLE
    for name in WORLDS:
        for method, peer in PEERS.items():
            rows = len(answers.of(name, method))
            if rows and not peer.gives_path:
                yield name, f"second {method}", rows, partial(second_paths, answers, name, method)
    for name in DATA:
        yield name, "table 1", people, partial(space.measure, name, people)
        yield name, "table 2 as published", 0, partial(published.rebuilt, name)
        yield name, "table 2", people, partial(nearest.measure, name, people)
    for way, amounts in growth.GROWTH.items():
        for amount in amounts:
            for method in growth.METHODS:
                if growth.within_reach(way, amount, method, quick=quick):
                    ask = partial(growth.point, way, amount, method)
                    yield way, f"growth {method}", amount, ask
    for name in DATA:
        most = QUICK_EVERYONE if quick else None
        yield name, "everyone", most or 0, partial(everyone.measure, name, most)
    for name in ("german", "car") if quick else ("german", "car", "adult"):
        for seed in range(1 if quick else SPLITS):
            for model in sorted(MODELS, key=SLOWEST_LAST.index):
                yield name, f"table 4 {model}", seed, partial(fidelity.measure, name, model, seed)


def main() -> None:
    """Measure every part that is not stored yet."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="", help="parts that begin so, such as 'table 4'")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    store = Store.open(store_path(quick=options.quick))
    answers = shared_rows(store, WORLDS, PEERS)
    for data, method, number, ask in parts(answers, quick=options.quick):
        if method.startswith(options.only) and (data, method, number) not in store:
            found, spent = processor_time(ask)
            store.add({"data": data, "method": method, "row": number, "found": found})
            print(f"{data} {method} {number}: {spent:.1f} s", flush=True)


if __name__ == "__main__":
    main()
