"""Reasons of a model, tried: the values that are told force the refusal, and none of them can be spared.

python -m benchmarks.reasons                     504 refused people of Adult and German, three models each
python -m benchmarks.reasons --rows 10           fewer of them

For each person 10,000 random completions of the told values, drawn from the domains, are put to the model itself, which must
refuse them all. That no completion at all is accepted was proved when the values were chosen; it is proved once more by the
search for plans, which shares no bound with that, as far as `--limit` seconds go. With any one of the values let go, a completion is
found that the model itself accepts; a set without more of them forces no more, so no proper subset does.
"""

from __future__ import annotations

import argparse
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from benchmarks.clock import processor_time
from benchmarks.proved import MODELS
from benchmarks.record import recorded
from benchmarks.verified import DATA, pipeline
from p2c._blackbox.forcing import accepted_beside
from p2c._plan.outcome import GaveUp, Infeasible
from p2c._plan.planner import find_plan
from p2c._plan.search.best_first import Limits
from p2c.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from p2c._spec.row import State

DRAWN = 10_000


class Trial:
    """A model whose reasons are tried."""

    def __init__(self, name: str, kind: str) -> None:
        data = DATA[name]()
        cut = len(data.frame) * 4 // 5
        self.model = pipeline(MODELS[kind]()).fit(data.frame[:cut], data.label[:cut])
        self.recourse = Problem.from_model(self.model, data.frame[:cut], desired=data.desired)
        self.refused = data.frame[self.model.predict(data.frame) != data.desired]
        assert self.recourse is not None
        self.theory = self.recourse.theory

    def read(self, row: pd.Series) -> State:
        assert self.recourse is not None
        return self.recourse.read_row(row)

    def accepted(self, states: pd.DataFrame) -> Any:
        """Tell of each state whether the model itself accepts it."""
        return self.recourse.decide(states)

    def completions(self, state: State, held: Sequence[str], seed: int) -> pd.DataFrame:
        """Return states with some values held and all others drawn from their domains."""
        chance = np.random.default_rng(seed)
        columns: dict[str, Any] = {}
        for feature in self.theory.features:
            drawn = chance.integers(feature.domain.size, size=DRAWN)
            places, which = np.unique(drawn, return_inverse=True)
            values = np.array([feature.domain.value(int(place)) for place in places], dtype=object)
            own = feature.name in held
            columns[feature.name] = [state[feature.name]] * DRAWN if own else values[which]
        return self.table(columns)

    def table(self, states: Any) -> pd.DataFrame:
        """Return states as a table with the types of the data."""
        return pd.DataFrame(states).astype(self.refused.dtypes[list(self.theory.feature)])

    def proved_again(self, row: pd.Series, held: Sequence[str], limit: float) -> bool:
        """Tell whether the search for plans proves that nobody with some values is accepted; all others are free to change."""
        assert self.recourse is not None
        fixed = self.recourse.restricted(dict.fromkeys(held, "fixed"))
        plan = find_plan(fixed.compiled, self.read(row), Limits.within(limit))
        assert isinstance(plan, Infeasible | GaveUp)
        return isinstance(plan, Infeasible)


def measure(name: str, kind: str, *, rows: int, limit: float, seed: int) -> tuple[str, int]:
    """Return one line on a model of a data set, and how many people it tells of."""
    trial = Trial(name, kind)
    people = trial.refused.sample(min(rows, len(trial.refused)), random_state=seed)
    _ = trial.recourse.why(people.iloc[0]).reasons
    forced = again = minimal = 0
    sizes, times = [], []
    for place, (_, row) in enumerate(people.iterrows()):
        held, seconds = processor_time(lambda row=row: trial.recourse.why(row).reasons)
        assert held is not None
        sizes.append(len(held))
        times.append(1000 * seconds)
        state = trial.read(row)
        forced += not trial.accepted(trial.completions(state, held, place)).any()
        again += trial.proved_again(row, held, limit)
        rests = [[name for name in held if name != each] for each in held]
        ends = [accepted_beside(trial.theory, state, rest) for rest in rests]
        found = [end for end in ends if end is not None]
        kept = all(
            end[name] == state[name]
            for rest, end in zip(rests, found, strict=True)
            for name in rest
        )
        minimal += len(found) == len(held) and kept and trial.accepted(trial.table(found)).all()
    return (
        f"{name:7} {kind:10} {len(people):4} people: {forced} forced on {DRAWN} completions each, {again} proved again by the "
        f"search for plans, {minimal} without a proper subset that forces; {min(sizes)} to {max(sizes)} values; "
        f"median {median(times):.0f} ms, most {max(times):.0f} ms"
    ), len(people)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=84)
    parser.add_argument("--limit", type=float, default=2.0)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    total = 0
    for name in DATA:
        for kind in MODELS:
            line, people = measure(name, kind, rows=given.rows, limit=given.limit, seed=given.seed)
            total += people
            print(line, flush=True)
    print(f"{total} people in all")


if __name__ == "__main__":
    recorded("reasons", main)
