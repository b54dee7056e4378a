"""Paths that take more steps than a program has: the horizon grows until the cheapest one is proved."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from p2c._engines.clingo import engine
from p2c._engines.clingo.encoding import Encoding
from p2c._engines.clingo.engine import SPENT, Deepening
from p2c._engines.instance import Instance
from p2c.errors import EngineError
from p2c.problem import Problem
from tests.engines.test_contract import ask, difference

LINKS = [f"f{number}" for number in range(5)]
CHAIN: dict[str, Any] = {
    "goal": "f4(X,'on')",
    "rules": " ".join(f"{after}(X,'on') :- {before}(X,'on')." for before, after in pairwise(LINKS)),
    "features": {name: {"type": "category", "values": ["off", "on"]} for name in LINKS},
}
"""One action, and four effects that follow from one another."""
OFF = dict.fromkeys(LINKS, "off")


def test_the_horizon_grows_until_a_path_is_proved() -> None:
    problem = Problem.from_dict(CHAIN)
    encoding = Encoding(Instance.of(problem.compiled, problem.read_row(OFF)))
    assert encoding.enough == 5
    [path] = Deepening(encoding, SPENT).paths()
    assert [move.direct for move in path.moves] == [True, False, False, False, False]


def test_a_proof_that_would_take_too_long_is_refused_by_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(engine, "MOST_STEPS", 2)
    with pytest.raises(EngineError, match="more than 2 steps; ask the native engine"):
        ask("clingo", Problem.from_dict(CHAIN), OFF)


def test_effects_that_feed_one_another_in_many_ways_end() -> None:
    ring = "abcdef"
    rules = [
        f"{one}(X,v1) :- {other}(X,v2)." for one, other in zip(ring, ring[1:] + "a", strict=True)
    ]
    document: dict[str, Any] = {
        "goal": "not reject(X)",
        "rules": "\n".join([*rules, "reject(X) :- not a(X,v3)."]),
        "features": {
            name: {"type": "category", "values": [f"v{each}" for each in range(9)], "moves": {}}
            for name in ring
        },
    }
    assert difference("clingo", document, dict.fromkeys(ring, "v0")) == ""
