"""The people of an audit with their answers and cells, and whom a model accepts."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from p2c._audit.intervals import is_missing
from p2c._plan.compiled.axis import OFF
from p2c._plan.compiled.bitsets import mask_of, numbers
from p2c._plan.compiled.person import place_person
from p2c._plan.compiled.transitions import Transitions
from p2c._plan.tables.frames import table_of
from p2c._rules.evaluate import clause_fires
from p2c._spec.feature import exact
from p2c._spec.row import read_value, with_computed
from p2c.errors import P2CError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import narwhals as nw

    from p2c._audit.intervals import Codes, Numbers, Rows
    from p2c._blackbox.judge import Ask
    from p2c._learn.model.read_model import ReadModel
    from p2c._plan.compiled.axis import Axis
    from p2c._plan.compiled.space import Space
    from p2c._plan.search.best_first import Limits
    from p2c._rules.theory import Classifier
    from p2c._spec.feature import Value
    from p2c._spec.row import State

    Texts = np.ndarray[Any, np.dtype[np.object_]]
    Boxes = tuple[int, ...]
    Words = np.ndarray[Any, np.dtype[np.uint64]]


WORD = 64


def as_read(model: Classifier | None) -> ReadModel | None:
    """Return a model that was read; None for rules, which need nothing of what reading models needs, and for one that is asked."""
    if model is None:
        return None
    from p2c._learn.model.read_model import ReadModel

    return model if isinstance(model, ReadModel) else None


@dataclass
class Known:
    """Boxes that were found out, a bit for each cell, so that a new one is held against all of them at once."""

    axis_of: Codes
    """The axis of each word of bits."""
    count: int = 0

    def __post_init__(self) -> None:
        self._rows: Words = np.zeros((0, len(self.axis_of)), dtype=np.uint64)

    @property
    def rows(self) -> Words:
        """Return the boxes in the order in which they were added."""
        return self._rows[: self.count]

    def add(self, box: Words) -> None:
        """Keep a box in the place of those that it holds."""
        kept = self.rows[((self.rows & ~box) != 0).any(axis=1)]
        if self.count == len(self._rows):
            self._rows = np.zeros((2 * self.count + 16, len(box)), dtype=np.uint64)
        self._rows[: len(kept)] = kept
        self._rows[len(kept)] = box
        self.count = len(kept) + 1

    def some_inside(self, box: Words) -> bool:
        """Tell whether one of them lies in a box."""
        return bool(((self.rows & ~box) == 0).all(axis=1).any())

    def rest(self, box: Words) -> Words | None:
        """Return a box with all of another one that is in none of the known ones; None where all of it is in them."""
        starts = np.flatnonzero(np.diff(self.axis_of, prepend=-1))
        while self.count:
            axes = np.logical_or.reduceat((box & ~self.rows) != 0, starts, axis=1)
            beyond = axes.sum(axis=1)
            if not beyond.min():
                return None
            # One that holds the box but for a single axis takes away what it has there.
            nearly = np.flatnonzero(beyond == 1)
            there = np.where(axes[nearly][:, self.axis_of], self.rows[nearly], np.uint64(0))
            narrower = box & ~np.bitwise_or.reduce(there, axis=0)
            if (narrower == box).all():
                break
            box = narrower
        return box


@dataclass
class Acceptance:
    """What a model accepts, asked box by box; a box is for each feature that the model reads the open cells, as bits."""

    judge: ReadModel
    state: Callable[[tuple[int, ...]], State]
    """Returns a state with given cells, for where the model itself has to be asked."""

    @cached_property
    def _words(self) -> list[int]:
        """Return how many words of bits each axis takes."""
        return [-(-axis.size // WORD) for axis in self.judge.score.axes]

    @cached_property
    def _refused(self) -> Known:
        return Known(np.repeat(np.arange(len(self._words)), self._words))

    @cached_property
    def _accepted(self) -> Known:
        return Known(self._refused.axis_of)

    def _packed(self, boxes: Boxes) -> Words:
        pairs = zip(boxes, self._words, strict=True)
        return np.frombuffer(b"".join(c.to_bytes(8 * n, "little") for c, n in pairs), dtype="<u8")

    def _unpacked(self, box: Words) -> Boxes:
        text, ends = box.astype("<u8").tobytes(), list(accumulate(self._words, initial=0))
        return tuple(int.from_bytes(text[8 * a : 8 * b], "little") for a, b in pairwise(ends))

    def some(self, boxes: Boxes, limits: Limits) -> bool:
        """Tell whether the model accepts anybody in a box; raise `LimitReached` where time ends."""
        whole = self._packed(boxes)
        if self._accepted.some_inside(whole):
            return True
        rest = self._refused.rest(whole)
        if rest is None:
            return False
        found = self._search(self._unpacked(rest), limits)
        if found is None:
            self._refused.add(whole)
        else:
            self._accepted.add(self._packed(tuple(1 << each for each in found)))
        return found is not None

    def _search(self, boxes: Boxes, limits: Limits) -> tuple[int, ...] | None:
        def accepts(cells: tuple[int, ...]) -> bool:
            return self.judge.accepts_cells(cells, partial(self.state, cells))

        return self.judge.votes.accepted(boxes, accepts, limits.check)


BANDS = 10
"""Into how many bands the scores of a model are put, with about as many people each."""


@dataclass(frozen=True)
class Answers:
    """What everybody was answered, as arrays in the order of the rows."""

    status: Texts
    cost: Numbers
    direct: Codes
    """How many actions of their own the plan has, and how many effects follow by themselves."""
    effects: Codes
    first: Texts
    """The feature of the first action; empty where there is none."""
    excepted: Rows
    unknown: Rows

    def having(self, *statuses: str) -> Rows:
        """Tell who has one of some statuses."""
        found: Rows = np.isin(self.status, statuses)
        return found

    @cached_property
    def refused(self) -> Rows:
        """Tell whom the decision refuses today."""
        return self.having("found", "infeasible", "gave_up")

    def __len__(self) -> int:
        return len(self.status)


def read_answers(table: Any) -> Answers:
    """Return the answers that `plan_many` or a batch wrote."""
    frame = table_of(table)
    for name in ("status", "cost"):
        if name not in frame.columns:
            raise P2CError(f"answers: no column '{name}': expected what plan_many or a batch wrote")
    size = len(frame)
    steps = _texts(frame, "steps", size)
    parsed = {text: _parsed(text) for text in set(steps)}
    each = [parsed[text] for text in steps]
    return Answers(
        np.array(_texts(frame, "status", size), dtype=object),
        np.array([np.nan if c is None else c for c in frame["cost"].to_list()], dtype=float),
        np.array([len(acts) for acts, _ in each], dtype=np.int64),
        np.array([follow for _, follow in each], dtype=np.int64),
        np.array([acts[0] if acts else "" for acts, _ in each], dtype=object),
        np.array([bool(text) for text in _texts(frame, "exceptions", size)]),
        np.array([bool(text) for text in _texts(frame, "unknown", size)]),
    )


def _texts(frame: nw.DataFrame[Any], name: str, size: int) -> list[str]:
    if name not in frame.columns:
        return [""] * size
    return [each if isinstance(each, str) else "" for each in frame[name].to_list()]


def _parsed(text: str) -> tuple[list[str], int]:
    """Return the features that a plan's own actions set, in order, and how many effects it has."""
    acts = [act for step in json.loads(text or "[]") for act in step]
    return [act["feature"] for act in acts if act["kind"] == "direct"], sum(
        act["kind"] != "direct" for act in acts
    )


