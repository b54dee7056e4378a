"""An unfinished project in its folder, and its long steps."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from p2c._from_data import DataOptions, problem_from_table
from p2c._learn.causal.learning import learn_causal_rules
from p2c._learn.causal.review import read_review, write_review
from p2c._learn.decision import outcomes_of
from p2c._learn.model import Read
from p2c._learn.model.asking import classes_of
from p2c._learn.model.stored import OWN_FILES
from p2c._learn.tables.domains import tidy_frame
from p2c._learn.tables.files import open_table
from p2c._learn.tables.look import assume
from p2c._project.fitting import fit_model, open_stored
from p2c._spec.spec import read_text
from p2c._whole_file import put_text
from p2c.errors import P2CError
from p2c.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pandas as pd

    from p2c._learn.causal.review import Review
    from p2c._learn.tables.files import Table
    from p2c._learn.tables.look import Assumption
    from p2c._project.fitting import Opened


DRAFT = "project.json"
TABLES = (".csv", ".parquet")
MODELS = (".skops", ".onnx", *OWN_FILES)
"""File types of models that cannot run code when they are opened."""
MOST_OUTCOMES = 20
"""Maximum number of distinct values in a column of outcomes."""


class _Kept(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Choice(_Kept):
    """The action, weight and label of a column."""

    action: Literal["free", "up", "down", "fixed"] = "free"
    weight: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 1
    label: str = ""


class Draft(_Kept):
    """The settings of a project so far; files are named as they stand in the folder.

    `desired` is the outcome that people want, empty until it is chosen: none is assumed.
    """

    table: str = ""
    model: str = ""
    target: str = ""
    desired: str = ""
    columns: dict[str, Choice] = {}


def read_draft(folder: Path) -> Draft:
    """Return the draft of a folder, an empty one where nothing was said yet."""
    path = folder / DRAFT
    if not path.exists():
        return Draft()
    try:
        return Draft.model_validate_json(read_text(path))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"])) or "the text"
        raise P2CError(f"{path}: not as p2c writes it: {place}: {first['msg']}") from None


def write_draft(folder: Path, draft: Draft) -> None:
    """Keep a draft, whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    put_text(folder / DRAFT, draft.model_dump_json(indent=2) + "\n")


def take_table(folder: Path, given: Path) -> Draft:
    """Copy a table into the project; settings of its columns stay."""
    kind = _kind(given, TABLES, "a table")
    table = open_table(given)
    names = {str(each) for each in table.frame.columns}
    old = read_draft(folder)
    target = old.target if old.target in targets_of(table) else ""
    is_known = bool(target) and old.desired in outcomes_of(table.frame[target])
    draft = old.model_copy(
        update={
            "table": f"table{kind}",
            "target": target,
            "desired": old.desired if old.model or is_known else "",
            "columns": {key: each for key, each in old.columns.items() if key in names},
        }
    )
    _put(folder, given, draft.table, old.table)
    write_draft(folder, draft)
    return draft


def take_model(folder: Path, given: Path) -> Draft:
    """Take a model into the project, once it opens and can be asked about the table.

    The chosen outcome is kept if the model takes the place of another one and has that class too.
    """
    kind = _kind(given, MODELS, "a model")
    old = read_draft(folder)
    if not old.table:
        raise P2CError("a model needs a table beside it: give both")
    open_stored(given, open_table(folder / old.table))
    draft = old.model_copy(update={"model": f"model{kind}"})
    _put(folder, given, draft.model, old.model)
    if not (old.model and old.desired in _offered(folder, draft)):
        draft = draft.model_copy(update={"desired": ""})
    write_draft(folder, draft)
    return draft


def drop_model(folder: Path) -> Draft:
    """Go on without the model: rules are learned from outcomes."""
    old = read_draft(folder)
    if old.model:
        (folder / old.model).unlink(missing_ok=True)
    draft = old.model_copy(update={"model": "", "desired": ""})
    write_draft(folder, draft)
    return draft


def _kind(given: Path, known: tuple[str, ...], what: str) -> str:
    kind = given.suffix.lower()
    if kind not in known:
        raise P2CError(f"{given}: expected {what} that ends in {', '.join(known)}")
    return kind


def _put(folder: Path, fresh: Path, name: str, old: str) -> None:
    if old and old != name:
        (folder / old).unlink(missing_ok=True)
    os.replace(fresh, folder / name)


def seen_table(folder: Path, draft: Draft) -> Table:
    """Return the table of a draft; one that has not changed is not read again."""
    path = folder / draft.table
    status = path.stat()
    return _table(path, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=2)
def _table(path: Path, _written: int, _size: int) -> Table:
    return open_table(path)


def opened_model(folder: Path, draft: Draft) -> Opened:
    """Return the model of a draft, and the table as the model is asked about it."""
    path, table = folder / draft.model, seen_table(folder, draft)
    return open_stored(path, table, target=draft.target or None, known=True)


def targets_of(table: Table) -> list[str]:
    """Return the columns of a table with few distinct values: possible outcomes."""
    return [each.name for each in table.seen.columns if each.distinct <= MOST_OUTCOMES]


