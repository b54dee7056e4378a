"""Which of a person's values force a model's no: compared with every completion of them."""

from __future__ import annotations

from itertools import combinations, product
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from p2c._blackbox.forcing import forcing
from p2c._explain.model_reasons import model_reasons
from p2c._explain.phrases import ENGLISH, GERMAN
from p2c._learn.model import Read
from p2c._plan.search.best_first import Limits
from p2c._server.tasks import Consultation, why
from p2c.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p2c._rules.theory import Theory

NAMES = ["income", "debt", "years", "job", "home"]
ESTIMATORS: dict[str, Any] = {
    "boosted": GradientBoostingClassifier(n_estimators=20, max_depth=3, random_state=0),
    "forest": RandomForestClassifier(20, max_depth=5, random_state=0),
    "logistic": LogisticRegression(),
}


class Judged:
    """A fitted model and its word on every state."""

    def __init__(self, estimator: Any, classes: int) -> None:
        values = product(range(7), range(5), range(4), ["clerk", "cook", "vet"], ["own", "rent"])
        self.table = pd.DataFrame(list(values), columns=NAMES)
        job = self.table["job"].map({"clerk": 1, "cook": 0, "vet": 2})
        wealth = self.table["income"] - self.table["debt"] + job * (self.table["years"] > 1)
        noise = np.random.default_rng(3).normal(size=len(self.table))
        told = wealth + (self.table["home"] == "own") + noise
        label = (told > 3).astype(int) + (classes == 3) * (told > 5)
        columns = make_column_transformer(
            (OneHotEncoder(), ["job", "home"]), remainder=StandardScaler()
        )
        model = make_pipeline(columns, estimator).fit(self.table, label)
        self.recourse = Problem.from_model(model, self.table, desired=classes - 1)
        self.accepted = model.predict(self.table) == classes - 1
        assert isinstance(self.recourse.reading, Read)

    @property
    def theory(self) -> Theory:
        assert self.recourse is not None
        return self.recourse.theory

    def refused(self, count: int) -> list[dict[Any, Any]]:
        """Return some people whom the model refuses."""
        some = self.table[~self.accepted].sample(count, random_state=1)
        return [dict(each) for each in some.to_dict("records")]

    def forces(self, row: dict[Any, Any], names: tuple[str, ...]) -> bool:
        """Tell whether every completion of some values is refused."""
        same = (self.table[list(names)] == [row[name] for name in names]).all(axis=1)
        return not self.accepted[same].any()

    def smallest(self, row: dict[Any, Any], among: list[str], beside: tuple[str, ...] = ()) -> int:
        sizes = range(len(among) + 1)
        sets = (some for size in sizes for some in combinations(among, size))
        return len(next(some for some in sets if self.forces(row, (*some, *beside))))


@pytest.fixture(scope="module", params=list(product(ESTIMATORS, (2, 3))), ids=str)
def judged(request: pytest.FixtureRequest) -> Judged:
    name, classes = request.param
    return Judged(ESTIMATORS[name], classes)


def names_of(theory: Theory, row: Mapping[str, Any], **how: Any) -> tuple[str, ...] | None:
    found = forcing(theory, row, **how)
    return None if found is None else found.names


def test_no_set_that_forces_a_refusal_is_smaller(judged: Judged) -> None:
    for row in judged.refused(10):
        found = names_of(judged.theory, row)
        assert found is not None
        assert judged.forces(row, found)
        assert len(found) == judged.smallest(row, NAMES)


def test_what_is_always_held_is_not_told_and_what_may_never_be_held_is_not_either(
    judged: Judged,
) -> None:
    told = 0
    for row in judged.refused(10):
        found = names_of(judged.theory, row, always=["income"], never=["job"])
        left = ["debt", "years", "home"]
        if not judged.forces(row, ("income", *left)):
            assert found is None
            continue
        assert found is not None
        assert set(found) <= set(left)
        assert judged.forces(row, ("income", *found))
        assert len(found) == judged.smallest(row, left, beside=("income",))
        told += 1
    assert told


def test_nothing_forces_the_refusal_of_somebody_who_is_accepted(judged: Judged) -> None:
    row = judged.table[judged.accepted].iloc[0].to_dict()
    assert names_of(judged.theory, row) is None


@pytest.mark.parametrize("kind", ["boosted", "forest"])
def test_where_time_ends_early_none_of_the_values_can_be_spared(kind: str) -> None:
    judged = Judged(ESTIMATORS[kind], 2)
    early = unsure = 0
    for row in judged.refused(12):
        fewest = forcing(judged.theory, row)
        assert fewest is not None
        assert fewest.smallest
        for nodes in range(1, 40):
            told = forcing(judged.theory, row, Limits(nodes=nodes))
            if told is None:
                early += 1
                continue
            found, smallest = told
            assert judged.forces(row, found)
            assert not any(
                judged.forces(row, tuple(name for name in found if name != each)) for each in found
            )
            assert len(found) == len(fewest.names) or not smallest
            unsure += not smallest
    assert early
    assert unsure


def test_reasons_say_where_fewer_values_may_do(monkeypatch: pytest.MonkeyPatch) -> None:
    judged = Judged(ESTIMATORS["forest"], 2)
    (row,) = judged.refused(1)
    whole = model_reasons(judged.theory, row)
    assert whole is not None
    assert whole.to_dict()["smallest"] is True
    assert whole.sentences()[0].text == ENGLISH.model_forced
    nodes = next(
        count
        for count in range(1, 200)
        if (told := forcing(judged.theory, row, Limits(nodes=count))) and not told.smallest
    )
    monkeypatch.setattr("p2c._explain.model_reasons.MOST_STATES", nodes)
    short = model_reasons(judged.theory, row)
    assert short is not None
    assert short.to_dict()["smallest"] is False
    assert short.sentences()[0].text == ENGLISH.model_forced_perhaps
    assert short.sentences(GERMAN)[0].text == GERMAN.model_forced_perhaps


def test_reasons_keep_to_a_time_limit() -> None:
    judged = Judged(ESTIMATORS["forest"], 2)
    (row,) = judged.refused(1)
    assert judged.recourse.why(row, time_limit=0).reasons is None
    told = model_reasons(judged.theory, row, time_limit=0)
    assert told is not None
    assert told.forcing is None
    answer: Any = judged.recourse.why(row).reasons
    assert answer
    assert answer.smallest
    assert judged.recourse is not None
    asked = Consultation(judged.recourse, {str(name): each for name, each in row.items()})
    assert why(asked, {"time_limit": 0})["model"]["forcing"] is None
    assert why(asked, {"time_limit": 60})["model"]["forcing"] == list(answer)


def test_a_value_that_the_model_was_not_read_for_is_asked_about() -> None:
    judged = Judged(ESTIMATORS["boosted"], 2)
    row = {**judged.refused(1)[0], "income": 2.5}
    found = names_of(judged.theory, row)
    assert found is not None

    def forces(names: tuple[str, ...]) -> bool:
        held = {name: row[name] for name in names}
        return not judged.recourse.decide(judged.table.assign(**held)).any()

    assert forces(found)
    assert not any(forces(tuple(name for name in found if name != each)) for each in found)
