"""Through the transformers in front of a model: which column comes from which, and how.

A transformer is run, never written anew, so what is known of it here is only the way of its columns. One that is not in
`TRANSFORMERS` is tried on the table: where each of its columns changes with one feature alone, it is looked through as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from p2c._learn.model.floats import around
from p2c._learn.model.parts import Unreadable
from p2c._learn.model.stages import ColumnShape, Stage, StageColumn, dense

if TYPE_CHECKING:
    from numpy.typing import NDArray

Handler = Callable[[Any, Stage], Stage]

SAMPLE = 200
"""A transformer that is not known is tried on so many rows."""


def pass_through(transformer: Any, stage: Stage) -> Stage:
    """Return the stage behind a fitted transformer, or say why it cannot be looked through."""
    if transformer is None or isinstance(transformer, str):
        return stage
    for kind in type(transformer).__mro__:
        # Other libraries have encoders of the same names that work differently.
        library = kind.__module__.partition(".")[0]
        handler = TRANSFORMERS.get(kind.__name__) if library == "sklearn" else None
        if handler is not None:
            return handler(transformer, stage)
    return _tried(transformer, stage)


def is_sampler(step: Any) -> bool:
    """Tell whether a step only resamples rows for training, as imblearn's do."""
    return hasattr(step, "fit_resample") and not hasattr(step, "transform")


def select(stage: Stage, places: Sequence[int], pick: Callable[[Any], Any]) -> Stage:
    """Return the stage with some of its columns."""
    return stage.then(pick, [stage.columns[place] for place in places])


def _pipeline(pipeline: Any, stage: Stage) -> Stage:
    for _, step in pipeline.steps:
        if not is_sampler(step):
            stage = pass_through(step, stage)
    return stage


def _by_column(transformer: Any, stage: Stage) -> Stage:
    """Look through a `ColumnTransformer`: each part sees some columns, the results stand side by side."""
    names = getattr(transformer, "feature_names_in_", None)
    columns: list[StageColumn | None] = [None] * max(
        (each.stop for each in transformer.output_indices_.values()), default=0
    )
    beside = []
    for name, part, given in transformer.transformers_:
        where = transformer.output_indices_[name]
        if part == "drop" or where.stop == where.start:
            continue
        places = transformer._transformer_to_input_indices[name]
        inner = pass_through(part, select(stage, places, _picker(given, names)))
        columns[where] = inner.columns
        beside.append((where, inner))
    assert None not in columns, "every column of a ColumnTransformer comes from one of its parts"
    whole = stage.then(transformer.transform, [each for each in columns if each is not None])
    return replace(whole, beside=tuple(beside))


def _picker(given: Any, names: Any) -> Callable[[Any], Any]:
    from sklearn.utils import _safe_indexing

    def pick(table: Any) -> Any:
        return _safe_indexing(table, [given] if isinstance(given, int) else given, axis=1)

    def series(table: Any) -> Any:
        return table[given]

    return series if isinstance(given, str) and names is not None else pick


def _side_by_side(union: Any, stage: Stage) -> Stage:
    parts = [part for _, part in union.transformer_list if part != "drop"]
    columns = [each for part in parts for each in pass_through(part, stage).columns]
    return stage.then(union.transform, columns)


def _affine(lines: Callable[[Any, int], list[tuple[Fraction, Fraction]]]) -> Handler:
    """Return the handler of a scaler that takes each column along a line of its own, given by slope and offset."""

    def handler(scaler: Any, stage: Stage) -> Stage:
        if getattr(scaler, "clip", False):
            return _monotone(scaler, stage)
        columns = [
            replace(column, affine=_compose(column.affine, *line))
            for column, line in zip(stage.columns, lines(scaler, len(stage.columns)), strict=True)
        ]
        return stage.then(scaler.transform, columns)

    return handler


def _compose(
    affine: tuple[Fraction, Fraction] | None, slope: Fraction, offset: Fraction
) -> tuple[Fraction, Fraction] | None:
    return None if affine is None else (affine[0] * slope, affine[1] * slope + offset)


def _each(values: Any, default: int, count: int) -> list[Fraction]:
    """Return what a scaler keeps for each column, exactly; the default where it keeps nothing."""
    return [Fraction(float(each)) for each in ([default] * count if values is None else values)]


def _centred(centre: str, scale: str) -> Handler:
    """Return the handler of a scaler that subtracts one attribute and divides by another, each of which may be None."""

    def lines(scaler: Any, count: int) -> list[tuple[Fraction, Fraction]]:
        used = getattr(scaler, "with_mean", True)
        centres = _each(getattr(scaler, centre, None) if used else None, 0, count)
        scales = _each(getattr(scaler, scale), 1, count)
        return [(1 / by, -less / by) for less, by in zip(centres, scales, strict=True)]

    return _affine(lines)


