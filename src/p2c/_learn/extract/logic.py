"""The logic of a model as rules (the paper's Algorithm 2): read where it has rules, learned from its answers where not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.metrics import precision_recall_fscore_support
from sklearn.model_selection import StratifiedKFold

from p2c._learn.extract.ruleset import Ruleset
from p2c._learn.extract.source import read_source
from p2c._learn.foldse import FoldSE
from p2c._learn.model.asking import distinct, equals, plain, read_labels
from p2c._learn.tables.domains import domain_from_frame, said_over
from p2c._spec.overrides import whole_number
from p2c.errors import P2CError, counted, first_few, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from p2c._learn.extract.ruleset import WrittenRules
    from p2c._learn.extract.source import Source
    from p2c._learn.model.arrays import Mask
    from p2c._learn.tables.domains import Scale
    from p2c._learn.tables.special import Codes


LEAST_SHARE = 0.25
"""Where one outcome is so rare that no rule tells it apart, its rows are repeated up to this share."""
SIDES = (False, True)
"""Rules of the refused are learned first, then those of the accepted."""
CLEARLY = 0.01
"""By so much of the rows must rules of the accepted agree more often to be taken."""
RATIOS = (0.5, 0.25, 0.75, 1.0)
FOLDS = 4
MOST_ROWS = 20_000
"""On so many rows the ratio is chosen."""


def learn_ruleset(
    table: pd.DataFrame, accepted: Mask, *, desired: str, other: str, seed: int = 0
) -> Ruleset:
    """Learn rules of the outcome that is not desired, as the paper does, or of the desired one where those fit better.

    FOLD-SE's `ratio` is the one whose rules agree best with the decisions on rows kept apart from their learning.
    """
    if accepted.all():
        return Ruleset((), other, desired, accepting=False)
    if not accepted.any():
        return Ruleset((), desired, other, accepting=True)
    ratio = _best_ratio(table, accepted, seed)
    sides = [_side(table, accepted, accepting, desired, other, ratio=ratio) for accepting in SIDES]
    if not any(each.rules for each in sides):
        rows = _balanced(accepted, seed)
        repeated = table.iloc[rows]
        sides = [
            _side(repeated, accepted[rows], accepting, desired, other, tail=0.0)
            for accepting in SIDES
        ]
        return max(sides, key=lambda each: _balance(each.accepts(table), accepted))
    return _better(sides, table, accepted)


def _better(sides: Sequence[Ruleset], table: pd.DataFrame, accepted: Mask) -> Ruleset:
    """Return the first side, unless it decides all rows alike or the second agrees clearly more often."""
    refusing, granting = (each.accepts(table) for each in sides)
    lead = float((granting == accepted).mean() - (refusing == accepted).mean())
    first_tells, second_tells = (len(np.unique(told)) > 1 for told in (refusing, granting))
    return sides[second_tells and (not first_tells or lead > CLEARLY)]


def _best_ratio(table: pd.DataFrame, accepted: Mask, seed: int) -> float:
    """Return the ratio whose rules of the refused agree best on rows that they were not learned from."""
    rows = np.random.default_rng(seed).permutation(len(table))[:MOST_ROWS]
    table, refused = table.iloc[rows], ~accepted[rows]
    if min(refused.sum(), (~refused).sum()) < 2 * FOLDS:
        return RATIOS[0]
    agreed = dict.fromkeys(RATIOS, 0)
    for train, test in StratifiedKFold(FOLDS).split(table, refused):
        for ratio in RATIOS:
            learner = FoldSE(ratio, positive=True).fit(table.iloc[train], refused[train])
            agreed[ratio] += int((learner.predict(table.iloc[test]) == refused[test]).sum())
    return max(agreed, key=lambda ratio: agreed[ratio])


def _side(
    table: pd.DataFrame,
    accepted: Mask,
    accepting: bool,
    desired: str,
    other: str,
    *,
    ratio: float = 0.5,
    tail: float = 0.005,
) -> Ruleset:
    learner = FoldSE(ratio, tail, positive="rule")
    learner.fit(table, np.where(accepted == accepting, "rule", "rest"))
    label, rest = (desired, other) if accepting else (other, desired)
    rules = tuple(replace(rule, label=label) for rule in learner.rules_)
    return Ruleset(rules, label, rest, accepting, domain_from_frame(table))


def _balance(found: Mask, wanted: Mask) -> float:
    """Return the mean of the shares of both outcomes that were found right."""
    return float(np.mean([(found == wanted)[wanted == side].mean() for side in (False, True)]))


def _balanced(accepted: Mask, seed: int) -> NDArray[np.intp]:
    rare = accepted if accepted.mean() < 0.5 else ~accepted
    few, many = np.flatnonzero(rare), np.flatnonzero(~rare)
    count = max(int(LEAST_SHARE / (1 - LEAST_SHARE) * len(many)), len(few))
    drawn = (
        np.random.default_rng(seed).choice(few, count - len(few)) if count > len(few) else few[:0]
    )
    return np.sort(np.concatenate([few, drawn, many]))


NAME = "problem"
"""What a problem around a model is called that has no other name."""


@dataclass(frozen=True, slots=True)
class Region:
    """How the rules fare where one of them decides: `rule` is its text, '' where none holds."""

    rule: str
    rows: int
    wrong: int


@dataclass(frozen=True, slots=True)
class Extraction:
    """Rules in the place of a model, and how far they can be trusted.

    `program` is the rule text, `goal` the query that succeeds where the desired outcome is reached, `decision` the
    predicate that it asks about. `exact` tells that these are the model's own rules. The figures are measured on rows
    that the rules were not learned from: `fidelity` is the share where rules and model agree; accuracy and the
    others, weighted by class, compare the rules with the true labels or, where none were given, with the model.
    `disagreements` are the places of the rows where rules and model differ, `regions` tells under which rule.

    >>> import pandas as pd
    >>> table = pd.DataFrame({"income": [10, 20, 30, 40, 50, 60] * 5})
    >>> extraction = extract_logic(lambda rows: rows["income"] >= 35, table)
    >>> extraction.fidelity, extraction.goal
    (1.0, "not label(X,'False')")
    """

    program: str
    decision: str
    goal: str
    exact: bool
    fidelity: float
    accuracy: float
    precision: float
    recall: float
    f1: float
    disagreements: tuple[int, ...]
    regions: tuple[Region, ...]
    recorded: bool = False
    """Whether the rules were learned from recorded decisions rather than from a model's answers."""

    @classmethod
    def from_dict(cls, keys: Mapping[str, Any]) -> Extraction:
        """Return what `dataclasses.asdict` made of it.

        >>> from dataclasses import asdict
        >>> Extraction.from_dict(asdict(extraction)) == extraction
        True
        """
        regions = tuple(Region(**each) for each in keys["regions"])
        return cls(**{**keys, "disagreements": tuple(keys["disagreements"]), "regions": regions})

    @property
    def rows(self) -> int:
        """Return how many rows the figures were measured on."""
        return sum(region.rows for region in self.regions)

    @property
    def source(self) -> dict[str, Any] | None:
        """Return what a problem with these rules says of where they come from; nothing where they are the model's own."""
        if self.exact and self.fidelity == 1:
            return None
        origin = "labels" if self.recorded else "model"
        return {"from": origin, "fidelity": round(self.fidelity, 6), "rows": self.rows}

    @property
    def remark(self) -> str:
        """Return what whoever finds the rules without the model should know of them."""
        if self.exact:
            return "These are the model's own rules."
        return (
            f"Learned from the answers of a model or of people. Tried on {counted(self.rows, 'row')}, they answer {self.fidelity:.1%} of them alike.\n"
            "What is proved of a plan is proved of these rules. It ends at the edge of one, where they may be wrong:\n"
            "have the end of a plan confirmed, as p2c.Problem.from_model does."
        )


