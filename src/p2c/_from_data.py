"""Make problems around fitted models, or with rules learned from labels."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pandas as pd

from p2c._blackbox.decider import StandingRules
from p2c._blackbox.opening import decide
from p2c._folder.manifest import sample_rows
from p2c._folder.store import Fitted
from p2c._learn.causal.adopt import with_causes
from p2c._learn.causal.review import Review
from p2c._learn.decision import describe_problem, learn_decision
from p2c._learn.extract.logic import NAME, describe_features, extract
from p2c._learn.extract.source import read_source
from p2c._learn.model.asking import choose_classes, plain, read_labels
from p2c._learn.model.grouped import with_groups
from p2c._learn.model.stored import is_stored, load_model, model_file, of_booster
from p2c._learn.relations.finder import one_hot_groups
from p2c._learn.tables.files import Table
from p2c._learn.tables.grouping import grouping_of
from p2c._learn.tables.look import (
    LEFT_OUT,
    USELESS,
    Assumption,
    Why,
    assume,
    feature_remarks,
    keys_of,
    look,
    with_effects,
)
from p2c._learn.tables.special import checked_codes
from p2c._learn.tables.view import as_frame, by_name, refuse_twice, view_of
from p2c._spec.expression import names, renamed, text_of
from p2c._spec.expression_text import ExpressionError, read_expression
from p2c._spec.feature import Action
from p2c._spec.overrides import refuse_unknown, whole_number
from p2c._spec.spec import BY_MODEL, ProblemSpec, Trust, read_spec
from p2c.errors import P2CError, ProblemError, suggestion

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from p2c._learn.decision import Learned
    from p2c._learn.extract.logic import Extraction
    from p2c._learn.extract.source import Source
    from p2c._learn.tables.domains import Scale
    from p2c._learn.tables.grouping import Grouping
    from p2c._learn.tables.look import Remarks
    from p2c._learn.tables.special import Codes

S = TypeVar("S")

ABOUT_MODEL = """Made by p2c from a model. Edit it, then accept the edit with p2c lint FOLDER --accept.
action: "free", "up", "down" or "fixed" says who may change a feature; weight says at what effort.
rules: what follows from what (causal rules) and what may never be (constraints)."""
ABOUT_TABLE = """Made by p2c from a table. Edit it; p2c lint reads it back and names what looks wrong.
action: "free", "up", "down" or "fixed" says who may change a feature; weight says at what effort.
rules: who is refused, as learned; add causal rules (the head is a feature) and constraints (no head)."""

RECORDED = "recorded decisions are no model: Problem.from_table(X, y) learns from them"
KEYS = tuple(ProblemSpec.model_fields.keys() - {"features", "rules", "rules_file", "model"})
"""The keys of a problem that a problem from data takes as keywords."""


@dataclass(frozen=True, eq=False)
class Provenance:
    """Data behind a problem: for saving it, and for judging its learned rules."""

    fitted: Fitted | None = None
    """The model and rows of its table."""
    extracted: Callable[[], Extraction] | None = None
    """Learns the surrogate rules of a model."""
    learned: Learned | None = None
    """The decision rules that were learned from labels, with their scores."""
    assumptions: tuple[Assumption, ...] = ()
    """The action of each column, and the reason where it was assumed."""
    remarks: Callable[[], Remarks] = dict
    """Comments of the problem's file, by the table that they stand before."""
    columns: tuple[tuple[str, str], ...] = ()
    """Pairs of feature and column, where the names differ."""


@dataclass(frozen=True)
class DataOptions:
    """Keywords of `Problem.from_model` and `from_table` besides keys of the problem."""

    causal: str | Review | None = None
    groups: Mapping[str, Iterable[Any]] | None = None
    """The columns of each one-hot group; found in the table if None."""
    actions: Mapping[Any, str] | None = None
    desired: Any = None
    threshold: float | None = None
    scale: Scale = "range"
    features: Mapping[Any, Mapping[str, Any]] | None = None
    equations: Mapping[Any, str] | None = None
    """The equations of computed columns."""
    special: Codes | None = None
    """Codes for missing values by column; found in the table if None."""
    held_out: float = 0.2
    """The share of rows on which learned rules are measured."""
    budget: int = 2_000
    seed: int = 0
    trust: Trust | str | Iterable[str] | None = None
    positive: str | None = None
    """The label that learned rules define; the desired one if None."""
    ratio: float = 0.5
    tail: float = 0.005
    origin: Path | None = None
    """The file of a model that is open already."""
    assumptions: tuple[Assumption, ...] | None = None
    """Actions and weights by column that were agreed on before."""