def _stretched(scaler: Any, count: int) -> list[tuple[Fraction, Fraction]]:
    return list(zip(_each(scaler.scale_, 1, count), _each(scaler.min_, 0, count), strict=True))


def _monotone(transformer: Any, stage: Stage) -> Stage:
    """Look through what works on each column alone and never turns."""
    return stage.then(transformer.transform, [replace(each, affine=None) for each in stage.columns])


def _imputer(imputer: Any, stage: Stage) -> Stage:
    """Look through an imputer: known values stay as they are, empty columns may be left out, indicators may follow."""
    marker = imputer.missing_values
    if not (marker is None or (isinstance(marker, float) and np.isnan(marker)) or marker is pd.NA):
        raise Unreadable(
            f"SimpleImputer replaces {marker!r}, which is an ordinary value of a feature",
            "write missing values as empty cells",
        )
    empty = [isinstance(each, float) and np.isnan(each) for each in imputer.statistics_]
    kept = [
        column
        for column, gone in zip(stage.columns, empty, strict=True)
        if imputer.keep_empty_features or not gone
    ]
    marked = [] if imputer.indicator_ is None else imputer.indicator_.features_
    flags = [replace(stage.columns[each], affine=None) for each in marked]
    flags = [stepped(each, ()) for each in flags]
    return stage.then(imputer.transform, [*kept, *flags])


def _indicator(indicator: Any, stage: Stage) -> Stage:
    return stage.then(
        indicator.transform, [stepped(stage.columns[each], ()) for each in indicator.features_]
    )


def stepped(column: StageColumn, breaks: Sequence[float]) -> StageColumn:
    """Return a column that is constant between breaks of its feature."""
    if column.shape is ColumnShape.LISTED or column.source is None:
        return replace(column, affine=None)
    every = {*breaks, *(column.breaks if column.shape is ColumnShape.STEPS else ())}
    return replace(column, shape=ColumnShape.STEPS, affine=None, breaks=tuple(sorted(every)))


def _points(stage: Stage, wanted: dict[int, Any]) -> dict[int, Sequence[float]]:
    """Return for columns of numbers the breaks of their features around single values of the column."""
    bounds = {}
    refuse_turns(stage, wanted)
    for place, values in wanted.items():
        if (
            stage.columns[place].shape is ColumnShape.MONOTONE
            and stage.columns[place].source is not None
        ):
            known = np.array([each for each in values if each is not None], dtype=np.float64)
            bounds[place] = around(known[np.isfinite(known)])
    return {place: each.tolist() for place, each in stage.pull_back(bounds).items()}


def refuse_turns(stage: Stage, columns: Iterable[int]) -> None:
    """Refuse bounds on columns that turn."""
    for place in columns:
        column = stage.columns[place]
        if column.shape is ColumnShape.CURVED and column.source is not None:
            label = stage.bench.view.columns[column.source].name
            raise Unreadable(
                f"a step turns the column {label!r} up and down, so bounds on it are none of the feature"
            )


def _stepwise(transformer: Any, stage: Stage, points: Any, widths: Sequence[int]) -> Stage:
    """Look through what changes at some values of each column only, and makes so many columns of it."""
    breaks = _points(stage, dict(enumerate(points)))
    columns = [
        stepped(column, breaks.get(place, ()))
        for place, (column, width) in enumerate(zip(stage.columns, widths, strict=True))
        for _ in range(width)
    ]
    return stage.then(transformer.transform, columns)


def _encoder(outputs: Callable[[Any, int], int]) -> Handler:
    """Return the handler of an encoder that gives each category of a column values of its own."""

    def handler(encoder: Any, stage: Stage) -> Stage:
        _check_unknown(encoder, stage)
        widths = [outputs(encoder, place) for place in range(len(stage.columns))]
        return _stepwise(encoder, stage, encoder.categories_, widths)

    return handler


def _check_unknown(encoder: Any, stage: Stage) -> None:
    """Refuse an encoder that fails on the numbers between those that it was trained on."""
    if getattr(encoder, "handle_unknown", "") != "error":
        return
    for column in stage.columns:
        if column.shape is ColumnShape.MONOTONE and column.source is not None:
            name = stage.bench.view.columns[column.source].name
            raise Unreadable(
                f"{type(encoder).__name__} fails on numbers of {name!r} that it was not trained on:"
                " set handle_unknown, or give them as text",
                "set handle_unknown, or give the numbers as text",
            )


def _one_hot_width(encoder: Any, place: int) -> int:
    return int(encoder._n_features_outs[place])


def _target_width(encoder: Any, place: int) -> int:
    return 1 if len(encoder.classes_) <= 2 else len(encoder.classes_)


