"""The answers for a table of people: one plan for each distinct person."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from p2c._audit.reasons import principal_reasons
from p2c._batch import Options
from p2c._batch.persons import columns_of, present, tell_apart, to_array, to_texts
from p2c._batch.summary import Counts, Stuck
from p2c._plan.compiled.person import place_person
from p2c._plan.compiled.space import Space
from p2c._plan.nearest import Distinct
from p2c._plan.outcome import Found
from p2c._plan.tables.cells import action_cell, value_type
from p2c._plan.tables.class_routes import class_routes
from p2c._plan.tables.encode import Coded
from p2c._plan.tables.table import plan_rows
from p2c._spec.row import read_row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from p2c._audit.reasons import Catalogue
    from p2c._plan.outcome import Plan
    from p2c._plan.tables.encode import Column, Whole
    from p2c._spec.feature import Feature, Value
    from p2c._spec.row import State
    from p2c.problem import Problem

    Advance = Callable[[float], None]

WORDS = pa.dictionary(pa.int32(), pa.string())
CLASSES = 50_000
"""Maximum number of cached classes and alternatives; then the cache is cleared."""
ROWS = 1 << 18
"""How many rows' answers are in memory at a time."""
LEAST = -300
POWERS = np.array([float(f"1e{each}") for each in range(LEAST, 300)])


@dataclass(frozen=True)
class Answers:
    """The answers for the rows of a table, and counts for a summary."""

    each: pa.Table
    """The answers, each once."""
    who: Whole
    """The place in `each` of the answer that a row has."""
    counts: Counts

    def tables(self) -> Iterator[pa.Table]:
        """Yield the answers of all rows, `ROWS` at a time, to bound the memory."""
        for begin in range(0, len(self.who), ROWS):
            yield self.each.take(to_array(self.who[begin : begin + ROWS]))


