"""Save and open a folder: `problem.toml`, the model, sample rows, a manifest."""

from __future__ import annotations

import os
import shutil
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from p2c._blackbox.decider import StandingRules
from p2c._blackbox.opening import keep_seen, open_decider
from p2c._folder.manifest import (
    EDITABLE,
    PROBLEM,
    SAMPLE,
    STAND_IN,
    Manifest,
    ModelEntry,
    SampleEntry,
    changed_files,
    differing,
    installed,
    read_manifest,
    read_sample,
    refuse_changed,
    write_manifest,
    write_sample,
)
from p2c._folder.model_file import StoredModel, copy_model, stored_difference, writers
from p2c._learn.tables.view import as_frame
from p2c._rules.bind import build_theory
from p2c._spec.files import file_digest
from p2c._spec.spec import MANIFEST, load_spec, read_text, unreadable
from p2c._spec.toml import problem_to_toml
from p2c.errors import P2CError, counted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pandas as pd
    from numpy.typing import NDArray

    from p2c._blackbox.decider import Decider
    from p2c._folder.manifest import SampleColumn
    from p2c._learn.tables.look import Assumption
    from p2c._spec.spec import ProblemSpec, Trust

TRIED = 5_000
"""Number of sample rows for comparing a saved or opened model."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """A fitted model with sample rows; `origin` is the file that it was opened from."""

    model: Any
    rows: Any
    threshold: float | None = None
    origin: Path | None = None


@dataclass(frozen=True, eq=False)
class OpenedFolder:
    """An open folder: its problem, its model, and its manifest."""

    spec: ProblemSpec
    decider: Decider
    manifest: Manifest
    rows: Any


def save_folder(
    folder: Path,
    keys: Mapping[str, Any],
    fitted: Fitted,
    decider: Decider,
    *,
    extraction: Mapping[str, Any] | None = None,
    assumptions: tuple[Assumption, ...] = (),
    remarks: Mapping[tuple[str, ...], str] | None = None,
    pickle: bool = False,
    replace_old: bool = False,
) -> None:
    """Write a problem and its model as a folder, whole or not at all.

    `keys` are those of the problem, without its model; `remarks` become comments in `problem.toml`, by table.
    """
    try:
        folder = folder.resolve() if folder.is_symlink() else folder
        if folder.exists() and not (replace_old and (folder / MANIFEST).is_file()):
            raise P2CError(f"{folder}: exists; it stays unchanged, choose another name or folder")
        folder.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    except (OSError, ValueError) as error:
        raise P2CError(f"{folder}: cannot be written: {unreadable(error)}") from None
    try:
        columns = write_sample(as_frame(fitted.rows), made / SAMPLE)

        def state(stored: StoredModel) -> None:
            table = _model_table(stored, fitted, decider)
            text = problem_to_toml(_with_model(keys, table), remarks)
            (made / PROBLEM).write_text(text, encoding="utf-8")

        if fitted.origin is None:
            sample = _tried_rows(read_sample(made / SAMPLE, columns), decider)
            stored = _store_tried(made, fitted, decider, sample=sample, state=state, pickle=pickle)
        else:
            desired = decider.source.desired
            stored = copy_model(fitted.origin, made, desired=desired, pickle=pickle)
            state(stored)
        manifest = _described(
            made, fitted, decider, file=stored.file, columns=columns, extraction=extraction
        )
        write_manifest(made, manifest.model_copy(update={"assumptions": assumptions}))
        made.chmod(0o755)
        _take_place(made, folder)
    except OSError as error:
        raise P2CError(f"{folder}: cannot be written: {error.strerror}") from None
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _take_place(made: Path, folder: Path) -> None:
    """Replace a folder by a new one; the old one is removed last.

    Other files in it stay, and edited files get another name.
    """
    if not folder.exists():
        os.replace(made, folder)
        return
    old = made.with_name(f"{made.name}-old")
    ours = {MANIFEST, *_untouched(folder)}
    os.replace(folder, old)
    try:
        os.replace(made, folder)
    except OSError:
        os.replace(old, folder)
        raise
    for path in old.iterdir():
        if path.name not in ours:
            kept = folder / path.name
            while kept.exists():
                kept = kept.with_name(f"{kept.name}.before")
            os.replace(path, kept)
    shutil.rmtree(old, ignore_errors=True)


def _untouched(folder: Path) -> set[str]:
    """Return the unchanged files of a folder; none if its manifest is unreadable."""
    try:
        files = read_manifest(folder).files
    except P2CError:
        return set()
    kept = {name: folder / name for name in files}
    return {
        name for name, path in kept.items() if path.is_file() and file_digest(path) == files[name]
    }


def _store_tried(
    folder: Path,
    fitted: Fitted,
    decider: Decider,
    *,
    sample: Any,
    state: Callable[[StoredModel], None],
    pickle: bool,
) -> StoredModel:
    """Write a model in the first format that reproduces its answers.

    `state` writes the problem around it.
    """
    rows = fitted.rows[:TRIED]
    for write in writers(fitted.model, pickle=pickle):
        stored = write(fitted.model, folder, decider.source.desired)
        state(stored)
        spec = load_spec(folder / PROBLEM)
        difference = stored_difference(spec, folder, decider, rows=rows, sample=sample)
        if not difference:
            return stored
        (folder / stored.file).unlink()
    told = "" if pickle else "; a pickle may: pickle=True"
    raise P2CError(
        f"{stored.file} does not give the model's own answers when it is opened again: {difference}{told}"
    )


def _tried_rows(rows: pd.DataFrame, decider: Decider) -> Any:
    """Return the rows for comparing a stored model, a frame or an array."""
    tried = rows.head(TRIED)
    return tried if decider.source.view.framed else tried.to_numpy()


def _model_table(stored: StoredModel, fitted: Fitted, decider: Decider) -> dict[str, Any]:
    named = {each.feature: str(each.name) for each in decider.source.view.features}
    return {
        "file": stored.file,
        "desired": stored.desired,
        "threshold": fitted.threshold,
        "columns": {feature: name for feature, name in named.items() if feature != name} or None,
        "groups": _groups(decider),
    }


def _groups(decider: Decider) -> dict[str, list[str]] | None:
    grouping = decider.source.view.grouping
    if grouping is None:
        return None
    return {each.name: list(each.columns) for each in grouping.groups}


def _with_model(keys: Mapping[str, Any], table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of a problem, the model before the features."""
    first = {key: value for key, value in keys.items() if key not in ("features", "lint")}
    return {
        **first,
        "model": table,
        **{key: keys[key] for key in ("lint", "features") if key in keys},
    }


