"""Bounds are found through every transformer that works column by column; one that mixes columns is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
    TargetEncoder,
)
from sklearn.tree import DecisionTreeClassifier

from p2c._learn.model import NotRead, Read, read
from p2c._learn.model.additive import ACCEPTED, UNSURE
from p2c._learn.model.transformers import TRANSFORMERS
from p2c._learn.tables.view import view_of
from tests.learn.model.cases import Case
from tests.learn.model.people import good, make_people, numbers
from tests.learn.model.test_readers import assert_decides_alike

pytestmark = pytest.mark.filterwarnings("ignore")

FIGURES = ["age", "income", "rate"]


def _words(encoder: Any) -> Any:
    return make_column_transformer((encoder, ["job"]), remainder="passthrough")


def _filled(transformer: Any) -> Any:
    words = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(drop="first"))
    return make_column_transformer((transformer, FIGURES), (words, ["job"]))


def _figures(transformer: Any) -> Any:
    return make_column_transformer(
        (transformer, FIGURES), (OrdinalEncoder(), ["job"]), remainder="drop"
    )


MADE: dict[str, list[Any]] = {
    "Pipeline": [_figures(make_pipeline(StandardScaler(), MinMaxScaler((-2, 5)), RobustScaler()))],
    "ColumnTransformer": [
        make_column_transformer(
            (StandardScaler(), [1]), ("drop", [0]), (OneHotEncoder(), [3]), remainder="passthrough"
        )
    ],
    "FeatureUnion": [
        _figures(FeatureUnion([("scaled", StandardScaler()), ("bins", KBinsDiscretizer(3))]))
    ],
    "StandardScaler": [_figures(StandardScaler()), _figures(StandardScaler(with_mean=False))],
    "RobustScaler": [_figures(RobustScaler()), _figures(RobustScaler(with_scaling=False))],
    "MaxAbsScaler": [_figures(MaxAbsScaler())],
    "MinMaxScaler": [_figures(MinMaxScaler()), _figures(MinMaxScaler(clip=True))],
    "SimpleImputer": [_filled(SimpleImputer(add_indicator=True))],
    "MissingIndicator": [
        _filled(
            FeatureUnion([("filled", SimpleImputer()), ("gaps", MissingIndicator(features="all"))])
        )
    ],
    "FunctionTransformer": [
        _figures(FunctionTransformer()),
        _figures(FunctionTransformer(np.cbrt)),
    ],
    "OneHotEncoder": [
        _words(OneHotEncoder(drop="first")),
        _words(OneHotEncoder(min_frequency=70, handle_unknown="infrequent_if_exist")),
        make_column_transformer(
            (OneHotEncoder(handle_unknown="ignore"), ["age", "job"]), remainder="passthrough"
        ),
    ],
    "OrdinalEncoder": [
        _words(OrdinalEncoder(categories=[["smith", "nurse", "clerk", "baker"]])),
        make_column_transformer(
            (
                OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
                ["age", "job"],
            ),
            remainder="passthrough",
        ),
    ],
    "TargetEncoder": [_words(TargetEncoder(cv=2))],
    "KBinsDiscretizer": [
        _figures(KBinsDiscretizer(4)),
        _figures(make_pipeline(StandardScaler(), KBinsDiscretizer(4, encode="ordinal"))),
    ],
    "Binarizer": [_figures(make_pipeline(StandardScaler(), Binarizer()))],
    "PowerTransformer": [
        make_column_transformer((PowerTransformer(), ["age", "income"]), remainder="drop")
    ],
    "QuantileTransformer": [_figures(QuantileTransformer(n_quantiles=20))],
    "SelectorMixin": [make_pipeline(_figures(StandardScaler()), SelectKBest(k=2))],
    "tried": [
        _figures(FunctionTransformer(np.log1p)),
        _figures(FunctionTransformer(lambda table: -3 * table)),
    ],
}
"""Transformers by the name that their handler has; those without one are tried on the table."""


def test_every_transformer_of_the_registry_is_tried() -> None:
    assert set(MADE) - {"tried"} == set(TRANSFORMERS)


@pytest.mark.parametrize(
    "estimator",
    [GradientBoostingClassifier(n_estimators=15), LogisticRegression()],
    ids=["trees", "linear"],
)
@pytest.mark.parametrize(
    "transformer",
    [
        pytest.param(each, id=f"{name}-{place}")
        for name, made in MADE.items()
        for place, each in enumerate(made)
    ],
)
def test_a_model_behind_a_transformer_of_columns_is_read(transformer: Any, estimator: Any) -> None:
    gaps = "SimpleImputer" in repr(transformer)
    people = make_people(gaps=gaps)
    model = make_pipeline(transformer, estimator).fit(people, good(people))
    found = read(model, people, desired=1)
    assert isinstance(found, Read), found
    assert_decides_alike(found.score, Case(model, people), 1, None)


@pytest.mark.parametrize(
    "mixing", [PolynomialFeatures(2), Normalizer()], ids=lambda each: type(each).__name__
)
def test_a_transformer_that_mixes_columns_is_refused_with_their_names(mixing: Any) -> None:
    people = make_people()
    model = make_pipeline(StandardScaler(), mixing, LogisticRegression())
    found = read(model.fit(numbers(people), good(people)), numbers(people), desired=1)
    assert isinstance(found, NotRead)
    assert found.reason.startswith(f"{type(mixing).__name__} mixes the columns 'age' and")


def test_components_are_read_before_a_linear_model_only() -> None:
    people = make_people()
    table, labels = numbers(people), good(people)
    linear = make_pipeline(StandardScaler(), PCA(2), LogisticRegression()).fit(table, labels)
    assert isinstance(read(linear, table, desired=1), Read)
    forest = make_pipeline(PCA(2), DecisionTreeClassifier(max_depth=3)).fit(table, labels)
    refused = read(forest, table, desired=1)
    assert str(refused) == "PCA mixes columns, so only a linear model behind it is a sum over them"


def test_a_function_that_turns_is_refused() -> None:
    people = make_people()
    model = make_pipeline(
        FunctionTransformer(lambda table: (table - 40) ** 2),
        GradientBoostingClassifier(n_estimators=5),
    )
    found = read(model.fit(numbers(people), good(people)), numbers(people), desired=1)
    assert isinstance(found, NotRead)
    assert "up and down" in found.reason


@pytest.mark.parametrize("raw", [1.0, -1.0])
def test_a_column_beside_its_logarithm_is_read_whichever_way_they_go(raw: float) -> None:
    people = numbers(make_people()).dropna()[["age"]].abs()
    columns = make_column_transformer(
        ("passthrough", ["age"]), (FunctionTransformer(np.log1p), ["age"])
    )
    labels = people["age"] > people["age"].median()
    model = make_pipeline(columns, LogisticRegression(max_iter=1_000)).fit(people, labels)
    model[-1].coef_ = np.array([[raw, 9.0]])
    found = read(model, people, desired=True)
    assert isinstance(found, Read), found
    assert_decides_alike(found.score, Case(model, people), True, None)


def test_an_encoder_that_fails_on_numbers_between_its_own_is_refused() -> None:
    people = make_people()
    columns = make_column_transformer((OneHotEncoder(), ["age", "job"]), remainder="passthrough")
    model = make_pipeline(columns, LogisticRegression()).fit(people, good(people))
    found = read(model, people, desired=1)
    assert isinstance(found, NotRead)
    assert "set handle_unknown" in found.reason


@pytest.mark.parametrize("last", [LogisticRegression(), DecisionTreeClassifier(max_depth=4)])
def test_a_column_with_a_single_value_in_the_table_is_read_for_all_values(last: Any) -> None:
    people = make_people().dropna()
    columns = make_column_transformer((OneHotEncoder(), ["job"]), remainder="passthrough")
    model = make_pipeline(columns, last).fit(people, good(people))
    found = read(model, people.assign(age=30), desired=1)
    assert isinstance(found, Read), found
    view = view_of(people)
    cells, values = found.score.locate(view.table(people))
    told = found.score.decide(cells, values)
    assert ((told == ACCEPTED) == (model.predict(people) == 1))[told != UNSURE].all()


def test_a_linear_model_behind_scalers_is_a_line_in_the_feature_itself() -> None:
    people = numbers(make_people())
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(people, good(make_people()))
    found = read(model, people, desired=1)
    assert isinstance(found, Read), found
    slopes = {
        found.score.axes[line.axis].feature: line.of(np.array([1.0]))[0, 0]
        for line in found.score.lines
    }
    scaler, weights = model[0], model[1].coef_[0]
    for place, name in enumerate(people.columns):
        assert slopes[name] == pytest.approx(weights[place] / scaler.scale_[place], rel=1e-12)
