"""The loan of the contract's first section, its applicant, and a short way to a theory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from p2c._rules.bind import build_theory
from p2c._spec.spec import read_spec

if TYPE_CHECKING:
    from p2c._rules.theory import Theory

CREDIT_RULE = "credit_score(X,N) :- debt(X,D), D=<0, N>=620."
LOAN: dict[str, Any] = {
    "name": "loan",
    "goal": "not reject_loan(X)",
    "rules": f"""
        reject_loan(X) :- bank_balance(X,N), N<60000.
        reject_loan(X) :- credit_score(X,N), N<620.
        {CREDIT_RULE}
    """,
    "features": {
        "age": {"type": "int", "min": 1, "max": 99, "action": "fixed"},
        "debt": {"type": "int", "min": 0, "max": 1_000_000},
        "bank_balance": {"type": "int", "min": 0, "max": 1_000_000_000},
        "credit_score": {"type": "int", "min": 300, "max": 850},
    },
}
JOHN = {"age": 31, "debt": 5000, "bank_balance": 40000, "credit_score": 599}


def theory_of(data: dict[str, Any]) -> Theory:
    """Return the theory of a problem given as a dict."""
    return build_theory(read_spec(data))


def small(rules: str, features: dict[str, Any], **keys: Any) -> Theory:
    """Return a theory of a few features with the goal `good(X)`, unless told otherwise."""
    return theory_of(
        {"name": "small", "goal": "good(X)", "rules": rules, "features": features} | keys
    )


def category(*values: str, **keys: Any) -> dict[str, Any]:
    """Return the keys of a category."""
    return {"type": "category", "values": list(values), **keys}


def ordinal(*values: str, **keys: Any) -> dict[str, Any]:
    """Return the keys of an ordinal."""
    return {"type": "ordinal", "values": list(values), **keys}


def whole(low: int, high: int, **keys: Any) -> dict[str, Any]:
    """Return the keys of a whole number."""
    return {"type": "int", "min": low, "max": high, **keys}
