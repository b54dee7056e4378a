"""The problems that a server has, each read again when its file changes; a broken new file leaves the old one in use."""

from __future__ import annotations

import json
import logging
import re
import tomllib
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from p2c import datasets
from p2c._server.solver_pool import Question
from p2c._spec.spec import refuse_special
from p2c.errors import P2CError, RowError, joined_lines, suggestion
from p2c.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p2c._server.settings import Settings
    from p2c._spec.row import State

log = logging.getLogger(__name__)

Stamp = tuple[tuple[str, int, int, int], ...]
"""The files behind a problem, each with modification time, size and permissions."""
UNSEEN: Stamp = ()
"""The stamp of unreadable files; it differs from that of any file."""


@dataclass(frozen=True)
class Entry:
    """One problem: as it is in use, and what is wrong with a newer file, if something is."""

    id: str
    problem: Problem
    keys: dict[str, Any]
    digest: str
    loaded: str
    rows: Mapping[str, State]
    file: str = ""
    rows_file: str = ""
    stamp: Stamp = ()
    error: str = ""

    @property
    def greeting(self) -> Question:
        """Return what has a solver read the problem and plan once."""
        row = next(iter(self.rows.values()), None)
        return Question("greet", self.digest, self.keys, {"row": row})

    def to_dict(self) -> dict[str, Any]:
        """Return what `/problems` says of it."""
        return {
            "id": self.id,
            "name": self.problem.name,
            "goal": self.problem.spec.goal,
            "norm": self.problem.spec.norm.value,
            "features": list(self.problem.spec.features),
            "digest": self.digest,
            "loaded": self.loaded,
            "error": self.error or None,
        }


class ProblemStore:
    """The problems by their ids, which stay while names and contents change.

    A project has one problem, with one id: building it again replaces it, even by a problem of another kind.
    """

    def __init__(self, entries: Mapping[str, Entry], project: str = "") -> None:
        self.entries = dict(entries)
        self._project = Path(project) if project else None
        self._made = ""

    def find(self, given: str | None) -> Entry:
        """Return a problem by its id; where there is just one, it need not be named."""
        if given is None and len(self.entries) == 1:
            return next(iter(self.entries.values()))
        if given is None:
            raise UnknownProblem(f"which problem? {suggestion('', self.entries)}")
        if given not in self.entries:
            raise UnknownProblem(
                f"no problem '{given[:60]}'; {suggestion(given[:60], self.entries)}"
            )
        return self.entries[given]

    def project_entry(self) -> Entry | None:
        """Return the problem that the project has made, as its files are now.

        Returns:
            The entry in use if its files have not changed, else a fresh one that is not in use yet. None before the
            project has made a problem.
        """
        file, people = self._project_files()
        if self._project is None or not file:
            return None
        old = self.entries.get(self._made)
        if old is not None:
            return _refreshed(self._located(old))
        fresh = _load(_free_id(self._project.resolve().name, self.entries), file, people)
        self._made = fresh.id
        return fresh

    def _project_files(self) -> tuple[str, str]:
        """Return the files of the project's problem and people, empty at first."""
        if self._project is None:
            return "", ""
        from p2c._project.draft import PEOPLE, built

        file = built(self._project)
        return (str(file), str(self._project / PEOPLE)) if file else ("", "")

    def _located(self, entry: Entry) -> Entry:
        """Return an entry with its present files, which a project may replace."""
        file, people = self._project_files() if entry.id == self._made else ("", "")
        if not file or file == entry.file:
            return entry
        return replace(entry, file=file, rows_file=people, stamp=UNSEEN)

    def greetings(self) -> list[Question]:
        """Return what a new solver is asked first: to read the problems and plan once, which is when rules compile."""
        return [each.greeting for each in tuple(self.entries.values())[:16]]

    def refresh(self) -> list[Entry]:
        """Reload the problems with changed files; return the reloaded ones with a model.

        A solver opens these models first.

        An error with one problem is reported in its entry, and never keeps the others from being read.
        """
        waiting = []
        for entry in tuple(self.entries.values()):
            if not entry.file:
                continue
            try:
                fresh = _refreshed(self._located(entry))
            except Exception as error:
                fresh = _unseen(entry, error)
            if fresh is entry:
                continue
            if fresh.error or not fresh.problem.home:
                self.entries[entry.id] = fresh
            else:
                waiting.append(fresh)
        return waiting

    def take(self, fresh: Entry, error: str = "") -> None:
        """Put a problem whose model was opened in the place of the old one; with an error, the old one stays."""
        old = self.entries[fresh.id]
        if error:
            log.warning("a changed model cannot be used", extra={"problem": old.id, "error": error})
            fresh = _faulty(
                replace(old, file=fresh.file, rows_file=fresh.rows_file), error, fresh.stamp
            )
        self.entries[fresh.id] = fresh


class UnknownProblem(P2CError):
    """Report a problem that the server does not have."""


