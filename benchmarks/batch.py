"""How fast batches are: Adult rows from Parquet to Parquet, beside pyarrow alone, ratios measured in the same run.

    python -m benchmarks.batch [--rows 10000000] [--folder FOLDER] [--rounds 7] [--kills 10]

The input is Adult with its rows drawn again and again, in files of about a million rows. pyarrow alone reads the problem's
columns and writes them again, a file at a time and on one thread, which is what one worker has; two processes that share
the files out show what a second processor of this machine is worth to such work. Every figure is the best of some
rounds, which all take turns; each run is a process of its own, timed from its start to its end, by the clock and on
processors, which a busy machine disturbs less; its memory is the largest that it and its workers held at once, seen in a
run more. How much two gain over one is the median over the rounds. Then a batch is killed with signal 9 at random moments and taken up again,
and the hashes of its output are compared.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.clock import living
from benchmarks.record import recorded
from p2c import datasets

FILE_ROWS = 1 << 20
QUIETLY: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
COLUMNS = ["marital_status", "relationship", "sex", "capital_gain", "education_num", "age"]
COPY = """
import os, sys
from pathlib import Path
import pyarrow.parquet as pq
source, target, coded, workers, *columns = sys.argv[1:]
Path(target).mkdir()
listed = columns[:3] if coded == "coded" else []
paths = sorted(Path(source).iterdir())
number = int(workers == "2" and os.fork() > 0)
for path in paths[number :: int(workers)]:
    table = pq.read_table(path, columns=columns, use_threads=False, read_dictionary=listed)
    pq.write_table(table, Path(target) / path.name)
if number:
    os.wait()
