"""A reading that is not the model is found out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from p2c._learn.model import NotRead, Read, read, reading
from tests.learn.model.people import good, make_people, numbers


def _change_leaf(tree: Any) -> None:
    leaf = np.flatnonzero(tree.children_left < 0)[0]
    tree.value[leaf, 0, -1] += 0.01


def _change_threshold(tree: Any) -> None:
    node = np.flatnonzero(tree.feature == 1)[0]
    tree.threshold[node] = np.nextafter(np.float32(tree.threshold[node]), np.float32(1e9))


def _altered(model: Any, change: Any, patch: pytest.MonkeyPatch) -> NotRead:
    """Return what is said of a model of which something else was read than it is."""
    table = numbers(make_people())
    model.fit(table, good(make_people()))
    found = read(model, table, desired=1)
    assert isinstance(found, Read), found
    change(model)
    with patch.context() as patched:
        patched.setattr(reading, "lower", lambda *_: found.score)
        told = read(model, table, desired=1)
    assert isinstance(told, NotRead), told
    assert told.conformance is not None
    assert not told.conformance.holds
    return told


@pytest.mark.parametrize("change", [_change_leaf, _change_threshold])
def test_one_leaf_or_one_bound_that_was_changed_after_the_reading_is_found(
    change: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    _altered(
        GradientBoostingClassifier(n_estimators=20, random_state=0),
        lambda model: change(model.estimators_[7, 0].tree_),
        monkeypatch,
    )
    _altered(
        RandomForestClassifier(20, max_depth=4, random_state=0),
        lambda model: change(model.estimators_[7].tree_),
        monkeypatch,
    )


def test_a_weight_that_was_changed_after_the_reading_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def heavier(model: Any) -> None:
        model[1].coef_[0, 1] *= 1 + 1e-5

    told = _altered(make_pipeline(StandardScaler(), LogisticRegression()), heavier, monkeypatch)
    assert "differs from the model in" in told.reason


def test_every_row_ten_thousand_random_ones_and_both_sides_of_each_cut_are_tried() -> None:
    table = numbers(make_people())
    model = RandomForestClassifier(10, max_depth=4).fit(table, good(make_people()))
    found = read(model, table, desired=1)
    assert isinstance(found, Read), found
    told, cuts = (
        found.conformance,
        [axis.uppers for axis in found.score.axes if axis.uppers is not None],
    )
    assert (told.rows, told.random, told.wrong, told.off) == (len(table), 10_000, 0, 0)
    assert told.near >= sum(len(each) for each in cuts)


class Moody(LogisticRegression):  # type: ignore[misc]
    """A model that decides otherwise than its weights say for the young."""

    def predict(self, X: Any) -> Any:
        told = super().predict(X)
        return np.where(X["age"] < 21, 1 - told, told)


def test_a_model_that_decides_otherwise_than_its_parts_say_is_refused_with_a_row() -> None:
    table = numbers(make_people())
    model = Moody(max_iter=5000).fit(table, good(make_people()))
    found = read(model, table, desired=1)
    assert isinstance(found, NotRead)
    assert found.conformance is not None
    assert found.conformance.wrong
    assert "first at age=" in found.reason


def test_the_same_seed_tries_the_same_rows() -> None:
    table = numbers(make_people())
    model = Moody(max_iter=5000).fit(table, good(make_people()))
    one, other, third = (read(model, table, desired=1, seed=seed) for seed in (1, 1, 2))
    assert isinstance(one, NotRead)
    assert one == other != third
