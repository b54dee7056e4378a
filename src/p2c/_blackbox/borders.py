"""Thresholds of a black-box model that a search has met near the end of a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from p2c._plan.outcome import Border, Found

if TYPE_CHECKING:
    from collections.abc import Iterator

    from p2c._blackbox.judge import Judge
    from p2c._plan.outcome import Plan
    from p2c._spec.feature import Value


def find_borders(judge: Judge, plan: Plan) -> tuple[Border, ...]:
    """Return the refused value nearest to each number that a plan sets."""
    return tuple(_borders(judge, plan)) if isinstance(plan, Found) else ()


def _borders(judge: Judge, plan: Found) -> Iterator[Border]:
    end = plan.end
    for action in plan.actions:
        accepted = end[action.feature]
        if isinstance(accepted, int | float) and isinstance(action.start, int | float):
            place = list(end).index(action.feature)
            refused = _refused_beside(judge, tuple(end.values()), place)
            low, high = sorted((action.start, accepted))
            before = [value for value in refused if low <= value <= high]
            if before:
                nearest = max(before) if accepted == high else min(before)
                yield Border(action.feature, nearest, accepted)


def _refused_beside(judge: Judge, end: tuple[Value, ...], place: int) -> Iterator[int | float]:
    """Yield the refused values of one feature, all others as at the end."""
    for key, answer in judge.known.items():
        value = key[place]
        alike = key[:place] == end[:place] and key[place + 1 :] == end[place + 1 :]
        if alike and not answer.accepted and isinstance(value, int | float):
            yield value
