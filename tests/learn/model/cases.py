"""A model for every entry of the registry of readers, trained on people."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import (
    LogisticRegression,
    Perceptron,
    RidgeClassifier,
    RidgeClassifierCV,
    SGDClassifier,
)
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    TunedThresholdClassifierCV,
)
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, MinMaxScaler, OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from tests.learn.model.people import good, grade, make_people, numbers

if TYPE_CHECKING:
    import pandas as pd


class Case(NamedTuple):
    """A fitted model and the table that it was trained on."""

    model: Any
    table: pd.DataFrame


Maker = Callable[[bool], Case]
"""Make a case of two classes, or of three."""


def _labels(people: pd.DataFrame, three: bool) -> Any:
    return grade(people) if three else good(people)


def encoded(estimator: Any, *, scale: bool = True) -> Any:
    """Return an estimator behind what people's tables usually go through."""
    figures = make_pipeline(SimpleImputer(), StandardScaler()) if scale else SimpleImputer()
    words = make_pipeline(
        SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore")
    )
    columns = make_column_transformer((figures, ["age", "income", "rate"]), (words, ["job"]))
    return make_pipeline(columns, estimator)


def plain(estimator: Callable[[], Any]) -> Maker:
    def make(three: bool) -> Case:
        table = numbers(make_people())
        return Case(estimator().fit(table, _labels(make_people(), three)), table)

    return make


def with_gaps(estimator: Callable[[], Any]) -> Maker:
    def make(three: bool) -> Case:
        people = make_people(gaps=True)
        return Case(estimator().fit(numbers(people), _labels(people, three)), numbers(people))

    return make


def piped(estimator: Callable[[], Any]) -> Maker:
    def make(three: bool) -> Case:
        people = make_people(gaps=True)
        return Case(encoded(estimator()).fit(people, _labels(people, three)), people)

    return make


def _histogram(three: bool) -> Case:
    people = make_people(gaps=True, kind="category")
    model = HistGradientBoostingClassifier(max_iter=10, min_samples_leaf=5)
    return Case(model.fit(people, _labels(people, three)), people)


def _xgboost(three: bool) -> Case:
    xgboost = pytest.importorskip("xgboost")
    people = make_people(gaps=True, kind="category")
    model = xgboost.XGBClassifier(
        n_estimators=20, max_depth=4, enable_categorical=True, max_cat_to_onehot=2, n_jobs=1
    )
    return Case(model.fit(people, _labels(people, three)), people)


def _lightgbm(three: bool) -> Case:
    lightgbm = pytest.importorskip("lightgbm")
    people = make_people(gaps=True, kind="category")
    model = lightgbm.LGBMClassifier(
        n_estimators=20, num_leaves=12, min_data_per_group=5, cat_smooth=1, verbose=-1, n_jobs=1
    )
    return Case(model.fit(people, _labels(people, three)), people)


def _lightgbm_file(three: bool) -> Case:
    case = _lightgbm(three)
    from lightgbm import Booster

    from p2c._learn.model.readers.lightgbm_trees import LightGBMFile

    return Case(LightGBMFile(Booster(model_str=case.model.booster_.model_to_string())), case.table)


def _catboost(three: bool) -> Case:
    catboost = pytest.importorskip("catboost")
    people = make_people(gaps=True)
    people["job"] = people["job"].fillna("none")
    model = catboost.CatBoostClassifier(
        iterations=20,
        depth=4,
        cat_features=["job"],
        verbose=0,
        allow_writing_files=False,
        thread_count=1,
    )
    return Case(model.fit(people, _labels(people, three)), people)


def _uneven_catboost(three: bool) -> Case:
    """Return trees whose branches have lengths of their own, over numbers alone."""
    catboost = pytest.importorskip("catboost")
    people = make_people(gaps=True)
    table = numbers(people)
    model = catboost.CatBoostClassifier(
        iterations=20,
        grow_policy="Lossguide",
        max_leaves=9,
        verbose=0,
        allow_writing_files=False,
        thread_count=1,
    )
    return Case(model.fit(table, _labels(people, three)), table)


def _ebm(three: bool) -> Case:
    glassbox = pytest.importorskip("interpret.glassbox")
    people = make_people(gaps=True)
    model = glassbox.ExplainableBoostingClassifier(
        n_jobs=1, outer_bags=2, max_rounds=200, interactions=0 if three else 2
    )
    return Case(model.fit(people, _labels(people, three)), people)


def _scorecard(three: bool) -> Case:
    optbinning = pytest.importorskip("optbinning")
    if three:
        pytest.skip("a scorecard knows two classes")
    people = make_people(gaps=True)
    process = optbinning.BinningProcess(list(people.columns), categorical_variables=["job"])
    model = optbinning.Scorecard(
        binning_process=process,
        estimator=LogisticRegression(),
        scaling_method="min_max",
        scaling_method_params={"min": 300, "max": 850},
    )
    return Case(model.fit(people, good(people)), people)


