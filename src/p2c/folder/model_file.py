"""A fitted model written in its own format: a booster's file, ONNX, a scorecard or skops; a pickle only on request."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from p2c.errors import MissingExtra, P2CError
from p2c.learn.model.asking import same
from p2c.learn.model.onnx_model import copy_graph
from p2c.learn.model.stored import PICKLES, untrusted_types

if TYPE_CHECKING:
    from pathlib import Path

STEM = "model"


class StoredModel(NamedTuple):
    """The name of a model's file, and the class that is wanted as the file calls it."""

    file: str
    desired: Any


def store_model(
    model: Any, folder: Path, *, desired: Any, origin: Path | None = None, pickle: bool = False
) -> StoredModel:
    """Write a model into a folder; `origin` is the file that it was opened from, which is then copied as it is."""
    if origin is not None:
        if origin.suffix.lower() in PICKLES and not pickle:
            raise P2CError(
                f"{origin}: a pickle, which can run any code as it is opened, is kept only on request"
            )
        name = f"{STEM}{origin.suffix.lower()}"
        copy = copy_graph if origin.suffix.lower() == ".onnx" else shutil.copyfile
        copy(origin, folder / name)
        return StoredModel(name, desired)
    kinds = {each.__name__ for each in type(model).__mro__}
    if "XGBClassifier" in kinds:
        model.save_model(folder / f"{STEM}.ubj")
        return StoredModel(f"{STEM}.ubj", desired)
    if "CatBoostClassifier" in kinds:
        model.save_model(str(folder / f"{STEM}.cbm"))
        return StoredModel(f"{STEM}.cbm", desired)
    if kinds & {"LGBMClassifier", "LightGBMFile"}:
        model.booster_.save_model(str(folder / f"{STEM}.txt"))
        # Its own file counts the classes.
        places = [same(each, desired) for each in np.asarray(model.classes_)]
        return StoredModel(f"{STEM}.txt", places.index(True))
    return _store_object(model, folder, desired, pickle=pickle)


def _store_object(model: Any, folder: Path, desired: Any, *, pickle: bool) -> StoredModel:
    if pickle:
        import joblib

        try:
            joblib.dump(model, folder / f"{STEM}.joblib")
        except Exception as error:
            # What is inside decides what can go wrong: a function of a session, an open file.
            raise P2CError(
                f"the model cannot be pickled: {type(error).__name__}: {error}"
            ) from None
        return StoredModel(f"{STEM}.joblib", desired)
    if not hasattr(model, "get_params"):
        raise P2CError(
            f"a {type(model).__name__} has no safe format of its own: give a model of scikit-learn, XGBoost, LightGBM"
            " or CatBoost, or the file of a stored one, or keep it as a pickle with pickle=True"
        )
    try:
        from skops import io
    except ImportError as error:
        raise MissingExtra("skops", extra="skops") from error
    path = folder / f"{STEM}.skops"
    io.dump(model, path)
    unknown = untrusted_types(path)
    if unknown:
        path.unlink()
        raise P2CError(
            f"the model holds {', '.join(unknown)}, which a safe file cannot: keep it as a pickle with pickle=True"
        )
    return StoredModel(path.name, desired)
