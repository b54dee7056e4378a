"""Name each pruning of the search, so that it can be left out.

Without a pruning, the same plans are found in the same order after a longer search. `benchmarks/ablation.py` measures how much longer.
"""

from __future__ import annotations

from enum import Enum


class Device(Enum):
    """A pruning, and the module that has it."""

    CLASS_ROUTES = "class routes"
    """Routes of all people of one class are found once (`tables/class_routes.py`)."""
    RELAXED_REACH = "relaxed reach"
    """States are searched only if the relaxation has a path (`arrivals.py`)."""
    DOMINATED_OPTIONS = "dominated options"
    """Options that a better one can replace are left out (`dominated_options.py`)."""
    SETTINGS = "settings"
    """The effort of setting endogenous features has a lower bound (`settings.py`)."""
    ORDER_CONFLICTS = "order conflicts"
    """A set without an order is generalized to a clause over classes of options (`order_conflicts.py`)."""
    REACH_OF_ORDERS = "reach of orders"
    """A beginning of an order is left if relaxed reachability shows no end (`order.py`)."""


Devices = frozenset[Device]

ALL: Devices = frozenset(Device)