def extract_logic(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    desired: Any = None,
    threshold: float | None = None,
    held_out: float | NDArray[np.bool_] = 0.2,
    seed: int = 0,
) -> Extraction:
    """Return a model's rules, its own where it has any and else those that FOLD-SE learns from its answers on X.

    The model is a `FoldSE`, a small decision tree, rule text or the path of a rules file, whose rules are taken as they
    are; or any estimator, pipeline or function on tables; or a column of recorded decisions, as values or by its name
    in X. `desired` and `threshold` are those of `open_model`; for rule text, `desired` is a query or a label.
    `held_out` is the share of the rows kept for measuring, or a mask of them.

    >>> import pandas as pd
    >>> table = pd.DataFrame({"income": [10, 20, 30, 40, 50, 60] * 5})
    >>> print(extract_logic(lambda rows: rows["income"] >= 35, table).program)
    label(X,'False') :- income(X,N1), N1=<30.0.
    """
    seed = whole_number("seed", seed, least=0)
    source = read_source(model, X, desired=desired, threshold=threshold)
    return extract(source, y, held_out=held_out, seed=seed)


def extract(
    source: Source, y: Any, *, held_out: float | NDArray[np.bool_], seed: int
) -> Extraction:
    """Return the rules of a model that was already brought together with its table."""
    kept = _held_out_rows(source.accepted, held_out, seed)
    rules = source.own_rules
    if rules is None:
        rest = ~kept if (~kept).any() else kept
        read = list(source.reads or source.table.columns)
        rules = learn_ruleset(
            source.table.loc[rest, read],
            source.accepted[rest],
            desired=str(source.desired),
            other=str(source.other),
            seed=seed,
        )
    truth = source.accepted
    if y is not None:
        labels = read_labels(y, len(truth), "y, the true labels: expected one")
        truth = equals(labels, source.desired)
        _refuse_other_labels(labels, truth, source)
    return _measured(source, rules, truth=truth, kept=kept)


