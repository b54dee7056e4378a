"""Which rules stand in for a model."""

from __future__ import annotations

import numpy as np
import pandas as pd

from p2c._learn.extract import logic
from p2c._learn.extract.logic import learn_ruleset

TABLE = pd.DataFrame({"income": np.arange(400) % 100, "job": ["clerk", "cook"] * 200})


def test_the_rules_are_those_of_the_refused_where_both_fit() -> None:
    found = learn_ruleset(TABLE, (TABLE["income"] >= 40).to_numpy(), desired="yes", other="no")
    assert found.text() == "label(X,'no') :- income(X,N1), N1=<39.0."
    assert found.goal() == "not label(X,'no')"


def test_a_rare_acceptance_is_still_told_apart() -> None:
    accepted = ((TABLE["income"] >= 98) & (TABLE["job"] == "cook")).to_numpy()
    found = learn_ruleset(TABLE, accepted, desired="yes", other="no")
    assert (found.accepts(TABLE) == accepted).all()


def test_one_outcome_needs_no_rule() -> None:
    everybody = np.ones(len(TABLE), dtype=bool)
    for accepted in (everybody, ~everybody):
        found = learn_ruleset(TABLE, accepted, desired="yes", other="no")
        assert not found.rules
        assert (found.accepts(TABLE) == accepted).all()


def test_the_ratio_is_one_of_those_offered_and_the_same_for_the_same_seed() -> None:
    chance = np.random.default_rng(0)
    accepted = (TABLE["income"] + chance.normal(0, 20, len(TABLE)) > 50).to_numpy()
    picked = {logic._best_ratio(TABLE, accepted, 1) for _ in range(2)}
    assert len(picked) == 1
    assert picked <= set(logic.RATIOS)
    few = accepted & (np.cumsum(accepted) <= 3)
    assert logic._best_ratio(TABLE, few, 1) == logic.RATIOS[0]
