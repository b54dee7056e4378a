"""The job: the written question of a batch, which a later run resumes or refuses."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from p2c._batch.part import ENDING, WORKSHOP, locked, record_path
from p2c._batch.summary import Record
from p2c._release import DISTRIBUTION, __version__
from p2c._spec.files import file_digest
from p2c._spec.spec import unreadable
from p2c._whole_file import put_text
from p2c.errors import P2CError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from p2c._batch import Options
    from p2c._batch.source import Part
    from p2c.problem import Problem

MANIFEST = "_manifest.json"
SUMMARY = "_summary.json"
SETTINGS = ("problem", "options", "versions")
"""The keys that are equal in a job that can be resumed."""
PACKAGES = ("pyarrow", "numpy")
"""The packages that determine the bytes of the output."""


@dataclass(frozen=True)
class Job:
    """The output folder of a batch and its question."""

    target: Path
    document: dict[str, Any]

    @property
    def workshop(self) -> Path:
        """Return the folder where files are made."""
        return self.target / WORKSHOP

    def finished(self, parts: Sequence[Part]) -> dict[int, Record]:
        """Return the records of the parts whose files are there and whole."""
        listed = {
            each["number"]: each for each in _read_job(self.target / MANIFEST).get("files", ())
        }
        found = {}
        for part in parts:
            data = listed.get(part.number) or _read(record_path(self.target, part))
            path = self.target / part.name
            if (
                _is_of(data, part)
                and _size(path) == data["bytes"]
                and file_digest(path) == data["sha256"]
            ):
                found[part.number] = Record.from_dict(data)
        return found

    def finish(self, records: Sequence[Record], summary: dict[str, Any]) -> None:
        """Write the manifest and the summary, and clear the workshop away."""
        files = [{"name": f"part-{each.number:06d}.parquet", **each.to_dict()} for each in records]
        counts = {"rows": summary["rows"], **summary["statuses"]}
        manifest = {**self.document, "counts": counts, "files": files}
        put_text(self.target / SUMMARY, _text(summary), aside=self.workshop)
        put_text(self.target / MANIFEST, _text(manifest), aside=self.workshop)
        shutil.rmtree(self.workshop)


def describe_job(
    problem: Problem, options: Options, *, files: list[dict[str, Any]], parts: int
) -> dict[str, Any]:
    """Return all that the output follows from."""
    packages: tuple[str, ...] = PACKAGES
    if problem.decider is not None:
        from p2c._folder.manifest import installed

        packages = tuple(
            dict.fromkeys((*PACKAGES, *(each for each in installed() if each != DISTRIBUTION)))
        )
    return {
        "problem": {key: each for key, each in problem.to_message().items() if key != "home"},
        "options": options.to_dict(),
        "input": files,
        "parts": parts,
        "versions": {"p2c": __version__, **{name: version(name) for name in packages}},
    }


@contextmanager
def opened(
    target: Path, document: dict[str, Any], parts: Sequence[Part], *, anew: bool = False
) -> Iterator[Job]:
    """Begin or resume a job, and lock its folder meanwhile.

    What another job has written is refused, or removed where this one is to be done `anew`.

    Of a job that is not finished the input may have changed, as when it had to be mended: parts that it changes are made again.
    """
    workshop = target / WORKSHOP
    note = workshop / "job.json"
    try:
        _refuse_if_foreign(target)
        done = _differences(_read_job(target / MANIFEST), document, (*SETTINGS, "input"))
        if done and not anew:
            raise _other(target, done)
        workshop.mkdir(parents=True, exist_ok=True)
        with locked(workshop / "lock"):
            different = done or _differences(_read_job(note), document, SETTINGS)
            if different and not anew:
                raise _other(target, different)
            if different:
                _remove(target, note)
            begun = _read_job(note)
            if begun:
                _drop_stale(target, begun["input"], document["input"], parts)
            put_text(note, _text(document), aside=workshop)
            _clear(workshop)
            yield Job(target, document)
    except OSError as error:
        raise P2CError(f"{target}: cannot be written: {unreadable(error)}") from None


def _refuse_if_foreign(target: Path) -> None:
    if not target.exists():
        return
    if not target.is_dir():
        raise P2CError(f"{target}: expected a folder for the output, found a file")
    names = os.listdir(target)
    if names and not {WORKSHOP, MANIFEST} & set(names):
        raise P2CError(
            f"{target}: expected a new or empty folder, or one that a batch has written; found '{sorted(names)[0]}'"
        )


def _differences(known: dict[str, Any], document: dict[str, Any], keys: Sequence[str]) -> list[str]:
    """Return the keys in which the job of a folder differs from another."""
    return [
        f"the {key} ({_difference(known.get(key), document[key])})"
        for key in keys
        if known and json.loads(_text(document[key])) != known.get(key)
    ]


def _other(target: Path, different: Sequence[str]) -> P2CError:
    return P2CError(
        f"{target}: begun with other settings; changed: {', '.join(different)}; go on as it was begun or choose another folder"
    )


def _remove(target: Path, note: Path) -> None:
    """Remove the files of a job and no others; its description last."""
    for path in [*target.glob("part-*.parquet"), *note.parent.glob("part-*"), target / SUMMARY]:
        path.unlink(missing_ok=True)
    note.unlink(missing_ok=True)
    (target / MANIFEST).unlink(missing_ok=True)


def _is_of(data: dict[str, Any], part: Part) -> bool:
    """Tell whether a record is of a part: of these stretches of these files."""
    return data.get("pieces") == [list(piece.place) for piece in part.pieces]


def _drop_stale(
    target: Path,
    before: list[dict[str, Any]],
    now: list[dict[str, Any]],
    parts: Sequence[Part],
) -> None:
    """Remove the parts that an input which has changed since would make otherwise."""
    same = {each["name"] for each in now if each in before}
    kept = {part.name for part in parts if all(piece.file.name in same for piece in part.pieces)}
    cut = {part.name: part for part in parts}
    for path in target.glob("part-*.parquet"):
        record = target / WORKSHOP / f"{path.name}.json"
        if path.name not in kept or not _is_of(_read(record), cut[path.name]):
            record.unlink(missing_ok=True)
            path.unlink()


def _difference(before: Any, now: Any) -> str:
    if isinstance(now, list):
        before = {each["name"]: each for each in before or ()}
        now = {each["name"]: each for each in now}
    if not isinstance(before, dict):
        return "unknown"
    keys = [key for key in {**before, **now} if before.get(key) != now.get(key)]
    shown = ", ".join(keys[:5])
    return shown if len(keys) <= 5 else f"{shown} and {len(keys) - 5} more"


def _clear(workshop: Path) -> None:
    """Remove unfinished files of a killed run."""
    for ending in (".new", ENDING):
        for path in workshop.glob(f"*{ending}"):
            path.unlink(missing_ok=True)


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError):
        raise _damaged(path) from None
    if not isinstance(found, dict):
        raise _damaged(path)
    return found


def _read_job(path: Path) -> dict[str, Any]:
    """Return the job that a file records; an empty document if there is no file."""
    document = _read(path)
    whole = not document or {*SETTINGS, "input"} <= set(document)
    if not (whole and _lists(document, "input", "name") and _lists(document, "files", "number")):
        raise _damaged(path)
    return document


def _lists(document: dict[str, Any], key: str, named: str) -> bool:
    """Tell whether a document lists named objects under a key, or lacks the key."""
    listed = document.get(key, [])
    return isinstance(listed, list) and all(
        isinstance(each, dict) and named in each for each in listed
    )


def _damaged(path: Path) -> P2CError:
    return P2CError(f"{path}: damaged; choose another folder for the output, or remove this one")


def _text(document: dict[str, Any]) -> str:
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return -1
