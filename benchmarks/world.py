"""What every method is given: a problem, the rows that a model learned from, the model, and the people it refuses.

The model is a gradient boosting classifier of the problem's own features, fitted on the paper's training fold; the people
are rows of the held-out fold that both the model and the problem's rules refuse. Where these are few, as on German, those
of the training fold follow. The paper's loan has no data: its people are drawn at random, by its causal rule.
"""

from __future__ import annotations

import random
import tomllib
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.folds import held_out_fold, training_fold
from p2c import Problem, datasets
from p2c._rules.evaluate import goal_holds
from p2c._spec.feature import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from p2c._spec.feature import Feature, Value

    Matrix = NDArray[np.float64]

State = dict[str, "Value"]
DESIRED: dict[str, tuple[str, ...]] = {
    "adult": (">50K",),
    "german": ("good",),
    "cars": ("acc", "good", "vgood"),
}


ENOUGH = 200
"""Refused people of the held-out fold below which the training fold's are added."""


class Coder:
    """States as numbers and back: a code a feature, and the columns that a model reads.

    The code of a number is the number itself, that of a category its place in the domain; a model reads a number as it is
    and a category as one column a value.
    """

    def __init__(self, features: Sequence[Feature]) -> None:
        self.features = tuple(features)
        self.columns: list[str] = []
        self.columns_of: dict[str, list[str]] = {}
        for feature in self.features:
            values = range(feature.domain.size) if feature.is_listed else [""]
            own = [
                f"{feature.name}_{value}" if feature.is_listed else feature.name for value in values
            ]
            self.columns_of[feature.name] = own
            self.columns += own

    def codes(self, states: Sequence[Mapping[str, Any]]) -> Matrix:
        """Return a row of codes for each state."""
        table = [[float(f.order(state[f.name])) for f in self.features] for state in states]
        return np.array(table, dtype=float).reshape(len(states), len(self.features))

    def state(self, codes: Sequence[float] | Matrix) -> State:
        """Return the state that a row of codes stands for."""
        found: State = {}
        for feature, code in zip(self.features, codes, strict=True):
            whole = feature.kind is not Kind.FLOAT
            number = round(float(code)) if whole else float(code)
            found[feature.name] = feature.domain.value(int(number)) if feature.is_listed else number
        return found

    def spread(self, codes: Matrix) -> Matrix:
        """Return the columns that a model reads."""
        blocks = []
        for place, feature in enumerate(self.features):
            column = codes[:, [place]]
            if feature.is_listed:
                column = (column == np.arange(feature.domain.size)).astype(float)
            blocks.append(column)
        return np.hstack(blocks)

    def away(self, start: Matrix, end: Matrix) -> Matrix:
        """Return the columns of an end whose numbers are whole, rounded away from where they start.

        A search that stops at a threshold between two whole numbers means the one past it.
        """
        return np.where(end > start, np.ceil(end), np.floor(end))

    def gathered(self, columns: Sequence[float] | Matrix) -> State:
        """Return the state that a row of model columns stands for."""
        codes, at = [], 0
        for feature in self.features:
            width = len(self.columns_of[feature.name])
            block = np.asarray(columns[at : at + width])
            codes.append(float(block.argmax()) if feature.is_listed else float(block[0]))
            at += width
        return self.state(codes)


class Classifier:
    """A fitted classifier that is asked about tables of a problem's features; its classes are 0 and 1."""

    classes_ = np.array([0, 1])

    def __init__(self, coder: Coder, fitted: Any) -> None:
        self.coder, self.fitted = coder, fitted

    def score(self, codes: Matrix) -> NDArray[np.float64]:
        """Return the probability of the desired class for rows of codes."""
        found: NDArray[np.float64] = self.fitted.predict_proba(self.coder.spread(codes))[:, 1]
        return found

    def accepts(self, state: Mapping[str, Any]) -> bool:
        """Tell whether the model gives a state the desired class."""
        return bool(self.score(self.coder.codes([state]))[0] >= 0.5)

    def predict_proba(self, frame: pd.DataFrame) -> Matrix:
        """Return the probabilities of both classes for the rows of a table."""
        share = self.score(self._codes(frame))
        return np.column_stack([1 - share, share])

    def predict(self, frame: pd.DataFrame) -> NDArray[np.int64]:
        """Return 0 or 1 for each row of a table."""
        return (self.score(self._codes(frame)) >= 0.5).astype(int)

    def _codes(self, frame: pd.DataFrame) -> Matrix:
        columns = []
        for feature in self.coder.features:
            column = frame[feature.name]
            if feature.is_listed:
                column = column.astype(str).map(feature.places)
            columns.append(column.to_numpy(dtype=float))
        return np.column_stack(columns)


