"""The figures of the report, readable in black and white: methods by marker, hatch or dash, never by colour."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

from benchmarks.growth import GROWTH, METHODS
from benchmarks.peers import PEERS
from benchmarks.tables.compliance import found, usable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from benchmarks.store import Store

MARKERS = "osD^v<>Php*8dH"
HATCHES = ("", "//", "", "xx")
DASHES = ("-", "--", ":")
GREYS = ("0.25", "0.6", "0.9", "1.0")


def _plots() -> Any:
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "p2c", "font.size": 8})
    from matplotlib import pyplot

    return pyplot


def _save(figure: Any, path: Path) -> Path:
    figure.savefig(path, metadata={"Date": None}, bbox_inches="tight")
    _plots().close(figure)
    # matplotlib ends some lines with a blank.
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join(line.rstrip() for line in lines) + "\n", encoding="utf-8")
    return path


def cost_and_time(store: Store, data: Sequence[str], path: Path) -> Path:
    """Draw what a usable path costs against the time of an answer, a panel for each data set."""
    pyplot = _plots()
    figure, axes = pyplot.subplots(1, len(data), figsize=(11, 3), squeeze=False)
    for axis, name in zip(axes[0], data, strict=True):
        for marker, (method, peer) in zip(MARKERS, PEERS.items(), strict=False):
            records = store.of(name, method)
            good = usable(records)
            if not good:
                continue
            time = statistics.median(1e3 * r["processor"] for r in records if "processor" in r)
            cost = statistics.median(r["executed_cost"] for r in good)
            face = "black" if method.startswith("p2c") else "white"
            axis.scatter(time, cost, marker=marker, s=45, facecolor=face,
                         edgecolor="black", linewidth=0.9, label=peer.title)  # fmt: skip
        axis.set(title=name, xscale="log", xlabel="ms an answer, median")
    axes[0][0].set_ylabel("cost executed (L1), median")
    handles = {}
    for axis in axes[0]:
        handles |= dict(zip(*reversed(axis.get_legend_handles_labels()), strict=True))
    figure.legend(
        handles.values(), handles, loc="upper center", ncol=4, bbox_to_anchor=(0.5, -0.04)
    )
    return _save(figure, path)


def bars(store: Store, data: Sequence[str], path: Path) -> Path:
    """Draw the shares of consistent ends and of legal paths, a bar for each data set."""
    pyplot = _plots()
    figure, axes = pyplot.subplots(2, 1, figsize=(10, 5), sharex=True)
    for axis, fact, title in zip(
        axes, ("consistent", "legal"), ("causally consistent", "only legal actions"), strict=True
    ):
        for shift, (name, hatch, grey) in enumerate(zip(data, HATCHES, GREYS, strict=False)):
            heights = []
            for method in PEERS:
                ends = found(store.of(name, method))
                heights.append(100 * sum(r[fact] for r in ends) / len(ends) if ends else 0.0)
            places = [place + (shift - 1.5) * 0.2 for place in range(len(PEERS))]
            axis.bar(places, heights, 0.2, hatch=hatch, color=grey, edgecolor="black", label=name)
        axis.set(ylabel=f"{title}, %", ylim=(0, 105))
    axes[0].legend(loc="upper center", ncol=4, bbox_to_anchor=(0.5, 1.25))
    axes[1].set_xticks(
        range(len(PEERS)), [peer.title for peer in PEERS.values()], rotation=30, ha="right"
    )
    return _save(figure, path)


def growth(store: Store, path: Path) -> Path:
    """Draw how the time for an answer grows with features, rules and the size of domains."""
    pyplot = _plots()
    figure, axes = pyplot.subplots(1, len(GROWTH), figsize=(10, 3), sharey=True)
    for axis, way in zip(axes, GROWTH, strict=True):
        for marker, dash, method in zip("os^", DASHES, METHODS, strict=False):
            points = [
                (r["row"], r["found"])
                for r in store.of(way, f"growth {method}")
                if r["found"] is not None
            ]
            if points:
                axis.plot(*zip(*points, strict=True), dash, marker=marker, color="black",
                          markerfacecolor="white", label=method)  # fmt: skip
        axis.set(xlabel=way, yscale="log")
        axis.set_xscale("log", base=2)
        axis.xaxis.set_major_formatter(lambda amount, _: f"{amount:g}")
    axes[0].set_ylabel("seconds a person, first answer")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="upper center", ncol=3, bbox_to_anchor=(0.5, -0.04))
    return _save(figure, path)
