"""What the first answers of a model promise: how fast it can be won over, and which values are worth combining."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from p2c.confirm.judge import Ruling
    from p2c.confirm.trial_values import TrialValues
    from p2c.confirm.walk import Walk, Walker
    from p2c.domain.feature import Value

    Judged = Sequence[tuple[Walk, Ruling]]

MOST_STEPS = 16
"""How many values of one number, at the most, are combined with values of other features."""


def best_rate(walker: Walker, judged: Judged, start: float) -> float:
    """Return the greatest gain of score for one unit of cost that an action brings."""
    gains = (
        (answer.score - start) / max(walker.cost(walk), 1e-6)
        for walk, answer in judged
        if answer.score is not None
    )
    return max(gains, default=0.0)


def promising(
    walker: Walker,
    singles: Iterable[Walk],
    trials: TrialValues,
    *,
    known: Mapping[tuple[Value, ...], Ruling],
    start: float,
) -> TrialValues:
    """Return the values to try without any that, taken alone, brought no more than a cheaper one of the same feature.

    What the single actions have set is tried as well.
    """
    kept = {name: dict.fromkeys(values) for name, values in trials.items()}
    tops = dict.fromkeys(trials, start)
    for walk in sorted((each for each in singles if each.direct_actions), key=walker.cost):
        action = walk.direct_actions[0]
        kept[action.feature][action.end] = None
        answer = None if walk.pending else known.get(walk.key)
        if answer is None or answer.score is None:
            continue
        if answer.score > tops[action.feature]:
            tops[action.feature] = answer.score
        else:
            del kept[action.feature][action.end]
    return {name: _steps(walker, name, values) for name, values in kept.items()}


def thinned(values: Sequence[Value], most: int) -> tuple[Value, ...]:
    """Return at most so many of the values, evenly spread.

    >>> thinned([1, 2, 3, 4, 5], 3)
    (1, 3, 5)
    """
    step = -(-len(values) // most) or 1
    return tuple(values[::step])


def _steps(walker: Walker, name: str, values: Iterable[Value]) -> tuple[Value, ...]:
    feature = walker.theory.feature[name]
    if feature.is_listed:
        return tuple(values)
    numbers: list[str | int | float] = [each for each in values if each is not None]
    numbers.sort(key=feature.order)
    return thinned(numbers, MOST_STEPS)
