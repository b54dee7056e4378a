"""A problem's `[model]` opened: the file, rows to ask it about, what is read of it, and the rules that stand in."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from random import Random
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import pandas as pd

from p2c._blackbox.decider import Decider, StandingRules, standing_rules
from p2c._learn.extract.source import read_source
from p2c._learn.model.asking import trained_names
from p2c._learn.model.grouped import with_groups
from p2c._learn.model.onnx_model import absent_inputs
from p2c._learn.model.reading import Read, read
from p2c._learn.model.stored import RULES, load_model, model_file
from p2c._learn.model.told_columns import column_keys
from p2c._learn.tables.domains import domain_from_frame
from p2c._learn.tables.grouping import Grouping, group_of
from p2c._learn.tables.view import as_frame, feature_names, view_of
from p2c._rules.bind import build_theory
from p2c._spec.feature import Kind
from p2c._spec.spec import FeatureSpec, ProblemSpec
from p2c.errors import Fault, ModelError, P2CError, ProblemError, suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from p2c._learn.extract.source import Source
    from p2c._spec.feature import Feature, Value
    from p2c._spec.spec import Trust

FAR = 6
"""Up to which power of ten numbers are drawn of which nothing is known."""
ROWS = 1_000
"""How many rows are drawn over the domains of the features where there is no table."""


@dataclass(frozen=True)
class UnopenedModel:
    """A model that stays closed while only the problem around it is read."""

    reads: tuple[str, ...] = ()
    opaque: ClassVar[str] = "it is not open"

    def accepts(self, state: Mapping[str, Value]) -> bool:
        """Refuse to decide."""
        raise P2CError(f"the model cannot decide: {self.opaque}")


class OpenedModel(NamedTuple):
    """A problem with a kept feature for each column of its model that was none, its model, and rows to ask it about."""

    spec: ProblemSpec
    model: Any
    table: Any
    grouping: Grouping | None = None

    @property
    def names(self) -> dict[str, str]:
        """Return the feature of each column."""
        assert self.spec.model is not None
        return {self.spec.model.columns.get(name, name): name for name in self.spec.features}


def open_model_of(
    spec: ProblemSpec, folder: Path, *, trust: Trust | None = None, sample: Any = None
) -> OpenedModel:
    """Open the model of a problem, and find out what it reads besides the features.

    `sample` are rows of the table that the problem was made from, by the model's columns; without them rows are drawn over
    the domains of the features.
    """
    assert spec.model is not None
    file = model_file(folder / spec.model.file)
    if file.suffix.lower() in RULES:
        message = "rules are no model: give them as 'rules' or 'rules_file'"
        raise ProblemError([Fault("model.file", message)])
    columns = spec.model.columns
    drawn = _drawn_rows(spec) if sample is None else sample
    grouping = _grouping(spec, as_frame(drawn))
    frame, absent = _own_columns(drawn, grouping), dict[str, Any]()
    if sample is None and file.suffix.lower() == ".onnx":
        absent = absent_inputs(file, frame)
    try:
        model = load_model(file, frame.assign(**absent), trust)
    except ModelError as error:
        raise _untold(absent, error) from None
    if file != folder / spec.model.file:
        inside = f"{spec.model.file}/{file.relative_to(folder / spec.model.file).as_posix()}"
        told = spec.model.model_copy(update={"file": inside})
        spec = spec.model_copy(update={"model": told})
    members = set(grouping.members) if grouping else set[str]()
    of_features = members | {columns.get(name, name) for name in spec.features}
    reads = [str(each) for each in trained_names(model, frame) or frame.columns]
    kept = [name for name in reads if name not in of_features]
    if sample is None:
        full = _with_kept(spec, {name: column_keys(model, name) for name in kept})
        table = _drawn_rows(full) if kept else drawn
    else:
        full, table = keep_seen(spec, frame[kept]), sample
    if grouping is None:
        return OpenedModel(full, model, table)
    own = _grouping(full, as_frame(table))
    assert own is not None
    return OpenedModel(full, with_groups(model, own, own.expand(table)), table, own)


def _grouping(spec: ProblemSpec, frame: pd.DataFrame) -> Grouping | None:
    """Return the one-hot groups of the model of a problem."""
    assert spec.model is not None
    groups = {}
    for name, columns in spec.model.groups.items():
        if name not in spec.features:
            hint = suggestion(name, spec.features)
            raise ProblemError([Fault(f"model.groups.{name}", f"no feature is called so; {hint}")])
        group = group_of(name, columns, optional=True)
        optional = group.none in (spec.features[name].values or ())
        groups[spec.model.columns.get(name, name)] = replace(group, optional=optional)
    if not groups:
        return None
    named = ([*groups[each].columns] if each in groups else [each] for each in frame.columns)
    own = tuple(column for columns in named for column in columns)
    return Grouping(tuple(replace(each, name=name) for name, each in groups.items()), own)


def _own_columns(rows: Any, grouping: Grouping | None) -> pd.DataFrame:
    frame = as_frame(rows)
    return frame if grouping is None else grouping.expand(frame)


def keep_seen(spec: ProblemSpec, columns: pd.DataFrame) -> ProblemSpec:
    """Return a problem with kept features for columns of which rows are there."""
    seen = [name for name in columns if columns[name].notna().any()]
    if seen:
        build_theory(spec, model=UnopenedModel())  # no rule reads a column that is no feature
    keys = {str(name): next(iter(domain_from_frame(columns[[name]]).values())) for name in seen}
    return _with_kept(spec, keys) if keys else spec


def _with_kept(spec: ProblemSpec, columns: Mapping[str, Mapping[str, Any]]) -> ProblemSpec:
    """Return a problem with kept features for some columns of its model."""
    assert spec.model is not None
    names = feature_names([*spec.features, *columns])[len(spec.features) :]
    features = {
        name: FeatureSpec.model_validate({**keys, "kept": True})
        for name, keys in zip(names, columns.values(), strict=True)
    }
    other = {name: column for name, column in zip(names, columns, strict=True) if name != column}
    model = spec.model.model_copy(update={"columns": {**spec.model.columns, **other}})
    return spec.model_copy(update={"features": {**spec.features, **features}, "model": model})


def open_decider(
    spec: ProblemSpec,
    folder: Path,
    *,
    trust: Trust | None = None,
    sample: Any = None,
    stand_in: str = "",
    tried: int | None = None,
    seed: int = 0,
) -> tuple[ProblemSpec, Decider]:
    """Open the model of a problem, and return the problem with what its model reads besides the features, kept.

    `sample` is that of `open_model_of`. What is read of the model is `tried` on so many of the rows.
    """
    opened = open_model_of(spec, folder, trust=trust, sample=sample)
    assert spec.model is not None
    desired, threshold = spec.model.desired, spec.model.threshold

    def opened_on(table: Any) -> Decider:
        view = replace(view_of(table, opened.names), grouping=opened.grouping)
        source = read_source(opened.model, table, desired=desired, threshold=threshold, view=view)
        how: dict[str, Any] = {"desired": desired, "threshold": threshold, "seed": seed}
        return decide(opened.model, table, source, **how, tried=tried, stand_in=stand_in)

    try:
        decider = opened_on(opened.table)
        wider = _wider(opened, decider)
        return opened.spec, decider if wider is None else opened_on(wider)
    except ModelError as error:
        kept = [column for column, name in opened.names.items() if name not in spec.features]
        raise _untold(() if sample is not None else kept, error) from None


def _untold(columns: Iterable[str], error: ModelError) -> P2CError:
    """Return the error of a model that has no answer to rows in which some columns are made up."""
    names = ", ".join(columns)
    if not names:
        return error
    message = (
        f"the model reads {names} besides the features and does not tell which values that takes ({error}):"
        ' add it as a feature with its values and action = "fixed"'
    )
    return ProblemError([Fault("model", message)])


def _wider(opened: OpenedModel, decider: Decider) -> pd.DataFrame | None:
    """Return rows in which numbers of which nothing was known lie on all sides of where the model cuts them."""
    if not isinstance(decider.reading, Read):
        return None
    draw, score, found = Random(opened.spec.name), decider.reading.score, {}
    for column, name in opened.names.items():
        place = score.places.get(name) if _is_bare(opened.spec.features[name]) else None
        uppers = None if place is None else score.axes[place].uppers
        cuts = [] if uppers is None else [float(each) for each in uppers if abs(each) < inf]
        if cuts:
            far = max(cuts[-1] - cuts[0], 1.0)
            values = [draw.uniform(cuts[0] - far, cuts[-1] + far) for _ in range(ROWS)]
            found[column] = pd.Series(values).astype(opened.table[column].dtype)
    return opened.table.assign(**found) if found else None


def decide(
    model: Any,
    X: Any,
    source: Source,
    *,
    desired: Any,
    threshold: float | None,
    seed: int,
    tried: int | None = None,
    stand_in: str = "",
) -> Decider:
    """Return a model that was brought together with a table as what decides: read where it can be, with its own rules where it has any."""
    how: dict[str, Any] = {"desired": desired, "threshold": threshold, "seed": seed}
    reading = read(model, X[:tried], **how, view=source.view)
    own = source.own_rules
    standing = StandingRules(stand_in if own is None else standing_rules(own.text(), own.goal()))
    return Decider(source, reading, standing, exact=own is not None, seed=seed)


def _drawn_rows(spec: ProblemSpec) -> pd.DataFrame:
    """Return rows over the domains of the features, by the model's columns."""
    assert spec.model is not None
    return draw_states(spec).rename(columns=spec.model.columns)


