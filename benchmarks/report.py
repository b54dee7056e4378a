"""Make the report of what is stored: tables and figures in Markdown and HTML.

python -m benchmarks.report                    benchmarks/report/REPORT.md, report.html and the figures
python -m benchmarks.report --quick            the same of the quick run, in build/bench/report
python -m benchmarks.report --recorded         only what scripts have recorded since, in the report that is there
"""

from __future__ import annotations

import argparse
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import figures
from benchmarks.fidelity import MODELS
from benchmarks.page import Section, html, markdown, renewed
from benchmarks.paths.standard import PLANNERS
from benchmarks.peers import PEERS
from benchmarks.record import machine, results
from benchmarks.run import DATA, WORLDS, store_path
from benchmarks.store import Store, shared_rows
from benchmarks.tables import compliance, everyone, fidelity, growth, nearest, space, summary
from benchmarks.world import world
from p2c._engines import ENGINES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from benchmarks.tables.table import Table

PACKAGES = (
    "p2c-recourse", "scikit-learn", "pandas", "numpy", "scipy", "clingo", "dice-ml", "treecf", "oceanpy", "xgboost",
    "pysmt", "z3-solver", "unified-planning", "up-fast-downward", "up-pyperplan",
)  # fmt: skip


MEASURED, FAILED = "Other measurements", "What went wrong"
"""The headings of what was recorded, and of the section after it."""


def versions() -> str:
    """Return the versions of what took part."""
    versions = [f"Python {platform.python_version()}"]
    for name in PACKAGES:
        try:
            versions.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            versions.append(f"{name} not installed")
    solver = ENGINES["scasp"].version()
    versions.append(f"s(CASP) {solver}" if solver else "s(CASP) not installed")
    return ", ".join(versions)


def setting(store: Store, *, command: str) -> Section:
    """Return how the figures came about."""
    counts = {name: len(store.of(name, "p2c")) for name in WORLDS}
    dates = store.dates
    different = [
        f"{name} {rows}, {len({tuple(p.values()) for p in world(name).people[:rows]})} of them different"
        for name, rows in counts.items()
    ]
    return Section(
        "How it was made",
        (
            f"Date: {' to '.join(dict.fromkeys([dates[0], dates[-1]]))}. Command: `{command}`. Machine: {machine()}. "
            "Times are processor time unless another is named, so that other work on the machine disturbs them less; ratios say "
            "more than figures." + _pieces(store),
            f"Versions: {versions()}.",
            f"Every method answers the same people ({'; '.join(different)} in the problem's features). They are refused both by the paper's rules and by a gradient boosting model that was fitted on the problem's features "
            "and the paper's training fold; on German, where the held-out fold has few, people of the training fold are among "
            f"them. Paths of methods that have none are found by {PLANNERS[0]}. A method that crashes, hangs or is missing stays in "
            "the tables, and the last table says why.",
        ),
    )


def _pieces(store: Store) -> str:
    """Say so where the results were not all made by the same code."""
    if store.of_one_code:
        return ""
    return (
        f" The results were gathered in pieces while the code was being changed; `rm {store.path.as_posix()}` and a fresh "
        "run of the command make them all anew."
    )


def latest(store: Store, part: str, data: Iterable[str] = DATA) -> dict[str, Any]:
    """Return what was measured last of a part, by data set."""
    known = {name: store.of(name, part) for name in data}
    return {name: records[-1]["found"] for name, records in known.items() if records}


def tables_of(store: Store) -> Iterator[Table]:
    """Return the paper's tables from what is stored."""
    yield space.table(latest(store, "table 1"))
    yield nearest.published_table(latest(store, "table 2 as published"))
    yield nearest.table(latest(store, "table 2"))
    yield compliance.table_3(store, WORLDS)
    yield fidelity.table(splits_of(store))


def splits_of(store: Store) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """Return what was measured of each model, split by split."""
    splits = {
        (name, model): [r["found"] for r in store.of(name, f"table 4 {model}")]
        for name in ("adult", "german", "car")
        for model in MODELS
    }
    return {key: found for key, found in splits.items() if found}


def sections(store: Store, folder: Path, *, command: str) -> Iterator[Section]:
    """Return the parts of the report, their figures drawn into a folder."""
    yield setting(store, command=command)
    yield Section("In short", items=tuple(summary.sentences(store, DATA, WORLDS)))
    better = [
        *compliance.wins(store, WORLDS),
        *growth.wins(store),
        *fidelity.behind(splits_of(store)),
    ]
    yield Section(
        "Where a peer does better",
        ("Made from the same results as the tables below.",)
        if better
        else ("Nowhere in this run.",),
        items=tuple(better),
    )
    yield Section("The paper's tables", tables=tuple(tables_of(store)))
    beyond = (
        everyone.table(latest(store, "everyone")),
        compliance.extras(store, WORLDS),
        compliance.duels(store, WORLDS),
    )
    yield Section("What the paper does not measure", tables=beyond)
    drawn = (
        (
            figures.cost_and_time(store, WORLDS, folder / "cost-time.svg"),
            "Cost of the executed path against time, medians of the rows on which a method has a usable path, which are few "
            "for most methods on the loan; ours are black.",
        ),
        (
            figures.bars(store, WORLDS, folder / "consistency.svg"),
            "Causal consistency and legal paths.",
        ),
        (figures.growth(store, folder / "growth.svg"), "Growth of the time for a first answer."),
    )
    shown = tuple((path.name, caption) for path, caption in drawn)
    yield Section("Figures", figures=shown, tables=(growth.table(store),))
    yield measurements()
    yield Section(FAILED, tables=(compliance.failures(store, WORLDS),))


def measurements() -> Section:
    """Return the section of what the scripts have recorded."""
    return Section(
        MEASURED,
        (
            "What the scripts of `benchmarks/` printed when they were run with `--record`; the figures of the documentation are from "
            "here. The load is the average number of busy processes in the minute before the run.",
        ),
        listings=tuple(results()),
    )


def renew(folder: Path) -> None:
    """Write what was recorded since into a report that is there; everything else stays."""
    parts = [measurements()]
    for name, render in (("REPORT.md", markdown), ("report.html", html)):
        path = folder / name
        text = renewed(path.read_text("utf-8"), render(parts), MEASURED, FAILED)
        path.write_text(text, encoding="utf-8")


def main() -> None:
    """Write the report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--recorded", action="store_true", help="renew what scripts have recorded")
    options = parser.parse_args()
    if options.recorded:
        renew(Path("benchmarks/report"))
        return
    path = store_path(quick=options.quick)
    if not path.exists():
        sys.exit(f"nothing is stored in {path}: run `python -m benchmarks.run` first")
    folder = Path("build/bench/report") if options.quick else Path("benchmarks/report")
    folder.mkdir(parents=True, exist_ok=True)
    command = "make bench-quick" if options.quick else "make bench"
    store = shared_rows(Store.open(path), WORLDS, PEERS)
    parts = list(sections(store, folder, command=command))
    (folder / "REPORT.md").write_text(markdown(parts), encoding="utf-8")
    (folder / "report.html").write_text(html(parts), encoding="utf-8")
    print(folder / "REPORT.md")


if __name__ == "__main__":
    main()
