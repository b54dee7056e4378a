"""Measure how long a program of 10,000 rules takes to parse; the aim is under 2 seconds.

Run from the root of the repository: python -m benchmarks.parse_speed [how many rules]
"""

from __future__ import annotations

import random
import sys
import time

from benchmarks.record import recorded
from p2c._rules.parse import parse


def random_rule(rng: random.Random, number: int) -> str:
    """Return a rule of four literals, of the kinds that FOLD-SE prints."""
    value, bound = rng.randrange(50), round(rng.random() * 1000, 2)
    return (
        f"label(X,'class {number % 7}') :- not job(X,'value {value}'), income{number % 11}(X,N1),"
        f" N1=<{bound}, not ab{number}(X,'True')."
    )


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    rng = random.Random(0)
    text = "\n".join(random_rule(rng, number) for number in range(count))
    parse("a(X).")  # the grammar is compiled once
    seconds = []
    for _ in range(5):
        started = time.process_time()
        assert len(parse(text).rules) == count
        seconds.append(time.process_time() - started)
    shown = ", ".join(f"{each:.2f}" for each in seconds)
    print(
        f"{count} rules, {len(text)} characters: best {min(seconds):.2f} s of processor time, of {shown}"
    )


if __name__ == "__main__":
    recorded("parse_speed", main)
