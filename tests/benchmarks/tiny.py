"""Two worlds so small that the right answer of each method is known: one of rules with a cause, one of a model."""

from __future__ import annotations

import pandas as pd
from sklearn.ensemble import GradientBoostingClassifier

from benchmarks.world import State, World, fit_world
from p2c import Problem

LOAN = Problem.from_dict(
    {
        "name": "tiny",
        "goal": "not reject(X)",
        "rules": """
            reject(X) :- balance(X,N), N<6.
            reject(X) :- score(X,'low').
            score(X,'high') :- debt(X,D), D=<0.
            score(X,'low') :- debt(X,D), D>0.
        """,
        "features": {
            "age": {"type": "int", "min": 0, "max": 9, "action": "fixed"},
            "debt": {"type": "int", "min": 0, "max": 4},
            "balance": {"type": "int", "min": 0, "max": 10},
            "score": {"type": "category", "values": ["low", "high"]},
        },
    }
)
JOHN: State = {"age": 3, "debt": 2, "balance": 4, "score": "low"}
"""Debt is a half of its range away from none, the balance a fifth of its range away from enough."""

STEP = Problem.from_dict(
    {
        "name": "step",
        "goal": "high(X)",
        "rules": "high(X) :- level(X,N), N>=5.",
        "features": {
            "level": {"type": "int", "min": 0, "max": 9},
            "colour": {"type": "category", "values": ["red", "blue"], "action": "fixed"},
        },
    }
)
MARY: State = {"level": 2, "colour": "red"}


def loan_world() -> World:
    """Return the world of the rules; its model is only there because every world has one."""
    rows = [
        {"age": 3, "debt": debt, "balance": balance, "score": "low" if debt else "high"}
        for debt in range(5)
        for balance in range(11)
    ]
    accepted = [row["debt"] == 0 and int(row["balance"]) >= 6 for row in rows]
    return fit_world(LOAN, pd.DataFrame(rows), accepted)


def step_world() -> World:
    """Return the world of a model that accepts from level 5 on and sees nothing else."""
    rows = [
        {"level": level, "colour": colour}
        for level in range(10)
        for colour in ("red", "blue")
        for _ in range(10)
    ]
    frame = pd.DataFrame(rows)
    world = fit_world(STEP, frame, frame["level"] >= 5)
    assert isinstance(world.model.fitted, GradientBoostingClassifier)
    assert [world.model.accepts({**MARY, "level": level}) for level in (4, 5)] == [False, True]
    return world


UNEVEN = Problem.from_dict(
    {
        "name": "uneven",
        "goal": "high(X)",
        "rules": "high(X) :- level(X,N), N>=5.",
        "features": {
            "level": {"type": "int", "min": 0, "max": 9},
            "height": {"type": "int", "min": 0, "max": 30, "scale": 12.5},
        },
    }
)


def uneven_world() -> World:
    """Return the world of a model of two numbers whose steps cost differently, with a border that goes up and down."""
    frame = pd.DataFrame([{"level": a, "height": b} for a in range(10) for b in range(31)])
    return fit_world(UNEVEN, frame, (frame["level"] * 3 + frame["height"]) % 23 >= 15)
