"""Cells, bounds and rounding of a model that was read."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from p2c._learn.model import AdditiveScore, Read, read
from p2c._learn.model.additive import ACCEPTED, REFUSED, UNSURE, ColumnCells, Table
from p2c._learn.model.leaves import Leaves
from p2c._learn.model.read_model import ReadModel
from p2c._plan.compiled.bitsets import mask_of
from tests.learn.model.cases import encoded
from tests.learn.model.people import good, grade, make_people


@cache
def _boosted(three: bool = False) -> AdditiveScore:
    people = make_people(gaps=True)
    model = encoded(GradientBoostingClassifier(n_estimators=20, random_state=0), scale=False)
    found = read(model.fit(people, (grade if three else good)(people)), people, desired=1)
    assert isinstance(found, Read), found
    return found.score


@cache
def _linear() -> AdditiveScore:
    people = make_people(gaps=True)
    found = read(encoded(LogisticRegression()).fit(people, good(people)), people, desired=1)
    assert isinstance(found, Read), found
    return found.score


def _random_cells(
    score: AdditiveScore, seed: int, rows: int
) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    generator = np.random.default_rng(seed)
    return np.column_stack([generator.integers(axis.size, size=rows) for axis in score.axes])


def test_a_number_on_a_cut_is_below_it() -> None:
    axis = ColumnCells("income", 4, np.array([10.0, 20.0]), missing=3)
    assert axis.locate([9, 10, np.nextafter(10, 11), 20, 21, np.nan]).tolist() == [0, 0, 1, 1, 2, 3]


def test_what_was_not_read_has_no_cell_and_is_unsure() -> None:
    job = ColumnCells("job", 1, None, {"nurse": 0})
    assert job.locate(["nurse", "pilot", None]).tolist() == [0, -1, -1]
    whole = ColumnCells("age", 2, np.array([40.0]), whole=True)
    assert whole.locate([40.0, 40.5, 41.0]).tolist() == [0, -1, 1]
    score = AdditiveScore((job,), np.array([1.0]), np.array([0.0]), np.array([0.0]))
    assert score.decide(np.array([[0], [-1]])).tolist() == [ACCEPTED, UNSURE]


def test_scores_within_rounding_of_the_cut_are_unsure() -> None:
    job = ColumnCells("job", 3, None, {"a": 0, "b": 1, "c": 2})
    table = Table((0,), np.array([[-1.0], [1e-9], [1.0]]))
    zero = np.zeros(1)
    score = AdditiveScore((job,), zero, zero, zero, (table,), rounding=1e-8, magnitude=1.0)
    assert score.decide(np.array([[0], [1], [2]])).tolist() == [REFUSED, UNSURE, ACCEPTED]


@pytest.mark.parametrize("three", [False, True])
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_the_most_of_a_box_holds_for_every_row_in_it(three: bool, seed: int) -> None:
    score = _boosted(three)
    leaves = Leaves.of(score)
    generator = np.random.default_rng(seed)
    open_ = [generator.random(axis.size) < 0.4 for axis in score.axes]
    for cells in open_:
        cells[generator.integers(len(cells))] = True
    most = leaves.most([mask_of(np.flatnonzero(cells).tolist()) for cells in open_])
    inside = [generator.choice(np.flatnonzero(cells), 250) for cells in open_]
    assert (score.score(np.column_stack(inside)) <= most + 1e-9).all()


@pytest.mark.parametrize("three", [False, True])
def test_the_most_of_a_single_row_is_its_score(three: bool) -> None:
    score = _boosted(three)
    leaves, cells = Leaves.of(score), _random_cells(score, 3, 200)
    most = [leaves.most([1 << cell for cell in row]) for row in cells.tolist()]
    np.testing.assert_allclose(most, score.score(cells), rtol=0, atol=1e-12)


@pytest.mark.parametrize("missing", [False, True])
def test_what_values_add_by_themselves_adds_up_to_the_score_of_lines(missing: bool) -> None:
    score = _linear()
    model = ReadModel(score, lambda _: pytest.fail("nothing is left open"))
    assert model.is_separate
    for _, row in make_people(gaps=True).head(200).iterrows():
        state = {name: None if pd.isna(row[name]) else row[name] for name in model.reads}
        if missing:
            state["income"] = None
        gains = [model.gain(name, state[name]) for name in model.reads]
        table = pd.DataFrame([state])
        cells, numbers = score.locate(table)
        total = score.bias[0] + sum(gain[0] for gain in gains if gain is not None)
        assert total == pytest.approx(score.score(cells, numbers)[0, 0], abs=1e-9)


def test_categories_that_a_model_cannot_tell_apart_share_a_cell() -> None:
    people = make_people()
    nurses = encoded(GradientBoostingClassifier(n_estimators=5, max_depth=1), scale=False)
    found = read(nurses.fit(people, people["job"] == "nurse"), people, desired=True)
    assert isinstance(found, Read), found
    job = found.score.axes[found.score.places["job"]]
    assert job.places["nurse"] not in {job.places[each] for each in ("baker", "clerk", "smith")}
    assert len({job.places[each] for each in ("baker", "clerk", "smith")}) == 1


def test_trees_that_read_one_feature_become_its_table() -> None:
    people = make_people()
    model = encoded(GradientBoostingClassifier(n_estimators=30, max_depth=1), scale=False)
    found = read(model.fit(people, good(people)), people, desired=1)
    assert isinstance(found, Read), found
    assert found.score.trees.count == 0
    assert all(len(table.axes) == 1 for table in found.score.tables)


def test_compiled_sums_of_trees_are_those_of_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    score = _boosted()
    cells = _random_cells(score, seed=3, rows=500)
    plain = score.trees.score(cells)
    monkeypatch.setattr("p2c._learn.model.trees.WORTH_COMPILING", 0)
    assert score.trees.score(cells) == pytest.approx(plain, rel=1e-12, abs=1e-12)
