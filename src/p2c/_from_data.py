"""Make problems around fitted models, or with rules learned from labels."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from p2c._blackbox.decider import StandingRules
from p2c._blackbox.opening import decide
from p2c._folder.sample import sample_rows
from p2c._folder.store import Fitted
from p2c._learn.causal.adopt import with_causes
from p2c._learn.causal.review import Review
from p2c._learn.decision import describe_problem, learn_decision
from p2c._learn.extract.logic import NAME, describe_features, extract
from p2c._learn.extract.source import read_source
from p2c._learn.model.asking import choose_classes, plain, read_labels
from p2c._learn.model.stored import is_stored, load_model, model_file, of_booster
from p2c._learn.tables.assumptions import assume, keys_of, with_effects
from p2c._learn.tables.files import Table
from p2c._learn.tables.look import ColumnKind, look
from p2c._learn.tables.view import as_frame, by_name
from p2c._spec.feature import Action
from p2c._spec.overrides import refuse_unknown, whole_number
from p2c._spec.spec import BY_MODEL, ProblemSpec, Trust, read_spec
from p2c.errors import P2CError, ProblemError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    import pandas as pd

    from p2c._learn.decision import Learned
    from p2c._learn.extract.logic import Extraction
    from p2c._learn.extract.source import Source
    from p2c._learn.tables.assumptions import Assumption
    from p2c._learn.tables.domains import Scale

S = TypeVar("S")

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
    columns: tuple[tuple[str, str], ...] = ()
    """Pairs of feature and column, where the names differ."""


@dataclass(frozen=True)
class DataOptions:
    """Keywords of `Problem.from_model` and `from_table` besides keys of the problem."""

    causal: str | Review | None = None
    actions: Mapping[Any, str] | None = None
    desired: Any = None
    threshold: float | None = None
    scale: Scale = "range"
    features: Mapping[Any, Mapping[str, Any]] | None = None
    budget: int = 2_000
    seed: int = 0
    trust: Trust | str | Iterable[str] | None = None
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
    _refuse_no_rules(options.causal)
    X = as_frame(X) if by_name(X) else X
    origin = options.origin
    if is_stored(model):
        origin = model_file(Path(model))
        model = load_model(origin, as_frame(X), trusted)
    else:
        model = of_booster(model)
    source = read_source(model, X, desired=options.desired, threshold=options.threshold)
    if source.model is None:
        raise P2CError("recorded decisions are no model: Problem.from_table(X, y) learns from them")
    assumed = _assumed(source, as_frame(X), options)
    described = describe_features(
        source,
        scale=options.scale,
        actions=options.actions,
        features=_merged(source, assumed, options.features),
        rounded=True,
    )
    extracted = cache(lambda: extract(source, y, held_out=0.2, seed=seed))
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
    fitted = Fitted(model, rows, options.threshold, origin)
    effects = _effects(source, made)
    provenance = Provenance(fitted, extracted, None, with_effects(assumed, effects))
    made = replace(made, provenance=provenance)
    if not decider.is_read or decider.exact or y is not None or "goal" in keys:
        made.stand_in  # noqa: B018 - faults in the surrogate rules are reported now
    return made  # type: ignore[no-any-return]


@dataclass(frozen=True, eq=False)
class LearnedProblem:
    """Keys of a problem with learned rules, and the assumed actions."""

    keys: dict[str, Any]
    learned: Learned
    assumptions: tuple[Assumption, ...]
    columns: tuple[tuple[str, str], ...]


def learn_keys(
    table: Table, target: str, options: DataOptions, keys: Mapping[str, Any]
) -> LearnedProblem:
    """Learn rules from a column of labels by FOLD-SE, and describe the problem.

    The rules define the wanted class, which is the goal.
    """
    _refuse_no_rules(options.causal)
    column = table.column(target)
    wanted = None if options.desired is None else str(options.desired)
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
    learned = learn_decision(table.frame, column, positive=wanted, seed=seed)
    described = describe_problem(
        learned,
        rest.frame,
        name=str(keys.get("name", NAME)),
        wanted=wanted,
        scale=options.scale,
        said=features,
        origin=table.source.rpartition("/")[2],
    )
    with _by_keyword():
        described = with_causes(described | dict(keys), options.causal)
    named = zip(described["features"], map(str, rest.frame.columns), strict=True)
    columns = tuple((name, own) for name, own in named if name != own)
    return LearnedProblem(described, learned, assumed, columns)


def problem_from_table(
    kind: type[S], table: Table, target: str, options: DataOptions, keys: Mapping[str, Any]
) -> S:
    """Return the problem whose decision rules are learned from labels by FOLD-SE."""
    maker: Any = kind
    made = learn_keys(table, target, options, keys)
    with _by_keyword():
        problem = maker.from_dict(made.keys, bounded=False)
    provenance = Provenance(
        learned=made.learned, assumptions=made.assumptions, columns=made.columns
    )
    return replace(problem, provenance=provenance)  # type: ignore[no-any-return]


def labelled_table(frame: Any, label: Any) -> tuple[Table, str]:
    """Return a table with its column of labels, and the name of that column.

    Args:
        frame: A frame or an array.
        label: The name of a column of the frame, or the labels themselves.
    """
    rows: pd.DataFrame = as_frame(frame)
    if isinstance(label, str):
        return _without_empty(rows), label
    name = "label"
    while name in rows.columns:
        name += "_"
    values = label.to_numpy() if hasattr(label, "to_numpy") else label
    try:
        rows = rows.assign(**{name: values})
    except ValueError:
        raise P2CError(f"y: expected a label for each of the {len(rows):,} rows") from None
    return _without_empty(rows), name


def _without_empty(rows: pd.DataFrame) -> Table:
    """Return a table without the columns that hold no value, which are no features."""
    table = Table(rows, look(rows), "the table")
    empty = [each.name for each in table.seen.columns if each.kind is ColumnKind.EMPTY]
    return table.without(empty)


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
        return options.assumptions
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
    return assume(seen, given=said)


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
