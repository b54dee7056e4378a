"""What keeps the search short: every bound and every pruning by name, so that each can be left out.

None of them decides what the answer is: without one, the same plans are found in the same order, after a longer search. How
much longer is what `benchmarks/ablation.py` measures.
"""

from __future__ import annotations

from enum import Enum


class Device(Enum):
    """A bound or a pruning, by the module that has it."""

    CLASS_ROUTES = "class routes"
    """Routes are found once for everyone whom the rules see alike (`tables/class_routes.py`)."""
    RELAXED_REACH = "relaxed reach"
    """Where not even a relaxed look ahead sees the goal, states are not searched (`arrivals.py`)."""
    REACH_OF_ORDERS = "reach of orders"
    """Where it sees no end, the beginning of an order is not followed (`order.py`)."""
    PROPAGATION = "propagation"
    """Values that no plan can end with go, and so do sets that leave a feature none (`propagation.py`)."""
    DOMINATED_OPTIONS = "dominated options"
    """An option goes where a better one can stand in for it (`dominated_options.py`)."""
    LIFTED_BARS = "lifted bars"
    """Where restrictions were lifted each of which bars every path, a plan does what each has barred (`blockers.py`)."""
    LANDMARKS = "landmarks"
    """Sets of options of which every plan takes one more, along the causal rules (`landmarks.py`)."""
    CONFLICTS = "conflicts"
    """Options without which a set ends in no state at the goal (`conflicts.py`)."""
    SHARES = "shares"
    """What remedying all reasons takes at least bounds what a set costs (`shares.py`)."""
    STOPOVERS = "stopovers"
    """Of places that only the end tells apart, one is tried where a feature is carried on (`stopovers.py`)."""

    LEARNING = "learning"
    """Clauses choose action sets, and conflicts add clauses (`plan_search.py`)."""


Devices = frozenset[Device]

ALL: Devices = frozenset(Device)
