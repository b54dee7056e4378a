"""A model as a question: rows in, accepted or not out, whatever the model is and whatever it calls its classes."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import is_regressor

from p2c._learn.model.points import PointsTable
from p2c._learn.tables.view import as_frame, is_gone
from p2c.errors import ModelError, P2CError, counted, first_few, one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from p2c._learn.model.arrays import Mask

    Shares = Callable[[Any], Any]
    Shaper = Callable[[Any], Any]

TELL_YES = "say which are a yes: p2c.Problem.from_model(lambda rows: model.predict(rows) >= 600, X)"
"""What to do with a model that gives numbers."""

C = TypeVar("C")
Scores = NDArray[np.float64]

FLOOR = 1e-4
"""Probabilities are kept this far from 0 and 1, so that their logarithms are finite."""

SAMPLE = 1_000
"""On how many rows it is tried whether a model decides by its probabilities, so that one question answers both."""


@dataclass(frozen=True)
class ModelAnswers:
    """What the model said of some rows: accepted or not and, where it tells, how near to it each row is.

    A score is above 0 where the model accepts, such as a difference of log probabilities. `told` holds what the model itself
    gives (a probability, points, a distance), beside what that must reach.
    """

    accepted: Mask
    scores: Scores | None = None
    told: Scores | None = None


@dataclass(frozen=True)
class AskedModel:
    """A model that can be asked: `desired` is the class to reach, `other` what everything else is called."""

    answer: Callable[[Any], ModelAnswers]
    desired: Any
    other: Any
    scored: bool = False
    """Whether the model's answers come with scores."""
    label: Callable[[Any], Mask] | None = None
    """What asks for the decision alone, where that takes less."""

    def accepts(self, rows: Any) -> Mask:
        """Tell of each row whether it is accepted."""
        return self.answer(rows).accepted if self.label is None else self.label(rows)


def open_model(
    model: Any, X: Any, *, desired: Any = None, threshold: float | None = None
) -> AskedModel:
    """Return a model that can be asked: an estimator or pipeline with `predict`, or a callable on tables.

    `desired` is one of the model's classes; of truth values it need not be named, nor of 0 and 1: it is then True or 1.
    With a `threshold` a row is accepted when the probability of the desired class is at least that high; what a
    callable returns is then taken for that probability.
    """
    number = isinstance(threshold, int | float) and not isinstance(threshold, bool)
    if threshold is not None and not (number and 0 <= threshold <= 1):
        raise P2CError(f"threshold: expected a probability between 0 and 1, found {threshold!r}")
    _refuse_regression(model)
    shape = shaper(model, X)
    if threshold is not None and not hasattr(model, "predict"):
        wanted = True if desired is None else desired
        other = False if desired is None else f"not {wanted}"
        weighing = _chances(partial(_last_column, model), 0, threshold)
        return AskedModel(_by_weight(weighing, shape), wanted, other, scored=True)
    wanted, other = choose_classes(_class_labels(model, X, shape), desired)
    sample = as_frame(X).head(SAMPLE)
    return asked_model(model, wanted, other, threshold, sample=sample, shape=shape)


def classes_of(model: Any, X: Any) -> list[Any]:
    """Return the classes that a model names, or else the classes that it predicts.

    Raises:
        P2CError: The model gives numbers instead of classes, or cannot be asked.
    """
    _refuse_regression(model)
    classes = distinct(_class_labels(model, X, shaper(model, X)))
    _refuse_numbers(classes)
    return [plain(each) for each in classes]


def _class_labels(model: Any, X: Any, shape: Shaper) -> Any:
    ask, classes = getattr(model, "predict", model), known_classes(model)
    if not callable(ask):
        raise P2CError(
            f"expected a model with predict() or a function, found a {type(model).__name__}"
        )
    return _labels(ask, shape, as_frame(X)) if classes is None else classes


