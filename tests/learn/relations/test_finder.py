"""Relations proposed for a table: the planted ones, no coincidences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import polars as pl
import pytest

from p2c import P2CError, Problem
from p2c._learn.relations.finder import find_relations
from p2c._learn.relations.relation import RelationKind
from tests.learn.relations.planted import CLINIC, LENDER, SHOP, clinic, lender, noise, shop

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(("table", "planted"), [(lender, LENDER), (shop, SHOP), (clinic, CLINIC)])
def test_the_planted_relations_are_found_and_no_others(
    table: Callable[..., pd.DataFrame], planted: set[str], seed: int
) -> None:
    found = {each.text for each in find_relations(table(seed=seed))}
    assert planted <= found
    assert len(found - planted) <= 3


@pytest.mark.parametrize("seed", range(5))
def test_unrelated_columns_suggest_nothing(seed: int) -> None:
    assert find_relations(noise(40, 2_000, seed)) == ()


def test_candidates_count_their_rows_and_show_those_against_them() -> None:
    table = shop()
    (net,) = (each for each in find_relations(table) if each.feature == "net")
    judged = table[["gross", "tax", "net"]].dropna()
    wrong = (judged["net"] - (judged["gross"] - judged["tax"])).abs() > 0.006
    assert (net.rows, net.counterexamples) == (len(judged), wrong.sum())
    assert net.share == pytest.approx(1 - wrong.mean())
    first = net.examples[0]
    assert first.row == judged.index[wrong][0] + 1
    assert dict(first.values)["net"] == table["net"].iloc[first.row - 1]


def test_a_higher_threshold_leaves_out_what_holds_less_often() -> None:
    assert not {each.text for each in find_relations(shop(), threshold=0.995)} & SHOP


def test_a_table_of_polars_gives_the_same() -> None:
    table = clinic()
    assert find_relations(pl.from_pandas(table)) == find_relations(table)


def test_codes_of_missing_values_do_not_count_as_values() -> None:
    rng = np.random.default_rng(0)
    total = rng.poisson(20, 3_000).astype(float)
    good = total - np.minimum(rng.poisson(2, 3_000), total)
    absent = rng.random(3_000) < 0.1
    table = pd.DataFrame(
        {"total": np.where(absent, -9, total), "good": np.where(rng.random(3_000) < 0.1, -8, good)}
    )
    (order,) = find_relations(table)
    assert order.text == ":- good(X,A), total(X,B), A > B."
    assert order.share == 1


def test_names_suggest_a_clock_that_no_row_can_show() -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "age": rng.integers(18, 90, 500),
            "months_since_last_loan": rng.integers(0, 120, 500),
            "age_group": rng.integers(0, 4, 500),
        }
    )
    (clock,) = find_relations(table)
    assert clock.kind is RelationKind.CLOCK
    assert clock.text == "months_since_last_loan = 12 * age"
    assert (clock.rows, clock.share) == (0, None)


def test_complementary_columns_without_a_common_name_are_one_equation() -> None:
    rng = np.random.default_rng(0)
    approve = rng.integers(0, 2, 500)
    found = find_relations(pd.DataFrame({"approve": approve, "reject": 1 - approve}))
    assert [each.text for each in found] == ["reject = if(approve = 1, 0, 1)"]


def test_dummies_without_a_common_name_are_a_group_when_one_is_always_set() -> None:
    colour = np.random.default_rng(0).integers(0, 3, 900)
    table = pd.DataFrame(
        {name: (colour == at) * 1 for at, name in enumerate(("red", "dark", "sea"))}
    )
    (group,) = find_relations(table)
    assert (group.kind, group.features) == (RelationKind.GROUP, ("red", "dark", "sea"))


def test_a_problem_finds_relations_of_its_own_features() -> None:
    table = lender()
    keys = {"type": "float", "min": 0, "max": 10**7}
    features = dict.fromkeys(("debt", "income", "dti"), keys)
    problem = Problem.from_dict({"goal": "dti(X,N), N<0.4", "rules": "", "features": features})
    assert [each.text for each in problem.relations(table)] == ["dti = debt / income"]


@pytest.mark.parametrize(
    ("frame", "threshold", "message"),
    [
        (pd.DataFrame({"a": [1]}), 2, "threshold: expected a share from 0.5 to 1, found 2"),
        (pd.DataFrame({"a": []}), 0.9, "the table has no rows"),
        ([[1, 2]], 0.9, "expected a table of rows, found a list"),
    ],
)
def test_bad_input_gives_one_clear_line(frame: object, threshold: float, message: str) -> None:
    with pytest.raises(P2CError, match=message):
        find_relations(frame, threshold=threshold)
