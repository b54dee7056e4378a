"""A pipeline asked about single rows: what its transformers make of a value is remembered, its last step is asked anew.

Transformers that are known to work column by column make the same of a value whatever the rest of the row is. They take ten
times as long about a single row as the model behind them.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from p2c.learn.model.asking import SAMPLE, answering, asked_model
from p2c.learn.model.readers import reads_directly
from p2c.learn.model.stages import dense

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from p2c.learn.model.arrays import Mask
    from p2c.learn.model.asking import AskedModel, ModelAnswers
    from p2c.learn.model.stages import Stage

    Key = tuple[int, type, Any]

_log = logging.getLogger(__name__)

KEPT = 100_000
"""How many values are remembered before all are forgotten."""
SURE = 1e-6
"""How far, in log odds or a score's own units, a class must lead for no rounding to hide another.

A model that is read names the class that leads in what it tells; such a lead needs no second question.
"""


@dataclass(frozen=True, eq=False, repr=False)
class EncodedModel:
    """The last step of a pipeline, with the stage before it: rows are put together from the columns of their values."""

    stage: Stage
    last: AskedModel
    _known: dict[Key, NDArray[np.float64]] = field(default_factory=dict)

    @cached_property
    def _columns(self) -> list[NDArray[np.intp]]:
        """Return for each column of the table the columns before the last step that come from it."""
        sources = np.array([-1 if e.source is None else e.source for e in self.stage.columns])
        places = range(len(self.stage.bench.view.columns))
        return [np.flatnonzero(sources == place) for place in places]

    @cached_property
    def _base(self) -> NDArray[np.float64]:
        """Return a row with what does not change in it."""
        made: NDArray[np.float64] = self.stage.matrix(self.stage.bench.frame.head(1))[0].astype(
            float
        )
        return made

    def accepts(self, rows: Sequence[Sequence[Any]]) -> Mask:
        """Tell of rows whether the model accepts them; each has a cell for every column, as the table has it."""
        return self.last.accepts(self._rows(rows))

    def answer(self, rows: Sequence[Sequence[Any]]) -> ModelAnswers:
        """Return all that the model says of rows, how near to a yes they are among it."""
        return self.last.answer(self._rows(rows))

    def _rows(self, rows: Sequence[Sequence[Any]]) -> Any:
        """Return rows as the last step is given them, sparse or single-precision where they come so: sums round alike then."""
        made = np.array([self._row(cells) for cells in rows])
        return self._shape(made.astype(self._kind, copy=False))

    @cached_property
    def _kind(self) -> Any:
        kind = self.stage.matrix(self.stage.bench.frame.head(1)).dtype
        return kind if np.issubdtype(kind, np.floating) else np.float64

    @cached_property
    def _shape(self) -> Callable[[Any], Any]:
        whole = self.stage.run(self.stage.bench.frame.head(1))
        return type(whole) if self.stage.is_sparse else np.asarray

    def _row(self, cells: Sequence[Any]) -> NDArray[np.float64]:
        keys = _keys(cells)
        if len(self._known) > KEPT:
            self._known.clear()
        unknown = [place for place, key in enumerate(keys) if key not in self._known]
        if unknown:
            self._learn_cells(cells, keys, unknown)
        row = self._base.copy()
        for columns, key in zip(self._columns, keys, strict=True):
            row[columns] = self._known[key]
        return row

    def _learn_cells(self, cells: Sequence[Any], keys: list[Key], unknown: list[int]) -> None:
        """Have only those transformers run that read cells which are not known; the other cells are somebody else's."""
        view = self.stage.bench.view
        frame = self._somebody.copy(deep=False)
        for place in unknown:
            frame[view.columns[place].name] = view.column(place, [cells[place]])
        wanted = np.concatenate([self._columns[place] for place in unknown])
        made = self._base.copy()
        with answering():
            for where, stage in self._beside:
                if ((wanted >= where.start) & (wanted < where.stop)).any():
                    made[where] = stage.matrix(frame)[0]
        self._keep(keys, unknown, made)

    @cached_property
    def _somebody(self) -> pd.DataFrame:
        names = [each.name for each in self.stage.bench.view.columns]
        return self.stage.bench.frame[names].head(1).reset_index(drop=True)

    @cached_property
    def _beside(self) -> tuple[tuple[slice, Stage], ...]:
        return self.stage.beside or ((slice(0, len(self.stage.columns)), self.stage),)

    def is_side_by_side(self, whole: Any) -> bool:
        """Tell whether the parts that can be run alone make of the first rows of the table what all of them made."""
        matrix, frame = dense(whole), self.stage.bench.frame.head(SAMPLE)
        return all(
            np.array_equal(stage.matrix(frame), matrix[:, where], equal_nan=True)
            for where, stage in self.stage.beside
        )

    def learn(self, frame: pd.DataFrame, rows: Iterable[Sequence[Any]]) -> None:
        """Have the transformers run over a table, whose rows are given by their cells, too."""
        with answering():
            matrix = self.stage.matrix(frame).astype(np.float64)
        for cells, made in zip(rows, matrix, strict=True):
            keys = _keys(cells)
            self._keep(keys, range(len(keys)), made)

    def _keep(self, keys: list[Key], places: Iterable[int], made: NDArray[np.float64]) -> None:
        for place in places:
            self._known[keys[place]] = made[self._columns[place]]


def _keys(cells: Sequence[Any]) -> list[Key]:
    """Return what each cell is remembered by; of what is not a number, no two are equal."""
    gone = (cell is None or cell != cell for cell in cells)  # noqa: PLR0124
    return [
        (place, type(cell), None if missing else cell)
        for place, (cell, missing) in enumerate(zip(cells, gone, strict=True))
    ]


def encoded_model(
    model: Any, stage: Stage, asked: AskedModel, threshold: float | None
) -> EncodedModel | None:
    """Return a pipeline to be asked by its last step; None where not all of its steps are known to allow it.

    The last step gives the pipeline's decision on every row of the table, or it is not used.
    """
    last = model.steps[-1][1] if type(model).__name__ == "Pipeline" else None
    plain = reads_directly(last) and not hasattr(last, "feature_names_in_")
    if not plain or any(each.tried for each in stage.columns):
        return None
    frame, columns = stage.bench.frame, stage.bench.view.columns
    rows = list(zip(*(frame[each.name].tolist() for each in columns), strict=True))
    try:
        sample = stage.run(frame.head(SAMPLE))
        wanted, other = asked.desired, asked.other
        made = EncodedModel(
            stage, asked_model(last, wanted, other, threshold, sample=sample, sure=SURE)
        )
        made.learn(frame, rows)
        own, ours = asked.answer(frame), made.answer(rows)
        same = np.array_equal(made.accepts(rows), own.accepted) and made.is_side_by_side(sample)
        same &= np.array_equal(ours.accepted, own.accepted) and _alike(ours.told, own.told)
    except Exception:
        # The steps are somebody else's code: whatever they raise, the pipeline is then asked as a whole.
        _log.debug("a pipeline is not asked by its last step", exc_info=True)
        return None
    return made if same else None


def _alike(one: Any, other: Any) -> bool:
    """Tell whether two tables of scores are the same, or neither is there."""
    return one is other if one is None or other is None else bool(np.array_equal(one, other))