def asked_model(
    model: Any,
    wanted: Any,
    other: Any,
    threshold: float | None,
    *,
    sample: Any,
    shape: Shaper = lambda rows: rows,
    sure: float = np.inf,
) -> AskedModel:
    """Return a model that names classes as one that can be asked about rows, which `shape` brings to what the model takes.

    Where the class is above the border by more than is `sure` to be no rounding, the model is not asked for its name again.
    """
    classes = known_classes(model)
    place = None if classes is None else [same(each, wanted) for each in classes].index(True)
    if threshold is not None:
        if place is None or getattr(model, "predict_proba", None) is None:
            raise P2CError("a threshold needs a model with predict_proba()")
        weighing = _chances(partial(_shares, model), place, threshold)
        return AskedModel(_by_weight(weighing, shape), wanted, other, scored=True)

    def label(rows: Any) -> Mask:
        return equals(_labels(getattr(model, "predict", model), shape, rows), wanted)

    weighings = [] if place is None else list(_weighings(model, place))
    if not weighings:
        return AskedModel(lambda rows: ModelAnswers(label(rows)), wanted, other)
    answer = _by_label(weighings, label, shape, sample=sample, sure=sure)
    return AskedModel(answer, wanted, other, scored=True, label=label)


def _refuse_regression(model: Any) -> None:
    """Refuse a model that says of itself that it gives numbers: nobody guesses from which on the answer is a yes."""
    try:
        is_regression = is_regressor(model)
    except (AttributeError, TypeError):
        # What does not go by scikit-learn's rules says nothing of itself.
        return
    if is_regression:
        raise P2CError(f"model: {type(model).__name__} gives numbers, not classes; {TELL_YES}")


def numbers_alone(objective: str) -> str:
    """Return what is wrong with a stored model that was trained to give numbers."""
    return f"trained for {objective!r}, it gives numbers, not classes: expected a classifier"


class Weighing(NamedTuple):
    """How a model weighs rows: `margin` says how far each is above the border, by what `ask` tells of it.

    `told` is the number that the model itself gives, beside what it must reach.
    """

    ask: Shares
    margin: Callable[[Scores], Scores]
    told: Callable[[Scores], Scores]


def _weighings(model: Any, place: int) -> Iterator[Weighing]:
    """Yield the ways in which a model weighs rows: probabilities, a scorecard's points, or distances from its border."""
    if getattr(model, "predict_proba", None) is not None:
        yield _chances(partial(_shares, model), place, None)
    if isinstance(model, PointsTable):
        sign, cutoff = (1 if place else -1), model.cutoff
        yield Weighing(
            model.score,
            lambda points: sign * (points - cutoff),
            lambda points: _beside(points, cutoff),
        )
    if getattr(model, "decision_function", None) is not None:
        yield Weighing(model.decision_function, partial(_distance, place), partial(_far, place))


def _chances(ask: Shares, place: int, threshold: float | None) -> Weighing:
    def told(shares: Scores) -> Scores:
        if threshold is not None or shares.shape[1] < 3:
            return _beside(shares[:, place], 0.5 if threshold is None else threshold)
        return _beside(shares[:, place], np.delete(shares, place, axis=1).max(axis=1))

    return Weighing(ask, partial(_margin, place=place, threshold=threshold), told)


def _shares(model: Any, rows: Any) -> Any:
    """Return the probabilities that a model tells; with an objective of one's own, libraries tell something else."""
    told = model.predict_proba(rows)
    if np.ndim(told) != 2:
        raise P2CError(
            "predict_proba() gave one number for each row: expected a probability for each class"
        )
    return told


def _far(place: int, distances: Scores) -> Scores:
    """Return how far rows are on the side of a class, and what they must pass: zero, or the next other class."""
    if distances.ndim == 1:
        return _beside(distances if place else -distances, 0.0)
    return _beside(distances[:, place], np.delete(distances, place, axis=1).max(axis=1))


