"""A review with a few candidates, made as `p2c causal` makes one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from p2c._learn.causal.candidate import Candidate, Evidence
from p2c._learn.causal.review import write_review
from p2c._learn.relations.relation import Example
from p2c._spec.feature import Law

if TYPE_CHECKING:
    from pathlib import Path

FEATURES: dict[str, dict[str, Any]] = {
    "debt": {"type": "int", "min": 0, "max": 1000},
    "score": {"type": "int", "min": 300, "max": 850},
    "job": {"type": "category", "values": ["clerk", "cook", "none"]},
    "paid": {"type": "category", "values": ["no", "yes"]},
}
HIGH = "score(X,N) :- debt(X,D), D=<0, N>=620."
LOW = "score(X,N) :- debt(X,D), not(D=<0), N<620."
WAGE = "paid(X,'yes') :- not job(X,'none')."
IDLE = "paid(X,'no') :- job(X,'none')."
SAID: dict[str, Any] = {"by": "Expert", "why": "seen in practice"}


def candidate(name: str, rule: str, law: Law | None = Law.IFF) -> Candidate:
    """Return a candidate as learning finds one, with made-up counts."""
    feature = rule.partition("(")[0]
    causes = tuple(each for each in FEATURES if each != feature and f"{each}(" in rule)
    example = Example(3, (("score", 400), ("debt", None)))
    evidence = Evidence(100, 40, 50, 39, 60, 49, (example,))
    return Candidate(name, feature, rule, causes, evidence, law)


CANDIDATES = (
    candidate("high", HIGH),
    candidate("low", LOW, None),
    candidate("wage", WAGE, Law.IF),
)


def new_review(path: Path, extra: int = 0) -> Path:
    """Write a review of three candidates, and of some more that say the same as the first."""
    rules = {"score-1": HIGH, "paid-1": WAGE, "paid-2": "paid(X,'no') :- job(X,'clerk')."}
    rules |= {f"more-{each}": HIGH for each in range(extra)}
    write_review(path, [candidate(*each) for each in rules.items()], features=FEATURES)
    return path