def problem_from_model(
    kind: type[S],
    model: Any,
    X: Any,
    options: DataOptions,
    keys: Mapping[str, Any],
    *,
    y: Any = None,
) -> S:
    """Return the problem in which a fitted model decides.

    Args:
        kind: The class of the problem.
        model: A fitted model, a function from tables to decisions, or the path of a stored model.
        X: Rows of the model's table.
        options: The keywords of `Problem.from_model`.
        keys: Keys of the problem.
        y: True labels, to measure the surrogate rules by.
    """
    maker: Any = kind
    budget = whole_number("budget", options.budget, least=1)
    seed = whole_number("seed", options.seed, least=0)
    trusted = Trust.of(options.trust)
    options = replace(options, special=checked_codes(options.special))
    _refuse_no_rules(options.causal)
    X = as_frame(X) if by_name(X) else X
    origin = options.origin
    if isinstance(model, str) and model in getattr(X, "columns", ()):
        raise P2CError(RECORDED)
    if is_stored(model):
        origin = model_file(Path(model))
        model = load_model(origin, as_frame(X), trusted)
    else:
        model = of_booster(model)
    fitted_model, grouping = model, _grouping(X, options)
    if grouping is not None:
        model = with_groups(model, grouping, X)
        X = grouping.collapse(X)
    view = replace(view_of(X), grouping=grouping)
    source = read_source(model, X, desired=options.desired, threshold=options.threshold, view=view)
    if source.model is None:
        raise P2CError(RECORDED)
    assumed = _assumed(source, as_frame(X), options)
    described = describe_features(
        source,
        scale=options.scale,
        actions=options.actions,
        features=_merged(source, assumed, options.features),
        rounded=True,
        special=options.special,
    )
    described = with_equations(
        {str(each.name): each.feature for each in source.view.columns}, described, options
    )
    extracted = cache(lambda: extract(source, y, held_out=options.held_out, seed=seed))
    frame = as_frame(X)
    places = sample_rows(frame, seed=seed)
    decided = decide(
        model, X, source, desired=options.desired, threshold=options.threshold, seed=seed
    )
    decider = replace(
        decided,
        source=source.at(places),
        standing=lambda: StandingRules.of(extracted(), keys.get("source")),
        budget=budget,
    )
    outline = {"name": NAME, "goal": BY_MODEL, "rules": "", "features": described} | dict(keys)
    with _by_keyword():
        read_spec(outline)  # faults in the source of the surrogate rules are reported, too
        outline.pop("source", None)
        outline = with_causes(outline, options.causal, model=decider.judge)
        made = maker.from_dict(outline, decider=decider, bounded=False)
    rows = frame.iloc[places].reset_index(drop=True)
    fitted = Fitted(fitted_model, rows, options.threshold, origin)
    assumed = with_effects(assumed, _effects(source, made))
    columns = [each.name for each in source.view.columns]
    remarks = partial(_model_remarks, frame[columns], assumed, list(described))
    provenance = Provenance(fitted, extracted, None, assumed, remarks)
    made = replace(made, provenance=provenance)
    if not decider.is_read or decider.exact or y is not None or "goal" in keys:
        made.surrogate  # noqa: B018 - faults in the surrogate rules are reported now
    return made  # type: ignore[no-any-return]


def _grouping(X: Any, options: DataOptions) -> Grouping | None:
    """Return the one-hot groups of a table: as given and approved, else found.

    A column that the options speak of stays one.
    """
    if not isinstance(X, pd.DataFrame):
        if options.groups:
            raise P2CError("groups: expected X as a pandas frame, whose columns have names")
        return None
    refuse_twice(X.columns)
    chosen: dict[str, Iterable[Any]] = dict(options.groups or {})
    if isinstance(options.causal, Review):
        chosen |= options.causal.approved().declared.groups
    if options.groups is None:
        named = {str(each) for each in (*(options.actions or ()), *(options.features or ()))}
        named |= {each.column for each in options.assumptions or () if each.why is None}
        taken = {str(each) for columns in chosen.values() for each in columns}
        for name, columns in one_hot_groups(X).items():
            if not (named | taken) & set(columns):
                chosen[name] = columns
    return grouping_of(X, chosen, list(X.columns))


def _model_remarks(
    frame: pd.DataFrame, assumed: tuple[Assumption, ...], features: Iterable[str]
) -> Remarks:
    return feature_remarks(look(frame), assumed, features) | {(): ABOUT_MODEL}