def draw_states(spec: ProblemSpec) -> pd.DataFrame:
    """Return states over the domains of the features: one of all first values, one of all last, and others by chance."""
    features = build_theory(spec, model=UnopenedModel()).features
    draw = Random(spec.name)
    return pd.DataFrame(
        {
            each.name: _far_and_near(each, draw)
            if _is_bare(spec.features[each.name])
            else _drawn(each, draw)
            for each in features
        }
    )


def _is_bare(keys: FeatureSpec) -> bool:
    """Tell whether nothing is known of a kept number but that it is one."""
    return keys.kept and keys.type.is_number and keys.min is None and keys.values is None


def _far_and_near(feature: Feature, draw: Random) -> pd.Series:
    """Return numbers of all sizes."""
    values = [draw.choice((-1, 1)) * 10 ** draw.uniform(-1, FAR) for _ in range(ROWS)]
    return pd.Series(values).round().astype(int) if feature.kind is Kind.INT else pd.Series(values)


def _drawn(feature: Feature, draw: Random) -> pd.Series:
    last = feature.domain.size - 1
    places = [0, last, *(draw.randint(0, last) for _ in range(ROWS - 2))]
    values: list[Value] = [feature.domain.value(place) for place in places]
    texts = any(isinstance(value, str) for value in values)
    return pd.Series(values, dtype=object if texts else None)


def refuse_unanswered(features: Iterable[Feature], decider: Decider) -> None:
    """Refuse names of a problem without an answer by its model.

    An example is a category that its encoder has not met.
    """
    table = decider.source.table
    if not len(table):
        return
    row = table.iloc[0].items()
    first = {str(name): None if pd.isna(value) else value for name, value in row}
    for feature in features:
        if feature.is_listed and feature.name in first and not feature.kept:
            met = set(table[feature.name].dropna())
            added = [value for value in feature.places if value not in met]
            for value, error in _unanswered(decider, first, feature.name, added):
                message = (
                    f"the model has no answer to '{value}', which is none of its table's ({error})"
                )
                raise ProblemError([Fault(f"features.{feature.name}.values", message)])


def _unanswered(
    decider: Decider, first: Mapping[str, Any], name: str, added: list[Any]
) -> Iterator[tuple[Any, ModelError]]:
    """Yield the values without an answer by the model.

    It is asked for one state or, if encoded, for a table.
    """
    model, view = decider.source.model, decider.source.view
    assert model is not None
    for value in added:
        states = [{**first, name: value}]
        try:
            model.answer(view.frame(view.cells({}, states)))
            decider.asker({})(states)
        except ModelError as error:
            yield value, error