def _distance(place: int, distances: Scores) -> Scores:
    told = _far(place, distances)
    return np.asarray(told[:, 0] - told[:, 1])


def _beside(scores: Scores, border: Scores | float) -> Scores:
    return np.column_stack([scores, np.broadcast_to(border, scores.shape)])


def _by_weight(weighing: Weighing, shape: Shaper) -> Callable[[Any], ModelAnswers]:
    """Return the answers of a model that accepts whatever reaches the border."""

    def answer(rows: Any) -> ModelAnswers:
        raw = _told(weighing.ask, shape, rows, dtype=float)
        told = weighing.told(raw)
        return ModelAnswers(told[:, 0] >= told[:, 1], weighing.margin(raw), told)

    return answer


def _by_label(
    weighings: Sequence[Weighing],
    label: Callable[[Any], Mask],
    shape: Shaper,
    *,
    sample: Any,
    sure: float,
) -> Callable[[Any], ModelAnswers]:
    """Return the answers of a model that names a class, asked for it only where what it tells does not rule it out.

    What it tells is the first that goes together with its labels on a sample. Where nothing quite does, it is asked for both
    everywhere; where it contradicts them, no score is told.
    """
    labels = label(sample)
    tried = [each.margin(_told(each.ask, shape, sample, dtype=float)) for each in weighings]
    fit = [((margins > 0) == labels).all() for margins in tried]
    first = fit.index(True) if True in fit else 0
    weighing, margins = weighings[first], tried[first]
    is_quick, is_told = any(fit), not (((margins > 0) & ~labels) | ((margins < 0) & labels)).any()

    def answer(rows: Any) -> ModelAnswers:
        raw = _told(weighing.ask, shape, rows, dtype=float)
        scores = weighing.margin(raw)
        accepted = scores >= 0 if is_quick else np.ones(len(scores), dtype=bool)
        unsure = accepted & (scores <= sure) if is_quick else accepted
        if unsure.any():
            accepted[unsure] = label(rows[unsure])
        return ModelAnswers(accepted, scores, weighing.told(raw) if is_told else None)

    return answer


@contextmanager
def answering() -> Iterator[None]:
    """Say in one line what a model raises: it is somebody else's code, and whatever it is, the answer is missing."""
    try:
        yield
    except P2CError as error:
        raise ModelError(str(error)) from error
    except Exception as error:
        reason = one_line(error)
        message = f"the model cannot be asked: {type(error).__name__}: {reason}"
        raise ModelError(message) from error


def _told(ask: Shares, shape: Shaper, rows: Any, *, dtype: Any = None) -> NDArray[Any]:
    """Return what the model says of some rows, one answer each."""
    with answering():
        told = np.asarray(ask(shape(rows)), dtype=dtype)
    # A sparse matrix has no length.
    count = np.shape(rows)[0]
    if told.shape[:1] != (count,):
        found = f"{len(told)} answers" if told.ndim else f"the single answer {told.item()!r}"
        raise P2CError(f"the model gave {found} for {count} rows: expected one a row")
    return told


def _labels(ask: Shares, shape: Shaper, rows: Any) -> NDArray[Any]:
    """Return the label that the model gives to each of some rows."""
    told = _told(ask, shape, rows)
    if told.size != len(told):
        raise P2CError(
            f"the model gave {told.size // len(told)} values for each row: expected its label,"
            " or its probability with a threshold"
        )
    return told.ravel()


