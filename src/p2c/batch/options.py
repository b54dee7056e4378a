"""What a batch is asked for besides plans: choices that change the bytes of its output, and so are part of the job."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from p2c.engines.policy import Policy
from p2c.errors import P2CError

PART_ROWS = 1 << 20
"""How many rows a part has at most, as far as the row groups of the input let it."""


@dataclass(frozen=True, slots=True)
class Options:
    """The columns carried through, how many further end states are listed, the size of a part, and how each is planned for."""

    keep: tuple[str, ...] = ()
    keep_all: bool = False
    alternatives: int = 0
    part_rows: int = PART_ROWS
    policy: Policy = field(default_factory=Policy)

    def __post_init__(self) -> None:
        for name, least in (("alternatives", 0), ("part_rows", 1)):
            number = getattr(self, name)
            if not isinstance(number, int) or isinstance(number, bool) or number < least:
                raise P2CError(f"{name}: expected a whole number from {least} on, found {number!r}")

    def to_dict(self) -> dict[str, Any]:
        """Return the options as JSON."""
        told = {**asdict(self), "keep": list(self.keep)}
        policy: dict[str, Any] = told.pop("policy")
        return told | policy
