"""How time grows with features, rules and the size of domains: our planner, clingo, and looking at every state.

A family of problems that only grows in one way at a time: whole-number features, one of which follows from the first,
and rules that refuse everybody who is low in two neighbouring features. The person is low in all of them. Where the
features grow, the rules grow with them, so that every feature matters.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from benchmarks.peers.enumeration import min_cf
from p2c import Problem
from p2c._engines import ENGINES

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.world import State

FEATURES, RULES, SIZE = 4, 4, 6
GROWTH: dict[str, tuple[int, ...]] = {
    "features": (2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 30),
    "rules": (2, 4, 8, 16, 32),
    "domain size": (4, 8, 16, 32, 64, 256, 1_024),
}
EVERY_STATE = "every state (Algorithm 3)"
MOST_STATES, QUICK_STATES = 50_000, 3_000
"""The sizes up to which every state is looked at; the time grows with the states, so the line goes on as it is."""

QUICK_FEATURES = 12
"""The most features of a quick run; with more of them clingo may need its whole limit."""

LIMIT = 60.0
"""Seconds of processor time after which an answer is given up."""


def family(
    *, features: int = FEATURES, rules: int = RULES, size: int = SIZE
) -> tuple[Problem, State]:
    """Return a member of the family and its person.

    >>> problem, person = family(features=3, rules=2, size=4)
    >>> problem.plan(person).cost
    0.6666666666666666
    """
    names = [f"x{number}" for number in range(features)]
    middle = size // 2
    text = [f"{names[-1]}(X,V) :- {names[0]}(X,N), N>={middle}, V>={middle}."]
    for number in range(rules):
        one, other = names[number % features], names[(number + 1) % features]
        bar = 1 + number // features % max(middle, 1)
        text.append(f"reject(X) :- {one}(X,N), N<{bar}, {other}(X,M), M<{middle}.")
    described: dict[str, Any] = {name: {"type": "int", "min": 0, "max": size - 1} for name in names}
    problem = Problem.from_dict(
        {"name": "growth", "goal": "not reject(X)", "rules": "\n".join(text), "features": described}
    )
    return problem, dict.fromkeys(names, 0)


WAYS: dict[str, Callable[[int], tuple[Problem, State]]] = {
    "features": lambda amount: family(features=amount, rules=amount),
    "rules": lambda amount: family(rules=amount),
    "domain size": lambda amount: family(size=amount),
}


def point(way: str, amount: int, engine: str) -> float | None:
    """Return the seconds of processor time that an answer takes, compiling included; None past the limit."""
    problem, person = WAYS[way](amount)
    begin = time.process_time()
    try:
        answered = METHODS[engine](problem, person)
    except TimeoutError:
        return None
    return time.process_time() - begin if answered else None


def within_reach(way: str, amount: int, method: str, *, quick: bool) -> bool:
    """Tell whether a point is worth trying: looking at every state ends where there are too many."""
    if quick and way == "features" and amount > QUICK_FEATURES:
        return False
    if method != EVERY_STATE:
        return True
    states = WAYS[way](amount)[0].space().raw
    return states <= (QUICK_STATES if quick else MOST_STATES)


def _by_engine(name: str) -> Callable[[Problem, State], bool]:
    def ask(problem: Problem, person: State) -> bool:
        plan = problem.plan(person, engine=name, time_limit=LIMIT)
        return plan.status in ("found", "infeasible")

    return ask


def _by_enumeration(problem: Problem, person: State) -> bool:
    min_cf(problem.theory, person, limit=LIMIT)
    return True


METHODS: dict[str, Callable[[Problem, State], bool]] = {
    "p2c": _by_engine("native"),
    **({"clingo": _by_engine("clingo")} if ENGINES["clingo"].version() is not None else {}),
    EVERY_STATE: _by_enumeration,
}