@dataclass(frozen=True)
class World:
    """A problem, the people a model learned from and whether they were accepted, the model, and people to help."""

    problem: Problem
    frame: pd.DataFrame
    accepted: NDArray[np.bool_]
    model: Classifier
    people: tuple[State, ...] = ()

    @cached_property
    def coder(self) -> Coder:
        """Return how states become numbers."""
        return self.model.coder

    @property
    def features(self) -> tuple[Feature, ...]:
        """Return the problem's features."""
        return self.problem.theory.features


def fit_world(
    problem: Problem, frame: pd.DataFrame, accepted: Any, *, seed: int = 0, fitted: Any = None
) -> World:
    """Return a world with a model fitted on a table, or one that is given."""
    from sklearn.ensemble import GradientBoostingClassifier

    coder = Coder(problem.theory.features)
    frame = frame[[feature.name for feature in coder.features]]
    accepted = np.asarray(accepted, dtype=bool)
    model = Classifier(coder, fitted)
    if fitted is None:
        table = coder.spread(model._codes(frame))
        model.fitted = GradientBoostingClassifier(random_state=seed).fit(table, accepted)
    return World(problem, frame, accepted, model)


def embedded(name: str) -> Problem:
    """Return a problem that comes with the package."""
    return Problem.from_dict(tomllib.loads(datasets.problem_text(name)))


@cache
def world(name: str) -> World:
    """Return the world of a data set or of the loan, its refused people in an order that is shuffled once."""
    problem = embedded(name)
    if name == "loan":
        train, test = drawn_applicants(seed=1), drawn_applicants(seed=2)
        made = fit_world(problem, train, [goal_holds(problem.theory, r) for r in _records(train)])
    else:
        train, test = training_fold(name), held_out_fold(name)
        made = fit_world(problem, train, train["label"].isin(DESIRED[name]))
    people = _refused(made, test)
    if len(people) < ENOUGH:
        people += _refused(made, train)
    return World(problem, made.frame, made.accepted, made.model, _different_first(people))


def drawn_applicants(seed: int, count: int = 2_000) -> pd.DataFrame:
    """Return applicants for the paper's loan, drawn at random so that each obeys its causal rule."""
    import pandas as pd

    chance = random.Random(seed)
    rows = []
    for _ in range(count):
        debt = chance.choice((0, chance.randrange(1, 50_000)))
        rows.append(
            {
                "age": chance.randint(18, 80),
                "debt": debt,
                "loan_duration": chance.randint(1, 60),
                "bank_balance": chance.randrange(120_000),
                "credit_score": chance.randint(300, 619) if debt else chance.randint(620, 850),
            }
        )
    return pd.DataFrame(rows)


def _records(frame: pd.DataFrame) -> list[State]:
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def _refused(made: World, fold: pd.DataFrame) -> list[State]:
    names = [feature.name for feature in made.features]
    refused = fold[names][made.model.predict(fold[names]) == 0]
    rows = [made.problem.read_row(row) for row in _records(refused)]
    people = [dict(row) for row in rows if not goal_holds(made.problem.theory, row)]
    random.Random(0).shuffle(people)
    return people


def _different_first(people: list[State]) -> tuple[State, ...]:
    """Put each state's first bearer before the people who repeat one; nobody is left out."""
    seen: set[tuple[Value, ...]] = set()
    first: list[State] = []
    again: list[State] = []
    for person in people:
        key = tuple(person.values())
        (again if key in seen else first).append(person)
        seen.add(key)
    return (*first, *again)