def choose_classes(labels: Any, desired: Any) -> tuple[Any, Any]:
    """Return the class to reach and the name of what is not it.

    Nobody guesses which of two names is the good one: only truth values, and 0 and 1, say it themselves.
    """
    classes = distinct(labels)
    shown = first_few((repr(plain(each)) for each in classes), most=8)
    if desired is None:
        if len(classes) != 2 or [plain(each) for each in classes] != [False, True]:
            _refuse_numbers(classes)
            raise P2CError(f"desired: which class is to be reached? The classes are {shown}")
        return plain(classes[1]), plain(classes[0])
    matching = [each for each in classes if same(each, desired)]
    if not matching:
        _refuse_numbers(classes)
        raise P2CError(f"desired: {desired!r} is not a class; the classes are {shown}")
    others = [plain(each) for each in classes if not same(each, desired)]
    return plain(matching[0]), others[0] if len(others) == 1 else f"not {plain(matching[0])}"


def _refuse_numbers(classes: Sequence[Any]) -> None:
    """Refuse labels that are no classes but numbers, such as the probabilities that a booster gives."""
    broken = [each for each in map(plain, classes) if isinstance(each, float) and each % 1]
    if broken:
        raise P2CError(
            f"model: expected a class for each row, found numbers such as {broken[0]:g}; {TELL_YES}"
        )


def read_labels(given: Any, count: int, expected: str) -> NDArray[Any]:
    """Return a label for each of some rows; refuse what has more, fewer or missing ones, for nobody knows what these would be."""
    labels = np.asarray(given)
    if labels.shape[:1] != (count,) or labels.size != count:
        found = " x ".join(map(str, labels.shape)) or f"a {type(given).__name__}"
        raise P2CError(f"{expected} for each of {count} rows, found {found}")
    # Of a list with texts numpy makes texts, of what is missing in it too.
    gone = np.flatnonzero(is_gone(pd.Series(given if isinstance(given, list) else labels.ravel())))
    if len(gone):
        raise P2CError(
            f"{expected} for each row, found none in {counted(len(gone), 'row')}, first in row {gone[0] + 1}: leave out rows without one"
        )
    return labels.ravel()


def distinct(labels: Any) -> list[Any]:
    """Return the distinct labels, in order where they have one."""
    found = list(pd.unique(pd.Series(np.asarray(labels).ravel())))
    try:
        return sorted(found)
    except TypeError:
        return sorted(found, key=str)


def equals(labels: Any, wanted: Any) -> Mask:
    """Tell for each label whether it is the wanted one."""
    places, known = pd.factorize(np.asarray(labels).ravel())
    # The place of a missing label is -1, where it finds the last entry.
    return np.array([*(same(each, wanted) for each in known), False], dtype=bool)[places]


def same(one: Any, other: Any) -> bool:
    """Tell whether two labels are the same, whether numpy or Python wrote them, as value or as text."""
    left, right = plain(one), plain(other)
    return bool(left == right) or str(left) == str(right)


def plain(label: Any) -> Any:
    """Return a label as a Python value."""
    return label.item() if isinstance(label, np.generic) else label


def _last_column(ask: Shares, rows: Any) -> Scores:
    """Return the probability of the desired class that a function tells, by itself or as the last of all."""
    told = np.asarray(ask(rows), dtype=float)
    if told.ndim == 2:
        return told[:, -1:]
    return told[:, None] if told.ndim else told


def _margin(shares: Scores, *, place: int, threshold: float | None) -> Scores:
    """Return how far each row is above the border, in log odds."""
    clipped = np.clip(shares, FLOOR, 1 - FLOOR)
    own = clipped[:, place]
    if threshold is not None or shares.shape[1] < 2:
        level = min(max(0.5 if threshold is None else threshold, FLOOR), 1 - FLOOR)
        return np.asarray(np.log(own / (1 - own)) - np.log(level / (1 - level)))
    rival = np.delete(clipped, place, axis=1).max(axis=1)
    return np.asarray(np.log(own) - np.log(rival))


def known_classes(model: Any) -> Any:
    """Return the classes that a model names, itself or by the estimator that it keeps; None where it names none."""
    kept = getattr(model, "estimator_", None)
    classes = getattr(model, "classes_", getattr(kept, "classes_", None))
    if isinstance(classes, list) and any(np.ndim(each) for each in classes):
        raise P2CError(
            f"model: it gives {len(classes)} labels for each row (y had as many columns): expected one that decides"
        )
    return classes