def _refuse_other_labels(labels: NDArray[Any], wanted: Mask, source: Source) -> None:
    """Refuse labels some of which are none of a model's two classes; of one with more the others are not known here.

    A scorecard says yes and no where the outcomes have words of their own: these are let pass.
    """
    several = source.other is None or str(source.other) == f"not {source.desired}"
    strange = ~(wanted | equals(labels, source.other))
    if strange.any() and not strange.all() and not several:
        found = first_few(repr(plain(each)) for each in distinct(labels[strange]))
        expected = f"{plain(source.desired)!r} or {plain(source.other)!r}"
        raise P2CError(
            f"y, the true labels: expected {expected} as the model says it, found {found}"
        )


def _held_out_rows(accepted: Mask, share: Any, seed: int) -> Mask:
    """Return the rows kept for measuring: of both outcomes the same share."""
    if isinstance(share, np.ndarray) and share.shape == accepted.shape:
        return share.astype(bool)
    if not isinstance(share, int | float | np.number) or not 0 <= share < 1:
        raise P2CError(
            f"held_out: expected a share below 1 such as 0.2, or a mask of the rows, found {shown(share)}"
        )
    generator = np.random.default_rng(seed)
    kept = np.zeros(len(accepted), dtype=bool)
    for side in (False, True):
        rows = np.flatnonzero(accepted == side)
        kept[generator.permutation(rows)[: int(share * len(rows))]] = True
    return kept if kept.any() else np.ones(len(accepted), dtype=bool)


def _measured(
    source: Source, rules: Ruleset | WrittenRules, *, truth: Mask, kept: Mask
) -> Extraction:
    rows = np.flatnonzero(kept)
    table = source.table[kept]
    found, asked, true = rules.accepts(table), source.accepted[kept], truth[kept]
    wrong = found != asked
    precision, recall, f1, _ = precision_recall_fscore_support(
        true, found, average="weighted", zero_division=0
    )
    texts = (*rules.rule_texts(), "")
    places = rules.places(table)
    regions = (
        Region(text, int((places == place).sum()), int((wrong & (places == place)).sum()))
        for place, text in enumerate(texts)
    )
    return Extraction(
        program=rules.text(),
        decision=rules.target,
        goal=rules.goal(),
        exact=source.own_rules is not None,
        fidelity=float(1 - wrong.mean()),
        accuracy=float((found == true).mean()),
        precision=float(precision),
        recall=float(recall),
        f1=float(f1),
        disagreements=tuple(rows[wrong].tolist()),
        regions=tuple(regions),
        recorded=source.model is None,
    )


def outline_problem(
    extraction: Extraction,
    features: Mapping[str, Mapping[str, Any]],
    *,
    name: str = NAME,
    origin: str = "",
) -> dict[str, Any]:
    """Return the problem of reaching the desired outcome by rules in the place of a model; `origin` is what the model or the table goes by."""
    remark = "".join(f"% {line}\n" for line in extraction.remark.splitlines())
    learned = extraction.source
    named = {"name": origin} if origin else {}
    return {
        "name": name,
        "goal": extraction.goal,
        **({"source": learned | named} if learned else {}),
        "rules": f"{remark}{extraction.program}\n",
        "features": features,
    }


def describe_features(
    source: Source,
    *,
    scale: Scale = "range",
    actions: Mapping[Any, str] | None = None,
    features: Mapping[Any, Mapping[str, Any]] | None = None,
    rounded: bool = False,
    special: Codes | None = None,
) -> dict[str, dict[str, Any]]:
    """Return the features of a table, with what is said of columns besides.

    `actions` says who may change a feature, `features` adds or replaces any of its keys, both by the names of columns.
    Floats are `rounded`, and codes `special`, as `domain_from_frame` has it.
    """
    tables: tuple[tuple[str, object, object], ...] = (
        ("actions", actions, {"age": "fixed"}),
        ("features", features, {"age": {"weight": 2}}),
    )
    for name, given, example in tables:
        if not isinstance(given, Mapping | None):
            raise P2CError(f"{name}: expected a table such as {example}, found {shown(given)}")
    codes = None
    if special is not None:
        codes = {source.view.feature(name): tuple(own) for name, own in special.items()}
    described = domain_from_frame(source.table, scale=scale, rounded=rounded, special=codes)
    for column, keys in (features or {}).items():
        if not isinstance(keys, Mapping):
            raise P2CError(
                f"features: expected keys for {column!r}, as in {{'min': 0}}, found {keys!r}"
            )
        name = source.view.feature(column)
        described[name] = said_over(described[name], keys)
    for column, action in (actions or {}).items():
        described[source.view.feature(column)]["action"] = action
    return described
