"""The fast learner against the plain one, rule for rule and letter for letter."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from p2c._learn.foldse import FoldSE, columns, induce
from p2c._rules.parse import parse
from tests.learn.foldse.interpreter import first_label
from tests.learn.foldse.reference import Reference, score
from tests.learn.frames import Table, tables


def fitted(table: Table) -> tuple[FoldSE, Reference]:
    model = FoldSE(table.ratio, table.tail).fit(table.frame, list(table.labels))
    plain = Reference(table.ratio, table.tail).fit(list(table.rows), list(table.labels))
    return model, plain


def expected_text(plain: Reference) -> str:
    return plain.text().replace("'it's'", "'it\\'s'")


@settings(max_examples=120, deadline=None)
@given(tables())
def test_two_classes_give_the_rules_of_the_plain_learner(table: Table) -> None:
    model, plain = fitted(table)
    assert model.program_ == expected_text(plain)
    assert model.predict(table.frame).tolist() == plain.predict(list(table.rows))


@settings(max_examples=60, deadline=None)
@given(st.integers(3, 4).flatmap(tables))
def test_several_classes_give_the_rules_of_the_plain_learner(table: Table) -> None:
    model, plain = fitted(table)
    assert model.program_ == expected_text(plain)
    assert model.default_ == plain.default
    assert model.predict(table.frame).tolist() == plain.predict(list(table.rows))


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 3).flatmap(tables))
def test_wide_columns_in_blocks_change_nothing(table: Table) -> None:
    model, _ = fitted(table)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columns, "NARROW", 2)
        patch.setattr(columns, "BLOCK", 3)
        blocked, _ = fitted(table)
    assert blocked.rules_ == model.rules_


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 3).flatmap(tables))
def test_the_printed_program_says_what_the_model_predicts(table: Table) -> None:
    model, _ = fitted(table)
    program = parse(model.program_)
    said = [first_label(program, row, default=model.default_) for row in table.rows]
    assert said == model.predict(table.frame).tolist()


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 4).flatmap(tables))
def test_probabilities_sum_to_one_and_favour_the_prediction(table: Table) -> None:
    model, _ = fitted(table)
    shares = model.predict_proba(table.frame)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert (model.classes_[shares.argmax(axis=1)] == model.predict(table.frame)).all()


@given(*[st.integers(0, 10**6)] * 4)
def test_the_score_is_the_published_one(tp: int, fn: int, tn: int, fp: int) -> None:
    if tp + fn + tn + fp:
        assert induce.score(tp, fn, tn, fp) == score(tp, fn, tn, fp)