def problem_from_table(
    kind: type[S], table: Table, target: str, options: DataOptions, keys: Mapping[str, Any]
) -> S:
    """Return the problem whose decision rules are learned from labels by FOLD-SE.

    Args:
        kind: The class of the problem.
        table: The columns that rules may read, and the labels.
        target: The column of labels.
        options: The keywords of `Problem.from_table`.
        keys: Keys of the problem.
    """
    maker: Any = kind
    _refuse_no_rules(options.causal)
    column = table.column(target)
    wanted = desired_label(table, column, options.desired)
    rest = table.without([column])
    assumed = options.assumptions
    if assumed is None:
        given = {rest.column(str(name)): action for name, action in (options.actions or {}).items()}
        assumed = assume(rest.seen, given=given)
    features = keys_of(assumed)
    for name, own in (options.features or {}).items():
        place = rest.column(str(name))
        features[place] = {**features.get(place, {}), **own}
    seed = whole_number("seed", options.seed, least=0)
    learned = learn_decision(
        table.frame,
        column,
        positive=options.positive or wanted,
        held_out=options.held_out,
        seed=seed,
        ratio=options.ratio,
        tail=options.tail,
    )
    described = describe_problem(
        learned,
        rest.frame,
        name=str(keys.get("name", NAME)),
        wanted=wanted,
        scale=options.scale,
        said=features,
        origin=table.source.rpartition("/")[2],
    )
    names = dict(zip(map(str, rest.frame.columns), described["features"], strict=True))
    described["features"] = with_equations(names, described["features"], options)
    with _by_keyword():
        described = with_causes(described | dict(keys), options.causal)
        problem = maker.from_dict(described, bounded=False)
    named = zip(described["features"], map(str, rest.frame.columns), strict=True)
    columns = tuple((name, own) for name, own in named if name != own)
    remarks = feature_remarks(rest.seen, assumed, described["features"]) | {(): ABOUT_TABLE}
    left_out = tuple(
        Assumption(each.name, LEFT_OUT, why=USELESS[each.kind]) for each in table.left_out
    )
    provenance = Provenance(
        learned=learned,
        assumptions=(*assumed, *left_out),
        remarks=lambda: remarks,
        columns=columns,
    )
    return replace(problem, provenance=provenance)  # type: ignore[no-any-return]


def labelled_table(frame: Any, label: Any, keep: Iterable[Any]) -> tuple[Table, str]:
    """Return a table of usable columns with its labels, and the labels' column.

    Args:
        frame: A frame or an array.
        label: The name of a column of the frame, or the labels themselves.
        keep: Columns that stay although they help no rule, such as an id.
    """
    rows: pd.DataFrame = as_frame(frame)
    if isinstance(label, str):
        return _useful(rows, label, keep), label
    name = "label"
    while name in rows.columns:
        name += "_"
    values = label.to_numpy() if hasattr(label, "to_numpy") else label
    try:
        rows = rows.assign(**{name: values})
    except ValueError:
        raise P2CError(f"y: expected a label for each of the {len(rows):,} rows") from None
    return _useful(rows, name, keep), name


def _useful(rows: pd.DataFrame, label: str, keep: Iterable[Any]) -> Table:
    table = Table(rows, look(rows), "the table")
    return table.useful({table.column(str(name)) for name in (label, *keep)})


def desired_label(table: Table, column: str, desired: Any) -> str:
    """Return the wanted label as text; refuse a choice that nothing settles."""
    labels = read_labels(table.frame[column], len(table.frame), "label: expected one")
    return str(plain(choose_classes(labels, desired)[0]))


def refuse_keywords(keys: Iterable[str], known: Iterable[str]) -> None:
    """Refuse keywords that are neither keys of a problem from data nor of the method."""
    refuse_unknown(keys, [*KEYS, *known])


def _refuse_no_rules(causal: object) -> None:
    if not isinstance(causal, str | Review | None):
        kind = type(causal).__name__
        raise P2CError(f"causal: expected rules as text or a review, found a {kind}")


def _assumed(source: Source, frame: pd.DataFrame, options: DataOptions) -> tuple[Assumption, ...]:
    """Return the action of each column, as given or as its name suggests."""
    if options.assumptions is not None:
        return _with_groups_assumed(options.assumptions, source, frame)
    columns = {each.feature: str(each.name) for each in source.view.columns}
    said: dict[str, str] = {}
    features = options.features if isinstance(options.features, dict) else {}
    for name, own in features.items():
        if isinstance(own, dict) and "action" in own:
            said[columns[source.view.feature(name)]] = own["action"]
    if isinstance(options.actions, dict):
        for name, action in options.actions.items():
            said[columns[source.view.feature(name)]] = action
    seen = look(frame[[each.name for each in source.view.columns]])
    special = options.special
    if special is not None:
        special = {columns[source.view.feature(name)]: own for name, own in special.items()}
    return _group_reasons(assume(seen, given=said, special=special), source)


