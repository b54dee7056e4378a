"""The long steps of a project in a folder: fit or learn, and find causes."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

from p2c._from_data import DataOptions, problem_from_table
from p2c._learn.causal.learning import learn_causal_rules
from p2c._learn.causal.review import read_review, write_review
from p2c._learn.model import Read
from p2c._learn.tables.domains import tidy_frame
from p2c._project.draft import chosen, opened_model, outcome_table, read_draft
from p2c._project.fitting import fit_model
from p2c.errors import P2CError
from p2c.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pandas as pd

    from p2c._learn.causal.review import Review
    from p2c._learn.tables.files import Table
    from p2c._project.draft import Draft

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
