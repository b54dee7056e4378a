"""The input: files of a folder in the order of their names, cut into parts.

Which parts there are is decided by the input and the size of a part and by nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from p2c._batch.readers import READERS
from p2c._spec.files import file_digest
from p2c._spec.spec import unreadable
from p2c.errors import P2CError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from p2c._batch.readers import Reader

NOBODY = "__HIVE_DEFAULT_PARTITION__"
"""The folder name of a missing value in a partitioned table."""

Keys = tuple[tuple[str, str | None], ...]


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file of rows; `keys` are columns of its folder names, such as `sex=Male/`."""

    path: Path
    name: str
    keys: Keys
    size: int
    modified: int

    @property
    def reader(self) -> Reader:
        """Return the reader of the file's format."""
        return READERS[self.path.suffix.lower()]

    @property
    def has_changed(self) -> bool:
        """Tell whether the file has changed since the batch began."""
        return _stat(self.path) != (self.size, self.modified)

    def refuse_if_changed(self) -> None:
        """Raise if the file has changed."""
        if self.has_changed:
            raise P2CError(f"{self.path}: has changed since the batch began")


def input_path(source: str | Path) -> Path:
    """Return the path of an input by its name; other stores of files are opened here."""
    return Path(source).resolve()


def find_files(source: Path) -> list[InputFile]:
    """Return the file of a path, or all files below a folder, sorted by name."""
    if source.is_file():
        return [_input_file(source, source.name, ())]
    if not source.is_dir():
        raise P2CError(f"{source}: no such file or folder")
    found = []
    strange = []
    for path in _walk(source):
        name = path.relative_to(source).as_posix()
        if path.suffix.lower() not in READERS:
            strange.append(name)
            continue
        found.append(_input_file(path, name, tuple(_keys(name))))
    known = " or ".join(READERS)
    if strange:
        raise P2CError(
            f"{source}: expected only files that end in {known}, found {_few(strange)}; move the rest away"
        )
    if not found:
        raise P2CError(f"{source}: expected files that end in {known}, found none")
    return found


def describe(files: list[InputFile]) -> list[dict[str, Any]]:
    """Return names, sizes and hashes of the files, which identify an input."""
    return [
        {"name": file.name, "bytes": file.size, "sha256": file_digest(file.path)} for file in files
    ]


def _walk(folder: Path) -> Iterator[Path]:
    """Yield the files below a folder except names that start with `_` or `.`."""
    try:
        children = sorted(folder.iterdir(), key=lambda path: path.name)
    except OSError as error:
        raise P2CError(f"{folder}: cannot be read: {unreadable(error)}") from None
    for path in children:
        if path.name.startswith(("_", ".")):
            continue
        if path.is_dir():
            yield from _walk(path)
        else:
            yield path


def _keys(name: str) -> Iterator[tuple[str, str | None]]:
    for folder in name.split("/")[:-1]:
        key, found, text = folder.partition("=")
        if found:
            yield unquote(key), None if text == NOBODY else unquote(text)


def _input_file(path: Path, name: str, keys: Keys) -> InputFile:
    if path.suffix.lower() not in READERS:
        raise P2CError(f"{path}: expected a file that ends in {' or '.join(READERS)}")
    return InputFile(path, name, keys, *_stat(path))


def _stat(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError as error:
        raise P2CError(f"{path}: cannot be read: {unreadable(error)}") from None
    return found.st_size, found.st_mtime_ns


def _few(names: list[str]) -> str:
    shown = ", ".join(f"'{name}'" for name in names[:5])
    return shown if len(names) <= 5 else f"{shown} and {len(names) - 5} more"


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
    """Return the parts of an input, of at most `rows` rows each.

    A single piece may have more.

    Neighbouring pieces are made one. Where there is no row, there is a part without one, so that the columns are written.
    """
    parts: list[list[Piece]] = [[]]
    count = 0
    for piece in _pieces(files, rows):
        if count and count + piece.rows > rows:
            parts.append([])
            count = 0
        last = parts[-1][-1] if parts[-1] else None
        if last is not None and (last.file, last.end) == (piece.file, piece.begin):
            parts[-1][-1] = replace(last, end=piece.end, rows=last.rows + piece.rows)
        else:
            parts[-1].append(piece)
        count += piece.rows
    return [Part(number, tuple(pieces)) for number, pieces in enumerate(parts)]


def _pieces(files: Sequence[InputFile], rows: int) -> Iterator[Piece]:
    for file in files:
        for begin, end, count in file.reader.spans(file.path, rows):
            if count:
                yield Piece(file, begin, end, count)
