"""What a model itself tells of a column that it reads: its categories where it keeps them, else whether it is text."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

from p2c._learn.model.asking import kept_categories, plain
from p2c._learn.model.onnx_model import TEXT, OnnxModel
from p2c._learn.model.points import PointsTable

if TYPE_CHECKING:
    from collections.abc import Iterator

UNTOLD = "unknown"
"""What stands for the values of a column of text that the model names none of."""


def column_keys(model: Any, name: str) -> dict[str, Any]:
    """Return the keys of a feature for a column, as far as the model tells: a category, listed numbers, or any number."""
    told = _told(model, name)
    if told is None:
        whole = isinstance(model, OnnxModel) and "int" in model.kinds[name]
        return {"type": "int" if whole else "float"}
    texts = list(dict.fromkeys(each for each in told if isinstance(each, str) and each))
    if texts or not told:
        return {"type": "category", "values": texts or [UNTOLD]}
    numbers = [each for each in told if isinstance(each, int | float) and isfinite(each)]
    return {"type": "float", "values": numbers} if numbers else {"type": "float"}


def _told(model: Any, name: str) -> list[Any] | None:
    """Return the values of a column; none where it is text of which no more is known, None where it is a number."""
    if isinstance(model, PointsTable):
        return next((list(each.names) or None for each in model.parts if each.column == name), None)
    if isinstance(model, OnnxModel):
        return [] if model.kinds[name] == TEXT else None
    if hasattr(model, "get_cat_feature_indices"):
        texts = [model.feature_names_[place] for place in model.get_cat_feature_indices()]
        return [] if name in texts else None
    booster = getattr(model, "booster_", None)
    if booster is not None:
        return _of_lightgbm(booster, name)
    if hasattr(model, "get_booster"):
        return _of_xgboost(model.get_booster(), name)
    return next(_encoded(model, name, ()), None)


def _of_lightgbm(booster: Any, name: str) -> list[Any] | None:
    """Return the categories of a column of the frame that a model of LightGBM was trained on."""
    infos = booster.dump_model(num_iteration=1)["feature_infos"]
    listed = [each for each in booster.feature_name() if infos.get(each, {}).get("values")]
    return kept_categories(booster, listed).get(name)


def _of_xgboost(booster: Any, name: str) -> list[Any] | None:
    kinds = dict(zip(booster.feature_names or (), booster.feature_types or (), strict=False))
    if kinds.get(name) != "c":
        return None
    kept = (
        booster.get_categories(export_to_arrow=True) if hasattr(booster, "get_categories") else None
    )
    told = dict(kept.to_arrow()) if kept is not None else {}
    values = told.get(name)
    return [] if values is None else values.to_pylist()


def _encoded(model: Any, name: str, names: tuple[Any, ...]) -> Iterator[list[Any]]:
    """Yield the categories that the encoders inside a model of scikit-learn have for a column."""
    names = tuple(getattr(model, "feature_names_in_", names))
    known = getattr(model, "categories_", None)
    if known is not None and name in names and len(known) == len(names):
        yield [plain(each) for each in known[names.index(name)]]
    for child in _inside(model):
        yield from _encoded(child, name, names)


def _inside(model: Any) -> Iterator[Any]:
    """Yield the estimators that an estimator hands its rows to."""
    for key in ("steps", "transformers_", "transformer_list"):
        yield from (each[1] for each in getattr(model, key, ()) if hasattr(each[1], "get_params"))
    for key in ("estimator_", "best_estimator_", "_preprocessor"):
        if hasattr(getattr(model, key, None), "get_params"):
            yield getattr(model, key)
    for each in getattr(model, "calibrated_classifiers_", ())[:1]:
        yield each.estimator
