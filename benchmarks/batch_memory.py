"""What a worker of a batch holds at most where everyone is different, by the size of the input's row groups.

python -m benchmarks.batch_memory --rows 4000000
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import pyarrow.parquet as pq

from benchmarks.batch import most_memory, write_loan
from benchmarks.record import recorded
from p2c import datasets


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=4_000_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        problem, people = folder / "loan.toml", folder / "people.parquet"
        problem.write_text(datasets.problem_text("loan"), encoding="utf-8")
        write_loan(people, given.rows)
        table = pq.read_table(people)
        for group in (1 << 18, 1 << 20, given.rows):
            source = folder / f"groups-{group}.parquet"
            pq.write_table(table, source, row_group_size=group)
            command = [sys.executable, "-m", "p2c", "batch", str(problem), str(source)]
            print(
                f"{most_memory([*command, str(folder / f'out-{group}'), '--no-blockers'])}"
                f" with row groups of {group:,} rows"
            )


if __name__ == "__main__":
    recorded("batch_memory", main)
