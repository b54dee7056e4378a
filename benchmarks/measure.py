"""Measure what the tables 1, 2 and 4 and the growth figure need, part by part, each stored as it is made.

    python -m benchmarks.measure                   all of it; table 4 with five splits
    python -m benchmarks.measure --quick           few people, small sizes, one split of the two small data sets

Goes on where a killed run ended, like `benchmarks.run`, and writes to the same store.
"""

from __future__ import annotations

import argparse
import warnings
from functools import partial
from typing import TYPE_CHECKING, Any

from benchmarks import growth
from benchmarks.fidelity import MODELS
from benchmarks.run import DATA, store_path
from benchmarks.store import Store
from benchmarks.tables import fidelity, nearest, published, space

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Part = tuple[str, str, int, Callable[[], Any]]

PEOPLE, QUICK_PEOPLE = 100, 10
SPLITS = 5


def parts(*, quick: bool) -> Iterator[Part]:
    """Return what is to be measured: about what, by what, a number, and how; the quick parts first."""
    people = QUICK_PEOPLE if quick else PEOPLE
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
    for seed in range(1 if quick else SPLITS):
        for name in ("german", "car") if quick else ("german", "car", "adult"):
            for model in MODELS:
                yield name, f"table 4 {model}", seed, partial(fidelity.measure, name, model, seed)


def main() -> None:
    """Measure every part that is not stored yet."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    store = Store.open(store_path(quick=options.quick))
    for data, method, number, ask in parts(quick=options.quick):
        if (data, method, number) not in store:
            store.add({"data": data, "method": method, "row": number, "found": ask()})
            print(data, method, number, flush=True)


if __name__ == "__main__":
    main()
