"""Trees out of a file, checked before they are asked: scikit-learn follows their numbers without looking.

A skops file holds data, and its types are checked. Two of them, the trees of scikit-learn, hold numbers of nodes and of
columns that prediction follows without a look at how many there are: a modified file could have memory read that is none
of the model's. So every number is looked at here; a tree whose numbers fit can do nothing but decide. LightGBM and XGBoost
open their trees in a skops file as they do in files of their own. Histogram boosting keeps beside its trees how it checks an
array; any other function with bound arguments stays out unless somebody vouches for it.
"""

from __future__ import annotations

from ctypes import c_void_p
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_array

from p2c.errors import P2CError

if TYPE_CHECKING:
    from collections.abc import Iterator

PARTIAL = "functools.partial"
"""The type of a function with bound arguments."""
CHECKED = (
    "sklearn.tree._tree.Tree",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    PARTIAL,
    "sklearn.utils.validation.check_array",
    "lightgbm.basic.Booster",
    "lightgbm.sklearn.LGBMClassifier",
    "xgboost.core.Booster",
    "xgboost.sklearn.XGBClassifier",
)
"""What is let in because every tree and every function is checked, or is opened as in the library's own file."""
CHECKS = frozenset({"dtype", "ensure_all_finite", "force_all_finite"})
"""What scikit-learn's own models say of an array that is to be checked."""
ENSEMBLES = ("BaseForest", "BaseGradientBoosting")
"""What hands its own columns to its trees."""
BOOSTED = {"LGBMClassifier": "_Booster", "XGBClassifier": "_Booster"}
"""Where a model keeps the trees that its library follows."""


def check_trees(model: Any) -> None:
    """Refuse a model with a tree whose numbers lead outside of it."""
    for each in _inside(model):
        tree, predictors = getattr(each, "tree_", None), getattr(each, "_predictors", None)
        if tree is not None and hasattr(tree, "children_left"):
            _require(tree.n_features == getattr(each, "n_features_in_", -1))
            _check_nodes(tree.children_left, tree.children_right, tree.feature, tree.n_features)
        if predictors is not None:
            width = getattr(each, "_n_features", getattr(each, "n_features_in_", 0))
            for predictor in (one for some in predictors for one in some):
                _check_predictor(predictor, width)
        if type(each).__name__ in BOOSTED:
            _check_boosted(each)
        if any(kind.__name__ in ENSEMBLES for kind in type(each).__mro__):
            _check_ensemble(each)


def binds_other_function(model: Any) -> bool:
    """Tell whether a model holds a function with bound arguments that does more than check an array."""
    return any(isinstance(each, partial) and not _is_check(each) for each in _inside(model))


def _is_check(function: partial[Any]) -> bool:
    plain = function.func is check_array and not function.args and not vars(function)
    return plain and not function.keywords.keys() - CHECKS


def _check_boosted(model: Any) -> None:
    """Require that a library has opened the trees itself, and that LightGBM's read no column that rows do not have."""
    booster: Any = getattr(model, BOOSTED[type(model).__name__], None)
    handle = getattr(booster, "_handle", getattr(booster, "handle", None))
    _require(isinstance(handle, c_void_p) and bool(handle))
    if hasattr(model, "_n_features"):
        _require(booster.num_feature() == model._n_features)


def _check_ensemble(model: Any) -> None:
    inner = list(np.asarray(getattr(model, "estimators_", ()), dtype=object).ravel())
    _require(all(each.n_features_in_ == model.n_features_in_ for each in inner))
    rounds = getattr(model, "n_trees_per_iteration_", None)
    if rounds is not None:
        classes = len(getattr(model, "classes_", (0, 1)))
        _require(rounds == (1 if classes <= 2 else classes))
        _require(np.shape(model.estimators_)[1:] == (rounds,))


def _check_predictor(predictor: Any, width: int) -> None:
    nodes = predictor.nodes
    leaf = nodes["is_leaf"].astype(bool)
    left, right = (np.where(leaf, -1, nodes[side].astype(np.int64)) for side in ("left", "right"))
    _check_nodes(left, right, nodes["feature_idx"], width)
    chosen = ~leaf & nodes["is_categorical"].astype(bool)
    sets = predictor.raw_left_cat_bitsets
    _require(sets.ndim == 2 and sets.shape[1] == 8)
    _require(bool((nodes["bitset_idx"][chosen] < len(sets)).all()))


def _check_nodes(left: Any, right: Any, column: Any, width: int) -> None:
    """Require that every node leads to later ones that are there, and reads a column that is there."""
    count = len(left)
    inner = left != -1
    own = np.arange(count)
    _require(count > 0 and bool((inner == (right != -1)).all()))
    for side in (left[inner], right[inner]):
        _require(bool(((side > own[inner]) & (side < count)).all()))
    _require(bool(((column[inner] >= 0) & (column[inner] < width)).all()))


def _require(fits: bool) -> None:
    if not fits:
        raise P2CError(
            "a tree of the model has numbers that lead outside of it: the file is torn or modified"
        )


def _inside(model: Any) -> Iterator[Any]:
    """Yield everything that a model holds, each object once."""
    seen: set[int] = set()
    waiting = [model]
    while waiting:
        each = waiting.pop()
        if id(each) in seen or isinstance(each, str | bytes | int | float | type(None)):
            continue
        seen.add(id(each))
        yield each
        if isinstance(each, dict):
            waiting += each.values()
        elif isinstance(each, list | tuple | set | frozenset):
            waiting += each
        elif isinstance(each, np.ndarray):
            waiting += each.ravel().tolist() if each.dtype == object else []
        else:
            waiting += getattr(each, "__dict__", {}).values()
