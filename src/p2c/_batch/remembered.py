"""People who were planned for before, with their answers, so that no later table has to plan for them again.

An answer follows from the person alone, so it does not show who planned for whom, where or when. Workers of one batch tell
one another through files in the folder where parts are made, which a run that is killed leaves to the next.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from uuid import uuid4

import pyarrow as pa
from pyarrow import types

from p2c._batch.persons import in_one, joined, tell_apart, to_array
from p2c._whole_file import put

if TYPE_CHECKING:
    from pathlib import Path

    from p2c._plan.tables.encode import Whole

MOST = 1 << 26
"""How many bytes of people and answers are remembered before all is forgotten, and kept in files."""
ENDING = ".people"


@dataclass
class Memory:
    """People whose columns are of one make, each once or more, and the answer of each."""

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
        """Return those of some people, each of them once, who are not remembered."""
        _, first = self._who(people)
        return people.take(to_array(first[first >= len(self.people)] - len(self.people)))

    def of(self, people: pa.Table) -> pa.Table:
        """Return the answers of people who are remembered, in their order; no other answer leaves a trace."""
        who, first = self._who(people)
        answers = self.answers.take(to_array(first[who[len(self.people) :]]))
        return pa.Table.from_arrays(
            [_anew(each) for each in answers.columns], schema=answers.schema
        )

    def _who(self, people: pa.Table) -> tuple[Whole, Whole]:
        return tell_apart(joined([self.people, people]), people.column_names)

    def add(self, people: pa.Table, answers: pa.Table) -> None:
        """Remember some people."""
        self.people, self.answers = joined([self.people, people]), joined([self.answers, answers])

    def tell(self, people: pa.Table, answers: pa.Table) -> None:
        """Let other workers know of some people, as long as there is room."""
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
        """Learn what other workers have told, and return whether there was anything new."""
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
    """Return a column with its texts numbered as they come, whatever else was remembered."""
    array = in_one(column)
    if not types.is_dictionary(array.type):
        return array
    return array.cast(array.type.value_type).dictionary_encode()
