"""A review with a few candidates, made as `p2c causal` makes one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from p2c.domain.feature import Law
from p2c.learn.causal.candidate import Candidate, Evidence, Example
from p2c.learn.causal.review import write_review

if TYPE_CHECKING:
    from pathlib import Path

FEATURES: dict[str, dict[str, Any]] = {
    "debt": {"type": "int", "min": 0, "max": 1000},
    "score": {"type": "int", "min": 300, "max": 850},
    "job": {"type": "category", "values": ["clerk", "cook", "none"]},
    "paid": {"type": "category", "values": ["no", "yes"]},
}
RULES = {
    "score-1": ("score(X,N) :- debt(X,D), D=<0, N>=620.", ("debt",)),
    "paid-1": ("paid(X,'yes') :- not job(X,'none').", ("job",)),
    "paid-2": ("paid(X,'no') :- job(X,'clerk').", ("job",)),
}


def new_review(path: Path, extra: int = 0) -> Path:
    """Write a review of three candidates, and of some more that say the same as the first."""
    rules = RULES | {f"more-{each}": RULES["score-1"] for each in range(extra)}
    example = Example(3, (("score", 400), ("debt", None)))
    evidence = Evidence(100, 40, 50, 39, 60, 49, (example,))
    found = [
        Candidate(name, rule.partition("(")[0], rule, causes, evidence, Law.IFF)
        for name, (rule, causes) in rules.items()
    ]
    write_review(path, found, features=FEATURES)
    return path
