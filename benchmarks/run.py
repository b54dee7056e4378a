"""Ask every method about the same rows, keep each answer as it is made, and go on where a killed run ended.

    python -m benchmarks.run                       every method, four worlds, 100 rows each
    python -m benchmarks.run --quick               four rows each
    python -m benchmarks.run --methods p2c dice-random --data german --rows 20

A method that crashes, hangs or is not installed is recorded with the reason; nothing is dropped. `benchmarks.report` makes
tables and figures of what is stored.
"""

from __future__ import annotations

import argparse
import os
import pickle
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.peers import PEERS
from benchmarks.store import Record, Store
from benchmarks.worker import Worker, missing
from benchmarks.world import world

DATA = ("adult", "german", "cars")
WORLDS = (*DATA, "loan")
"""The paper's three data sets, and its running example, where every refused person needs the causal rule or a way round."""

ROWS, QUICK_ROWS = 100, 4
PATIENCE = 5
"""Rows in a row without time left, after which the rest of a method's rows is recorded as not tried."""


def store_path(*, quick: bool) -> Path:
    """Return where the results of a run are kept."""
    return Path("build/bench") / ("quick.jsonl" if quick else "full.jsonl")


def cover(store: Store, folder: Path, rows: int, limit: float, pair: tuple[str, str]) -> None:
    """Ask one method about all rows of one data set that are not stored yet."""
    data, method = pair
    reason = missing(method)
    # What was missing in an earlier run may be installed by now.
    known = {r["row"] for r in store.of(data, method) if reason or r["status"] != "missing"}
    open_rows = [number for number in range(rows) if number not in known]
    worker = Worker(folder / data, method, limit)
    late = 0
    fresh: list[Record] = []
    for number in open_rows:
        if reason is not None:
            told = {"status": "missing", "note": reason}
        elif late >= PATIENCE:
            told = {"status": "timeout", "note": f"not tried after {late} timeouts in a row"}
        else:
            told = worker.ask(number)
            late = late + 1 if told["status"] == "timeout" else 0
        store.add({"data": data, "method": method, "row": number, **told})
        fresh.append(told)
    worker.close()
    print(f"{data:7} {method:13} {len(open_rows)} new of {rows}, {_spent(fresh):.1f} s", flush=True)


def _spent(records: list[Record]) -> float:
    """Return the processor time of answers and the clock time of their paths."""
    spans = [each.get("processor", 0.0) + each.get("path_seconds", 0.0) for each in records]
    return float(sum(spans))


def run(
    store: Store, *, data: list[str], methods: list[str], rows: int, limit: float, jobs: int
) -> None:
    """Ask the methods about the data sets, so many at a time."""
    # One thread a method: the times of methods that use many would not compare.
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    pairs = [(name, method) for name in data for method in methods]
    with TemporaryDirectory() as folder, ThreadPoolExecutor(jobs) as pool:
        for name in data:
            (Path(folder) / name).write_bytes(pickle.dumps(world(name)))
        list(pool.map(partial(cover, store, Path(folder), rows, limit), pairs))


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rows", type=int)
    parser.add_argument("--data", nargs="*", choices=WORLDS, default=list(WORLDS))
    parser.add_argument("--methods", nargs="*", choices=PEERS, default=list(PEERS))
    parser.add_argument("--limit", type=float, default=30.0, help="seconds for one row")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    rows = options.rows or (QUICK_ROWS if options.quick else ROWS)
    store = Store.open(store_path(quick=options.quick))
    run(
        store, data=options.data, methods=options.methods, rows=rows, limit=options.limit,
        jobs=options.jobs,
    )  # fmt: skip


if __name__ == "__main__":
    main()
