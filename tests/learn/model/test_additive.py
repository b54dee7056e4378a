"""Cells, bounds and rounding of a model that was read."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from p2c.learn.model import AdditiveScore, Read, read
from p2c.learn.model.additive import ACCEPTED, REFUSED, UNSURE, ColumnCells, Table
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
def test_the_bounds_of_a_box_hold_for_every_row_in_it(three: bool, seed: int) -> None:
    score = _boosted(three)
    generator = np.random.default_rng(seed)
    boxes = [generator.random((5, axis.size)) < 0.4 for axis in score.axes]
    for box in boxes:
        box[np.arange(5), generator.integers(box.shape[1], size=5)] = True
    low, high = score.bounds(boxes)
    for place in range(5):
        inside = [generator.choice(np.flatnonzero(box[place]), 50) for box in boxes]
        scores = score.score(np.column_stack(inside))
        assert (scores >= low[place] - 1e-9).all()
        assert (scores <= high[place] + 1e-9).all()


@pytest.mark.parametrize("three", [False, True])
def test_the_bounds_of_a_single_row_are_its_score(three: bool) -> None:
    score = _boosted(three)
    cells = _random_cells(score, 3, 200)
    boxes = [
        np.eye(axis.size, dtype=bool)[cells[:, place]] for place, axis in enumerate(score.axes)
    ]
    low, high = score.bounds(boxes)
    np.testing.assert_allclose(low, score.score(cells), rtol=0, atol=1e-12)
    np.testing.assert_allclose(high, score.score(cells), rtol=0, atol=1e-12)


def test_the_bounds_of_lines_are_at_the_ends_of_their_spans() -> None:
    score = _linear()
    generator = np.random.default_rng(5)
    boxes = [np.ones((1, axis.size), dtype=bool) for axis in score.axes]
    for place, axis in enumerate(score.axes):
        if axis.missing is not None:
            boxes[place][0, axis.missing] = False
    spans = np.sort(generator.uniform(500, 3000, (1, len(score.axes), 2)), axis=2)
    low, high = score.bounds(boxes, spans)
    cells = np.column_stack([generator.choice(np.flatnonzero(box[0]), 500) for box in boxes])
    numbers = generator.uniform(spans[0, :, 0], spans[0, :, 1], (500, len(score.axes)))
    numbers[:, [place for place, axis in enumerate(score.axes) if not axis.is_number]] = np.nan
    scores = score.score(cells, numbers)
    assert (scores >= low - 1e-9).all()
    assert (scores <= high + 1e-9).all()


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


def test_the_bounds_of_lines_hold_for_a_missing_value_beside_numbers() -> None:
    score = _linear()
    place = score.places["income"]
    axis = score.axes[place]
    boxes = [np.eye(each.size, dtype=bool)[:1] for each in score.axes]
    boxes[place] = np.ones((1, axis.size), dtype=bool)
    spans = np.full((1, len(score.axes), 2), 40.0)
    spans[0, place] = (5000.0, 6000.0)
    low, high = score.bounds(boxes, spans)
    cells = np.zeros((1, len(score.axes)), dtype=np.int64)
    assert axis.missing is not None
    cells[0, place] = axis.missing
    numbers = np.full((1, len(score.axes)), 40.0)
    numbers[0, place] = np.nan
    assert low[0, 0] - 1e-9 <= score.score(cells, numbers)[0, 0] <= high[0, 0] + 1e-9