def open_store(settings: Settings) -> ProblemStore:
    """Read every problem of a server; one that cannot be read is an error."""
    if not settings.problems and not settings.project:
        return ProblemStore({name: _embedded(name) for name in datasets.names()})
    rows = dict(settings.rows)
    entries: dict[str, Entry] = {}
    for file in settings.problems:
        id_ = _free_id(Path(file).stem, entries)
        entries[id_] = _load(id_, file, rows.get(file, ""))
        if entries[id_].problem.home:
            Problem.load(file)  # what is wrong with a model is said before anybody is served
    return ProblemStore(entries, settings.project)


def _free_id(stem: str, taken: Mapping[str, Entry]) -> str:
    """Return an id that can stand in an address as it is."""
    plain = re.sub(r"[^A-Za-z0-9_]+", "-", stem).strip("-") or "problem"
    number, id_ = 1, plain
    while id_ in taken:
        number += 1
        id_ = f"{plain}-{number}"
    return id_


def _embedded(name: str) -> Entry:
    problem = Problem.from_dict(tomllib.loads(datasets.problem_text(name)))
    rows = {row: problem.read_row(values) for row, values in datasets.rows(name).items()}
    return _entry(name, problem, rows)


def _load(id_: str, file: str, rows_file: str) -> Entry:
    stamp = _stamp(file, rows_file)
    refuse_special(Path(file))
    problem = Problem.outline(file)
    if problem.spec.rules_file or problem.home:
        stamp = _stamp(file, rows_file, problem)
    rows = _read_people(problem, rows_file) if rows_file else []
    named = {f"row {number}": row for number, row in enumerate(rows, start=1)}
    return _entry(id_, problem, named, file=file, rows_file=rows_file, stamp=stamp)


def _read_people(problem: Problem, file: str) -> list[State]:
    """Read people to pick from; what is wrong is said without a cell, for errors are shown and logged."""
    refuse_special(Path(file))
    try:
        return problem.read_rows(file)
    except RowError as error:
        places = "; ".join(dict.fromkeys(each.place for each in error.faults))
        raise P2CError(
            f"{places}: does not fit the problem; the values are not shown here, `p2c plan` with both files does"
        ) from None


def _entry(id_: str, problem: Problem, rows: Mapping[str, State], **files: Any) -> Entry:
    keys = problem.to_message()
    text = json.dumps(keys, sort_keys=True)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return Entry(id_, problem, keys, sha256(text.encode()).hexdigest()[:16], now, rows, **files)


def _refreshed(entry: Entry) -> Entry:
    """Return a problem as its files are now; the same entry if they have not changed."""
    stamp = _stamp(entry.file, entry.rows_file, entry.problem)
    if stamp == entry.stamp:
        return entry
    try:
        fresh = _load(entry.id, entry.file, entry.rows_file)
    except P2CError as error:
        message = joined_lines(error)
        log.warning(
            "a changed problem cannot be read", extra={"problem": entry.id, "error": message}
        )
        return _faulty(entry, message, stamp)
    log.info("problem read again", extra={"problem": entry.id, "digest": fresh.digest})
    return fresh


def _unseen(entry: Entry, error: Exception) -> Entry:
    """Return the problem in use with an unforeseen error of its files.

    They are looked at again each time.
    """
    kind = error.strerror if isinstance(error, OSError) else type(error).__name__
    message = f"{entry.file}: cannot be read: {kind}"
    faulty = _faulty(entry, message, UNSEEN)
    if faulty == entry:
        return entry
    log.warning(
        "a problem's files cannot be read",
        extra={"problem": entry.id, "error": message},
        exc_info=None if isinstance(error, OSError) else error,
    )
    return faulty


def _faulty(entry: Entry, message: str, stamp: Stamp) -> Entry:
    """Return the problem in use with an error of its newer files.

    The error names the files without their folders: it is shown to everyone who asks.
    """
    for folder in {Path(each).parent for each in (entry.file, entry.rows_file) if each}:
        message = message.replace(f"{folder}/", "")
    return replace(entry, stamp=stamp, error=message)


def _stamp(file: str, rows_file: str, problem: Problem | None = None) -> Stamp:
    """Return modification time, size and permissions of each file behind a problem.

    The files of a folder count one by one.

    A problem that was read names those of its rules and its model.
    """
    place = Path(file)
    paths = [place, *([Path(rows_file)] if rows_file else [])]
    if place.is_dir():
        paths += sorted(place.iterdir())
    if problem is not None and problem.spec.rules_file:
        paths.append(place.parent / problem.spec.rules_file)
    if problem is not None and problem.home and not place.is_dir():
        paths.append(problem.model_place)
    return tuple(map(_file_stamp, paths))


def _file_stamp(path: Path) -> tuple[str, int, int, int]:
    try:
        status = path.stat()
    except OSError:
        return str(path), 0, -1, 0
    return str(path), status.st_mtime_ns, status.st_size, status.st_mode
