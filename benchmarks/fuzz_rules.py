"""Throw random and damaged rules, problems and rows at p2c; nothing but its own errors may come back.

Run from the root of the repository: python -m benchmarks.fuzz_rules [how many of each] [first seed]
"""

from __future__ import annotations

import random
import sys
import time

from benchmarks.record import recorded
from tests.fuzz import ATTACKS


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    for name, attack in ATTACKS.items():
        started = time.perf_counter()
        failed = 0
        for seed in range(first, first + count):
            try:
                attack(random.Random(f"{name}/{seed}"))
            except Exception as error:
                failed += 1
                print(f"{name}, seed {seed}: {type(error).__name__}: {str(error)[:200]!r}")
        print(f"{name}: {count} tried, {failed} failed, {time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    recorded("fuzz_rules", main)