class Cells(NamedTuple):
    """A feature's column: its different values, which of them each row has, and the cell of each."""

    values: Sequence[Value]
    which: Codes
    cells: Codes
    """The region of a value; `OFF` for a missing one, past the last region for one off the grid and between two."""

    @property
    def of_rows(self) -> Codes:
        """Return the cell of each row."""
        return self.cells[self.which]


@dataclass(frozen=True)
class People:
    """Rows placed in the space, and what each was answered."""

    space: Space
    columns: tuple[Cells, ...]
    answers: Answers
    omitted: frozenset[str] = frozenset()
    """Computed features that the rows omit."""
    ask: Ask | None = None
    """Asks the model that decides about states, where it tells how near each is to a yes."""

    def state(self, row: int) -> State:
        """Return the state of a row."""
        return {
            axis.feature.name: column.values[column.which[row]]
            for axis, column in zip(self.space.axes, self.columns, strict=True)
        }

    def classes(self, rows: Codes) -> list[Codes]:
        """Return some rows, those together whose values all lie in the same cells."""
        if not len(rows):
            return []
        table = np.stack([column.of_rows[rows] for column in self.columns], axis=1)
        _, which = np.unique(table, axis=0, return_inverse=True)
        which = which.reshape(-1)
        order = np.argsort(which, kind="stable")
        return np.split(rows[order], np.flatnonzero(np.diff(which[order])) + 1)

    @cached_property
    def needs(self) -> tuple[Codes, tuple[str, ...]]:
        """Return why each refused person is refused, by number, and what the numbers mean: rules that fire, or bands of score."""
        rows = np.flatnonzero(self.answers.refused)
        found = np.full(len(self.answers), -1, dtype=np.int64)
        scores = self._scores(rows)
        if scores is not None:
            found[rows], told = _bands(scores)
            return found, told
        known: dict[str, int] = {}
        for group in self.classes(rows):
            text = "; ".join(self.fired(int(group[0])))
            found[group] = known.setdefault(text, len(known))
        return found, tuple(known)

    def _scores(self, rows: Codes) -> Numbers | None:
        """Return how far each of some rows is from a model's yes; None where rules decide."""
        if self.ask is not None:
            asked = self.ask([self.state(int(row)) for row in rows]) if len(rows) else []
            return np.array([np.nan if each.score is None else each.score for each in asked])
        model = as_read(self.space.theory.model)
        if model is None or not self.space.wants_accepted:
            return None
        told = [model.score_of(self.state(int(row))) for row in rows]
        return np.array([np.nan if each is None else each[0] - each[1] for each in told])

    def fired(self, row: int) -> tuple[str, ...]:
        """Return the rules that refuse a row today: those of denied decisions, or all that fire where none is denied."""
        space = self.space
        fired = fired_rules(space, self.state(row))
        decisions = sum(rules for rules, _ in space.settling) & ~space.model_bit
        return tuple(space.texts[each] for each in numbers(fired & (space.denied or decisions)))


