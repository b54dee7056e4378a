"""How fast batches are: Adult rows from Parquet to Parquet, beside pyarrow alone, ratios measured in the same run.

    python -m benchmarks.batch [--rows 10000000] [--folder FOLDER] [--rounds 3] [--kills 10]

The input is Adult with its rows drawn again and again, in files of about a million rows. pyarrow alone reads the problem's
columns and writes them again, a file at a time and on one thread, which is what one worker has. Every figure is the
best of some rounds; each run is a process of its own, timed from its start to its end, and its memory is the largest that
it and its workers held at once. Then a batch is killed with signal 9 at random moments and taken up again, and the
hashes of its output are compared.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from p2c import datasets

FILE_ROWS = 1 << 20
COLUMNS = ["marital_status", "relationship", "sex", "capital_gain", "education_num", "age"]
COPY = """
import sys
from pathlib import Path
import pyarrow.parquet as pq
source, target, coded, *columns = sys.argv[1:]
Path(target).mkdir()
listed = columns[:3] if coded == "coded" else []
for path in sorted(Path(source).iterdir()):
    table = pq.read_table(path, columns=columns, use_threads=False, read_dictionary=listed)
    pq.write_table(table, Path(target) / path.name)
"""
PLAN = "from p2c.cli import main; main()"


@dataclass(frozen=True)
class Run:
    """How long a command took, and the most memory that it and its children held."""

    seconds: float
    megabytes: float

    def __str__(self) -> str:
        return f"{self.seconds:7.2f} s   {self.megabytes:6.0f} MB"


def write_input(folder: Path, rows: int) -> None:
    """Write the people, the same for the same number of rows."""
    people = pa.Table.from_pandas(
        datasets.load_frame("adult", "all")[COLUMNS], preserve_index=False
    )
    rng = np.random.default_rng(0)
    folder.mkdir(parents=True)
    for number, begin in enumerate(range(0, rows, FILE_ROWS)):
        drawn = rng.integers(0, len(people), min(FILE_ROWS, rows - begin))
        pq.write_table(people.take(pa.array(drawn)), folder / f"{number:05d}.parquet")


def resident(pid: int) -> float:
    """Return the memory of a process and its children in megabytes, shared pages counted once a process."""
    waiting, total = [pid], 0.0
    while waiting:
        each = waiting.pop()
        try:
            pages = int(Path(f"/proc/{each}/statm").read_text().split()[1])
            for task in Path(f"/proc/{each}/task").iterdir():
                waiting += map(int, (task / "children").read_text().split())
        except OSError:
            continue
        total += pages * os.sysconf("SC_PAGE_SIZE") / 1e6
    return total


def timed(command: list[str]) -> Run:
    """Run a command and measure it."""
    begin = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    most = 0.0
    ended = threading.Event()

    def watch() -> None:
        nonlocal most
        while not ended.wait(0.02):
            most = max(most, resident(process.pid))

    watcher = threading.Thread(target=watch)
    watcher.start()
    code = process.wait()
    seconds = time.monotonic() - begin
    ended.set()
    watcher.join()
    assert code == 0, command
    return Run(seconds, most)


def best(make: list[str], target: Path, rounds: int) -> Run:
    """Return the fastest of some rounds, with the memory of the largest."""
    runs = []
    for _ in range(rounds):
        shutil.rmtree(target, ignore_errors=True)
        runs.append(timed(make))
    return Run(min(run.seconds for run in runs), max(run.megabytes for run in runs))


def hashes(target: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in target.iterdir()}


def kill_and_resume(command: list[str], target: Path, whole: Run, times: int) -> int:
    """Return how often a batch killed at a random moment and taken up again had the same hashes."""
    shutil.rmtree(target, ignore_errors=True)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    expected = hashes(target)
    same = 0
    rng = random.Random(0)
    for _ in range(times):
        shutil.rmtree(target)
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        time.sleep(rng.uniform(0, whole.seconds))
        process.kill()
        process.wait()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        same += hashes(target) == expected
    return same


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--kills", type=int, default=10)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as place:
        measure(Path(place), given.rows, given.rounds, given.kills)


def measure(folder: Path, rows: int, rounds: int, kills: int) -> None:
    source, target, problem = folder / "in", folder / "out", folder / "adult.toml"
    write_input(source, rows)
    problem.write_text(datasets.problem_text("adult"), encoding="utf-8")
    copy = [sys.executable, "-c", COPY, str(source), str(target)]
    plan = [sys.executable, "-c", PLAN, "batch", str(problem), str(source), str(target)]
    print(f"{rows:,} rows of Adult, {len(COLUMNS)} columns, {os.cpu_count()} processors")
    alone = best([*copy, "plain", *COLUMNS], target, rounds)
    print(f"pyarrow alone, plain text          {alone}")
    coded = best([*copy, "coded", *COLUMNS], target, rounds)
    print(f"pyarrow alone, text as dictionary  {coded}")
    one = best(plan, target, rounds)
    print(
        f"p2c batch, one worker              {one}   {one.seconds / alone.seconds:.2f}x pyarrow alone"
    )
    two = best([*plan, "--workers", "2"], target, rounds)
    print(f"p2c batch, two workers             {two}   {one.seconds / two.seconds:.2f}x one worker")
    print(
        f"{one.seconds / rows * 1e6:.2f} microseconds a row with one worker, start and end included"
    )
    if kills:
        again = [*plan, "--workers", "2", "--part-rows", "100000"]
        same = kill_and_resume(again, target, two, kills)
        print(f"killed at {kills} random moments and taken up again: the same hashes {same} times")


if __name__ == "__main__":
    main()
