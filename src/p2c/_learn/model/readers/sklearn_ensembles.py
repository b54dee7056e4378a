"""Read scikit-learn's ensembles: calibrated folds, votes, bags and stacks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from p2c._learn.model.cutoff import NEAR
from p2c._learn.model.parts import DOUBLE, SINGLE, Link, Sum, Unreadable
from p2c._learn.model.readers import read_parts
from p2c._learn.model.readers.members import Member, blended, mapped, side_by_side
from p2c._learn.model.readers.sklearn_linear import read_linear
from p2c._learn.model.readers.sklearn_wrapped import response, single, two_classes
from p2c._learn.model.stages import dense

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from p2c._learn.model.arrays import Floats
    from p2c._learn.model.stages import Stage

    Read = tuple[Sum, Stage]

SHARE = Link(lambda total: total, second=lambda total: total > 0.5, fuzz=DOUBLE)
"""The link of a total that is a probability."""
LEAST_WEIGHT = 1e-300


def read_calibrated(model: Any, stage: Stage) -> Read:
    """Read the mean of models behind monotone maps to a probability."""
    fitted = model.calibrated_classifiers_
    members = [_calibrated(model, each, stage, 1 / len(fitted)) for each in fitted]
    if len(members) > 1:
        return blended(model.classes_, members, 0.0, SHARE)
    term = members[0].term
    assert term is not None

    def share(score: Any) -> Any:
        return term(np.asarray(score, dtype=np.float64), 0)

    link = Link(share, second=lambda score: share(score) > 1 - share(score), fuzz=DOUBLE)
    return replace(members[0].part, link=link), members[0].stage


def _calibrated(model: Any, fitted: Any, stage: Stage, weight: float) -> Member:
    inner, behind = read_parts(fitted.estimator, stage)
    two_classes(model, inner)
    if inner.blended:
        raise Unreadable(
            "calibration of a blend of scores is not read",
            "calibrate with ensemble=False, or not at all",
        )
    if fitted.method not in ("sigmoid", "isotonic"):
        raise Unreadable(
            f"calibration by {fitted.method} is not read", "calibrate with method='sigmoid'"
        )
    direct = hasattr(fitted.estimator, "decision_function")
    answer = response(inner, "decision_function" if direct else "predict_proba")
    calibrator, spread = fitted.calibrators[0], 0.0 if direct else NEAR * inner.link.fuzz

    def term(score: Floats, way: int) -> Floats:
        with np.errstate(over="ignore"):
            given = np.asarray(answer(score), dtype=np.float64) + way * spread
            return np.asarray(weight * calibrator.predict(given), dtype=np.float64)

    ends = term(np.array([-1e3, 1e3]), 0)
    if ends[1] < ends[0]:
        raise Unreadable("the calibration turns the model's score around")
    return Member(single(inner), behind, term)


def read_voting(model: Any, stage: Stage) -> Read:
    """Read the weighed mean of probabilities, or of votes."""
    weights = model._weights_not_none
    weights = np.ones(len(model.estimators_)) if weights is None else np.asarray(weights, float)
    used = [
        (each, weight)
        for each, weight in zip(model.estimators_, weights / weights.sum(), strict=True)
        if weight
    ]
    parts = [(*read_parts(each, stage), weight) for each, weight in used]
    return _mean(model.classes_, parts, soft=model.voting == "soft")


def read_bagging(model: Any, stage: Stage) -> Read:
    """Read the mean of probabilities, or of votes."""
    count = len(model.estimators_)
    by_columns: dict[tuple[int, ...], Stage] = {}
    parts = []
    for each, features in zip(model.estimators_, model.estimators_features_, strict=True):
        if not np.array_equal(each.classes_, np.arange(len(model.classes_))):
            raise Unreadable("a model of the bag was trained on some of the classes only")
        own = tuple(np.asarray(features).tolist())
        behind = by_columns.setdefault(own, _columns(stage, own))
        parts.append((*read_parts(each, behind), 1 / count))
    return _mean(
        model.classes_,
        parts,
        soft=all(hasattr(each, "predict_proba") for each in model.estimators_),
    )


def _columns(stage: Stage, places: tuple[int, ...]) -> Stage:
    """Return the stage of arrays of the columns at places."""
    picked = stage.then(
        lambda rows: dense(rows)[:, list(places)], [stage.columns[place] for place in places]
    )
    return replace(picked, is_first=stage.is_first)


def _mean(classes: Any, parts: Sequence[tuple[Sum, Stage, float]], *, soft: bool) -> Read:
    """Return the weighed mean of the probabilities or votes of models."""
    if any(part.blended for part, _, _ in parts):
        raise Unreadable("a mean of blends of scores is not read")
    slopes = [part.link.slope for part, _, _ in parts]
    if soft and None not in slopes:
        scaled = [
            mapped(part, np.eye(part.scores) * (part.link.slope or 0.0) * weight)
            for part, _, weight in parts
        ]
        found, stage = side_by_side(scaled, [behind for _, behind, _ in parts])
        link = Link(lambda score: score, fuzz=DOUBLE, slope=1.0)
        return replace(found, classes=tuple(classes), link=link), stage
    if len(classes) != 2:
        raise Unreadable(
            "the mean of probabilities of more than two classes is read for forests only"
        )
    make = _soft if soft else _hard
    return blended(classes, [make(*each) for each in parts], 0.0, SHARE)


def _soft(part: Sum, stage: Stage, weight: float) -> Member:
    return _responding(part, stage, "predict_proba", weight)


def _responding(part: Sum, stage: Stage, method: str, weight: float) -> Member:
    """Return a member whose term is a model's answer times a weight."""
    if weight == 0.0:
        weight = LEAST_WEIGHT
    own, answer = single(part), response(part, method)
    if method != "predict_proba" or part.link.slope is not None:
        slope = 1.0 if method != "predict_proba" else part.link.slope or 0.0
        return Member(mapped(own, np.array([[slope * weight]])), stage)
    sign, spread = np.sign(weight), NEAR * part.link.fuzz

    def term(score: Floats, way: int) -> Floats:
        shares = np.asarray(answer(sign * score), dtype=np.float64)
        return np.asarray(weight * shares + abs(weight) * way * spread)

    return Member(mapped(own, np.array([[sign]])), stage, term)