def fired_rules(space: Space, state: Mapping[str, Value]) -> int:
    """Return the rules that fire in a state, as bits."""
    if space.theory.is_arithmetic:
        rules = enumerate(space.clauses[:-1])
        return mask_of(n for n, clause in rules if clause_fires(space.theory, clause, state))
    person = place_person(space, state)
    return space.truth(Transitions(person).base(person.places)).fired


def _bands(scores: Numbers) -> tuple[Codes, tuple[str, ...]]:
    """Return the band of each score, with about as many people in each, -1 for one that is not known; and the bands."""
    known = ~np.isnan(scores)
    found = np.full(len(scores), -1, dtype=np.int64)
    if not known.any():
        return found, ()
    edges = np.unique(np.quantile(scores[known], np.linspace(0, 1, BANDS + 1)[1:-1]))
    found[known] = np.searchsorted(edges, scores[known], side="right")
    ends = [f"{each:.3g}" for each in (np.nanmin(scores), *edges, np.nanmax(scores))]
    return found, tuple(f"{low} … {high}" for low, high in pairwise(ends))


def place_people(
    space: Space,
    columns: Mapping[str, Sequence[Any]],
    answers: Answers,
    ask: Ask | None = None,
) -> People:
    """Place people given by their columns; computed features may be absent."""
    valid = ~answers.having("invalid")
    theory, model = space.theory, space.theory.parsed
    apart = {each.name for each in theory.features if theory.is_arithmetic and each.kind.is_number}
    apart |= frozenset() if model is None else model.lined
    omitted = frozenset(each.name for each in theory.computed if each.name not in columns)
    if omitted:
        columns = {**columns, **_computed(space, columns, valid, omitted)}
    return People(
        space,
        tuple(
            _cells(axis, columns[axis.feature.name], valid, apart=axis.feature.name in apart)
            for axis in space.axes
        ),
        answers,
        omitted,
        ask,
    )


def _computed(
    space: Space, columns: Mapping[str, Sequence[Any]], valid: Rows, omitted: frozenset[str]
) -> dict[str, list[Value]]:
    """Return the columns of computed features that the rows omit."""
    features = space.theory.features
    read = [each for each in features if each.name not in omitted]
    values: dict[str, list[Value]] = {name: [None] * len(valid) for name in omitted}
    for row in np.flatnonzero(valid).tolist():
        state = {each.name: read_value(each, columns[each.name][row]) for each in read}
        whole = with_computed(features, {**dict.fromkeys(omitted), **state}, omitted)
        for name in omitted:
            values[name][row] = whole[name]
    return values


def _cells(axis: Axis, column: Sequence[Any], valid: Rows, *, apart: bool) -> Cells:
    """Return the cells of a column; each value its own where a model weighs the very number."""
    known: dict[Any, int] = {}
    which = np.zeros(len(column), dtype=np.int64)
    values: list[Value] = []
    for row in np.flatnonzero(valid).tolist():
        raw = column[row]
        key = None if is_missing(raw) else raw
        number = known.get(key)
        if number is None:
            number = known[key] = len(values)
            values.append(read_value(axis.feature, raw))
        which[row] = number
    values = values or [None]
    past = max(axis.size, len(axis.regions))
    cells = [
        past + number if apart else _cell(axis, value, past + number)
        for number, value in enumerate(values)
    ]
    return Cells(values, which, np.array(cells, dtype=np.int64))


def _cell(axis: Axis, value: Value, own: int) -> int:
    if value is None:
        return OFF
    place = axis.feature.place(value)
    if place is not None:
        return axis.region(place)
    assert not isinstance(value, str)
    above = axis.feature.domain.first_place_from(exact(value))
    inside = 0 < above < axis.size and axis.region(above - 1) == axis.region(above)
    return axis.region(above) if inside else own
