"""The methods that are compared, each in a file of its own; a new one is a file and a line here."""

from __future__ import annotations

from benchmarks.peers import borderline, c3g, dice, mace, mint, ocean, ours, treecf

PEERS = {
    "borderline": borderline.PEER,
    **dice.PEERS,
    "mace": mace.PEER,
    "mint": mint.PEER,
    "c3g": c3g.PEER,
    "treecf": treecf.PEER,
    "ocean": ocean.PEER,
    **ours.PEERS,
}
"""Every method by its short name, in the order of the tables."""
