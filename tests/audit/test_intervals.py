"""How sure shares and differences are, beside scipy and beside trying all cases."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from scipy import stats

from p2c._audit.intervals import (
    exact_interval,
    fisher_test,
    holm,
    median,
    median_draws,
    rank_test,
    share_difference,
    stratified_test,
)

COUNTS = [(0, 1), (1, 1), (0, 40), (40, 40), (3, 10), (17, 200), (1, 30_000), (15_000, 30_000)]


@pytest.mark.parametrize(("count", "of"), COUNTS)
def test_an_exact_interval_is_that_of_clopper_and_pearson(count: int, of: int) -> None:
    expected = stats.binomtest(count, of).proportion_ci(method="exact")
    assert exact_interval(count, of) == pytest.approx((expected.low, expected.high), abs=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_two_counts_are_compared_as_fisher_does(seed: int) -> None:
    rng = random.Random(seed)
    sizes = [rng.choice((1, 4, 30, 500, 9_000)) for _ in range(2)]
    one, other = ((rng.randint(0, size), size) for size in sizes)
    table = [[one[0], one[1] - one[0]], [other[0], other[1] - other[0]]]
    assert fisher_test(one, other) == pytest.approx(stats.fisher_exact(table)[1], rel=1e-5)


@pytest.mark.parametrize("seed", range(10))
def test_ranks_are_compared_as_mann_and_whitney_do(seed: int) -> None:
    rng = np.random.default_rng(seed)
    one, other = rng.integers(0, 9, 40).astype(float), rng.integers(0, 11, 70).astype(float)
    expected = stats.mannwhitneyu(one, other, use_continuity=False, method="asymptotic").pvalue
    assert rank_test([(one, other)]) == pytest.approx(expected)


def test_samples_that_are_all_alike_do_not_differ() -> None:
    same = np.ones(30)
    assert rank_test([(same, same)]) == 1.0
    assert stratified_test([((0, 9), (0, 9))]) == 1.0
    assert fisher_test((0, 9), (0, 9)) == 1.0


def test_a_difference_within_strata_is_seen_where_the_whole_hides_it() -> None:
    strata = [((80, 100), (700, 1000)), ((30, 1000), (1, 100))]
    whole = ((110, 1100), (701, 1100))
    assert fisher_test(*whole) < 1e-50
    assert stratified_test(strata) < 0.1
    assert stratified_test([((10, 100), (100, 1000))]) > 0.9


def test_the_interval_of_a_difference_holds_it_and_is_narrow_where_there_are_many() -> None:
    low, high = share_difference((30, 100), (10, 100))
    assert 0 < low < 0.2 < high < 0.4
    near = share_difference((3000, 10_000), (1000, 10_000))
    assert near.high - near.low < (high - low) / 5


def test_medians_are_drawn_as_if_each_sample_were_drawn_person_by_person() -> None:
    values = np.sort(np.random.default_rng(1).exponential(size=31))
    drawn = median_draws(values, np.random.default_rng(2))
    plain = np.sort(np.random.default_rng(3).choice(values, (20_000, 31)), axis=1)[:, 15]
    for share in (0.025, 0.25, 0.5, 0.75, 0.975):
        assert np.quantile(drawn, share) == pytest.approx(np.quantile(plain, share), abs=0.12)
    assert median(values) == values[15]


def test_probabilities_are_corrected_for_their_number() -> None:
    assert holm([]) == []
    assert holm([0.5]) == [0.5]
    assert holm([0.001, 0.9, 0.02]) == pytest.approx([0.003, 0.9, 0.04])
    assert math.isclose(max(holm([0.6, 0.7])), 1.0)
