"""The methods that are compared, each in a file of its own; a new one is a file and a line here."""

from __future__ import annotations

from benchmarks.peers import borderline, c3g, dice, mace, mint, ours, treecf

PEERS = {
    "borderline": borderline.PEER,
    **dice.PEERS,
    "mace": mace.PEER,
    "mint": mint.PEER,
    "c3g": c3g.PEER,
    "treecf": treecf.PEER,
    **ours.PEERS,
}
"""Every method by its short name, in the order of the tables."""

LEFT_OUT = {
    "OCEAN": (
        "oceanpy 2.0.7 needs Python 3.12 or later, and reads random forests, AdaBoost and XGBoost, not the gradient boosting "
        "model of this comparison"
    ),
}
"""Methods that users would look for here, and why they are not."""
