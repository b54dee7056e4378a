"""Decision rules out of a table, measured on rows kept apart, and a problem around them."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

from sklearn.metrics import accuracy_score, precision_recall_fscore_support
from sklearn.model_selection import train_test_split

from p2c._learn.foldse import FoldSE
from p2c._learn.foldse.literals import count_literals, name_missing, predicate_name
from p2c._learn.tables.domains import domain_from_frame, plain_value, said_over, tidy_frame
from p2c._learn.tables.files import find_column
from p2c._learn.tables.look import FEWEST
from p2c._rules.render import render, render_atom, render_literal
from p2c._rules.syntax import PERSON, Atom, Constant, Not
from p2c.errors import P2CError, counted, one_line, suggestion

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    from numpy.typing import NDArray

    from p2c._learn.tables.domains import Scale

FEWEST_OF_A_CLASS = 2
"""How many rows each class has at least: one to learn from and one to measure on."""


@dataclass(frozen=True, slots=True)
class Score:
    """How well rules decide some rows; precision, recall and f1 are those of the class that the rules define."""

    rows: int
    accuracy: float
    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, slots=True)
class Learned:
    """Decision rules: `text` defines the class `positive` of `target`, `other` is what holds where no rule does.

    `held_out` is None where all rows were learned from.
    """

    target: str
    positive: str
    other: str
    text: str
    rules: int
    literals: int
    training: Score
    held_out: Score | None

    @property
    def source(self) -> dict[str, Any]:
        """Return what a problem with these rules says of where they come from."""
        score = self.held_out or self.training
        return {"from": "labels", "fidelity": round(score.accuracy, 6), "rows": score.rows}


def learn_decision(
    frame: pd.DataFrame,
    target: str,
    *,
    positive: str | None = None,
    held_out: float = 0.2,
    seed: int = 0,
    ratio: float = 0.5,
    tail: float = 0.005,
) -> Learned:
    """Learn rules for one class of a column from the other columns, and measure them on a share of the rows.

    The rules returned are those that were measured: the rows held out are not learned from afterwards.
    """
    labels, wanted = _labels(frame[target], positive)
    table = tidy_frame(frame.drop(columns=target))
    others = sorted(set(labels) - {wanted})
    _refuse_few(labels, str(target))
    if table.columns.empty:
        raise P2CError(f"no column is left to learn '{target}' from: keep one with --keep")
    try:
        model = FoldSE(ratio, tail, positive=wanted, target=predicate_name(target))
        train, test = _split(labels, held_out, seed)
        model.fit(table.iloc[train], labels.iloc[train])
        training = _score(model, table.iloc[train], labels.iloc[train])
        unseen = _score(model, table.iloc[test], labels.iloc[test]) if len(test) else None
    except ValueError as error:
        raise P2CError(f"nothing can be learned: {one_line(error)}") from None
    program = model.to_program(decimals=None)
    rules, literals = count_literals(program)
    text = render(name_missing(program, domain_from_frame(table)))
    name = predicate_name(target)
    return Learned(name, wanted, others[0], text, rules, literals, training, unseen)


def describe_problem(
    learned: Learned,
    frame: pd.DataFrame,
    *,
    name: str,
    wanted: str | None = None,
    scale: Scale = "range",
    said: Mapping[str, Mapping[str, Any]] | None = None,
    origin: str = "",
) -> dict[str, Any]:
    """Return the problem of reaching a class, that of the rules unless `wanted` names the other one.

    `said` has keys of features, such as their `action`, by the names of their columns; `origin` is what the table goes by.
    """
    known = (learned.positive, learned.other)
    if wanted is not None and wanted not in known:
        raise P2CError(f"no class '{wanted}'; {suggestion(wanted, known)}")
    if not learned.text:
        raise P2CError(
            "no rule was learned, so there is no problem to describe: try a smaller tail"
        )
    features = domain_from_frame(frame, scale=scale)
    for column, keys in (said or {}).items():
        known_as = predicate_name(find_column(frame, column, source=origin or "the table"))
        features[known_as] = said_over(features[known_as], keys)
    atom = Atom(learned.target, (PERSON, Constant(learned.positive)))
    reached = wanted is None or wanted == learned.positive
    return {
        "name": name,
        "goal": render_atom(atom) if reached else render_literal(Not(atom)),
        "source": learned.source | ({"name": origin} if origin else {}),
        "rules": f"{learned.text}\n",
        "features": features,
    }


def outcomes_of(column: pd.Series) -> list[str]:
    """Return the classes of a column in order, as `learn_decision` names them."""
    known = tidy_frame(column.to_frame()).iloc[:, 0].dropna()
    return sorted({str(plain_value(each)) for each in known.unique()})


def _labels(column: pd.Series, positive: str | None) -> tuple[pd.Series, str]:
    """Return the two classes as text and the one that the rules define; what is not `positive` is one class."""
    holes = int(column.isna().sum())
    if holes:
        raise P2CError(
            f"column '{column.name}': {counted(holes, 'row')} without a class: leave out what has none"
        )
    labels = tidy_frame(column.to_frame()).iloc[:, 0].map(plain_value).map(str)
    classes = sorted(set(labels))
    shown = suggestion("", classes)
    if positive is not None and positive not in classes:
        hint = suggestion(positive, classes)
        raise P2CError(f"column '{column.name}': no class '{positive}'; {hint}")
    if len(classes) < 2:
        raise P2CError(f"column '{column.name}': expected two classes or more; {shown}")
    if positive is None and len(classes) > 2:
        raise P2CError(
            f"column '{column.name}': name the class that the rules define with --positive; {shown}"
        )
    chosen = positive or classes[1]
    if len(classes) > 2:
        labels = labels.where(labels == chosen, f"not {chosen}")
    return labels, chosen


def _refuse_few(labels: pd.Series, target: str) -> None:
    """Refuse a table of which nothing could be learned and measured."""
    if len(labels) < FEWEST:
        raise P2CError(
            f"{counted(len(labels), 'row')}: too few to learn from and to measure on, at least {FEWEST} are needed"
        )
    counts = labels.value_counts()
    rarest = str(counts.index[-1])
    if counts.iloc[-1] < FEWEST_OF_A_CLASS:
        raise P2CError(
            f"column '{target}': the class '{rarest}' is there in {counted(int(counts.iloc[-1]), 'row')};"
            f" at least {FEWEST_OF_A_CLASS} are needed"
        )


def _split(
    labels: pd.Series, held_out: float, seed: int
) -> tuple[NDArray[Any] | list[int], NDArray[Any] | list[int]]:
    places = list(range(len(labels)))
    if not held_out:
        return places, []
    least = labels.nunique()
    size = min(max(ceil(held_out * len(labels)), least), len(labels) - least)
    train, test = train_test_split(places, test_size=size, random_state=seed, stratify=labels)
    return train, test


def _score(model: FoldSE, table: pd.DataFrame, labels: pd.Series) -> Score:
    predicted = model.predict(table)
    precision, recall, f1, _ = precision_recall_fscore_support(
        labels, predicted, pos_label=model.positive, average="binary", zero_division=0.0
    )
    accuracy = float(accuracy_score(labels, predicted))
    return Score(len(labels), accuracy, float(precision), float(recall), float(f1))
