"""Pipelines asked by their last step: the same decision as the pipeline's on every row, and each value transformed once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    OneHotEncoder,
    OrdinalEncoder,
    PowerTransformer,
    StandardScaler,
)

from p2c.learn.model import Read
from p2c.learn.model.reading import read
from p2c.recourse import Recourse
from tests.lending import loans

if TYPE_CHECKING:
    import pandas as pd


class CountedScaler(StandardScaler):  # type: ignore[misc]
    """A scaler that counts the times it is run."""

    runs = 0

    def transform(self, X: Any, copy: Any = None) -> Any:
        type(self).runs += 1
        return super().transform(X, copy)


def people() -> pd.DataFrame:
    table = loans(300)
    table["debt"] = table["debt"].where(table["age"] % 7 != 0)
    return table.assign(member=table["age"] % 2 == 0)


def answers(table: pd.DataFrame) -> Any:
    return table["income"] - table["debt"].fillna(30) + 20 * (table["job"] == "clerk") > 45


def encoder(text: Any, number: Any) -> Any:
    return make_column_transformer((text, ["job"]), ("passthrough", ["member"]), remainder=number)


def filled(number: Any) -> Any:
    return make_pipeline(SimpleImputer(add_indicator=True), number)


PIPELINES: dict[str, tuple[Any, float | None]] = {
    "one-hot": (
        make_pipeline(
            encoder(OneHotEncoder(), filled(StandardScaler())), GradientBoostingClassifier()
        ),
        None,
    ),
    "ordinal, threshold": (
        make_pipeline(
            encoder(OrdinalEncoder(), SimpleImputer()),
            StandardScaler(),
            RandomForestClassifier(9, max_depth=4, random_state=0),
        ),
        0.4,
    ),
    "binned": (
        make_pipeline(
            encoder(OneHotEncoder(), filled(KBinsDiscretizer(4, strategy="uniform"))),
            LogisticRegression(),
        ),
        None,
    ),
    "powers": (
        make_pipeline(encoder(OneHotEncoder(), filled(PowerTransformer())), LogisticRegression()),
        0.7,
    ),
}


def opened(model: Any, threshold: float | None = None) -> Read:
    found = read(model.fit(people(), answers(people())), people(), threshold=threshold)
    assert isinstance(found, Read), found
    return found


@pytest.mark.parametrize("kind", PIPELINES)
def test_the_last_step_decides_as_the_pipeline_does(kind: str) -> None:
    model, threshold = PIPELINES[kind]
    encoded = opened(model, threshold).encoded
    assert encoded is not None
    # Rows that nobody has seen: every column shuffled by itself.
    chance = np.random.default_rng(0)
    table = people().apply(lambda column: column.sample(frac=1, random_state=chance).to_numpy())
    table = table.astype(people().dtypes)
    told = model.predict_proba(table)[:, 1] >= threshold if threshold else model.predict(table)
    cells = zip(*(table[name].tolist() for name in table.columns), strict=True)
    assert [encoded.accepts([each]).item() for each in cells] == told.tolist()
    assert len(set(told.tolist())) == 2


def test_what_transformers_make_of_a_value_is_asked_once() -> None:
    model = make_pipeline(encoder(OneHotEncoder(), filled(CountedScaler())), LogisticRegression())
    encoded = opened(model).encoded
    assert encoded is not None
    row = [each[0] for each in people().head(1).to_dict("list").values()]
    CountedScaler.runs = 0
    encoded.accepts([row])
    assert CountedScaler.runs == 0
    for _ in range(2):
        encoded.accepts([[12_345, *row[1:]]])
        assert CountedScaler.runs == 1


@pytest.mark.parametrize(
    "model",
    [
        make_pipeline(
            encoder(
                OneHotEncoder(),
                filled(make_pipeline(FunctionTransformer(np.abs), StandardScaler())),
            ),
            LogisticRegression(),
        ),
        make_pipeline(
            encoder(OneHotEncoder(), filled(StandardScaler())),
            FrozenEstimator(LogisticRegression()),
        ),
    ],
    ids=["a transformer that is not known", "a model inside the last step"],
)
def test_a_pipeline_with_a_step_that_is_not_known_is_asked_as_a_whole(model: Any) -> None:
    if isinstance(model.steps[-1][1], FrozenEstimator):
        table = people()
        ready = model.steps[0][1].fit(table)
        inner = LogisticRegression().fit(ready.transform(table), answers(table))
        model.steps[-1] = ("last", FrozenEstimator(inner))
    assert opened(model).encoded is None


def test_a_plan_asks_the_pipeline_for_its_decision_alone() -> None:
    model, _ = PIPELINES["one-hot"]
    table = people()
    recourse = Recourse.fit(model.fit(table, answers(table)), table)
    for _, row in table.head(20).iterrows():
        answer = recourse.plan(row)
        assert answer.verified
        end = answer.counterfactual
        assert end is not None
        asked = recourse.source.view.ask(row, [end])
        assert model.predict(asked).tolist() == [True]
