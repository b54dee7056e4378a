from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

import p2c
from p2c._learn.foldse import FoldSE
from p2c._learn.foldse.literals import name_missing
from p2c._learn.tables.domains import domain_from_frame, tidy_frame
from p2c._rules import parse, render
from p2c._rules.evaluate import goal_holds
from p2c.errors import P2CError, ProblemError

if TYPE_CHECKING:
    from p2c._rules.syntax import Program


def test_whole_numbers_are_ints_even_where_some_are_missing() -> None:
    features = domain_from_frame(pd.DataFrame({"age": [20.0, None, 60.0]}))
    assert features == {"age": {"type": "int", "min": 20, "max": 60}}


def test_a_float_is_as_fine_as_its_decimals() -> None:
    features = domain_from_frame(
        pd.DataFrame({"rate": [0.25, 1.5, 2.0], "weight": [0.1, 1 / 3, 1.0]})
    )
    assert features["rate"] == {"type": "float", "min": 0.25, "max": 2.0, "step": 0.01}
    assert features["weight"] == {"type": "float", "min": 0.1, "max": 1.0}


def test_text_and_what_mixes_with_it_is_a_category() -> None:
    frame = pd.DataFrame({"doors": [2, "5more", 4], "paid": [True, False, True]})
    assert domain_from_frame(frame) == {
        "doors": {"type": "category", "values": ["2", "4", "5more"]},
        "paid": {"type": "category", "values": ["False", "True"]},
    }


def test_an_ordered_categorical_is_an_ordinal_in_its_order() -> None:
    column = pd.Categorical(["low", "high"], categories=["low", "mid", "high"], ordered=True)
    features = domain_from_frame(pd.DataFrame({"safety": column}))
    assert features["safety"] == {"type": "ordinal", "values": ["low", "high"]}


def test_the_scale_is_a_deviation_on_request() -> None:
    frame = pd.DataFrame({"n": [1, 2, 3, 4, 10]})
    assert domain_from_frame(frame, scale="std")["n"]["scale"] == pytest.approx(3.53553, abs=1e-5)
    assert domain_from_frame(frame, scale="mad")["n"]["scale"] == 1.0


def test_where_the_median_deviation_is_zero_the_standard_deviation_stands_in() -> None:
    frame = pd.DataFrame({"gain": [0, 0, 0, 0, 100], "same": [7, 7, 7, 7, 7]})
    features = domain_from_frame(frame, scale="mad")
    assert features["gain"]["scale"] == pytest.approx(44.7214)
    assert "scale" not in features["same"]


def test_a_problem_takes_the_features_and_every_row_of_the_table() -> None:
    frame = pd.DataFrame(
        {"Credit amount": [1.5, 2.25, None], "job": ["cook", "", "clerk"], "n": [1, 2, 3]}
    )
    features = domain_from_frame(frame, scale="std")
    problem = p2c.Problem.from_dict({"goal": "n(X,2)", "rules": "", "features": features})
    for row in tidy_frame(frame).to_dict("records"):
        problem.read_row({str(name): value for name, value in row.items()})


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pd.DataFrame({"a b": [1], "A-b": [2]}), "both called a_b"),
        (pd.DataFrame({" ": [1]}), "empty name"),
        (pd.DataFrame({"ab1": [1]}), "name of an exception"),
        (pd.DataFrame({"a": [None, ""]}), "column 'a': it holds no value"),
        (pd.DataFrame({"a": [1.0, np.inf]}), "column 'a': it holds infinity"),
    ],
)
def test_a_table_that_no_rule_can_speak_of_is_refused(frame: pd.DataFrame, message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        domain_from_frame(frame)


def test_an_unknown_scale_is_refused() -> None:
    with pytest.raises(P2CError, match="did you mean 'std'"):
        domain_from_frame(pd.DataFrame({"a": [1]}), scale="stdd")  # type: ignore[arg-type]


def test_a_learned_test_for_a_missing_value_is_one_that_a_problem_can_read() -> None:
    column = ["a", "b", None, ""]
    frame = tidy_frame(pd.DataFrame({"job": column * 5}))
    model = FoldSE(positive="bad").fit(frame, ["good", "good", "bad", "bad"] * 5)
    assert "job(X,'')" in model.program_
    assert decided(model.to_program(decimals=None), frame) == [False, False, True, True]


def test_floats_that_nobody_would_say_get_targets_at_round_numbers() -> None:
    frame = pd.DataFrame(
        {
            "hours": [1.0123456789, 40.5, 98.6543210987],
            "paid": [1.25, 4.5, 10_000.75],
            "income": [1_234.5678901, 2_000.0, 98_765.4321098],
            "share": [0.1234, 0.4, 0.7891],
        }
    )
    features = domain_from_frame(frame, rounded=True)
    grids = {name: (keys["min"], keys["max"], keys["step"]) for name, keys in features.items()}
    assert grids == {
        "hours": (1.1, 98.6, 0.1),
        "paid": (1.25, 10_000.75, 0.01),
        "income": (1_235.0, 98_765.0, 1.0),
        "share": (0.124, 0.789, 0.001),
    }
    assert features["hours"]["scale"] == pytest.approx(97.6419754198)
    assert "scale" not in features["paid"]


def test_a_missing_number_is_one_that_is_not_even_the_least() -> None:
    frame = pd.DataFrame({"income": [1.5, 2.5, None, 2.0]})
    assert decided(parse("label(X,'bad') :- income(X,'')."), frame) == [False, False, True, False]
    known = parse("label(X,'bad') :- not income(X,'').")
    assert decided(known, frame) == [True, True, False, True]


def decided(program: Program, frame: pd.DataFrame) -> list[bool]:
    features = domain_from_frame(frame)
    rules = render(name_missing(program, features))
    problem = p2c.Problem.from_dict(
        {"goal": "label(X,'bad')", "rules": rules, "features": features}
    )
    rows = [{name: row[name] for name in features} for _, row in frame.head(4).iterrows()]
    return [goal_holds(problem.theory, problem.read_row(row)) for row in rows]
