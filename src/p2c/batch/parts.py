"""Parts: the input cut into pieces of work, decided by the input and the size of a part and by nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from p2c.batch.source import InputFile


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of one file."""

    file: InputFile
    begin: int
    end: int
    rows: int

    @property
    def place(self) -> tuple[str, int, int]:
        """Say where the stretch lies."""
        return self.file.name, self.begin, self.end


@dataclass(frozen=True, slots=True)
class Part:
    """The pieces that become one file of the output."""

    number: int
    pieces: tuple[Piece, ...]

    @property
    def rows(self) -> int:
        """Return how many rows there are."""
        return sum(piece.rows for piece in self.pieces)

    @property
    def name(self) -> str:
        """Return the name of the part's file."""
        return f"part-{self.number:06d}.parquet"


def cut(files: Sequence[InputFile], *, rows: int) -> list[Part]:
    """Return the parts of an input; one without a row where there is none, so that the columns are written."""
    parts = [
        Part(number, tuple(_merged(pieces))) for number, pieces in enumerate(_groups(files, rows))
    ]
    return parts or [Part(0, ())]


def _groups(files: Sequence[InputFile], rows: int) -> Iterator[list[Piece]]:
    """Yield runs of pieces with no more than so many rows together, or a single piece that has more."""
    group: list[Piece] = []
    count = 0
    for piece in _pieces(files, rows):
        if group and count + piece.rows > rows:
            yield group
            group, count = [], 0
        group.append(piece)
        count += piece.rows
    if group:
        yield group


def _pieces(files: Sequence[InputFile], rows: int) -> Iterator[Piece]:
    for file in files:
        for begin, end, count in file.reader.spans(file.path, rows):
            if count:
                yield Piece(file, begin, end, count)


def _merged(pieces: list[Piece]) -> Iterator[Piece]:
    """Yield the pieces with neighbours made one."""
    begin = pieces[0].begin
    rows = 0
    for piece, after in pairwise([*pieces, None]):
        assert piece is not None
        rows += piece.rows
        if after is None or after.file != piece.file or after.begin != piece.end:
            yield Piece(piece.file, begin, piece.end, rows)
            begin, rows = 0 if after is None else after.begin, 0
