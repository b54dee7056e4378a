"""A cache of people and their answers, shared between workers.

An answer follows from the person alone, so the output does not depend on the worker. Workers of one batch share answers through
files in the folder of unfinished parts; a killed run leaves them to the next.
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
