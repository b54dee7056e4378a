"""Models of every reader as the goal of the search, against the slow planner that asks the models themselves."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    AdaBoostClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from p2c._learn.model import Read, read
from p2c._learn.model.points import load_points
from p2c._learn.model.read_model import ReadModel
from p2c._learn.tables.view import feature_names
from p2c.errors import P2CError
from p2c.problem import Problem
from tests.oracle import best_plan
from tests.plan.test_agreement import plan_differences
from tests.strategies import seeded_problems

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from p2c._rules.theory import Theory
    from p2c._spec.feature import Feature

ROWS = 120


def _piped(estimator: Any, table: pd.DataFrame, y: Any, _: Path) -> Any:
    """Return an estimator behind what tables with words and gaps go through, fitted."""
    words = [name for name in table if table[name].dtype == object]
    figures = [name for name in table if name not in words]
    filled = make_pipeline(
        SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore")
    )
    columns = make_column_transformer(
        (filled, words), (SimpleImputer(), figures), sparse_threshold=0
    )
    return make_pipeline(columns, estimator).fit(table, y)


def _categorical(estimator: Callable[[], Any], table: pd.DataFrame, y: Any, _: Path) -> Any:
    words = {name: "category" for name in table if table[name].dtype == object}
    return estimator().fit(table.astype(words), y)


def _histogram() -> Any:
    return HistGradientBoostingClassifier(
        max_iter=8, min_samples_leaf=3, categorical_features="from_dtype"
    )


def _xgboost() -> Any:
    xgboost = pytest.importorskip("xgboost")
    return xgboost.XGBClassifier(n_estimators=10, max_depth=3, enable_categorical=True, n_jobs=1)


def _lightgbm() -> Any:
    lightgbm = pytest.importorskip("lightgbm")
    return lightgbm.LGBMClassifier(
        n_estimators=10,
        num_leaves=6,
        min_child_samples=3,
        min_data_per_group=3,
        verbose=-1,
        n_jobs=1,
    )


def _catboost(table: pd.DataFrame, y: Any, _: Path) -> Any:
    catboost = pytest.importorskip("catboost")
    words = [name for name in table if table[name].dtype == object]
    model = catboost.CatBoostClassifier(
        iterations=10, depth=3, cat_features=words, verbose=0, allow_writing_files=False,
        thread_count=1,
    )  # fmt: skip
    return model.fit(table, y)


def _ebm(table: pd.DataFrame, y: Any, _: Path) -> Any:
    glassbox = pytest.importorskip("interpret.glassbox")
    model = glassbox.ExplainableBoostingClassifier(
        n_jobs=1, outer_bags=2, max_rounds=40, interactions=1
    )
    return model.fit(table, y)


def _binned(table: pd.DataFrame, y: Any, _: Path) -> Any:
    optbinning = pytest.importorskip("optbinning")
    words = [name for name in table if table[name].dtype == object]
    process = optbinning.BinningProcess(list(table.columns), categorical_variables=words)
    card = optbinning.Scorecard(
        binning_process=process, estimator=LogisticRegression(), scaling_method="min_max",
        scaling_method_params={"min": 300, "max": 850},
    )  # fmt: skip
    return card.fit(table, y)


def _card(table: pd.DataFrame, y: Any, folder: Path) -> Any:
    """Return a card of points with some cuts and some words of the table."""
    rng = random.Random(len(table.columns) + int(np.sum(y)))
    lines = ["feature,from,to,points", ",100,,20"]
    for name, column in table.items():
        known = sorted(column.dropna().unique())
        if column.dtype == object and all(str(each).isdigit() for each in known):
            pass  # Words that look like numbers would be taken for ranges.
        elif column.dtype == object:
            lines += [f'{name},"{each}",,{rng.randint(0, 60)}' for each in known]
        else:
            cut = rng.choice(known)
            lines += [f"{name},,{cut},{rng.randint(0, 60)}", f"{name},{cut},,{rng.randint(0, 60)}"]
        lines.append(f"{name},,,{rng.randint(0, 60)}")
    path = folder / "card.csv"
    path.write_text("\n".join(lines))
    return load_points(path)


MODELS: dict[str, Any] = {
    "tree": partial(_piped, DecisionTreeClassifier(max_depth=4, random_state=0)),
    "forest": partial(_piped, RandomForestClassifier(8, max_depth=4, random_state=0)),
    "extra": partial(_piped, ExtraTreesClassifier(8, max_depth=4, random_state=0)),
    "boosted": partial(_piped, GradientBoostingClassifier(n_estimators=8, random_state=0)),
    "adaptive": partial(
        _piped,
        AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=6, random_state=0),
    ),
    "histogram": partial(_categorical, _histogram),
    "xgboost": partial(_categorical, _xgboost),
    "lightgbm": partial(_categorical, _lightgbm),
    "card": _card,
    "catboost": _catboost,
    "ebm": _ebm,
    "scorecard": _binned,
}


@dataclass(frozen=True, eq=False)
class Itself:
    """The model, asked about one state after the other."""

    model: Any
    table: pd.DataFrame
    reads: tuple[str, ...]
    _said: dict[tuple[Any, ...], bool] = field(default_factory=dict)

    def accepts(self, state: Mapping[str, Any]) -> bool:
        key = tuple(state.values())
        if key not in self._said:
            row = pd.DataFrame([dict(state)])[list(self.table)].astype(self.table.dtypes)
            self._said[key] = bool(np.asarray(self.model.predict(row)).ravel()[0] == 1)
        return self._said[key]


def _value(rng: random.Random, feature: Feature) -> Any:
    return feature.domain.value(rng.randrange(feature.domain.size))


def _table(rng: random.Random, features: tuple[Feature, ...]) -> pd.DataFrame:
    columns: dict[str, Any] = {}
    for feature in features:
        drawn = [_value(rng, feature) if rng.random() > 0.05 else None for _ in range(ROWS)]
        number = feature.kind.is_number
        columns[feature.name] = pd.Series(drawn, dtype=float if number else object)
    return pd.DataFrame(columns)


def _labels(rng: random.Random, table: pd.DataFrame) -> Any:
    points = np.array([rng.gauss(0, 0.3) for _ in range(len(table))])
    for _, column in table.items():
        codes = column.astype("category").cat.codes.to_numpy(dtype=float)
        points += rng.choice((-1, 1)) * np.where(codes < 0, 0, codes / max(codes.max(), 1))
    return (points > np.quantile(points, rng.uniform(0.55, 0.9))).astype(int)


class World(NamedTuple):
    """A problem whose model was read, the same with the model itself to be asked, and people."""

    problem: Problem
    theory: Theory
    people: list[dict[str, Any]]


def read_worlds(kind: str, seed: int, count: int, *, people: int, folder: Path) -> Iterator[World]:
    """Yield random problems in which a model of a kind decides, but for those whose model is not read.

    Estimators are fitted anew for each, so that each is to be used before the next.
    """
    for number, (document, row) in enumerate(seeded_problems(seed, count)):
        rng = random.Random(f"{kind} {seed} {number}")
        features = Problem.from_dict(document).theory.features
        table = _table(rng, features)
        words = [feature.name for feature in features if not feature.kind.is_number]
        if kind == "catboost":
            # It has no category for what is missing.
            table = table.fillna(dict.fromkeys(words, "none"))
        model = MODELS[kind](table, _labels(rng, table), folder)
        if kind in ("histogram", "xgboost", "lightgbm"):
            table = table.astype(dict.fromkeys(words, "category"))
        reading = read(model, table, desired=1, seed=number)
        if not isinstance(reading, Read):
            continue
        own = Itself(model, table, tuple(map(str, table)))
        called = dict(zip(feature_names(table.columns), map(str, table), strict=True))
        axes = [replace(axis, feature=called[axis.feature]) for axis in reading.score.axes]
        judge = ReadModel(replace(reading.score, axes=tuple(axes)), own.accepts)
        problem = Problem.from_dict({**document, "goal": "accepted(X)"}, model=judge)
        theory = replace(problem.theory, model=own)  # type: ignore[arg-type]
        others = [{f.name: _value(rng, f) for f in features} for _ in range(people - 1)]
        if kind != "catboost" or all(row[name] is not None for name in words):
            others.append(row)
        yield World(problem, theory, others)


def compare(kind: str, seed: int, count: int, people: int, folder: Path) -> dict[str, int]:
    """Compare plans and proofs of impossibility; return how many of each status there were, most models being read."""
    counts: dict[str, int] = {}
    models = 0
    for world in read_worlds(kind, seed, count, people=people, folder=folder):
        models += 1
        for person in world.people:
            _compare(world.problem, world.theory, person, counts)
    assert models >= count / 2
    return counts


def _compare(problem: Problem, theory: Theory, person: Any, counts: dict[str, int]) -> None:
    expected = best_plan(theory, problem.read_row(person))
    if expected is None:
        with pytest.raises(P2CError):
            problem.plan(person)
        return
    plan = problem.plan(person)
    assert not plan_differences(expected, plan.to_dict()), f"{problem.to_dict()!r}\n{person!r}"
    counts[plan.status] = counts.get(plan.status, 0) + 1


@pytest.mark.filterwarnings("ignore")  # of libraries of models that complain of each other
@pytest.mark.parametrize("kind", MODELS)
def test_plans_against_models_of_every_reader_are_those_of_brute_force(
    kind: str, tmp_path: Path
) -> None:
    assert sum(compare(kind, 31, 2, 6, tmp_path).values()) >= 5


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", MODELS)
def test_plans_against_models_of_every_reader_are_those_of_brute_force_on_many_more(
    kind: str, seed: int, tmp_path: Path
) -> None:
    assert sum(compare(kind, 700 + seed, 8, 7, tmp_path).values()) >= 20