CARD = """feature,from,to,points
,600,,300
age,,30,10
age,30,,155.5
income,,1000,30
income,1000,2000,70
income,2000,,90
income,,,1
job,nurse,,120
job,clerk,,80
job,,,60
"""


def _points(three: bool) -> Case:
    if three:
        pytest.skip("a scorecard knows two classes")
    from tempfile import TemporaryDirectory

    from p2c._learn.model.points import load_points

    with TemporaryDirectory() as folder:
        path = Path(folder) / "card.csv"
        path.write_text(CARD)
        return Case(load_points(path), make_people(gaps=True))


def _statsmodels(fit: Callable[[Any, pd.DataFrame], Any]) -> Maker:
    """Return a case of a result of statsmodels, which knows two outcomes."""

    def make(three: bool) -> Case:
        pytest.importorskip("statsmodels.api")
        if three:
            pytest.skip("it knows two outcomes")
        from p2c._learn.model.stored import of_booster

        people = make_people()
        return Case(of_booster(fit(good(people), people)), people)

    return make


def _logit(labels: Any, people: pd.DataFrame) -> Any:
    from statsmodels import api

    return api.Logit(labels, api.add_constant(people[["age", "income"]])).fit(disp=0)


def _binomial(labels: Any, people: pd.DataFrame) -> Any:
    from statsmodels import api

    family = api.families.Binomial(api.families.links.Probit())
    return api.GLM(labels, api.add_constant(people[["age", "income"]]), family=family).fit()


def _formula(labels: Any, people: pd.DataFrame) -> Any:
    from statsmodels.formula import api

    text = "good ~ age + income + C(job)"
    return api.logit(text, data=people.assign(good=labels)).fit(disp=0)


def _onnx(estimator: Callable[[], Any]) -> Maker:
    """Return a case of an estimator that is stored as a graph of single precision."""

    def make(three: bool) -> Case:
        skl2onnx = pytest.importorskip("skl2onnx")
        from tempfile import TemporaryDirectory

        from p2c._learn.model.onnx_model import open_onnx

        people = make_people()
        table = numbers(people).drop(columns="rate")
        rows = table.to_numpy(dtype="float32")
        model = estimator().fit(rows, _labels(people, three))
        with TemporaryDirectory() as folder:
            path = Path(folder) / "model.onnx"
            path.write_bytes(skl2onnx.to_onnx(model, rows[:1]).SerializeToString())
            return Case(open_onnx(path, table), table)

    return make


def _resampled(estimator: Any) -> Maker:
    """Return a case of a pipeline that resamples rows for training."""

    def make(three: bool) -> Case:
        pipeline = pytest.importorskip("imblearn.pipeline")
        sampling = pytest.importorskip("imblearn.over_sampling")
        people = make_people()
        table = numbers(people)
        sampler = sampling.RandomOverSampler(random_state=0)
        model = pipeline.make_pipeline(StandardScaler(), sampler, estimator())
        return Case(model.fit(table, _labels(people, three)), table)

    return make


def _counted(encoder: str, estimator: Callable[[], Any]) -> Maker:
    """Return a case of an encoder that has the name of one of scikit-learn's."""

    def make(three: bool) -> Case:
        encoders = pytest.importorskip("category_encoders")
        people = make_people()
        if three and encoder == "TargetEncoder":
            pytest.skip("it knows two classes")
        steps = getattr(encoders, encoder)(cols=["job"]), StandardScaler(), estimator()
        return Case(make_pipeline(*steps).fit(people, _labels(people, three)), people)

    return make


def _two(maker: Maker) -> Maker:
    def make(three: bool) -> Case:
        if three:
            pytest.skip("read for two classes only")
        return maker(False)

    return make


def _boosting() -> Any:
    return GradientBoostingClassifier(n_estimators=15)


def _small_forest() -> Any:
    return RandomForestClassifier(15, max_depth=5, random_state=0)


def _tree() -> Any:
    return DecisionTreeClassifier(max_depth=4)


def _scaled_linear() -> Any:
    return make_pipeline(StandardScaler(), LogisticRegression())


def _boosted_library() -> Any:
    xgboost = pytest.importorskip("xgboost")
    return xgboost.XGBClassifier(n_estimators=8, max_depth=3, n_jobs=1)


def _different() -> list[tuple[str, Any]]:
    return [("linear", LogisticRegression()), ("forest", _small_forest()), ("boost", _boosting())]


