"""Plans as a stranger would hand them in, written out for the validator, and what it says of them."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from p2c._plan.check.validate import Verdict, check_plan
from tests.loan import CREDIT_RULE, JOHN, LOAN, category, theory_of, whole

if TYPE_CHECKING:
    from p2c._rules.theory import Theory

Document = dict[str, Any]
DEBT: Document = {"kind": "direct", "feature": "debt", "from": 5000, "to": 0, "cost": 0.005}
BALANCE: Document = {
    "kind": "direct",
    "feature": "bank_balance",
    "from": 40000,
    "to": 60000,
    "cost": 0.00002,
}
SCORE: Document = {
    "kind": "causal",
    "feature": "credit_score",
    "from": 599,
    "to": 620,
    "cost": 0,
    "because": [CREDIT_RULE],
    "assumed": False,
}
MOVES = {"job": category("a", "b", "c", moves={"a": ["b"], "b": ["a", "c"]}), "day": whole(0, 9)}
STUCK = "good(X) :- a(X,'y').\n:- a(X,'y'), b(X,'n')."
STUCK_FEATURES = {"a": category("n", "y"), "b": category("n", "y")}


def plan_of(initial: Document, *steps: list[Document], cost: float, **keys: Any) -> Document:
    """Return a found plan with these actions, each step with the state that they lead to."""
    state = dict(initial)
    written = []
    for actions in steps:
        state = state | {action["feature"]: action["to"] for action in actions}
        written.append({"actions": copy.deepcopy(actions), "state": dict(state)})
    plan = {
        "status": "found",
        "norm": "l1",
        "cost": cost,
        "optimal": True,
        "initial": dict(initial),
        "counterfactual": dict(state),
        "exceptions": [],
        "steps": written,
    }
    return plan | keys


def direct(feature: str, start: Any, end: Any, cost: float = 1) -> Document:
    return {"kind": "direct", "feature": feature, "from": start, "to": end, "cost": cost}


def causal(feature: str, start: Any, end: Any, *because: str, assumed: bool = False) -> Document:
    return SCORE | {
        "feature": feature,
        "from": start,
        "to": end,
        "because": list(because),
        "assumed": assumed,
    }


def loan_plan() -> Document:
    return plan_of(JOHN, [DEBT, SCORE], [BALANCE], cost=0.00502, problem="loan")


def verdict(document: Document, **keys: Any) -> Verdict:
    return check_plan(theory_of(LOAN | keys), document)


def faults(document: Document, theory: Theory | None = None) -> str:
    """Return what is wrong, one fault a line."""
    found = check_plan(theory or theory_of(LOAN), document)
    return "\n".join(map(str, found.faults))


def with_features(**features: Document) -> Theory:
    """Return the loan with some keys of its features changed."""
    known = LOAN["features"]
    changed = {name: known[name] | keys for name, keys in features.items()}
    return theory_of(LOAN | {"features": known | changed})