@dataclass
class Planner:
    """Plans for tables and caches alternatives between them."""

    problem: Problem
    options: Options = field(default_factory=Options)
    space: Space = field(init=False)
    _others: dict[tuple[Any, ...], str | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.space = Space(self.problem.theory)

    @cached_property
    def schema(self) -> pa.Schema:
        """Return the columns of the answer."""
        return answer_schema(self.problem.theory.features, self.options)

    def answer(self, table: pa.Table, advance: Advance = lambda _: None) -> Answers:
        """Return the answers for the rows of a table.

        Args:
            table: The rows.
            advance: Takes the number of further rows that are about done.
        """
        self._forget()
        features = self.problem.theory.features
        who, first = tell_apart(table, present(table, [feature.name for feature in features]))
        people = columns_of(table.take(to_array(first)), features)
        share = len(table) / max(len(first), 1) / (2 if self.options.alternatives else 1)

        def tell(persons: int) -> None:
            advance(persons * share)

        batch = plan_rows(self.space, people, details=True, solver=self.options.policy, tell=tell)
        found = batch.columns()
        actions = found["actions"]
        assert isinstance(actions, Coded)
        found["first"] = Coded(actions.numbers, [first_action(text) for text in actions.values])
        if self.options.alternatives:
            found["alternatives"] = self._alternatives(people, found["status"], tell)
        if self.options.reasons is not None:
            found["reasons"] = self._reasons(people, found, self.options.reasons)
        arrays = [as_array(found[name], self.schema.field(name).type) for name in self.schema.names]
        times = np.bincount(who, minlength=len(first))
        counts = answer_counts(who, found, batch.cost, people=len(first))
        for rows in batch.stuck:
            state = state_of(people, int(rows.min()), features)
            name = _class_name(self.space, state)
            counts.add_stuck(Stuck(name, state, int(times[rows].sum())))
        return Answers(pa.Table.from_arrays(arrays, schema=self.schema), who, counts)

    def _forget(self) -> None:
        if len(self._others) + len(class_routes(self.space)) > CLASSES:
            self._others.clear()
            self.space = Space(self.problem.theory)

    def _alternatives(
        self,
        people: Mapping[str, Column | Coded],
        status: Column | Coded,
        tell: Callable[[int], None],
    ) -> Coded:
        texts = []
        for row in range(len(status)):
            found = status[row] == "found"
            state = state_of(people, row, self.problem.theory.features) if found else None
            texts.append(None if state is None else self._further(state))
            tell(1)
        return Coded.of(texts)

    def _reasons(
        self,
        people: Mapping[str, Column | Coded],
        found: Mapping[str, Column | Coded],
        catalogue: Catalogue,
    ) -> Coded:
        """Return the principal reasons of everybody who is refused, as JSON."""
        texts: list[str | None] = []
        features = self.problem.theory.features
        for row in range(len(found["status"])):
            if found["status"][row] not in ("found", "infeasible"):
                texts.append(None)
                continue
            ends = {each.name: found[f"end_{each.name}"] for each in features}
            way = found["status"][row] == "found"
            end = state_of(ends, row, features) if way else None
            state = state_of(people, row, features)
            texts.append(reasons_text(self.space, state, end, catalogue))
        return Coded.of(texts)

    def _further(self, state: State) -> str | None:
        key = tuple(state.values())
        if key not in self._others:
            most = self.options.alternatives + 1
            plans = self.options.policy.nearest(self.space, state, most, Distinct.CELLS)
            self._others[key] = further_text(islice(plans, 1, most))
        return self._others[key]


def answer_schema(features: Sequence[Feature], options: Options) -> pa.Schema:
    """Return the columns of an answer."""
    ends = {f"end_{each.name}": end_type(each) for each in features}
    asked = {"alternatives": options.alternatives, "reasons": options.reasons is not None}
    names = ("first", "actions", "steps", *(name for name, wanted in asked.items() if wanted))
    words = dict.fromkeys((*names, "exceptions", "unknown", "proof", "message"), WORDS)
    return pa.schema({"status": WORDS, "cost": pa.float64(), **ends, **words})


def state_of(people: Mapping[str, Column | Coded], row: int, features: Sequence[Feature]) -> State:
    """Return the state in a row of columns."""
    return read_row(features, {name: column[row] for name, column in people.items()})


def answer_counts(
    who: Whole, found: Mapping[str, Column | Coded], cost: Column, *, people: int
) -> Counts:
    """Count answers for a summary, each once for every row of its person."""
    times = np.bincount(who, minlength=people)
    return Counts(
        len(who),
        _counted(found["status"], times),
        _rounded(cost, times),
        _told_of(found["exceptions"], times),
        _told_of(found["unknown"], times),
    )


def end_type(feature: Feature) -> pa.DataType:
    """Return the type of the column of a feature's last value."""
    text = pa.string() if feature.kind.is_number else WORDS
    return {int: pa.int64(), float: pa.float64(), str: text}[value_type(feature)]


def as_array(column: Column | Coded, kind: pa.DataType) -> pa.Array:
    """Return a column of answers as the type that the output has for it."""
    if isinstance(column, Coded) and kind == WORDS:
        # Each text once: pyarrow writes whatever lies in memory into Parquet where one stands twice.
        known: dict[str, int] = {}
        table = [
            -1 if value in (None, "") else known.setdefault(str(value), len(known))
            for value in column.values
        ]
        numbers = np.array([*table, -1], dtype=np.int32)[column.numbers]
        indices = to_array(np.maximum(numbers, 0), known=numbers >= 0)
        return pa.DictionaryArray.from_arrays(indices, to_texts(list(known)))
    if isinstance(column, Coded) or column.dtype == object:
        values = column.tolist()
        text = kind == pa.string()
        return pa.array([str(each) if text and each is not None else each for each in values], kind)
    return to_array(column, known=~np.isnan(column))


def first_action(actions: str) -> str:
    """Return the feature of the first action; None for a plan of effects alone."""
    listed = json.loads(actions or "[]")
    return json.dumps(listed[0], ensure_ascii=False) if listed else ""


def reasons_text(
    space: Space, state: State, end: Mapping[str, Value] | None, catalogue: Catalogue
) -> str:
    """Return the principal reasons against a person as JSON.

    Args:
        space: The problem.
        state: The person.
        end: The end of their plan; None without one.
        catalogue: The codes.
    """
    reasons = principal_reasons(space, state, end, catalogue)
    return json.dumps([each.to_dict() for each in reasons], ensure_ascii=False)


def further_text(plans: Iterable[Plan]) -> str:
    """Return further plans as JSON, without answers that gave up."""
    others = [_told(plan) for plan in plans if isinstance(plan, Found)]
    return json.dumps(others, ensure_ascii=False)


def _told(plan: Found) -> dict[str, Any]:
    initial = plan.question.initial
    changed = {name: value for name, value in plan.end.items() if value != initial[name]}
    actions = [action_cell(each) for each in plan.actions]
    return {"cost": plan.cost, "end": changed, "actions": actions}


def _counted(status: Column | Coded, times: Whole) -> Counter[str]:
    assert isinstance(status, Coded)
    counts = np.bincount(status.numbers, weights=times, minlength=len(status.values))
    pairs = zip(status.values, counts, strict=True)
    return Counter({word: int(count) for word, count in pairs if count})


def _told_of(column: Column | Coded, times: Whole) -> int:
    """Return how many rows have a text there."""
    counts = _counted(column, times)
    return sum(counts.values()) - counts.get("", 0)


def _rounded(cost: Column, times: Whole) -> Counter[float]:
    """Return how many people have each cost above 0, to three digits."""
    paid = cost > 0
    values = cost[paid]
    power = np.searchsorted(POWERS, values, side="right") - 1
    digits = np.rint(values / POWERS[power] * 100).astype(np.int64)
    codes, where = np.unique(power * 1024 + digits, return_inverse=True)
    counts = np.bincount(where, weights=times[paid], minlength=len(codes))
    found: Counter[float] = Counter()
    for code, count in zip(codes.tolist(), counts.tolist(), strict=True):
        short = float(f"{code % 1024}e{code // 1024 + LEAST - 2}")
        found[short] += int(count)
    return found


def _class_name(space: Space, state: State) -> str:
    """Return a text that is the same for everyone whom the rules see alike."""
    if space.theory.is_arithmetic:
        return json.dumps(list(state.values()))
    person = place_person(space, state)
    entry = class_routes(space).entry(person) if space.is_small else None
    if entry is None:
        return json.dumps(list(state.values()))
    anchors = [person.places[index] for index in entry.anchors]
    return json.dumps([list(class_routes(space).regions(person)), anchors])