def choices_of(folder: Path, draft: Draft) -> list[str]:
    """Return the outcomes to choose from, by the model or the outcome column.

    A model states its classes; a column has values.

    Raises:
        P2CError: The model gives numbers instead of classes, or names none and cannot be asked about the table.
    """
    if draft.model:
        opened = opened_model(folder, draft)
        return [str(each) for each in classes_of(opened.model, opened.table.frame)]
    return outcomes_of(seen_table(folder, draft).frame[draft.target]) if draft.target else []


def _offered(folder: Path, draft: Draft) -> list[str]:
    try:
        return choices_of(folder, draft)
    except P2CError:
        return []


def chosen(draft: Draft, table: Table) -> tuple[Assumption, ...]:
    """Return the action of each column: of the draft, or assumed."""
    said = draft.columns
    guessed = assume(
        table.seen,
        given={name: each.action for name, each in said.items()},
        weights={name: each.weight for name, each in said.items()},
    )
    return tuple(
        replace(each, label=said[each.column].label) if each.column in said else each
        for each in guessed
    )


def outcome_table(folder: Path, draft: Draft) -> Table:
    """Return the table to learn from, without useless columns."""
    return seen_table(folder, draft).useful({draft.target})


MODEL = "model"
"""The folder of the problem where a model decides."""
REVIEW = "review.jsonl"
PEOPLE = "people.csv"
MOST = 200
"""How many refused people are kept to plan for."""


def built(folder: Path) -> Path | None:
    """Return the folder or file of a project's problem; None before it is built."""
    for path in (folder / MODEL, folder / "problem.toml"):
        if path.exists():
            return path
    return None


def build(folder: Path, step: Callable[[], None]) -> dict[str, Any]:
    """Make the problem of a project by the steps of `p2c fit` or `p2c init`.

    `step` is called after each.
    """
    draft = read_draft(folder)
    if not draft.table:
        raise P2CError("there is no table yet")
    if not draft.desired:
        raise P2CError("which outcome do people want? None is assumed: choose it")
    causal = approved(folder)
    made = _fit(folder, draft, causal, step) if draft.model else _learn(folder, draft, causal, step)
    return made | {"causes": causal is not None, "aim": aim_of(draft)}


def aim_of(draft: Draft) -> tuple[str, str]:
    """Return the outcome column, empty if a model decides, and the wanted outcome."""
    return ("" if draft.model else draft.target), draft.desired


def approved(folder: Path) -> Review | None:
    """Return the review of a project once every candidate in it is answered."""
    path = folder / REVIEW
    review = read_review(path) if path.exists() else None
    return review if review is not None and not review.pending() else None


def _options(draft: Draft, table: Table, causal: Review | None) -> DataOptions:
    return DataOptions(causal, desired=draft.desired, assumptions=chosen(draft, table))


def _fit(
    folder: Path, draft: Draft, causal: Review | None, step: Callable[[], None]
) -> dict[str, Any]:
    opened = opened_model(folder, draft)
    step()
    options = _options(draft, opened.table, causal)
    problem = fit_model(opened, options, {"name": folder.resolve().name})
    step()
    problem.save(folder / MODEL, replace=True)
    (folder / "problem.toml").unlink(missing_ok=True)
    frame = opened.table.frame
    _keep_people(folder, frame[~problem.predict(frame).to_numpy()])
    told: dict[str, Any] = {
        "reading": str(problem.reading),
        "read": isinstance(problem.reading, Read),
    }
    if not told["read"]:
        found = problem.extraction
        assert found is not None
        told |= {"rules": found.program, "fidelity": found.fidelity}
    return told


def _learn(
    folder: Path, draft: Draft, causal: Review | None, step: Callable[[], None]
) -> dict[str, Any]:
    if not draft.target:
        raise P2CError("which column holds the outcome? Without a model, rules are learned from it")
    table = outcome_table(folder, draft)
    rest = table.without([draft.target])
    options, keys = _options(draft, rest, causal), {"name": folder.resolve().name}
    step()
    problem = problem_from_table(Problem, table, draft.target, options, keys)
    step()
    people = tidy_frame(rest.frame)
    _keep_people(folder, people[~problem.predict(people).to_numpy()])
    problem.save(folder / "problem.toml")
    shutil.rmtree(folder / MODEL, ignore_errors=True)  # it would be taken for the problem
    assert problem.provenance is not None
    assert problem.provenance.learned is not None
    learned = problem.provenance.learned
    return {
        "rules": learned.text,
        "fidelity": learned.source["fidelity"],
        "rows": learned.source["rows"],
    }


def _keep_people(folder: Path, refused: pd.DataFrame) -> None:
    refused.head(MOST).to_csv(folder / PEOPLE, index=False)


def find_causes(folder: Path, step: Callable[[], None]) -> dict[str, Any]:
    """Add candidates for causal rules to the project's review; its answers stay."""
    draft = read_draft(folder)
    table = outcome_table(folder, draft) if not draft.model else opened_model(folder, draft).table
    if draft.target and draft.target in table.frame.columns:
        table = table.without([draft.target])
    step()
    table = table.useful()
    found = learn_causal_rules(table.frame)
    step()
    review = write_review(folder / REVIEW, found, features=table.frame)
    return {"candidates": len(review.candidates)}
