"""The keys of a problem that one question may replace, and the refusal of keywords that nothing is called."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from p2c.domain.spec import ProblemSpec
from p2c.errors import P2CError, suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable


class Overrides(TypedDict, total=False):
    """The keys of a problem that a question may replace."""

    goal: str
    causal: str
    exceptions: str
    effects: str
    norm: str
    minimize: str


OVERRIDES = tuple(Overrides.__annotations__)


def refuse_unknown(given: Iterable[str], known: Iterable[str]) -> None:
    """Refuse keywords that nothing is called, with a hint what was meant.

    >>> refuse_unknown(["nrom"], OVERRIDES)
    Traceback (most recent call last):
    p2c.errors.P2CError: 'nrom' is no keyword here; did you mean 'norm'?
    """
    names = tuple(known)
    for key in given:
        if key not in names:
            what = (
                "cannot be overridden" if key in ProblemSpec.model_fields else "is no keyword here"
            )
            raise P2CError(f"'{key}' {what}; {suggestion(key, names)}")
