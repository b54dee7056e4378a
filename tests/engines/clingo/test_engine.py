"""The k nearest ends: clingo agrees with our own search on every cost, and each end is another."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from p2c.datasets import problem_text, rows
from p2c.errors import EngineError, P2CError
from p2c.problem import Problem
from tests.engines.test_contract import same_cost
from tests.loan import JOHN, LOAN
from tests.strategies import seeded_problems

Document = dict[str, Any]


def difference(document: Document, row: Document, *, k: int, distinct: str) -> str | None:
    """Return where clingo and our own search differ, nothing, or None where clingo refuses."""
    problem = Problem.from_dict(document)
    try:
        expected = problem.nearest(row, k, distinct=distinct)
        found = problem.nearest(row, k, distinct=distinct, engine="clingo")
    except EngineError:
        return None
    except P2CError:
        return ""
    costs = [plan.cost for plan in expected], [plan.cost for plan in found]
    if distinct == "cells":
        # Which of several equal paths stands for a cell decides which others contain it.
        costs = costs[0][:1], costs[1][:1]
    if len(costs[0]) != len(costs[1]) or not all(map(same_cost, *costs)):
        return f"costs: expected {costs[0]}, found {costs[1]}"
    ends = [tuple((plan.counterfactual or {}).items()) for plan in found]
    return "" if len(set(ends)) == len(ends) else "the same end twice"


def assert_agreement(seed: int, count: int, *, least: int) -> None:
    """Compare on random problems; `least` of them have to be such that clingo takes them."""
    taken = 0
    for number, (document, row) in enumerate(seeded_problems(seed, count)):
        distinct = "cells" if number % 3 == 0 else "points"
        found = difference(document, row, k=6, distinct=distinct)
        assert not found, f"{found}\n{distinct}\n{document!r}\n{row!r}"
        taken += found is not None
    assert taken >= least


def test_clingo_agrees_on_small_problems() -> None:
    assert_agreement(2500, 30, least=10)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2501, 2521))
def test_clingo_agrees_on_a_thousand_more(seed: int) -> None:
    assert_agreement(seed, 50, least=20)


@pytest.mark.parametrize("distinct", ["points", "cells"])
def test_clingo_finds_the_ends_next_to_the_cheapest(distinct: str) -> None:
    problem = Problem.from_dict(LOAN)
    expected = problem.nearest(JOHN, 4, distinct=distinct)
    found = problem.nearest(JOHN, 4, distinct=distinct, engine="clingo")
    assert [plan.cost for plan in found] == pytest.approx([plan.cost for plan in expected])
    assert {str(plan.counterfactual) for plan in found} == {
        str(plan.counterfactual) for plan in expected
    }


def test_an_own_value_between_those_of_a_cell_is_an_end_of_its_own() -> None:
    document: Document = {
        "goal": "good(X)",
        "norm": "l0",
        "rules": "good(X) :- home(X,'b'), rank(X,N), N=<0.25.",
        "features": {
            "home": {"type": "category", "values": ["a", "b"]},
            "rank": {"type": "float", "values": [-0.75, 0.25, 0.5]},
        },
    }
    assert difference(document, {"home": "a", "rank": 0.0}, k=6, distinct="cells") == ""


RING: Document = {
    "goal": "a(X,'y')",
    "rules": "a(X,'y') :- b(X,'y'). b(X,'y') :- a(X,'y').",
    "features": {n: {"type": "category", "values": ["y", "n"], "action": "free"} for n in "ab"},
}


@pytest.mark.parametrize(
    ("document", "row"),
    [({**LOAN, "effects": "supported"}, JOHN), (RING, {"a": "n", "b": "n"})],
    ids=["supported", "cycle"],
)
def test_paths_of_any_length_have_nearest_ends_too(document: Document, row: Document) -> None:
    assert difference(document, row, k=6, distinct="points") == ""


def test_costs_that_do_not_fit_are_refused_by_name() -> None:
    weights = {"a": 1e9, "b": 3.1e-3}
    features = {
        n: {"type": "category", "values": ["y", "n"], "weight": w} for n, w in weights.items()
    }
    problem = Problem.from_dict({"goal": "a(X,'y')", "rules": "", "features": features})
    with pytest.raises(EngineError, match="clingo: these costs do not fit into 32 bits"):
        problem.nearest({"a": "n", "b": "n"}, 2, engine="clingo")


def test_an_engine_that_has_no_nearest_ends_says_who_has() -> None:
    problem = Problem.from_dict(tomllib.loads(problem_text("loan")))
    with pytest.raises(EngineError, match="no nearest ends by 'scasp'; known: 'auto', 'clingo'"):
        problem.nearest(rows("loan")["john"], 2, engine="scasp")
