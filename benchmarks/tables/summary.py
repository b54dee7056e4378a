"""What the tables come to, in a few sentences that are made of the same stored results."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from benchmarks.peers import PEERS
from benchmarks.peers.protocol import Aim
from benchmarks.tables.compliance import OURS, share, usable
from benchmarks.tables.published import NORMS, PAPER, last_digits

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from benchmarks.store import Store


def sentences(store: Store, data: Iterable[str], worlds: Iterable[str]) -> Iterator[str]:
    """Return what a reader should take away."""
    data, worlds = list(data), list(worlds)
    yield from _rebuilt(store, data)
    yield from _everyone(store, data)
    for aim in Aim:
        yield from _usable(store, worlds, aim)


def _rebuilt(store: Store, data: Iterable[str]) -> Iterator[str]:
    gaps = [
        last_digits(printed, value)
        for name in data
        for record in store.of(name, "table 2 as published")
        for method, norms in record["found"].items()
        for norm in NORMS
        for printed, value in zip(PAPER[name, method][norm], norms[norm], strict=True)
    ]
    if gaps:
        yield (
            f"Table 2 as published is rebuilt: {len(gaps)} figures, none more than {max(gaps):.1f} units of its last printed "
            "digit away."
        )


def _everyone(store: Store, data: Iterable[str]) -> Iterator[str]:
    count: Counter[str] = Counter()
    for name in data:
        for record in store.of(name, "everyone"):
            count.update(record["found"])
    if count:
        yield (
            f"p2c has a plan for {count['found']:,} of the {count['refused']:,} different refused people of the data sets, and "
            f"proves of {count['infeasible']:,} that there is none. {share(count['consistent'], count['found'])} of the plans end "
            f"consistent, {share(count['legal'], count['found'])} have only legal actions, and the validator finds "
            f"{count['faulty']} faults."
        )


def _usable(store: Store, worlds: Iterable[str], aim: Aim) -> Iterator[str]:
    worlds = list(worlds)
    shares = []
    for method, peer in PEERS.items():
        records = [record for name in worlds for record in store.of(name, method)]
        if peer.aim is aim and any(record["status"] != "missing" for record in records):
            shares.append((len(usable(records)), len(records), peer.title, method))
    shown = {
        method: f"{title} {share(good, rows)}" for good, rows, title, method in sorted(shares)[::-1]
    }
    if own := shown.pop(OURS[aim], None):
        peers = ", ".join(shown.values())
        yield f"A usable path (legal, and accepted by the {aim.value} at its end), all rows: {own}; {peers}."
