"""Plans of a batch that a model verifies, made once for each distinct person."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np
import pyarrow as pa
from pyarrow import types

from p2c._answers import model_lines, nearest
from p2c._batch import Options
from p2c._batch.answers import (
    Answers,
    Planner,
    answer_counts,
    answer_schema,
    as_array,
    first_action,
    further_text,
    reasons_text,
    state_of,
)
from p2c._batch.persons import columns_of, in_one, joined, present, tell_apart, to_array
from p2c._batch.summary import Counts, Stuck
from p2c._plan.tables.encode import Coded
from p2c._spec.row import omitted_in
from p2c._whole_file import put
from p2c.errors import RowError

if TYPE_CHECKING:
    from pathlib import Path

    from p2c._batch.answers import Advance
    from p2c._plan.tables.encode import Whole
    from p2c._spec.row import State
    from p2c.problem import Problem


MOST = 1 << 26
"""Maximum size of the cache in bytes, in memory and in files."""
ENDING = ".people"


@dataclass
class Memory:
    """People with columns of equal types, and the answer of each."""

    people: pa.Table
    answers: pa.Table
    shelf: Path | None = None
    """The folder of the files."""
    _read: set[str] = field(default_factory=set)

    @property
    def is_full(self) -> bool:
        """Tell whether it is time to forget."""
        return bool(self.people.nbytes + self.answers.nbytes > MOST)

    def unknown(self, people: pa.Table) -> pa.Table:
        """Return the distinct people that are not in the cache."""
        _, first = self._who(people)
        return people.take(to_array(first[first >= len(self.people)] - len(self.people)))

    def of(self, people: pa.Table) -> pa.Table:
        """Return the answers of cached people in their order, independent of all others."""
        who, first = self._who(people)
        answers = self.answers.take(to_array(first[who[len(self.people) :]]))
        return pa.Table.from_arrays(
            [_anew(each) for each in answers.columns], schema=answers.schema
        )

    def _who(self, people: pa.Table) -> tuple[Whole, Whole]:
        return tell_apart(joined([self.people, people]), people.column_names)

    def add(self, people: pa.Table, answers: pa.Table) -> None:
        """Add people to the cache."""
        self.people, self.answers = joined([self.people, people]), joined([self.answers, answers])

    def tell(self, people: pa.Table, answers: pa.Table) -> None:
        """Share people with other workers if the files have room."""
        if self.shelf is None or sum(each.stat().st_size for each in self._files()) > MOST:
            return
        path = self.shelf / f"{uuid4().hex}{ENDING}"
        self._read.add(path.name)

        def write(made: Path) -> None:
            with pa.OSFile(str(made), "wb") as sink:
                for table in (people, answers):
                    with pa.ipc.new_stream(sink, table.schema) as writer:
                        writer.write_table(table)

        put(path, write, aside=self.shelf)

    def look_around(self) -> bool:
        """Add the people of other workers, and tell whether there were new ones."""
        fresh = [each for each in self._files() if each.name not in self._read]
        self._read.update(each.name for each in fresh)
        before = len(self.people)
        for path in fresh:
            try:
                with pa.OSFile(str(path), "rb") as source:
                    told = [pa.ipc.open_stream(source).read_all() for _ in range(2)]
            except (OSError, pa.ArrowException):
                continue  # damaged: they are planned for once more
            own = (self.people, self.answers)
            if all(_alike(one, other) for one, other in zip(told, own, strict=True)):
                self.add(*told)
        return len(self.people) > before

    def _files(self) -> list[Path]:
        return [] if self.shelf is None else sorted(self.shelf.glob(f"*{ENDING}"))


def _alike(one: pa.Table, other: pa.Table) -> bool:
    return bool(one.schema.equals(other.schema, check_metadata=True))


def _anew(column: pa.ChunkedArray) -> pa.Array:
    """Return a column with texts coded in the order of its own rows."""
    array = in_one(column)
    if not types.is_dictionary(array.type):
        return array
    return array.cast(array.type.value_type).dictionary_encode()


AT_A_TIME = 500
"""Number of people between two reports to other workers and to the display."""


@dataclass
class ModelPlanner:
    """Plans for tables with a model and caches people between them."""

    problem: Problem
    options: Options = field(default_factory=Options)
    shelf: Path | None = None
    """The folder through which workers tell one another of people."""
    _memory: Memory | None = None

    @cached_property
    def schema(self) -> pa.Schema:
        """Return the columns of the answer, evidence of the model included."""
        rules = answer_schema(self.problem.theory.features, self.options)
        return pa.schema([*rules, ("verified", pa.bool_()), ("optimal", pa.bool_())])

    def answer(self, table: pa.Table, advance: Advance = lambda _: None) -> Answers:
        """Return the answers for the rows of a table.

        Args:
            table: The rows.
            advance: Takes the number of further rows that are about done.
        """
        names = present(table, self._names)
        who, first = tell_apart(table, names)
        people = table.select(names).take(to_array(first)).replace_schema_metadata()
        share = len(table) / max(len(first), 1)
        memory = self._remembered(people)
        memory.look_around()
        rest = memory.unknown(people)
        advance((len(people) - len(rest)) * share)
        while len(rest):
            some, rest = rest.slice(0, AT_A_TIME), rest.slice(AT_A_TIME)
            answers = self._answers(some)
            memory.add(some, answers)
            memory.tell(some, answers)
            advance(len(some) * share)
            if memory.look_around():
                before, rest = len(rest), memory.unknown(rest)
                advance((before - len(rest)) * share)
        answers = memory.of(people)
        return Answers(answers, who, self._counts(people, answers, who))

    def _remembered(self, people: pa.Table) -> Memory:
        """Return the cache for people with columns of these types."""
        known = self._memory
        if known is None or known.is_full or not known.people.schema.equals(people.schema, True):
            known = self._memory = Memory(people.slice(0, 0), self.schema.empty_table(), self.shelf)
        return known

    def _answers(self, people: pa.Table) -> pa.Table:
        """Return the answers for people who are not known yet."""
        lines = self._lines(people)
        arrays = [
            as_array(Coded.of([line.get(name) for line in lines]), kind)
            for name, kind in zip(self.schema.names, self.schema.types, strict=True)
        ]
        return pa.Table.from_arrays(arrays, schema=self.schema)

    def _counts(self, people: pa.Table, answers: pa.Table, who: Whole) -> Counts:
        """Count answers for a summary, infeasible people by name."""
        words = {name: _told(answers.column(name)) for name in ("status", "exceptions", "unknown")}
        cost = answers.column("cost").to_numpy()
        counts = answer_counts(who, words, cost, people=len(people))
        features, times = self.problem.theory.features, np.bincount(who)
        columns = columns_of(people, features)
        for place in np.flatnonzero(np.array(words["status"].tolist()) == "infeasible").tolist():
            state = state_of(columns, place, features)
            name = json.dumps(list(state.values()))
            counts.add_stuck(Stuck(name, state, int(times[place])))
        return counts

    @cached_property
    def _names(self) -> list[str]:
        return [feature.name for feature in self.problem.theory.features]

    def _lines(self, people: pa.Table) -> list[dict[str, Any]]:
        """Return a line for each person in order; a faulty row is `invalid`."""
        features = self.problem.theory.features
        columns = columns_of(people, features)
        states: dict[int, State] = {}
        found: dict[int, dict[str, Any]] = {}
        for place in range(len(people)):
            try:
                states[place] = state_of(columns, place, features)
            except RowError as error:
                found[place] = {"status": "invalid", "message": str(error)}
        if states:
            for place, line in zip(states, self._planned(list(states.values())), strict=True):
                found[place] = line
                if self.options.alternatives and line["status"] == "found":
                    line["alternatives"] = self._further(states[place])
                if self.options.reasons is not None and line["status"] in ("found", "infeasible"):
                    end = {name: line[f"end_{name}"] for name in states[place]}
                    found_end = end if line["status"] == "found" else None
                    line["reasons"] = reasons_text(
                        self.problem.compiled, states[place], found_end, self.options.reasons
                    )
        return [found[place] for place in range(len(people))]

    def _planned(self, states: list[State]) -> list[dict[str, Any]]:
        assert self.problem.decider is not None
        frame = self.problem.decider.source.view.ask({}, states)
        view = self.problem.decider.source.view
        omitted = {name for each in states for name in omitted_in(each)}
        frame = frame.drop(columns=[e.name for e in view.columns if e.feature in omitted])
        lines = model_lines(self.problem, frame, self.options.policy, progress=False)
        return [{**line, "first": first_action(line.get("actions", ""))} for line in lines]

    def _further(self, state: State) -> str:
        most = self.options.alternatives + 1
        plans = nearest(self.problem, state, most, self.options.policy, distinct="cells")
        return further_text(plans[1:])


def _told(words: pa.ChunkedArray) -> Coded:
    """Return a column of answers in the form that is counted."""
    texts = words.combine_chunks()
    values = [*texts.dictionary.to_pylist(), ""]
    return Coded(texts.indices.fill_null(len(values) - 1).to_numpy().astype(np.int64), values)


TablePlanner = Planner | ModelPlanner


def planner_for(problem: Problem, options: Options, *, shelf: Path | None = None) -> TablePlanner:
    """Return the planner for tables, by rules or with the model that decides.

    Args:
        problem: The problem.
        options: The options of the batch.
        shelf: The folder in which workers share answers.
    """
    if problem.decider is None:
        return Planner(problem, options)
    options.policy.refuse_model()
    return ModelPlanner(problem, options, shelf)