def _with_groups_assumed(
    assumed: tuple[Assumption, ...], source: Source, frame: pd.DataFrame
) -> tuple[Assumption, ...]:
    """Return assumptions with each one-hot group in the place of its columns."""
    grouping = source.view.grouping
    if grouping is None:
        return assumed
    fresh = {each.column: each for each in assume(look(frame[[g.name for g in grouping.groups]]))}
    placed: dict[str, Assumption] = {}
    for each in assumed:
        group = grouping.members.get(each.column)
        own = each if group is None else fresh[group.name]
        placed.setdefault(own.column, own)
    return _group_reasons(tuple(placed.values()), source)


def _group_reasons(assumed: tuple[Assumption, ...], source: Source) -> tuple[Assumption, ...]:
    """Return assumptions that say of each one-hot group that it is one."""
    grouping = source.view.grouping
    names = {each.name for each in grouping.groups} if grouping else set()
    return tuple(
        replace(each, why=Why.GROUP) if each.column in names and each.why is Why.USUAL else each
        for each in assumed
    )


def _merged(
    source: Source,
    assumed: tuple[Assumption, ...],
    features: Mapping[Any, Mapping[str, Any]] | None,
) -> Any:
    """Return the keys of features by column: assumed ones below given ones."""
    if features is not None and not hasattr(features, "items"):
        return features
    columns = {str(each.name): each for each in source.view.columns}
    merged: dict[Any, Any] = {
        columns[name].name: keys
        for name, keys in keys_of(assumed).items()
        if not columns[name].is_empty
    }
    names = {each.feature: each.name for each in source.view.columns}
    for name, own in (features or {}).items():
        place = names[source.view.feature(name)]
        merged[place] = {**merged.get(place, {}), **own} if isinstance(own, dict) else own
    return merged


def with_equations(
    columns: Mapping[str, str], described: Mapping[str, Mapping[str, Any]], options: DataOptions
) -> dict[str, dict[str, Any]]:
    """Return the keys of features with the equations of computed columns.

    Names in equations are those of features or of columns.

    Args:
        columns: The feature of each column.
        described: The keys of each feature.
        options: The equations, and the keys that were stated.
    """
    equations: Any = options.equations or {}
    if not hasattr(equations, "items"):
        kind = type(equations).__name__
        raise P2CError(f"equations: expected texts by column, found a {kind}")
    features = {name: dict(keys) for name, keys in described.items()}
    for name, text in equations.items():
        feature = columns.get(str(name), str(name))
        if feature not in features:
            hint = suggestion(str(name), columns)
            raise P2CError(f"equations: no column is called {str(name)!r}; {hint}")
        if not isinstance(text, str):
            raise P2CError(f"equations: {name}: expected a text such as 'debt / income'")
        features[feature] = {**features[feature], "equation": text}
    for feature, keys in features.items():
        if "equation" in keys:
            own = dict((options.features or {}).get(feature, {}))
            kept = {key: each for key, each in keys.items() if key not in UNCOMPUTED or key in own}
            features[feature] = kept | {"equation": _by_features(keys["equation"], columns)}
    return features


UNCOMPUTED = frozenset({"min", "max", "step", "values", "scale", "weight", "action", "moves"})
"""Keys that the data suggest for a column, and that a computed one lacks."""


def _by_features(text: str, columns: Mapping[str, str]) -> str:
    """Return an equation in which columns go by the names of their features."""
    try:
        expression = read_expression(text)
    except ExpressionError:
        return text  # reported with its place when the problem is built
    new = {name: columns.get(name, name) for name in names(expression)}
    if all(name == feature for name, feature in new.items()):
        return text
    return text_of(renamed(expression, new))


def _effects(source: Source, problem: Any) -> set[str]:
    """Return the columns that only causal rules change."""
    built = problem.theory.feature
    return {
        str(each.name)
        for each in source.view.features
        if built[each.feature].action is Action.EFFECT
    }


@contextmanager
def _by_keyword() -> Iterator[None]:
    """Name faults by the keywords of Python: `causal` is the text of causal rules."""
    keywords = {"rules": "causal"}
    try:
        yield
    except ProblemError as error:
        faults = [
            replace(each, place=keywords.get(each.place, each.place)) for each in error.faults
        ]
        raise ProblemError(faults, source=error.source) from error
