"""What a caller says beside a problem: the keys that one question replaces, and limits of a search; refused in one line."""

from __future__ import annotations

import math
from collections.abc import Mapping
from operator import index
from typing import TYPE_CHECKING, Any, SupportsFloat, TypedDict

from p2c._spec.spec import ProblemSpec
from p2c.errors import P2CError, shown, suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable

LONGEST = 1_000_000_000
"""The most seconds that a search may be given, some thirty years; clocks and waits count no further."""


class Overrides(TypedDict, total=False):
    """The keys of a problem that a question may replace."""

    goal: str
    law: str
    exceptions: str
    effects: str
    norm: str
    minimize: str | list[str]
    limits: Mapping[str, float]
    max_actions: int


OVERRIDES = tuple(Overrides.__annotations__)


def as_keys(spec: ProblemSpec, overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of a problem that a question replaces.

    Its limits hold beside the limits of the problem.
    """
    keys = dict(overrides)
    limits = keys.pop("limits", {})
    if not isinstance(limits, Mapping):
        expected = "expected a table such as {'months': 12}"
        raise P2CError(f"limits: {expected}, found {shown(limits)}")
    resources = spec.to_dict().get("resources", {})
    for name, limit in limits.items():
        if name not in spec.resources:
            hint = suggestion(str(name), spec.resources)
            raise P2CError(f"limits: there is no resource {shown(name)}; {hint}")
        if not isinstance(limit, int | float) or isinstance(limit, bool) or not limit >= 0:
            raise P2CError(f"limits.{name}: expected a number, 0 or more, found {shown(limit)}")
        own = spec.resources[name].limit
        least = limit if own is None else min(own, limit)
        resources[name] = {**resources.get(name, {}), "limit": least}
    if limits:
        keys["resources"] = resources
    if "max_actions" in keys:
        most = whole_number("max_actions", keys["max_actions"], least=0)
        keys["max_actions"] = most if spec.max_actions is None else min(most, spec.max_actions)
    return keys


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


def whole_number(name: str, given: Any, *, least: int) -> int:
    """Return a whole number, Python's or numpy's, that is no smaller than the least; refuse anything else.

    >>> whole_number("k", True, least=1)
    Traceback (most recent call last):
    p2c.errors.P2CError: k: expected a whole number from 1 on, found True
    """
    try:
        number = None if isinstance(given, bool) else index(given)
    except TypeError:
        number = None
    if number is None or number < least:
        raise P2CError(f"{name}: expected a whole number from {least} on, found {shown(given)}")
    return number


def check_seconds(name: str, limit: object) -> None:
    """Refuse what is no time limit; None is none.

    >>> check_seconds("time_limit", float("nan"))
    Traceback (most recent call last):
    p2c.errors.P2CError: time_limit: expected seconds, from 0 to 1,000,000,000, found nan
    """
    if limit is not None and not 0 <= _number(limit) <= LONGEST:
        raise P2CError(f"{name}: expected seconds, from 0 to {LONGEST:,}, found {shown(limit)}")


def _number(limit: object) -> float:
    """Return a limit as a number; what is none is not a number."""
    if isinstance(limit, bool) or not isinstance(limit, SupportsFloat):
        return math.nan
    try:
        return float(limit)
    except OverflowError:
        return math.inf
    except (TypeError, ValueError):  # an array says that it is a number, and is none
        return math.nan
