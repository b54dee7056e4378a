"""Every reader gives the model's own decisions, on rows that the reading itself has not tried."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from p2c._learn.model import AdditiveScore, NotRead, Read, read
from p2c._learn.model.additive import ACCEPTED, UNSURE
from p2c._learn.model.asking import open_model
from p2c._learn.model.readers import READERS
from p2c._learn.tables.view import view_of
from tests.learn.model.cases import CASES, Case, Maker, plain

MAKERS = [
    pytest.param(maker, id=f"{name}-{place}")
    for name, makers in CASES.items()
    for place, maker in enumerate(makers)
]
pytestmark = pytest.mark.filterwarnings("ignore")
"""The libraries warn about small tables and each other; what they say is not tried here."""


def assert_decides_alike(
    score: AdditiveScore, case: Case, desired: Any, threshold: float | None
) -> None:
    """Put people that nobody has seen to the model and to what was read."""
    generator = np.random.default_rng(99)
    drawn = {
        name: column.iloc[generator.integers(len(column), size=1000)].to_numpy()
        for name, column in case.table.items()
    }
    rows = pd.DataFrame(drawn).astype(case.table.dtypes)
    # Neighbours in double precision of values at which models in single precision change.
    if "rate" in rows:
        rows["rate"] = np.nextafter(rows["rate"], generator.choice([-1.0, 1.0], len(rows)))
    asked = open_model(case.model, case.table, desired=desired, threshold=threshold).answer(rows)
    told = score.decide(*score.locate(view_of(case.table).table(rows)))
    sure = told != UNSURE
    assert sure.mean() > 0.95
    assert ((told == ACCEPTED) == asked.accepted)[sure].all()


def test_every_reader_is_tried() -> None:
    # Groups of columns have tests of their own.
    assert {*CASES, "GroupedModel"} == set(READERS)


@pytest.mark.parametrize("maker", MAKERS)
def test_a_model_of_two_classes_is_read(maker: Maker) -> None:
    case = maker(False)
    found = read(case.model, case.table)
    assert isinstance(found, Read), found
    assert found.conformance.holds
    assert_decides_alike(found.score, case, None, None)


def test_the_first_of_two_classes_can_be_wanted() -> None:
    case = CASES["GradientBoostingClassifier"][0](False)
    found = read(case.model, case.table, desired=0)
    assert isinstance(found, Read), found
    assert_decides_alike(found.score, case, 0, None)


@pytest.mark.parametrize("maker", MAKERS)
def test_a_model_of_three_classes_is_read(maker: Maker) -> None:
    case = maker(True)
    found = read(case.model, case.table, desired=1)
    assert isinstance(found, Read), found
    assert_decides_alike(found.score, case, 1, None)


@pytest.mark.parametrize("maker", MAKERS)
def test_a_threshold_on_the_probability_is_one_on_the_score(maker: Maker) -> None:
    desired, threshold = 0, 0.35
    case = maker(False)
    if not hasattr(case.model, "predict_proba"):
        pytest.skip("a model without probabilities")
    found = read(case.model, case.table, desired=desired, threshold=threshold)
    assert isinstance(found, Read), found
    assert_decides_alike(found.score, case, desired, threshold)


def test_a_threshold_on_one_of_several_shares_of_a_forest_is_read() -> None:
    case = CASES["RandomForestClassifier"][0](True)
    found = read(case.model, case.table, desired=2, threshold=0.4)
    assert isinstance(found, Read), found
    assert_decides_alike(found.score, case, 2, 0.4)


def test_a_threshold_on_one_of_several_softmax_shares_is_refused() -> None:
    case = CASES["GradientBoostingClassifier"][0](True)
    found = read(case.model, case.table, desired=2, threshold=0.4)
    assert isinstance(found, NotRead)
    assert "no sum" in found.reason


def test_a_model_without_a_reader_is_refused_with_its_name() -> None:
    from sklearn.neighbors import KNeighborsClassifier

    case = plain(KNeighborsClassifier)(False)
    found = read(case.model, case.table, desired=1)
    assert str(found) == "no reader for a KNeighborsClassifier: it is asked, not read"


def test_a_blend_of_many_scores_is_refused() -> None:
    from sklearn.ensemble import BaggingClassifier
    from sklearn.linear_model import LogisticRegression

    case = plain(lambda: BaggingClassifier(LogisticRegression(max_iter=5000), n_estimators=20))(
        False
    )
    reading = read(case.model, case.table, desired=1)
    assert isinstance(reading, NotRead)
    assert "blends 20 scores" in reading.reason
    assert "at most 12 models" in reading.cure


def test_votes_of_a_forest_that_are_all_or_nothing_add_up_exactly() -> None:
    from sklearn.ensemble import RandomForestClassifier

    case = plain(lambda: RandomForestClassifier(10, random_state=1))(False)
    found = read(case.model, case.table, desired=1)
    assert isinstance(found, Read), found
    assert found.score.slack().item() == 0
    assert found.conformance.unsure == 0


def test_xgboost_takes_the_zeros_of_a_sparse_matrix_for_missing() -> None:
    xgboost = pytest.importorskip("xgboost")
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    from tests.learn.model.people import good, make_people

    people = make_people().assign(
        debt=lambda table: np.where(table["age"] % 3 == 0, 0, table["age"] - 40)
    )
    columns = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["job"]),
        ("passthrough", ["debt", "income"]),
        sparse_threshold=1.0,
    )
    model = make_pipeline(columns, xgboost.XGBClassifier(n_estimators=15, max_depth=3, n_jobs=1))
    model.fit(people, (people["debt"] == 0) | (good(people) == 1))
    found = read(model, people, desired=1)
    assert isinstance(found, Read), found


def test_catboost_with_counted_combinations_is_refused() -> None:
    catboost = pytest.importorskip("catboost")
    generator = np.random.default_rng(0)
    drawn = {name: generator.choice(list("abcdef"), 3000) for name in ("job", "town", "home")}
    table = pd.DataFrame(drawn)
    either = table["job"].isin(list("abc")) ^ table["town"].isin(list("abc"))
    model = catboost.CatBoostClassifier(
        iterations=60,
        max_ctr_complexity=2,
        cat_features=list(drawn),
        verbose=0,
        allow_writing_files=False,
        thread_count=1,
    ).fit(table, either.astype(int))
    reading = read(model, table, desired=1)
    assert isinstance(reading, NotRead)
    assert "max_ctr_complexity=1" in reading.reason
    assert reading.cure == "train with max_ctr_complexity=1"


@pytest.mark.parametrize(
    "how",
    [
        {"zero_as_missing": True},
        {"use_missing": False},
        {"boosting_type": "rf", "bagging_freq": 1, "bagging_fraction": 0.7},
        {"max_cat_to_onehot": 1, "min_data_per_group": 1, "cat_smooth": 1},
    ],
    ids=lambda how: next(iter(how)),
)
def test_zeros_holes_truth_values_and_numbers_for_categories_are_read_as_lightgbm_takes_them(
    how: dict[str, Any],
) -> None:
    lightgbm = pytest.importorskip("lightgbm")
    chance = np.random.default_rng(0)
    rows = pd.DataFrame(
        {
            "zeros": np.where(chance.random(600) < 0.4, 0.0, chance.normal(size=600)),
            "holes": np.where(chance.random(600) < 0.3, np.nan, chance.integers(-4, 5, 600)),
            "flag": chance.random(600) < 0.5,
            "code": chance.choice([0.0, 3.0, 10115.0, 80331.0, -0.5, np.nan], 600),
            "word": pd.Categorical(chance.choice(list("abc"), 600), list("bc")),
        }
    )
    known = rows["code"].isin([0, 80331, -0.5]) * 2 + (rows["zeros"] == 0) * 2 + rows["flag"]
    wanted = known + rows["holes"].fillna(3) + (rows["word"] == "b") + chance.normal(size=600)
    model = lightgbm.LGBMClassifier(n_estimators=8, num_leaves=9, verbose=-1, **how)
    model.fit(rows, wanted > wanted.median(), categorical_feature=["code", "word"])
    assert isinstance(read(model, rows, desired=True), Read)


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_categories_that_are_whole_numbers_are_read(library: str) -> None:
    module = pytest.importorskip(library)
    chance = np.random.default_rng(0)
    code = chance.choice([10, 20, 30], 400)
    rows = pd.DataFrame({"rate": chance.normal(size=400), "code": pd.Categorical(code)})
    if library == "lightgbm":
        model = module.LGBMClassifier(
            n_estimators=3, verbose=-1, min_data_per_group=1, cat_smooth=1
        )
    else:
        model = module.XGBClassifier(n_estimators=3, enable_categorical=True)
    model.fit(rows, rows["rate"] + (code == 20) * 2 > 1)
    found = read(model, rows, desired=True)
    assert isinstance(found, Read), found


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_categories_beyond_ascii_are_read(library: str) -> None:
    module = pytest.importorskip(library)
    chance = np.random.default_rng(0)
    word = chance.choice(["Nord", "Ost", "Süd", "West"], 400)
    rows = pd.DataFrame({"rate": chance.normal(size=400), "word": pd.Categorical(word)})
    if library == "lightgbm":
        model = module.LGBMClassifier(n_estimators=3, verbose=-1, min_data_per_group=1)
    else:
        model = module.XGBClassifier(n_estimators=3, enable_categorical=True, max_cat_to_onehot=1)
    model.fit(rows, rows["rate"] + (word == "Süd") * 2 > 1)
    found = read(model, rows, desired=True)
    assert isinstance(found, Read), found
