"""The protocol of propagators: rules, constraints, equations, models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from p2c._plan.boxes.axis import Open


class Propagator(Protocol):
    """Part of a problem that closes boxes in which no action set leads to the goal."""

    def narrow(self, box: tuple[Open, ...]) -> tuple[Open, ...] | None:
        """Return the box without action sets that lead to no goal; None if none is left."""
