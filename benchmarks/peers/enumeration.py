"""The paper's Algorithm 3, `min_cf`: look at every state, keep the cheapest that is a counterfactual.

A governed feature whose new value a fired rule supports has weight zero, as the paper has it. No path is sought. This is a
yardstick for growth, not one of the compared methods: the spaces of the data sets have up to billions of states.
"""

from __future__ import annotations

import time
from itertools import product
from typing import TYPE_CHECKING

from p2c._rules.evaluate import in_head
from p2c._rules.meaning import abduce, fired, goal_met
from p2c._spec.feature import distance

if TYPE_CHECKING:
    from benchmarks.world import State
    from p2c._rules.theory import Theory


def min_cf(theory: Theory, person: State, *, limit: float) -> tuple[State, float] | None:
    """Return the cheapest counterfactual state and its cost in l1, or None where there is none.

    Raises `TimeoutError` after `limit` seconds of processor time.
    """
    exceptions = abduce(theory, person)
    values = [[f.domain.value(p) for p in range(f.domain.size)] for f in theory.features]
    names = [feature.name for feature in theory.features]
    end = time.process_time() + limit
    best: tuple[State, float] | None = None
    for number, row in enumerate(product(*values)):
        if number % 1_000 == 0 and time.process_time() > end:
            raise TimeoutError(f"{number} states in {limit:g} s")
        state: State = dict(zip(names, row, strict=True))
        if goal_met(theory, state, exceptions):
            cost = _cost(theory, person, state)
            if best is None or cost < best[1]:
                best = state, cost
    return best


def _cost(theory: Theory, person: State, state: State) -> float:
    total = 0.0
    for feature in theory.features:
        name = feature.name
        if state[name] == person[name]:
            continue
        rules = fired(theory, name, state) if name in theory.rules_of else ()
        if not any(in_head(theory, rule, state[name]) for rule in rules):
            total += float(distance(feature, person[name], state[name])) * float(feature.weight)
    return total