def _hard(part: Sum, stage: Stage, weight: float) -> Member:
    """Return a member that adds its weight where it predicts the second class."""
    if len(part.classes) != 2:
        raise Unreadable("votes for more than two classes are not read")
    second: Callable[[Floats], Any] = part.link.second
    if part.scores == 2:
        part, second = mapped(part, np.array([[-1.0], [1.0]])), lambda score: score > 0
    spread = NEAR * 4 * part.link.fuzz if part.link.fuzz > SINGLE / 2 else 0.0

    def term(score: Floats, way: int) -> Floats:
        return np.asarray(weight * np.asarray(second(score + way * spread), dtype=np.float64))

    return Member(part, stage, term)


def read_stacking(model: Any, stage: Stage) -> Read:
    """Read a linear model over the answers of models and the columns passed through."""
    if len(model.classes_) != 2:
        raise Unreadable("a stack of more than two classes is not read")
    if not hasattr(model.final_estimator_, "coef_"):
        raise Unreadable(
            f"a stack under a {type(model.final_estimator_).__name__} is not read",
            "use a logistic regression as the final estimator",
        )
    final, _ = read_linear(model.final_estimator_, stage)
    assert final.weights is not None
    weights = final.weights[:, 0]
    members = []
    pairs = zip(model.estimators_, model.stack_method_, weights, strict=False)
    for each, method, weight in pairs:
        part, behind = read_parts(each, stage)
        if part.blended or method == "predict":
            raise Unreadable(
                "a stack over predicted classes, or over blends of scores, is not read"
            )
        members.append(_responding(part, behind, method, float(weight)))
    rest = weights[len(members) :, None]
    if len(rest):
        passed = stage.then(dense, stage.columns)
        members.append(
            Member(_line(model.classes_, rest), replace(passed, is_first=stage.is_first))
        )
    return blended(model.classes_, members, float(final.bias[0]), final.link)


def _line(classes: Any, weights: Floats) -> Sum:
    def ask(rows: Any) -> Floats:
        return np.asarray(np.asarray(rows, dtype=np.float64) @ weights)

    return Sum(tuple(classes), 1, Link(), ask, np.zeros(1), weights=weights)