def shaper(model: Any, X: Any) -> Callable[[Any], Any]:
    """Return what turns a frame into what the model was trained on: named columns, or an array."""
    array = not (isinstance(X, pd.DataFrame) or hasattr(X, "to_pandas"))
    names = trained_names(model, X)
    if names is not None:
        kinds = {} if array else trained_kinds(model, as_frame(X))
        places: list[int] = getattr(model, "get_cat_feature_indices", list)()
        filled = [names[place] for place in places]
        return partial(_named, names=names, kinds=kinds, filled=filled, by_place=array)
    if array or hasattr(model, "n_features_in_"):
        return lambda frame: frame.to_numpy()
    return lambda frame: frame


def trained_names(model: Any, X: Any) -> list[Any] | None:
    """Return the columns that a model was trained on, None where it does not say; CatBoost counts those of an array.

    LightGBM calls a column `Credit_Score` that the table calls `Credit Score`; it goes by the table's name.
    """
    columns = as_frame(X).columns
    names = getattr(model, "feature_names_in_", None)
    own = list(getattr(model, "feature_names_", ()))
    if names is None and own and own != [str(place) for place in range(len(own))]:
        names = own
    if names is None or not hasattr(model, "booster_"):
        return None if names is None else list(names)
    spelt = {str(each).replace(" ", "_"): each for each in columns}
    return [name if name in columns else spelt.get(name, name) for name in names]


def kept_categories(booster: Any, columns: Sequence[C]) -> dict[C, list[Any]]:
    """Return what a booster of LightGBM keeps of the frame that it was trained on: the categories of the columns that had any.

    It keeps them in the order of the columns, by no name: where these are not as many, nothing is known of them.
    """
    known = getattr(booster, "pandas_categorical", None) or []
    return dict(zip(columns, known, strict=True)) if len(known) == len(columns) else {}


def trained_kinds(model: Any, frame: pd.DataFrame) -> dict[Any, pd.CategoricalDtype]:
    """Return the categorical types that a model of LightGBM or XGBoost wants for columns which the table has as text."""
    texts = [
        name
        for name in frame.columns
        if not pd.api.types.is_numeric_dtype(frame[name].dtype)
        and not isinstance(frame[name].dtype, pd.CategoricalDtype)
    ]
    known = kept_categories(getattr(model, "booster_", None), texts)
    if known:
        return {name: pd.CategoricalDtype(each) for name, each in known.items()}
    if texts and hasattr(model, "get_booster"):
        booster = model.get_booster()
        kinds = dict(zip(booster.feature_names or (), booster.feature_types or (), strict=False))
        return {
            name: pd.CategoricalDtype(sorted(frame[name].dropna().unique()))
            for name in texts
            if kinds.get(name) == "c"
        }
    return {}


def _named(
    frame: pd.DataFrame,
    *,
    names: list[Any],
    kinds: dict[Any, pd.CategoricalDtype],
    filled: list[Any],
    by_place: bool,
) -> pd.DataFrame:
    """Return the columns that a model was trained on, in its types; those of an array are known by their place.

    CatBoost takes no empty cell in a category, `filled`: only who trained it knows what stood there in its place.
    """
    if by_place and len(frame.columns) == len(names):
        return frame.set_axis(names, axis=1)
    absent = [str(name) for name in names if name not in frame.columns]
    if absent:
        raise P2CError(f"the table has no column '{absent[0]}', which the model was trained on")
    for name in filled:
        if frame[name].isna().any():
            raise P2CError(
                f"column '{name}': a cell is empty, which CatBoost does not take in a category; write there what the model"
                " was trained with, such as 'nan' or 'missing': p2c fit does so with --empty TEXT"
            )
    return frame[names].astype(kinds) if kinds else frame[names]
