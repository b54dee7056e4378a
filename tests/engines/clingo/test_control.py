"""Questions that take clingo long: they are cut short when they have to be, and the problem can be asked about again."""

from __future__ import annotations

import signal
from itertools import combinations
from typing import TYPE_CHECKING, Any

import pytest

from p2c._engines import ENGINES
from p2c.problem import Problem

if TYPE_CHECKING:
    from p2c._plan.outcome import Plan


PIGEONS, HOLES = range(12), [f"h{each}" for each in range(11)]
CLASHES = "\n".join(
    f"clash(X) :- p{one}(X,{hole}), p{other}(X,{hole})."
    for one, other in combinations(PIGEONS, 2)
    for hole in HOLES
)
CROWDED = Problem.from_dict(
    {
        "goal": "not refused(X)",
        "rules": f"{CLASHES} refused(X) :- strict(X,yes), clash(X). refused(X) :- lamp(X,off).",
        "features": {
            **{f"p{each}": {"type": "category", "values": HOLES} for each in PIGEONS},
            "strict": {"type": "category", "values": ["yes", "no"], "action": "fixed"},
            "lamp": {"type": "category", "values": ["off", "on"]},
        },
    }
)
"""Where the rules are strict there is one pigeon too many, which takes very long to prove."""
LENIENT = {**dict.fromkeys((f"p{each}" for each in PIGEONS), "h0"), "strict": "no", "lamp": "off"}
STRICT = {**LENIENT, "strict": "yes"}


def ask(row: dict[str, Any], **options: Any) -> Plan:
    return ENGINES["clingo"].plan(CROWDED.compiled, CROWDED.read_row(row), **options)


def test_time_that_is_up_in_the_middle_of_a_search_ends_it() -> None:
    assert ask(STRICT, time_limit=0.3).status == "gave_up"
    assert ask(LENIENT).cost == 1


def test_an_interrupt_in_the_middle_of_a_search_is_heard() -> None:
    def interrupt(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    assert ask(LENIENT).cost == 1
    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.7)
    try:
        with pytest.raises(KeyboardInterrupt):
            ask(STRICT)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert ask(LENIENT).cost == 1
