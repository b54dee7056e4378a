"""Plans of a batch that a model verifies, made once for each distinct person."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

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
from p2c._batch.persons import columns_of, present, tell_apart, to_array
from p2c._batch.remembered import Memory
from p2c._batch.summary import Counts, Stuck
from p2c._plan.tables.encode import Coded
from p2c._spec.row import omitted_in
from p2c.errors import RowError

if TYPE_CHECKING:
    from pathlib import Path

    from p2c._batch.answers import Advance
    from p2c._plan.tables.encode import Whole
    from p2c._spec.row import State
    from p2c.problem import Problem

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