def _binner(binner: Any, stage: Stage) -> Stage:
    """Look through a discretizer: constant between its edges."""
    widths = [1 if binner.encode == "ordinal" else int(each) for each in binner.n_bins_]
    return _stepwise(binner, stage, binner.bin_edges_, widths)


def _function(transformer: Any, stage: Stage) -> Stage:
    """Look through a function: none at all is how a `ColumnTransformer` keeps what it passes through."""
    if transformer.func is not None:
        return _tried(transformer, stage)
    return stage.then(transformer.transform, stage.columns)


def _selector(selector: Any, stage: Stage) -> Stage:
    return select(stage, np.flatnonzero(selector.get_support()).tolist(), selector.transform)


def _tried(transformer: Any, stage: Stage) -> Stage:
    """Look through a transformer that is not known by trying which features its columns change with."""
    name = type(transformer).__name__
    behind = stage.then(transformer.transform, ())
    sample = stage.bench.frame.head(SAMPLE)
    before = behind.matrix(sample)
    if before.ndim != 2 or len(before) != len(sample):
        raise Unreadable(f"{name} does not give a row of columns for each row")
    sources = _sources(behind, sample, before)
    view = stage.bench.view
    columns = []
    for place in range(before.shape[1]):
        found = [source for source, changed in sources.items() if changed[place]]
        if len(found) > 1:
            names = " and ".join(repr(view.columns[each].name) for each in found[:2])
            raise Unreadable(
                f"{name} mixes the columns {names}, so the model is no sum over them",
                "compute such columns in the table, train on it, and declare each as an equation",
            )
        columns.append(_tried_column(stage, found[0] if found else None))
    return _with_turns(replace(behind, columns=tuple(columns)))


def _sources(
    behind: Stage, sample: pd.DataFrame, before: NDArray[Any]
) -> dict[int, NDArray[np.bool_]]:
    """Return for each feature which columns change when its values change places."""
    generator = np.random.default_rng(0)
    found = {}
    for source, column in enumerate(behind.bench.view.columns):
        changed = np.zeros(before.shape[1], dtype=bool)
        values = behind.bench.varied(source)
        for _ in range(2):
            drawn = values.iloc[generator.integers(len(values), size=len(sample))]
            after = behind.matrix(
                sample.assign(**{column.name: drawn.to_numpy()}).astype(sample.dtypes)
            )
            changed |= _differ(before, after)
        found[source] = changed
    return found


def _differ(one: NDArray[Any], other: NDArray[Any]) -> NDArray[np.bool_]:
    both = pd.isna(one) & pd.isna(other)
    return np.asarray(((one != other) & ~both).any(axis=0))


def _tried_column(stage: Stage, source: int | None) -> StageColumn:
    if source is None or not stage.bench.view.columns[source].is_number:
        return StageColumn(source, ColumnShape.LISTED, tried=True)
    return StageColumn(source, ColumnShape.MONOTONE, tried=True)


def _with_turns(stage: Stage) -> Stage:
    """Return a stage in which columns that turn are marked."""
    columns = list(stage.columns)
    for place, column in enumerate(stage.columns):
        if column.shape is not ColumnShape.MONOTONE or column.source is None:
            continue
        known = stage.bench.frame[stage.bench.view.columns[column.source].name].dropna()
        tried = np.unique(
            np.concatenate(
                [
                    known.to_numpy(dtype=np.float64),
                    np.linspace(*stage.bench.ends[column.source], 500),
                ]
            )
        )
        seen = dense(stage.values(column.source, tried))[:, place].astype(np.float64)
        steps = np.diff(seen)
        if (steps > 0).any() and (steps < 0).any():
            columns[place] = replace(column, shape=ColumnShape.CURVED)
    return replace(stage, columns=tuple(columns))


TRANSFORMERS: dict[str, Handler] = {
    "Pipeline": _pipeline,
    "ColumnTransformer": _by_column,
    "FeatureUnion": _side_by_side,
    "StandardScaler": _centred("mean_", "scale_"),
    "RobustScaler": _centred("center_", "scale_"),
    "MaxAbsScaler": _centred("", "scale_"),
    "MinMaxScaler": _affine(_stretched),
    "SimpleImputer": _imputer,
    "MissingIndicator": _indicator,
    "OneHotEncoder": _encoder(_one_hot_width),
    "OrdinalEncoder": _encoder(lambda *_: 1),
    "TargetEncoder": _encoder(_target_width),
    "KBinsDiscretizer": _binner,
    "Binarizer": _monotone,
    "PowerTransformer": _monotone,
    "QuantileTransformer": _monotone,
    "FunctionTransformer": _function,
    "SelectorMixin": _selector,
}
"""How columns go through a transformer, by the name of its type or of one that it derives from."""