"""


@dataclass(frozen=True)
class Run:
    """How long a command took, by the clock and on processors."""

    seconds: float
    processor: float

    def __str__(self) -> str:
        return f"{self.seconds:7.2f} s {self.processor:7.2f} s"


def write_input(folder: Path, rows: int, group: int = FILE_ROWS) -> None:
    """Write the people, the same for the same number of rows, in row groups of a size."""
    people = pa.Table.from_pandas(
        datasets.load_frame("adult", "all")[COLUMNS], preserve_index=False
    )
    rng = np.random.default_rng(0)
    folder.mkdir(parents=True)
    for number, begin in enumerate(range(0, rows, FILE_ROWS)):
        drawn = rng.integers(0, len(people), min(FILE_ROWS, rows - begin))
        pq.write_table(
            people.take(pa.array(drawn)), folder / f"{number:05d}.parquet", row_group_size=group
        )


def write_loan(path: Path, rows: int) -> None:
    """Write applicants for the loan, hardly two of them alike."""
    rng = np.random.default_rng(0)
    columns = {
        "age": rng.integers(18, 90, rows),
        "debt": rng.integers(0, 50_000, rows),
        "loan_duration": rng.integers(1, 60, rows),
        "bank_balance": rng.integers(0, 1_000_000, rows),
        "credit_score": rng.integers(300, 850, rows),
    }
    pq.write_table(pa.table(columns), path)


def resident(pid: int) -> float:
    """Return the memory of a process and its children in megabytes, shared pages counted once a process."""
    return sum(map(_megabytes, [pid, *living(pid)]))


def _megabytes(pid: int) -> float:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except OSError:  # it has ended
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def timed(command: list[str]) -> Run:
    """Run a command and measure its time."""
    begin = time.monotonic()
    process = subprocess.Popen(command, **QUIETLY)
    _, code, used = os.wait4(process.pid, 0)
    seconds = time.monotonic() - begin
    process.returncode = os.waitstatus_to_exitcode(code)
    assert process.returncode == 0, command
    return Run(seconds, used.ru_utime + used.ru_stime)


def most_memory(command: list[str]) -> str:
    """Run a command once more, and return the most memory that it and its children held: looking takes time as well."""
    most = 0.0
    with subprocess.Popen(command, **QUIETLY) as process:
        while process.poll() is None:
            most = max(most, resident(process.pid))
            time.sleep(0.02)
    assert process.returncode == 0, command
    return f"{most:6.0f} MB"


def take_turns(commands: dict[str, list[str]], target: Path, rounds: int) -> dict[str, list[Run]]:
    """Return the runs of some commands, each run once in every round."""
    runs: dict[str, list[Run]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            shutil.rmtree(target, ignore_errors=True)
            runs[name].append(timed(command))
    return runs


def best(runs: list[Run]) -> Run:
    """Return the fastest of some runs."""
    return Run(min(run.seconds for run in runs), min(run.processor for run in runs))


def fastest(command: list[str], target: Path, rounds: int) -> Run:
    """Return the fastest run of one command."""
    return best(take_turns({"": command}, target, rounds)[""])


def gain(one: list[Run], two: list[Run]) -> str:
    """Return how much sooner two are done than one, round by round."""
    ratios = sorted(a.seconds / b.seconds for a, b in zip(one, two, strict=True))
    return f"{statistics.median(ratios):.2f}x as fast as one ({ratios[0]:.2f} to {ratios[-1]:.2f})"


def hashes(target: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in target.iterdir()}


def kill_and_resume(command: list[str], target: Path, whole: Run, times: int) -> int:
    """Return how often a batch killed at a random moment and taken up again had the same hashes."""
    shutil.rmtree(target, ignore_errors=True)
    subprocess.run(command, check=True, **QUIETLY)
    expected = hashes(target)
    same = 0
    rng = random.Random(0)
    for _ in range(times):
        shutil.rmtree(target)
        process = subprocess.Popen(command, **QUIETLY)
        time.sleep(rng.uniform(0, whole.seconds))
        process.kill()
        process.wait()
        subprocess.run(command, check=True, **QUIETLY)
        same += hashes(target) == expected
    return same


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--kills", type=int, default=10)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as place:
        measure(Path(place), given.rows, given.rounds, given.kills)


def measure_costs(folder: Path, rounds: int, rows: int = 1 << 20) -> None:
    """Print what a part costs besides its rows, and what a row costs whom nobody resembles."""
    target = folder / "out"
    plan = [sys.executable, "-m", "p2c", "batch"]
    adult = str(folder / "adult.toml")
    runs = []
    for group in (FILE_ROWS, 4096):
        source = folder / f"groups-{group}"
        write_input(source, rows, group)
        command = [*plan, adult, str(source), str(target), "--part-rows", str(group)]
        runs.append(fastest(command, target, rounds))
    parts = rows // 4096 - 1
    print(
        f"{(runs[1].processor - runs[0].processor) / parts * 1e3:.1f} milliseconds for a part besides its rows"
    )
    loan, people = folder / "loan.toml", folder / "loan.parquet"
    loan.write_text(datasets.problem_text("loan"), encoding="utf-8")
    costs = []
    for count in (rows // 4, rows):
        write_loan(people, count)
        command = [*plan, str(loan), str(people), str(target), "--no-blockers"]
        costs.append(fastest(command, target, rounds).processor)
    each = (costs[1] - costs[0]) / (rows - rows // 4) * 1e6
    print(f"{each:.2f} microseconds for a row where everyone is different, loan")


def _hash_rate() -> float:
    data = bytes(1 << 28)
    begin = time.process_time()
    hashlib.sha256(data)
    return len(data) / (time.process_time() - begin) / 1e9


def _ratio(one: Run, other: Run) -> str:
    return f"{one.seconds / other.seconds:.2f}x by the clock, {one.processor / other.processor:.2f}x on processors,"


def measure(folder: Path, rows: int, rounds: int, kills: int) -> None:
    source, target, problem = folder / "in", folder / "out", folder / "adult.toml"
    write_input(source, rows)
    problem.write_text(datasets.problem_text("adult"), encoding="utf-8")
    copy = [sys.executable, "-c", COPY, str(source), str(target)]
    plan = [sys.executable, "-m", "p2c", "batch", str(problem), str(source), str(target)]
    commands = {
        "plain": [*copy, "plain", "1", *COLUMNS],
        "coded": [*copy, "coded", "1", *COLUMNS],
        "both": [*copy, "coded", "2", *COLUMNS],
        "one": plan,
        "two": [*plan, "--workers", "2"],
    }
    runs = take_turns(commands, target, rounds)
    alone, coded, both, one, two = (best(each) for each in runs.values())
    memory = {}
    for name, command in commands.items():
        shutil.rmtree(target)
        memory[name] = most_memory(command)
    sizes = [
        sum(path.stat().st_size for path in each.iterdir()) / rows for each in (source, target)
    ]
    print(f"{rows:,} rows of Adult, {len(COLUMNS)} columns, {os.cpu_count()} processors")
    print("                                     clock  processor  memory")
    print(f"pyarrow alone, plain text          {alone} {memory['plain']}")
    print(
        f"pyarrow alone, text as dictionary  {coded} {memory['coded']}   {_ratio(coded, alone)} plain text"
    )
    print(
        f"the same in two processes          {both} {memory['both']}   {gain(runs['coded'], runs['both'])}"
    )
    print(
        f"p2c batch, one worker              {one} {memory['one']}   {_ratio(one, alone)} pyarrow alone"
    )
    print(
        f"p2c batch, two workers             {two} {memory['two']}   {_ratio(two, alone)} pyarrow alone, {gain(runs['one'], runs['two'])}"
    )
    print(
        f"{sizes[0]:.1f} bytes a row in, {sizes[1]:.1f} out; SHA-256 {_hash_rate():.1f} GB/s on a processor"
    )
    print(
        f"{one.processor / rows * 1e6:.2f} microseconds of a processor for a row, with one worker"
    )
    measure_costs(folder, rounds)
    if kills:
        again = [*plan, "--workers", "2", "--part-rows", "100000"]
        same = kill_and_resume(again, target, two, kills)
        print(f"killed at {kills} random moments and taken up again: the same hashes {same} times")


if __name__ == "__main__":
    recorded("batch", main)
