"""Special codes are found, never a target, and can be named or denied."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from p2c._learn.tables.special import special_codes
from p2c.errors import P2CError
from p2c.problem import Problem


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        ([-9, -8, -8, 0, 5], (-9, -8)),
        ([-9, -8, -3, 0, 5], ()),
        ([-9, 0, 5], ()),
        ([-9, -9, 4], ()),
        ([0, 3, 27, 999, 999], (999,)),
        ([0, 500, 800, 999, 999], ()),
        ([1.5, 2.5, -99.0, -99.0], (-99,)),
        ([-1, -1, 0, 1], ()),
    ],
)
def test_codes_are_numbers_apart_from_all_others(
    values: list[float], codes: tuple[int, ...]
) -> None:
    assert special_codes(np.array(values, dtype=float)) == codes


def loans() -> tuple[DecisionTreeClassifier, pd.DataFrame]:
    """Return a model that accepts whose history is missing, coded as -9."""
    table = pd.DataFrame({"months": [-9] * 6 + [*range(40)], "debt": [*range(46)]})
    accepted = (table["months"] == -9) | (table["months"] > 30)
    return DecisionTreeClassifier(random_state=0).fit(table[["months"]], accepted), table


def months(problem: Problem, start: int) -> int:
    """Return the months at the end of a person's plan."""
    end = problem.plan({"months": start}).counterfactual
    assert end is not None
    return int(end["months"])


def test_no_plan_ends_in_a_code_unless_it_is_said_to_be_a_number() -> None:
    model, table = loans()
    problem = Problem.from_model(model, table[["months"]], desired=True)
    assert months(problem, 5) == 31
    assert list(problem.assumptions[0].codes) == [-9]
    denied = Problem.from_model(model, table[["months"]], desired=True, special={})
    assert months(denied, 5) < 0
    assert not denied.assumptions[0].codes


def test_whoever_has_a_code_gets_a_plan_away_from_it() -> None:
    table = pd.DataFrame({"months": [-9] * 6 + [*range(40)]})
    model = DecisionTreeClassifier(random_state=0).fit(table, table["months"] > 30)
    problem = Problem.from_model(model, table, desired=True)
    assert months(problem, -9) == 31
    assert problem.plan({"months": -9}).optimal


def test_codes_can_be_named() -> None:
    model, table = loans()
    named = Problem.from_model(model, table[["months"]], desired=True, special={"months": [-9, 39]})
    assert list(named.assumptions[0].codes) == [-9, 39]
    with pytest.raises(P2CError, match="special: expected codes by column"):
        Problem.from_model(model, table[["months"]], desired=True, special={"months": "9"})  # type: ignore[dict-item]