def _described(
    folder: Path,
    fitted: Fitted,
    decider: Decider,
    *,
    file: str,
    columns: tuple[SampleColumn, ...],
    extraction: Mapping[str, Any] | None,
) -> Manifest:
    """Write the surrogate rules, and return the manifest."""
    source, rows = decider.source, as_frame(fitted.rows)
    if decider.stand_in:
        (folder / STAND_IN).write_text(decider.stand_in, encoding="utf-8")
    assert source.model is not None
    accepted = source.model.answer(rows).accepted
    kind = getattr(decider.reading, "kind", type(fitted.model).__name__)
    return Manifest(
        files=_digests(folder),
        model=ModelEntry(file=file, kind=kind, read=decider.is_read, told=str(decider.reading)),
        sample=SampleEntry(
            rows=len(rows),
            framed=source.view.framed,
            columns=columns,
            accepted=_packed(accepted),
        ),
        learned=dict(decider.learned) if decider.learned else None,
        extraction=dict(extraction) if extraction else None,
        budget=decider.budget,
        seed=decider.seed,
        versions=installed(),
    )


def _digests(folder: Path) -> dict[str, str]:
    return {
        each.name: file_digest(each) for each in sorted(folder.iterdir()) if each.name != MANIFEST
    }


def _packed(accepted: NDArray[np.bool_]) -> str:
    return np.packbits(accepted).tobytes().hex()


def open_folder(folder: Path, trust: Trust | None = None) -> OpenedFolder:
    """Open a folder and check its files, its manifest and its model's answers."""
    manifest = read_manifest(folder)
    refuse_changed(folder, manifest)
    opened = _opened(folder, manifest, trust)
    _refuse_other_answers(folder, opened)
    return opened


def outline_folder(folder: Path) -> tuple[ProblemSpec, Path]:
    """Return the problem of a folder and its file without opening the model.

    A changed file is refused.
    """
    manifest = read_manifest(folder)
    refuse_changed(folder, manifest)
    spec = load_spec(folder / PROBLEM)
    _refuse_unlisted(folder, spec, manifest)
    columns = spec.model.columns if spec.model else {}
    known = {columns.get(name, name) for name in spec.features}
    other = [each.name for each in manifest.sample.columns if each.name not in known]
    if other:
        spec = keep_seen(spec, read_sample(folder / SAMPLE, manifest.sample.columns)[other])
    return spec, folder / PROBLEM


