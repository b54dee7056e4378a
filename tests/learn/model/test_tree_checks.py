"""Trees out of a skops file are let in only where all of their numbers lead inside."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import check_array
from skops import io

from p2c._learn.model.stored import load_model
from p2c._spec.spec import Trust
from p2c.errors import P2CError
from tests.lending import loans

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MODELS: dict[str, Any] = {
    "tree": DecisionTreeClassifier(max_depth=3, random_state=0),
    "forest": RandomForestClassifier(3, max_depth=3, random_state=0),
    "boosted": GradientBoostingClassifier(n_estimators=3, random_state=0),
    "histogram": HistGradientBoostingClassifier(max_iter=3, random_state=0),
}


def fitted(name: str) -> Any:
    table = loans()
    model = MODELS[name].fit(table[["income", "debt", "age"]], table["income"] > table["debt"])
    return model


def modify(model: Any, change: Callable[[Any], None]) -> None:
    """Change the nodes of the first tree of a model."""
    if hasattr(model, "_predictors"):
        change(model._predictors[0][0].nodes)
        return
    inner = model
    while not hasattr(inner, "tree_"):
        inner = np.asarray(inner.estimators_, dtype=object).ravel()[0]
    state = inner.tree_.__getstate__()
    state["nodes"] = state["nodes"].copy()
    change(state["nodes"])
    inner.tree_.__setstate__(state)


def set_all(*names: str, value: int) -> Callable[[Any], None]:
    def change(nodes: Any) -> None:
        for name in names:
            if name in nodes.dtype.names:
                nodes[name][0] = value

    return change


@pytest.mark.parametrize("name", MODELS)
def test_a_sound_tree_is_let_in_and_answers_as_before(name: str, tmp_path: Path) -> None:
    model = fitted(name)
    io.dump(model, tmp_path / "model.skops")
    table = loans()[["income", "debt", "age"]]
    opened = load_model(tmp_path / "model.skops", table)
    assert (opened.predict(table) == model.predict(table)).all()


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(
    "change",
    [
        set_all("left_child", "left", value=1_000_000),
        set_all("right_child", "right", value=0),
        set_all("feature", "feature_idx", value=3),
    ],
    ids=["far", "circle", "column"],
)
def test_a_tree_that_leads_outside_is_refused_before_it_is_asked(
    name: str, change: Callable[[Any], None], tmp_path: Path
) -> None:
    model = fitted(name)
    modify(model, change)
    io.dump(model, tmp_path / "model.skops")
    with pytest.raises(
        P2CError, match="numbers that lead outside of it: the file is torn or modified"
    ):
        load_model(tmp_path / "model.skops", loans()[["income", "debt", "age"]])


def test_an_ensemble_whose_trees_read_more_columns_than_it_gives_is_refused(tmp_path: Path) -> None:
    model = fitted("forest")
    model.n_features_in_ = 2
    io.dump(model, tmp_path / "model.skops")
    with pytest.raises(P2CError, match="torn or modified"):
        load_model(tmp_path / "model.skops", loans()[["income", "debt"]])


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_boosted_trees_of_another_library_are_let_in_where_it_has_opened_them(
    library: str, tmp_path: Path
) -> None:
    module = pytest.importorskip(library)
    kind = module.LGBMClassifier if library == "lightgbm" else module.XGBClassifier
    table = loans()[["income", "debt", "age"]]
    model = kind(n_estimators=3, verbosity=-1 if library == "lightgbm" else 0)
    model.fit(table, table["income"] > table["debt"])
    path = tmp_path / "model.skops"
    io.dump(model, path)
    assert (load_model(path, table).predict(table) == model.predict(table)).all()
    setattr(model._Booster, "_handle" if library == "lightgbm" else "handle", None)
    io.dump(model, path)
    with pytest.raises(P2CError, match="torn or modified"):
        load_model(path, table)


def test_histogram_boosting_over_categories_is_let_in_and_no_other_bound_function(
    tmp_path: Path,
) -> None:
    table = loans()[["income", "job"]].assign(job=loans()["job"].astype("category"))
    model = HistGradientBoostingClassifier(max_iter=3, categorical_features="from_dtype")
    model.fit(table, (table["income"] > 50) | (table["job"] == "cook"))
    path = tmp_path / "model.skops"
    io.dump(model, path)
    assert (load_model(path, table).predict(table) == model.predict(table)).all()
    checker = model._preprocessor.transformers_[1][1]
    for other in (partial(np.add, 1), partial(check_array, estimator="x")):
        checker.func = other
        io.dump(model, path)
        with pytest.raises(P2CError, match=r"--trust functools\.partial") as found:
            load_model(path, table)
        assert "\n" not in str(found.value)
        load_model(path, table, Trust.of("functools.partial"))
