"""FoldSE as scikit-learn, pandas and numpy meet it."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from p2c._learn.foldse import FoldSE
from p2c._rules.parse import parse
from p2c.datasets import load_frame
from tests.learn.foldse.interpreter import body_holds, first_label

CARS = load_frame("cars").iloc[::4].reset_index(drop=True)
FEATURES = CARS.drop(columns="label")
UNACCEPTABLE = CARS["label"].where(CARS["label"] == "unacc", "rest")

PRINT_RULES = """
import json, sys
from p2c.datasets import load_frame
from p2c._learn.foldse import FoldSE
frame = load_frame("german")
json.dump(FoldSE().fit(frame.drop(columns="label"), frame["label"]).program_, sys.stdout)
"""


@parametrize_with_checks([FoldSE()])  # type: ignore[untyped-decorator]
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_it_passes_the_checks_of_scikit_learn(estimator: FoldSE, check: Any) -> None:
    check(estimator)


def test_the_second_class_is_the_one_that_the_rules_define() -> None:
    assert {rule.label for rule in FoldSE().fit(FEATURES, UNACCEPTABLE).rules_} == {"unacc"}


def test_the_positive_class_can_be_named() -> None:
    model = FoldSE(positive="rest").fit(FEATURES, UNACCEPTABLE)
    assert {rule.label for rule in model.rules_} == {"rest"}
    assert model.default_ == "unacc"


def test_a_clone_and_a_pickle_predict_the_same() -> None:
    model = FoldSE(0.4, 0.01, positive="rest").fit(FEATURES, UNACCEPTABLE)
    again = clone(model).fit(FEATURES, UNACCEPTABLE)
    stored = pickle.loads(pickle.dumps(model))
    assert again.program_ == stored.program_ == model.program_
    assert (stored.predict(FEATURES) == model.predict(FEATURES)).all()


def test_two_processes_agree_whatever_the_hashes() -> None:
    found = [
        json.loads(
            subprocess.run(
                [sys.executable, "-c", PRINT_RULES],
                env={**os.environ, "PYTHONHASHSEED": seed},
                capture_output=True,
                check=True,
                text=True,
            ).stdout
        )
        for seed in ("1", "2")
    ]
    assert found[0] == found[1]


def test_importing_p2c_alone_loads_neither_pandas_nor_scikit_learn() -> None:
    code = "import p2c, sys; print(sorted({'pandas', 'sklearn'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout.strip() == "[]"


def test_the_order_of_the_rows_does_not_matter() -> None:
    shuffled = FEATURES.sample(frac=1, random_state=1)
    model = FoldSE().fit(shuffled, UNACCEPTABLE[shuffled.index])
    assert model.program_ == FoldSE().fit(FEATURES, UNACCEPTABLE).program_


def test_it_works_inside_cross_validation() -> None:
    assert cross_val_score(FoldSE(), FEATURES, UNACCEPTABLE, cv=3).mean() > 0.7


def test_an_array_names_its_features_by_place() -> None:
    values = np.arange(40.0).reshape(20, 2)
    model = FoldSE().fit(values, values[:, 1] > 20)
    assert model.program_ == "label(X,'True') :- x0(X,N1), not(N1=<18.0)."


def test_lists_keep_numbers_beside_strings() -> None:
    rows = [[1, "a"], [2, "b"], [3, "a"], [4, "b"]]
    model = FoldSE().fit(rows, ["low", "low", "up", "up"])
    assert model.program_ == "label(X,'up') :- x0(X,N1), not(N1=<2.0)."
    assert model.predict([[9, "c"]]).tolist() == ["up"]


def test_a_missing_value_satisfies_a_negated_bound_only() -> None:
    frame = pd.DataFrame({"size": [1.0, 2.0, 3.0, 4.0]})
    rest = pd.DataFrame({"size": [np.nan]})
    upper = FoldSE().fit(frame, [0, 0, 1, 1])
    assert upper.program_ == "label(X,'1') :- size(X,N1), not(N1=<2.0)."
    assert upper.predict(rest).tolist() == [1]
    lower = FoldSE(positive=0).fit(frame, [0, 0, 1, 1])
    assert lower.program_ == "label(X,'0') :- size(X,N1), N1=<2.0."
    assert lower.predict(rest).tolist() == [1]


def test_of_tied_features_strings_come_first_then_numbers_also_where_some_are_missing() -> None:
    frame = pd.DataFrame(
        {
            "holes": [1.0, 1.0, None, None],
            "size": [1, 1, 2, 2],
            "name": ["a", "a", "b", "b"],
        }
    )
    label = ["no", "no", "yes", "yes"]
    assert FoldSE().fit(frame, label).program_ == "label(X,'yes') :- not name(X,'a')."
    numbers = FoldSE().fit(frame.drop(columns="name"), label)
    assert numbers.program_ == "label(X,'yes') :- holes(X,N1), not(N1=<1.0)."
    swapped = FoldSE().fit(frame[["size", "holes"]], label)
    assert swapped.program_ == "label(X,'yes') :- size(X,N1), not(N1=<1.0)."


def test_qualities_count_what_each_rule_covers() -> None:
    model = FoldSE(positive="unacc").fit(FEATURES, UNACCEPTABLE)
    wanted = (UNACCEPTABLE == "unacc").to_numpy()
    program, rows = parse(model.program_), cast("Any", FEATURES.to_dict("records"))
    rules = [each for each in program.rules if each.head and each.head.predicate == "label"]
    for rule, quality in zip(rules, model.qualities_, strict=True):
        covered = np.array([body_holds(program, rule.body, row) for row in rows])
        assert quality.support == covered.sum()
        assert quality.precision == wanted[covered].mean()
        assert quality.recall == covered[wanted].mean()


def test_of_several_classes_each_rule_answers_for_what_the_ones_above_leave() -> None:
    model = FoldSE().fit(FEATURES, CARS["label"])
    undecided = len(FEATURES) - sum(quality.support for quality in model.qualities_)
    assert len(model.classes_) == 4
    program, rows = parse(model.program_), cast("Any", FEATURES.to_dict("records"))
    assert undecided == [first_label(program, row, default="") for row in rows].count("")


def test_a_positive_class_among_several_is_refused() -> None:
    with pytest.raises(ValueError, match="names one of two classes, but y has 4"):
        FoldSE(positive="unacc").fit(FEATURES, CARS["label"])


def test_one_class_is_predicted_by_default() -> None:
    model = FoldSE().fit([[1], [2]], ["only", "only"])
    assert (model.rules_, model.program_) == ((), "")
    assert model.predict([[5]]).tolist() == ["only"]


def test_a_weight_stands_for_as_many_rows_and_the_unit_does_not_matter() -> None:
    chance = np.random.default_rng(3)
    for labels in (UNACCEPTABLE, CARS["label"]):
        for _ in range(4):
            weights = chance.integers(0, 4, len(FEATURES))
            repeated = FEATURES.loc[FEATURES.index.repeat(weights)]
            plain = FoldSE().fit(repeated, labels.loc[repeated.index])
            whole = FoldSE().fit(FEATURES, labels, sample_weight=weights)
            assert whole.program_ == plain.program_
            assert whole.qualities_ == plain.qualities_
            assert (whole.shares_ == plain.shares_).all()
            assert FoldSE(tail=0).fit(FEATURES, labels, weights * 0.25).program_ == (
                FoldSE(tail=0).fit(repeated, labels.loc[repeated.index]).program_
            )


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0], "expected"),
        ([-1.0, 1.0], "not negative"),
        ([np.nan, 1.0], "finite"),
        ([0.0, 0.0], "all weights are zero"),
    ],
)
def test_weights_that_make_no_sense_are_refused(weights: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        FoldSE().fit([[1], [2]], ["a", "b"], sample_weight=weights)


def test_rows_before_fitting_are_refused() -> None:
    with pytest.raises(NotFittedError):
        FoldSE().predict(pd.DataFrame({"a": [1]}))


@pytest.mark.parametrize(
    ("settings", "frame", "message"),
    [
        ({"ratio": -1}, {"a": [1, 2]}, "ratio=-1 is below 0"),
        ({"tail": 2}, {"a": [1, 2]}, "tail=2 is not a share"),
        ({"positive": "maybe"}, {"a": [1, 2]}, "the classes are 'no', 'yes'"),
        ({}, {"a b": [1, 2], "A-B": [1, 2]}, "column 'A-B' and column 'a b' are both called a_b"),
        ({}, {"label": [1, 2]}, "column 'label' and the target are both called label"),
        ({}, {"ab1": [1, 2]}, "column 'ab1' has the name of an exception"),
        ({}, {"a": [1.0, np.inf]}, "contains infinity"),
        ({}, {"a": []}, "minimum of 1 is required"),
    ],
)
def test_misuse_says_what_is_wrong(settings: Any, frame: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        FoldSE(**settings).fit(
            pd.DataFrame(frame), ["no", "yes"][: len(next(iter(frame.values())))]
        )
