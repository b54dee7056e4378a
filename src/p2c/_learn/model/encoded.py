"""A pipeline asked about single rows: what its transformers make of a value is remembered, its last step is asked anew.

Transformers that are known to work column by column make the same of a value whatever the rest of the row is. They take ten
times as long about a single row as the model behind them.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from p2c._learn.model.asking import SAMPLE, answering, asked_model
from p2c._learn.model.readers import reads_directly
from p2c._learn.model.stages import dense

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from p2c._learn.model.arrays import Mask
    from p2c._learn.model.asking import AskedModel, ModelAnswers
    from p2c._learn.model.stages import Stage

    Key = tuple[int, type, Any]

_log = logging.getLogger(__name__)

KEPT = 100_000
"""How many values are remembered before all are forgotten."""
ALONE = 100
"""How many rows of the table are put together from values that were transformed apart from their rows."""
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
        """Return rows as the input of the last step."""
        if len(self._known) > KEPT:
            self._known.clear()
        keys = [_keys(cells) for cells in rows]
        unknown = {
            key: cell
            for cells, own in zip(rows, keys, strict=True)
            for cell, key in zip(cells, own, strict=True)
            if key not in self._known
        }
        if unknown:
            self._learn_cells(unknown)
        return self.as_input(np.array(list(map(self._row, keys))))

    def as_input(self, matrix: NDArray[np.float64]) -> Any:
        """Return a matrix in the form and precision of the rows.

        Rows may be sparse or in single precision; sums in the same form round alike.
        """
        return self._shape(matrix.astype(self._kind, copy=False))

    @cached_property
    def _kind(self) -> Any:
        kind = self.stage.matrix(self.stage.bench.frame.head(1)).dtype
        return kind if np.issubdtype(kind, np.floating) else np.float64

    @cached_property
    def _shape(self) -> Callable[[Any], Any]:
        whole = self.stage.run(self.stage.bench.frame.head(1))
        return type(whole) if self.stage.is_sparse else np.asarray

    def _row(self, keys: list[Key]) -> NDArray[np.float64]:
        row = self._base.copy()
        for columns, key in zip(self._columns, keys, strict=True):
            row[columns] = self._known[key]
        return row

    def _learn_cells(self, unknown: Mapping[Key, Any]) -> None:
        """Run the transformers that read unknown cells, and no others.

        Cells of one type go together, for the type of a column may depend on all its cells.
        """
        by_type: defaultdict[type, defaultdict[int, list[Key]]] = defaultdict(
            lambda: defaultdict(list)
        )
        for key in unknown:
            by_type[key[1]][key[0]].append(key)
        for by_place in by_type.values():
            self._learn_columns(
                {p: [(key, unknown[key]) for key in keys] for p, keys in by_place.items()}
            )

    def _learn_columns(self, unknown: Mapping[int, list[tuple[Key, Any]]]) -> None:
        view, count = self.stage.bench.view, max(map(len, unknown.values()))
        frame = self._somebody.iloc[[0] * count].reset_index(drop=True)
        for place, pairs in unknown.items():
            cells = [cell for _, cell in pairs]
            spare = cells[-1:] * (count - len(cells))
            frame[view.columns[place].name] = view.column(place, [*cells, *spare])
        wanted = np.concatenate([self._columns[place] for place in unknown])
        made = np.repeat(self._base[None, :], count, axis=0)
        with answering():
            for where, stage in self._beside:
                if ((wanted >= where.start) & (wanted < where.stop)).any():
                    made[:, where] = stage.matrix(frame)
        for pairs in unknown.values():
            for (key, _), row in zip(pairs, made, strict=False):
                self._known[key] = row[self._columns[key[0]]]

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

    def composed(self, frame: pd.DataFrame) -> NDArray[np.float64]:
        """Return a table at the last step, and remember its transformed values.

        Each value is transformed as in the last row that has it.
        """
        with answering():
            matrix = self.stage.matrix(frame).astype(np.float64)
        made = np.repeat(self._base[None, :], len(frame), axis=0)
        for place, (view, columns) in enumerate(
            zip(self.stage.bench.view.columns, self._columns, strict=True)
        ):
            keys = [_key(place, cell) for cell in frame[view.name].tolist()]
            last = {key: number for number, key in enumerate(keys)}
            if len(columns):
                rows = np.array([last[key] for key in keys])
                made[:, columns] = matrix[np.ix_(rows, columns)]
            room = max(KEPT // len(self._columns), 1)
            for key, number in islice(last.items(), room):
                self._known[key] = matrix[number, columns]
        return made

    def forget(self) -> None:
        """Forget all values."""
        self._known.clear()


def _keys(cells: Sequence[Any]) -> list[Key]:
    return [_key(place, cell) for place, cell in enumerate(cells)]


def _key(place: int, cell: Any) -> Key:
    """Return the key of a cell in memory.

    Missing values share the key `None`, since NaN never equals itself.
    """
    missing = cell is None or cell != cell  # noqa: PLR0124
    return place, type(cell), None if missing else cell


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
    try:
        sample = stage.run(frame.head(SAMPLE))
        wanted, other = asked.desired, asked.other
        made = EncodedModel(
            stage, asked_model(last, wanted, other, threshold, sample=sample, sure=SURE)
        )
        some = frame.iloc[np.unique(np.linspace(0, len(frame) - 1, ALONE).astype(int))]
        alone = made.answer(list(zip(*(some[each.name].tolist() for each in columns), strict=True)))
        made.forget()
        rows = made.as_input(made.composed(frame))
        own, ours = asked.answer(frame), made.last.answer(rows)
        same = np.array_equal(made.last.accepts(rows), own.accepted)
        same &= made.is_side_by_side(sample) and _same_answers(ours, own)
        same &= _same_answers(alone, asked.answer(some))
    except Exception:
        # The steps are somebody else's code: whatever they raise, the pipeline is then asked as a whole.
        _log.debug("a pipeline is not asked by its last step", exc_info=True)
        return None
    return made if same else None


def _same_answers(one: ModelAnswers, other: ModelAnswers) -> bool:
    return np.array_equal(one.accepted, other.accepted) and _alike(one.told, other.told)


def _alike(one: Any, other: Any) -> bool:
    """Tell whether two tables of scores are the same, or neither is there."""
    return one is other if one is None or other is None else bool(np.array_equal(one, other))
