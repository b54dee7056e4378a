"""Problems made from data: around a fitted model, or with decision rules learned from labels."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from p2c.confirm.decider import StandingRules
from p2c.confirm.opening import decide
from p2c.domain.feature import Action
from p2c.domain.overrides import refuse_unknown, whole_number
from p2c.domain.spec import BY_MODEL, ProblemSpec, Trust, read_spec
from p2c.errors import P2CError, ProblemError
from p2c.folder.sample import sample_rows
from p2c.folder.store import Fitted
from p2c.learn.causal.adopt import with_causes
from p2c.learn.causal.review import Review
from p2c.learn.decision import describe_problem, learn_decision
from p2c.learn.extract.logic import NAME, describe_features, extract
from p2c.learn.extract.source import read_source
from p2c.learn.model.asking import choose_classes, plain, read_labels
from p2c.learn.model.stored import is_stored, load_model, model_file, of_booster
from p2c.learn.tables.assumptions import assume, keys_of, with_effects
from p2c.learn.tables.files import Table
from p2c.learn.tables.look import look
from p2c.learn.tables.view import as_frame, by_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    import pandas as pd

    from p2c.learn.decision import Learned
    from p2c.learn.extract.logic import Extraction
    from p2c.learn.extract.source import Source
    from p2c.learn.tables.assumptions import Assumption
    from p2c.learn.tables.domains import Scale

S = TypeVar("S")

KEYS = tuple(ProblemSpec.model_fields.keys() - {"features", "rules", "rules_file", "model"})
"""The keys of a problem that a problem from data takes as keywords."""


@dataclass(frozen=True, eq=False)
class Provenance:
    """The data behind a problem: what is needed to save it, and how far learned rules agree with it."""

    fitted: Fitted | None = None
    """The model and rows of its table."""
    extracted: Callable[[], Extraction] | None = None
    """Learns the surrogate rules of a model."""
    learned: Learned | None = None
    """The decision rules that were learned from labels, with their scores."""
    assumptions: tuple[Assumption, ...] = ()
    """The action of each column, and the reason where it was assumed."""
    columns: tuple[tuple[str, str], ...] = ()
    """The column of each feature, where rules are learned from a table and the names differ."""


@dataclass(frozen=True)
class ModelQuestion:
    """The keywords of `Problem.from_model` besides the model, its table and the keys of the problem."""

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
    asked: ModelQuestion,
    keys: Mapping[str, Any],
    *,
    y: Any = None,
) -> S:
    """Return the problem in which a fitted model decides.

    Args:
        kind: The class of the problem.
        model: A fitted model, a function from tables to decisions, or the path of a stored model.
        X: Rows of the model's table.
        asked: The keywords of `Problem.from_model`.
        keys: Keys of the problem.
        y: True labels, to measure the surrogate rules by.
    """
    maker: Any = kind
    budget = whole_number("budget", asked.budget, least=1)
    seed = whole_number("seed", asked.seed, least=0)
    trusted = Trust.of(asked.trust)
    _refuse_no_rules(asked.causal)
    X = as_frame(X) if by_name(X) else X
    origin = asked.origin
    if is_stored(model):
        origin = model_file(Path(model))
        model = load_model(origin, as_frame(X), trusted)
    else:
        model = of_booster(model)
    source = read_source(model, X, desired=asked.desired, threshold=asked.threshold)
    if source.model is None:
        raise P2CError("recorded decisions are no model: Problem.from_table(X, y) learns from them")
    assumed = _assumed(source, as_frame(X), asked)
    described = describe_features(
        source,
        scale=asked.scale,
        actions=asked.actions,
        features=_merged(source, assumed, asked.features),
        rounded=True,
    )
    extracted = cache(lambda: extract(source, y, held_out=0.2, seed=seed))
    frame = as_frame(X)
    places = sample_rows(frame, seed=seed)
    decided = decide(model, X, source, desired=asked.desired, threshold=asked.threshold, seed=seed)
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
        outline = with_causes(outline, asked.causal, model=decider.judge)
        made = maker.from_dict(outline, decider=decider, bounded=False)
    rows = frame.iloc[places].reset_index(drop=True)
    fitted = Fitted(model, rows, asked.threshold, origin)
    effects = _effects(source, made)
    provenance = Provenance(fitted, extracted, None, with_effects(assumed, effects))
    made = replace(made, provenance=provenance)
    if not decider.is_read or decider.exact or y is not None or "goal" in keys:
        made.stand_in  # noqa: B018 - faults in the surrogate rules are reported now
    return made  # type: ignore[no-any-return]


def problem_from_table(
    kind: type[S], table: Table, target: str, asked: ModelQuestion, keys: Mapping[str, Any]
) -> S:
    """Return the problem whose decision rules are learned from a column of labels by FOLD-SE."""
    maker: Any = kind
    _refuse_no_rules(asked.causal)
    column, wanted = table.column(target), asked.desired
    rest = table.without([column])
    assumed = asked.assumptions
    if assumed is None:
        said = {rest.column(str(name)): action for name, action in (asked.actions or {}).items()}
        assumed = assume(rest.seen, given=said)
    features = keys_of(assumed)
    for name, own in (asked.features or {}).items():
        place = rest.column(str(name))
        features[place] = {**features.get(place, {}), **own}
    several = table.frame[column].nunique() > 2
    seed = whole_number("seed", asked.seed, least=0)
    learned = learn_decision(
        table.frame, column, positive=str(wanted) if several and wanted else None, seed=seed
    )
    described = describe_problem(
        learned,
        rest.frame,
        name=str(keys.get("name", "problem")),
        wanted=None if wanted is None else str(wanted),
        scale=asked.scale,
        said=features,
        origin=table.source.rpartition("/")[2],
    )
    with _by_keyword():
        described = with_causes(described | dict(keys), asked.causal)
        made = maker.from_dict(described, bounded=False)
    named = zip(described["features"], map(str, rest.frame.columns), strict=True)
    columns = tuple((name, own) for name, own in named if name != own)
    provenance = Provenance(learned=learned, assumptions=assumed, columns=columns)
    return replace(made, provenance=provenance)  # type: ignore[no-any-return]


def labelled_table(frame: Any, label: Any) -> tuple[Table, str]:
    """Return a table with its column of labels, and the name of that column.

    Args:
        frame: A frame or an array.
        label: The name of a column of the frame, or the labels themselves.
    """
    rows: pd.DataFrame = as_frame(frame)
    if isinstance(label, str):
        return Table(rows, look(rows), "the table"), label
    name = "label"
    while name in rows.columns:
        name += "_"
    values = label.to_numpy() if hasattr(label, "to_numpy") else label
    try:
        rows = rows.assign(**{name: values})
    except ValueError:
        raise P2CError(f"y: expected a label for each of the {len(rows):,} rows") from None
    return Table(rows, look(rows), "the table"), name


def desired_label(table: Table, column: str, desired: Any) -> str:
    """Return the wanted label as text; refuse labels that do not say themselves which is wanted."""
    labels = read_labels(table.frame[column], len(table.frame), "label: expected one")
    return str(plain(choose_classes(labels, desired)[0]))


def refuse_keywords(keys: Iterable[str], known: Iterable[str]) -> None:
    """Refuse keywords that are neither keys of a problem from data nor of the method."""
    refuse_unknown(keys, [*KEYS, *known])


def _refuse_no_rules(causal: object) -> None:
    if not isinstance(causal, str | Review | None):
        kind = type(causal).__name__
        raise P2CError(f"causal: expected rules as text or a review, found a {kind}")


def _assumed(source: Source, frame: pd.DataFrame, asked: ModelQuestion) -> tuple[Assumption, ...]:
    """Return the action of each column: as the caller says, else as its name and values suggest."""
    if asked.assumptions is not None:
        return asked.assumptions
    columns = {each.feature: str(each.name) for each in source.view.columns}
    said: dict[str, str] = {}
    features = asked.features if isinstance(asked.features, dict) else {}
    for name, own in features.items():
        if isinstance(own, dict) and "action" in own:
            said[columns[source.view.feature(name)]] = own["action"]
    if isinstance(asked.actions, dict):
        for name, action in asked.actions.items():
            said[columns[source.view.feature(name)]] = action
    seen = look(frame[[each.name for each in source.view.columns]])
    return assume(seen, given=said)


def _merged(
    source: Source,
    assumed: tuple[Assumption, ...],
    features: Mapping[Any, Mapping[str, Any]] | None,
) -> Any:
    """Return the keys of features by column: what is assumed, and over it what the caller says."""
    if features is not None and not hasattr(features, "items"):
        return features
    columns = {str(each.name): each for each in source.view.columns}
    found: dict[Any, Any] = {
        columns[name].name: keys
        for name, keys in keys_of(assumed).items()
        if not columns[name].is_empty
    }
    names = {each.feature: each.name for each in source.view.columns}
    for name, own in (features or {}).items():
        place = names[source.view.feature(name)]
        found[place] = {**found.get(place, {}), **own} if isinstance(own, dict) else own
    return found


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
