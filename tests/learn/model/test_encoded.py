"""Pipelines asked by their last step: the same decision as the pipeline's on every row, and each value transformed once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
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
from sklearn.svm import LinearSVC

from p2c._learn.model import Read
from p2c._learn.model.reading import read
from p2c.problem import Problem
from tests.evidence import decider_of, evidence_of
from tests.lending import loans

if TYPE_CHECKING:
    import pandas as pd


class CountedScaler(StandardScaler):  # type: ignore[misc]
    """A scaler that counts the times it is run."""

    runs = 0

    def transform(self, X: Any, copy: Any = None) -> Any:
        type(self).runs += 1
        return super().transform(X, copy)


class CountedEncoder(OneHotEncoder):  # type: ignore[misc]
    """An encoder that counts the times it is run."""

    runs = 0

    def transform(self, X: Any) -> Any:
        type(self).runs += 1
        return super().transform(X)


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


SPARSE = make_column_transformer(
    (OneHotEncoder(), ["job"]),
    ("passthrough", ["member"]),
    remainder=filled(StandardScaler()),
    sparse_threshold=1.0,
)
WEIGHED: dict[str, tuple[Any, float | None]] = {
    **PIPELINES,
    "sparse": (make_pipeline(SPARSE, LogisticRegression()), None),
    "single precision": (
        make_pipeline(
            encoder(OneHotEncoder(dtype=np.float32), filled(StandardScaler())), LogisticRegression()
        ),
        0.45,
    ),
    "a distance": (
        make_pipeline(encoder(OneHotEncoder(), filled(StandardScaler())), LinearSVC()),
        None,
    ),
}


def opened(
    model: Any, threshold: float | None = None, *, table: pd.DataFrame | None = None
) -> Read:
    table = people() if table is None else table
    found = read(model.fit(table, answers(table)), table, threshold=threshold)
    assert isinstance(found, Read), found
    return found


def strangers(table: pd.DataFrame) -> pd.DataFrame:
    """Return rows that nobody has seen: every column shuffled by itself."""
    chance = np.random.default_rng(0)
    found = table.copy()
    for name in table.columns:
        found[name] = table[name].sample(frac=1, random_state=chance).to_numpy()
    return found


def cells_of(table: pd.DataFrame) -> list[tuple[Any, ...]]:
    return list(zip(*(table[name].tolist() for name in table.columns), strict=True))


@pytest.mark.parametrize("kind", PIPELINES)
def test_the_last_step_decides_as_the_pipeline_does(kind: str) -> None:
    model, threshold = PIPELINES[kind]
    encoded = opened(model, threshold).encoded
    assert encoded is not None
    table = strangers(people())
    told = model.predict_proba(table)[:, 1] >= threshold if threshold else model.predict(table)
    assert [encoded.accepts([each]).item() for each in cells_of(table)] == told.tolist()
    assert len(set(told.tolist())) == 2


@pytest.mark.parametrize("kind", WEIGHED)
def test_the_last_step_tells_the_score_of_the_pipeline_to_the_last_bit(kind: str) -> None:
    model, threshold = WEIGHED[kind]
    table = people()
    if kind == "single precision":
        table[["income", "debt", "age"]] = table[["income", "debt", "age"]].astype(np.float32)
    encoded = opened(model, threshold, table=table).encoded
    assert encoded is not None
    unseen = strangers(table)
    for some in (*(unseen.iloc[[place]] for place in range(40)), unseen.iloc[40:44]):
        told = encoded.answer(cells_of(some)).told
        assert told is not None
        own = (
            model.decision_function(some)
            if kind == "a distance"
            else model.predict_proba(some)[:, 1]
        )
        assert told[:, 0].tolist() == own.tolist()


@pytest.mark.parametrize("kind", PIPELINES)
def test_a_class_that_leads_beyond_rounding_is_the_one_the_pipeline_names(kind: str) -> None:
    model, threshold = PIPELINES[kind]
    encoded = opened(model, threshold).encoded
    assert encoded is not None
    cells = cells_of(strangers(people()))
    told = [encoded.answer([each]).accepted.item() for each in cells]
    assert told == encoded.accepts(cells).tolist()


def test_a_model_is_asked_for_the_name_of_its_class_only_where_two_are_as_good_as_equal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = people()
    model = make_pipeline(encoder(OneHotEncoder(), filled(StandardScaler())), LogisticRegression())
    named = []
    real = LogisticRegression.predict

    def counted(self: LogisticRegression, rows: Any) -> Any:
        named.append(len(rows))
        return real(self, rows)

    monkeypatch.setattr(LogisticRegression, "predict", counted)
    encoded = opened(model.fit(table, answers(table)), None).encoded
    assert encoded is not None
    named.clear()
    cells = cells_of(table)
    sure = encoded.answer(cells)
    assert sure.accepted.any()
    assert not named
    last = model.steps[-1][1]
    last.coef_[:] = 0
    last.intercept_[:] = 0
    assert not encoded.answer(cells).accepted.any()
    assert named == [len(cells)]


def test_a_plan_tells_the_score_without_running_the_pipeline_again() -> None:
    model = make_pipeline(encoder(OneHotEncoder(), filled(CountedScaler())), LogisticRegression())
    table = people()
    recourse = Problem.from_model(model.fit(table, answers(table)), table)
    refused = table[~model.predict(table)].iloc[0]
    first = recourse.plan(refused)
    CountedScaler.runs = 0
    again = recourse.plan(refused)
    assert CountedScaler.runs == 0
    assert again.to_dict() == first.to_dict()
    end = again.end
    assert end is not None
    assert evidence_of(again).verified
    assert again.optimal
    chance = model.predict_proba(decider_of(recourse).source.view.ask(refused, [end]))[0, 1]
    assert again.to_dict()["model"]["score"] == pytest.approx(chance, rel=1e-12)


def test_a_calibrated_pipeline_tells_its_own_score() -> None:
    inner = make_pipeline(encoder(OneHotEncoder(), filled(StandardScaler())), LogisticRegression())
    table = people()
    model = CalibratedClassifierCV(inner, cv=2).fit(table, answers(table))
    recourse = Problem.from_model(model, table, threshold=0.6)
    refused = table[model.predict_proba(table)[:, 1] < 0.6].iloc[0]
    answer = recourse.plan(refused)
    end = answer.end
    assert end is not None
    assert evidence_of(answer).verified
    chance = model.predict_proba(decider_of(recourse).source.view.ask(refused, [end]))[0, 1]
    told = answer.to_dict()["model"]
    assert told["score"] == pytest.approx(chance, abs=1e-12)
    assert told["threshold"] == 0.6


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


def test_only_the_transformers_of_a_new_value_are_run() -> None:
    model = make_pipeline(encoder(CountedEncoder(), filled(CountedScaler())), LogisticRegression())
    encoded = opened(model).encoded
    assert encoded is not None
    row = [each[0] for each in people().head(1).to_dict("list").values()]
    CountedScaler.runs = CountedEncoder.runs = 0
    told = encoded.answer([[12_345, *row[1:]]]).told
    assert (CountedScaler.runs, CountedEncoder.runs) == (1, 0)
    table = people().head(1).assign(income=12_345)
    assert told is not None
    assert told[:, 0].tolist() == model.predict_proba(table)[:, 1].tolist()


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


def test_the_pipeline_as_a_whole_accepts_where_a_plan_ends() -> None:
    model, _ = PIPELINES["one-hot"]
    table = people()
    recourse = Problem.from_model(model.fit(table, answers(table)), table)
    for _, row in table.head(20).iterrows():
        answer = recourse.plan(row)
        assert evidence_of(answer).verified
        end = answer.end
        assert end is not None
        asked = decider_of(recourse).source.view.ask(row, [end])
        assert model.predict(asked).tolist() == [True]


def test_reading_runs_the_transformers_as_often_for_many_values_as_for_few(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = people()
    model = make_pipeline(encoder(OneHotEncoder(), filled(CountedScaler())), LogisticRegression())
    model.fit(table, answers(table))
    runs = []
    for kept in (100_000, 50):
        monkeypatch.setattr("p2c._learn.model.encoded.KEPT", kept)
        CountedScaler.runs = 0
        found = read(model, table)
        assert isinstance(found, Read)
        assert found.encoded is not None
        runs.append(CountedScaler.runs)
    assert runs[0] == runs[1]


def test_a_batch_of_unknown_values_runs_each_transformer_once_per_type() -> None:
    table = people()
    model = make_pipeline(encoder(OneHotEncoder(), filled(CountedScaler())), LogisticRegression())
    encoded = opened(model, table=table).encoded
    assert encoded is not None
    encoded.forget()
    CountedScaler.runs = 0
    told = encoded.accepts(cells_of(strangers(table)))
    assert told.tolist() == model.predict(strangers(table)).tolist()
    assert CountedScaler.runs <= 3
