"""Whether a model that was read is the model: both are put the same rows, and every answer must be the same.

The rows are those of the table, random ones over the ranges and categories, missing values among them where the model
takes them, and rows on both sides of every cut. Where the model tells its scores, those are compared as well, to within
its own rounding, so that a single wrong leaf is found even where no decision turns on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from p2c._learn.model.additive import ACCEPTED, UNSURE
from p2c.errors import P2CError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from p2c._learn.model.additive import AdditiveScore, ColumnCells
    from p2c._learn.model.arrays import Floats, Ints, Mask
    from p2c._learn.model.asking import AskedModel
    from p2c._learn.model.stages import Bench

RANDOM_ROWS = 10_000
NEAR_ROWS = 10_000
"""How many rows, at the least, are spread over the two sides of all cuts, so that bounds deep in a tree are met too."""
SHARE_MISSING = 0.05


@dataclass(frozen=True, slots=True)
class Conformance:
    """How a read model and the model itself compared.

    `rows` counts the rows of the table, `random` and `near` those made up; `unsure` how many scores were within rounding
    of the border, where the model is asked. `wrong` decisions and `off` scores are 0 in a model that is used.
    """

    rows: int
    random: int
    near: int
    unsure: int
    wrong: int
    off: int
    example: str = ""

    @property
    def holds(self) -> bool:
        """Tell whether every answer was the same."""
        return not self.wrong and not self.off

    def __str__(self) -> str:
        asked = self.rows + self.random + self.near
        if self.holds:
            return f"the same decision on {asked:,} rows, {self.unsure:,} of them too near the border to tell without asking"
        what = f"{self.wrong:,} decisions" if self.wrong else f"{self.off:,} scores"
        return f"what was read differs from the model in {what} on {asked:,} rows, first at {self.example}"


def compare(
    score: AdditiveScore,
    model: AskedModel,
    bench: Bench,
    *,
    own_scores: Callable[[pd.DataFrame], Floats],
    missing: Sequence[bool],
    seed: int = 0,
) -> Conformance:
    """Put the same rows to what was read and to the model."""
    rows = bench.frame
    random, near = made_up_rows(bench, score, missing=missing, seed=seed)
    unsure = wrong = off = 0
    example = ""
    for frame in (rows, random, near):
        if not len(frame):
            continue
        cells, numbers = score.locate(bench.view.table(frame))
        rulings, apart = _read_answers(score, cells, numbers, own_scores(frame))
        asked = model.answer(frame).accepted
        differs = (rulings != UNSURE) & ((rulings == ACCEPTED) != asked)
        unsure, wrong, off = (
            unsure + int((rulings == UNSURE).sum()),
            wrong + int(differs.sum()),
            off + int(apart.sum()),
        )
        if not example and (differs | apart).any():
            example = show_row(frame.iloc[int(np.flatnonzero(differs | apart)[0])])
    return Conformance(len(rows), len(random), len(near), unsure, wrong, off, example)


def made_up_rows(
    bench: Bench, score: AdditiveScore | None, *, missing: Sequence[bool], seed: int = 0
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return rows over the ranges and categories of a table and, where cuts are known, rows on both sides of each."""
    generator = np.random.default_rng(seed)
    random = _random_rows(bench, missing, generator)
    if score is None:
        return random, bench.frame.head(0)
    return random, _near_rows(score, bench, generator)


def features_with_gaps(model: AskedModel, bench: Bench) -> list[bool]:
    """Tell for each feature whether the model answers about a row that lacks it."""
    count = len(bench.view.columns)
    own = [bench.base[column.name] for column in bench.view.columns]
    rows = [
        [bench.gap(place) if at == place else own[place] for at in range(count)]
        for place in range(count)
    ]
    try:
        # Of one question about all of them the answer is the same, and it takes less time.
        model.answer(bench.vary(rows))
    except P2CError:
        return [_takes_missing(model, bench, place) for place in range(count)]
    return [True] * count


def _takes_missing(model: AskedModel, bench: Bench, place: int) -> bool:
    values: list[Any] = [None] * len(bench.view.columns)
    values[place] = [bench.gap(place)]
    try:
        model.answer(bench.vary(values))
    except P2CError:
        return False
    return True


def _read_answers(
    score: AdditiveScore, cells: Ints, numbers: Floats, own: Floats
) -> tuple[Ints, Mask]:
    """Return each row's ruling, and the rows whose scores differ from the model's.

    A difference counts if it is larger than rounding explains.
    """
    known = (cells >= 0).all(axis=1)
    rulings, apart = np.full(len(cells), UNSURE), np.zeros(len(cells), dtype=bool)
    if known.any():
        ours, slack = score.score(cells[known], numbers[known]), score.slack(numbers[known])
        rulings[known] = score.ruling(ours, slack)
        # An exact sum is divided and multiplied on its way through the model's own interface.
        allowed = slack + 1e-12 * max(score.magnitude, 1.0)
        apart[known] = (np.abs(ours - own[known]) > allowed[:, None]).any(axis=1)
    return rulings, apart


def show_row(row: pd.Series) -> str:
    """Return a row as text, to be named as an example."""
    return ", ".join(f"{name}={value!r}" for name, value in row.to_dict().items())


def _random_rows(
    bench: Bench, missing: Sequence[bool], generator: np.random.Generator
) -> pd.DataFrame:
    """Return rows drawn over the ranges and categories, with missing values where the model takes them."""
    values: list[Any] = []
    for place, column in enumerate(bench.view.columns):
        known = bench.frame[column.name].dropna()
        if column.is_number:
            low, high = bench.ends[place]
            drawn = generator.uniform(low, high, RANDOM_ROWS)
            own = known.to_numpy(dtype=np.float64)[generator.integers(len(known), size=RANDOM_ROWS)]
            whole = pd.api.types.is_integer_dtype(column.dtype)
            spread = np.round(drawn) if whole else drawn
            cells = np.where(generator.random(RANDOM_ROWS) < 0.5, own, spread).tolist()
        else:
            originals = [original for _, original in column.originals or ()] or [bench.gap(place)]
            cells = [
                originals[each] for each in generator.integers(len(originals), size=RANDOM_ROWS)
            ]
        if missing[place]:
            gone = generator.random(RANDOM_ROWS) < SHARE_MISSING
            cells = [
                bench.gap(place) if out else cell for cell, out in zip(cells, gone, strict=True)
            ]
        values.append(cells)
    return bench.vary(values)


def _near_rows(score: AdditiveScore, bench: Bench, generator: np.random.Generator) -> pd.DataFrame:
    """Return rows of the table with one feature after another on both sides of each of its cuts."""
    columns = {each.feature: each for each in bench.view.columns}
    sides = [(columns[axis.feature], _near(axis)) for axis in score.axes]
    total = sum(len(near) for _, near in sides)
    parts = []
    for column, near in sides:
        if len(near):
            values = np.repeat(near, -(-NEAR_ROWS // total))
            part = bench.frame.iloc[generator.integers(len(bench.frame), size=len(values))].copy()
            part[column.name] = bench.typed(column, values).to_numpy()
            parts.append(part)
    return pd.concat(parts, ignore_index=True) if parts else bench.frame.head(0)


def _near(axis: ColumnCells) -> NDArray[Any]:
    """Return the numbers on both sides of each cut of a feature."""
    if axis.uppers is None:
        return np.zeros(0)
    if axis.whole:
        return np.unique(np.concatenate([axis.uppers, axis.uppers + 1])).astype(np.int64)
    return np.concatenate([axis.uppers, np.nextafter(axis.uppers, np.inf)])