CASES: dict[str, list[Maker]] = {
    "DecisionTreeClassifier": [with_gaps(lambda: DecisionTreeClassifier(max_depth=6))],
    "RandomForestClassifier": [
        with_gaps(_small_forest),
        piped(lambda: RandomForestClassifier(10, random_state=0)),
    ],
    "ExtraTreesClassifier": [plain(lambda: ExtraTreesClassifier(10, max_depth=5))],
    "GradientBoostingClassifier": [plain(_boosting), piped(_boosting)],
    "AdaBoostClassifier": [
        plain(lambda: AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=10)),
        piped(lambda: AdaBoostClassifier(n_estimators=10)),
    ],
    "HistGradientBoostingClassifier": [_histogram],
    "LogisticRegression": [piped(LogisticRegression)],
    "RidgeClassifier": [piped(RidgeClassifier)],
    "RidgeClassifierCV": [piped(RidgeClassifierCV)],
    "LinearSVC": [piped(LinearSVC)],
    "Perceptron": [piped(Perceptron)],
    "SGDClassifier": [
        piped(lambda: SGDClassifier(loss="log_loss")),
        piped(lambda: SGDClassifier(loss="modified_huber")),
    ],
    "LinearDiscriminantAnalysis": [piped(LinearDiscriminantAnalysis)],
    "BernoulliNB": [piped(BernoulliNB)],
    "GaussianNB": [plain(GaussianNB), piped(GaussianNB)],
    "MultinomialNB": [plain(lambda: make_pipeline(MinMaxScaler(clip=True), MultinomialNB()))],
    "ComplementNB": [plain(lambda: make_pipeline(KBinsDiscretizer(4), ComplementNB()))],
    "CategoricalNB": [
        plain(lambda: make_pipeline(KBinsDiscretizer(4, encode="ordinal"), CategoricalNB()))
    ],
    "Pipeline": [
        piped(LogisticRegression),
        plain(lambda: make_pipeline(StandardScaler(), PCA(2), LogisticRegression())),
        plain(
            lambda: make_pipeline(
                StandardScaler(), TruncatedSVD(2), StandardScaler(), LogisticRegression()
            )
        ),
        _resampled(LogisticRegression),
        _counted("OneHotEncoder", LogisticRegression),
        _counted("OrdinalEncoder", _small_forest),
        _counted("TargetEncoder", LogisticRegression),
    ],
    "StatsmodelsResult": [_statsmodels(_logit), _statsmodels(_binomial), _statsmodels(_formula)],
    "OnnxModel": [
        _onnx(LogisticRegression),
        _onnx(lambda: make_pipeline(StandardScaler(), LogisticRegression())),
        _onnx(_small_forest),
        _onnx(_boosting),
        _onnx(lambda: make_pipeline(StandardScaler(), HistGradientBoostingClassifier(max_iter=10))),
    ],
    "CalibratedClassifierCV": [
        _two(plain(lambda: CalibratedClassifierCV(_small_forest(), ensemble=False, cv=3))),
        _two(
            plain(
                lambda: CalibratedClassifierCV(_boosting(), method="isotonic", ensemble=False, cv=3)
            )
        ),
        _two(piped(lambda: CalibratedClassifierCV(LinearSVC(), ensemble=False, cv=3))),
        _two(piped(lambda: CalibratedClassifierCV(LinearSVC(), cv=3))),
        _two(plain(lambda: CalibratedClassifierCV(_small_forest(), method="isotonic", cv=3))),
        _two(plain(lambda: CalibratedClassifierCV(_boosted_library(), cv=3))),
    ],
    "VotingClassifier": [
        plain(lambda: VotingClassifier([("a", _small_forest()), ("b", _tree())], voting="soft")),
        _two(piped(lambda: VotingClassifier(_different(), voting="soft", weights=[2, 1, 0]))),
        _two(piped(lambda: VotingClassifier(_different()))),
    ],
    "BaggingClassifier": [
        with_gaps(lambda: BaggingClassifier(_tree(), max_features=2)),
        _two(plain(lambda: BaggingClassifier(_scaled_linear(), n_estimators=4))),
        _two(plain(lambda: BaggingClassifier(RidgeClassifier(), n_estimators=5, max_features=2))),
    ],
    "StackingClassifier": [
        _two(piped(lambda: StackingClassifier(_different(), cv=2))),
        _two(plain(lambda: StackingClassifier(_different()[1:], cv=2, passthrough=True))),
    ],
    "FixedThresholdClassifier": [
        _two(plain(lambda: FixedThresholdClassifier(_small_forest(), threshold=0.3))),
        _two(
            plain(
                lambda: FixedThresholdClassifier(
                    VotingClassifier(_different()[1:], voting="soft"), threshold=0.3
                )
            )
        ),
    ],
    "TunedThresholdClassifierCV": [
        _two(plain(lambda: TunedThresholdClassifierCV(DecisionTreeClassifier(max_depth=4))))
    ],
    "FrozenEstimator": [
        plain(lambda: FrozenEstimator(_boosting().fit(numbers(make_people()), good(make_people()))))
    ],
    "BaseSearchCV": [
        plain(lambda: GridSearchCV(DecisionTreeClassifier(), {"max_depth": [2, 4]}, cv=2))
    ],
    "XGBClassifier": [_xgboost],
    "LGBMClassifier": [_lightgbm],
    "LightGBMFile": [_lightgbm_file],
    "CatBoostClassifier": [_catboost, _uneven_catboost],
    "ExplainableBoostingClassifier": [_ebm],
    "Scorecard": [_scorecard],
    "PointsTable": [_points],
}
"""Models by the type whose reader they try."""
