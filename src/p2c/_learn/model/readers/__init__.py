"""One reader for each kind of model, found by the name of its type, so that no library is imported that is not there."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from p2c._learn.model.parts import Unreadable

if TYPE_CHECKING:
    from collections.abc import Callable

    from p2c._learn.model.parts import Sum
    from p2c._learn.model.stages import Stage

    ModelReader = Callable[[Any, Stage], tuple[Sum, Stage]]
    """Turns a fitted model into a sum over the columns of a stage, which may be one behind the stage that it is given."""


SKLEARN, LINEAR, WRAPPED = "sklearn_trees", "sklearn_linear", "sklearn_wrapped"
BAYES, ENSEMBLES = "sklearn_bayes", "sklearn_ensembles"

READERS: dict[str, tuple[str, str]] = {
    "DecisionTreeClassifier": (SKLEARN, "read_tree"),
    "RandomForestClassifier": (SKLEARN, "read_forest"),
    "ExtraTreesClassifier": (SKLEARN, "read_forest"),
    "GradientBoostingClassifier": (SKLEARN, "read_boosting"),
    "AdaBoostClassifier": (SKLEARN, "read_adaboost"),
    "HistGradientBoostingClassifier": ("sklearn_histogram", "read_histogram"),
    "LogisticRegression": (LINEAR, "read_linear"),
    "LinearDiscriminantAnalysis": (LINEAR, "read_linear"),
    "RidgeClassifier": (LINEAR, "read_linear"),
    "RidgeClassifierCV": (LINEAR, "read_linear"),
    "LinearSVC": (LINEAR, "read_linear"),
    "Perceptron": (LINEAR, "read_linear"),
    "SGDClassifier": (LINEAR, "read_linear"),
    "BernoulliNB": (BAYES, "read_bernoulli"),
    "GaussianNB": (BAYES, "read_gaussian"),
    "MultinomialNB": (BAYES, "read_multinomial"),
    "ComplementNB": (BAYES, "read_complement"),
    "CategoricalNB": (BAYES, "read_categorical"),
    "Pipeline": (WRAPPED, "read_pipeline"),
    "GroupedModel": (WRAPPED, "read_grouped"),
    "CalibratedClassifierCV": (ENSEMBLES, "read_calibrated"),
    "VotingClassifier": (ENSEMBLES, "read_voting"),
    "BaggingClassifier": (ENSEMBLES, "read_bagging"),
    "StackingClassifier": (ENSEMBLES, "read_stacking"),
    "FixedThresholdClassifier": (WRAPPED, "read_fixed_threshold"),
    "TunedThresholdClassifierCV": (WRAPPED, "read_fixed_threshold"),
    "FrozenEstimator": (WRAPPED, "read_inner"),
    "BaseSearchCV": (WRAPPED, "read_inner"),
    "XGBClassifier": ("xgboost_trees", "read_xgboost"),
    "LGBMClassifier": ("lightgbm_trees", "read_lightgbm"),
    "LightGBMFile": ("lightgbm_trees", "read_lightgbm"),
    "CatBoostClassifier": ("catboost_trees", "read_catboost"),
    "ExplainableBoostingClassifier": ("interpret_ebm", "read_ebm"),
    "Scorecard": ("scorecards", "read_optbinning"),
    "PointsTable": ("scorecards", "read_points"),
    "StatsmodelsResult": ("statsmodels_linear", "read_statsmodels"),
    "OnnxModel": ("onnx_graph", "read_onnx"),
}
"""Where the reader of each type stands: the module in this package and the function in it."""


def reads_directly(model: Any) -> bool:
    """Tell whether a model is read as it is, and no other inside it."""
    modules = (READERS.get(kind.__name__, (WRAPPED,))[0] for kind in type(model).__mro__)
    return any(module not in (WRAPPED, ENSEMBLES) for module in modules)


def read_parts(model: Any, stage: Stage) -> tuple[Sum, Stage]:
    """Read a model by the first of its types that has a reader."""
    for kind in type(model).__mro__:
        if kind.__name__ in READERS:
            module, function = READERS[kind.__name__]
            reader: ModelReader = getattr(import_module(f"{__name__}.{module}"), function)
            return reader(model, stage)
    raise Unreadable(f"no reader for a {type(model).__name__}: it is asked, not read")