def accept_edit(folder: Path, trust: Trust | None = None) -> list[str]:
    """Accept the present content of the editable files; return the changed ones.

    What cannot be read, and any other changed file, is refused, and nothing is accepted.
    """
    manifest = _with_rules_file(folder, read_manifest(folder))
    changed = changed_files(folder, manifest)
    if not changed:
        return []
    accepted_now = {n: file_digest(folder / n) for n in changed if n in manifest.editable}
    kept = manifest.model_copy(update={"files": {**manifest.files, **accepted_now}})
    refuse_changed(folder, kept)
    opened = _opened(folder, kept, trust)
    _refuse_broken_rules(folder, opened)
    accepted = _packed(opened.decider.source.accepted)
    reading = opened.decider.reading
    fresh = kept.model_copy(
        update={
            "sample": kept.sample.model_copy(update={"accepted": accepted}),
            "model": kept.model.model_copy(
                update={"read": opened.decider.is_read, "told": str(reading)}
            ),
        }
    )
    write_manifest(folder, fresh)
    return changed


def _refuse_broken_rules(folder: Path, opened: OpenedFolder) -> None:
    """Refuse rules of the problem or surrogate rules that the features cannot bind."""
    spec, stand_in = opened.spec, opened.decider.stand_in
    try:
        build_theory(spec, model=opened.decider.judge)
    except P2CError as error:
        raise P2CError(f"{folder / PROBLEM}: {error}") from None
    if not stand_in:
        return
    rules = f"{(spec.rules or '').rstrip()}\n{stand_in}".lstrip()
    try:
        build_theory(spec.model_copy(update={"model": None, "rules": rules}))
    except P2CError as error:
        raise P2CError(f"{folder / STAND_IN}: {error}") from None


def _with_rules_file(folder: Path, manifest: Manifest) -> Manifest:
    """Return a manifest that lists the problem's present rules file.

    It takes the place of an earlier one.
    """
    name, before = load_spec(folder / PROBLEM).rules_file, manifest.rules_file
    if name == before:
        return manifest
    files = {
        known: each
        for known, each in manifest.files.items()
        if known != before or before in EDITABLE
    }
    if name is not None:
        outside = name in ("", ".", "..", MANIFEST) or set(name) & {"/", "\\", "\0"}
        if outside or name in files.keys() - {STAND_IN}:
            raise P2CError(
                f"{folder / PROBLEM}: rules_file: expected a file of rules in this folder, found '{name}'"
            )
        files.setdefault(name, "")
    return manifest.model_copy(update={"files": files, "rules_file": name})


def _refuse_unlisted(folder: Path, spec: ProblemSpec, manifest: Manifest) -> None:
    """Refuse a rules file that the manifest lacks; it could be edited unnoticed."""
    if spec.rules_file != manifest.rules_file:
        raise P2CError(
            f"{folder / PROBLEM}: rules_file: the manifest does not list '{spec.rules_file}';"
            f" if it is yours: p2c lint {folder} --accept"
        )


def _opened(folder: Path, manifest: Manifest, trust: Trust | None) -> OpenedFolder:
    spec = load_spec(folder / PROBLEM)
    _refuse_unlisted(folder, spec, manifest)
    if spec.model is None or spec.model.file != manifest.model.file:
        found = spec.model.file if spec.model else "none"
        raise P2CError(
            f"{folder / PROBLEM}: model.file: expected '{manifest.model.file}', for which the folder was made, found '{found}'"
        )
    rows: Any = read_sample(folder / SAMPLE, manifest.sample.columns)
    if len(rows) != manifest.sample.rows:
        raise P2CError(
            f"{folder / SAMPLE}: expected {manifest.sample.rows} rows, found {len(rows)}"
        )
    if not manifest.sample.framed:
        rows = rows.to_numpy()
    rules = read_text(folder / STAND_IN) if STAND_IN in manifest.files else ""
    spec, decider = open_decider(
        spec, folder, trust=trust, sample=rows, stand_in=rules, tried=TRIED, seed=manifest.seed
    )
    standing = StandingRules(decider.stand_in, manifest.learned)
    decider = replace(decider, standing=standing, budget=manifest.budget)
    return OpenedFolder(spec, decider, manifest, rows)


def _refuse_other_answers(folder: Path, opened: OpenedFolder) -> None:
    """Refuse a model with other decisions, or that is no longer parsed."""
    manifest = opened.manifest
    now = opened.decider.source.accepted
    try:
        then = np.unpackbits(np.frombuffer(bytes.fromhex(manifest.sample.accepted), dtype=np.uint8))
    except ValueError:
        then = np.zeros(0, dtype=np.uint8)
    if len(then) < len(now):
        raise P2CError(
            f"{folder / MANIFEST}: the model's answers are not those of {len(now)} rows: modified"
        )
    wrong = int((then[: len(now)].astype(bool) != now).sum())
    if wrong:
        raise P2CError(
            f"{folder}: the model decides otherwise than when the folder was written, on {counted(wrong, 'row')} of"
            f" {len(now):,}: {differing(manifest.versions)}"
        )
    if manifest.model.read and not opened.decider.is_read:
        raise P2CError(
            f"{folder}: the model was read when the folder was written and is not now ({opened.decider.reading}):"
            f" {differing(manifest.versions)}"
        )
