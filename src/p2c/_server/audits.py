"""Audits that the browser asks for: a table of people for each problem, and the audit of them, which is that of `p2c audit`."""

from __future__ import annotations

import csv
import json
import shutil
from typing import TYPE_CHECKING, Any

from p2c._explain.phrases import LANGUAGES
from p2c._server.page_error import PageError
from p2c._server.uploads import read_limited
from p2c._server.workshop import Workshop
from p2c.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from p2c._server.problem_store import Entry
    from p2c._server.settings import Limits
    from p2c._server.workshop import Step
    from p2c._spec.feature import Feature

QUESTION = "question.json"
REPORT = "audit"
"""The folder of what the audit writes, and the stem of its reports."""


class Audits:
    """The folders of the problems' audits, none of which outlives the server."""

    def __init__(self, folder: Path, limits: Limits) -> None:
        self.folder = folder
        self.limits = limits
        self._shops: dict[str, Workshop] = {}

    def of(self, entry: Entry) -> Workshop:
        """Return where a problem is audited; a problem that has changed begins again."""
        name = f"{entry.id}-{entry.digest[:16]}"
        return self._shops.setdefault(name, Workshop(self.folder / name, self.limits))

    def cancel(self) -> None:
        """End all that is under way."""
        for shop in self._shops.values():
            shop.cancel()


def table_in(folder: Path) -> Path | None:
    """Return the table of people that a folder holds."""
    return next(iter(sorted(folder.glob("people.*"))), None)


def take_table(shop: Workshop, problem: Problem, path: Path) -> None:
    """Take a table of people that has all columns of a problem, in the place of what was there; else say what is wrong with it."""
    shop.refuse_if_busy()
    features, aliases = problem.theory.features, problem.columns
    read_limited(path, check_people, path, features, aliases, limits=shop.limits)
    _put(shop, path)


def check_people(path: Path, features: Sequence[Feature], aliases: Mapping[str, str]) -> None:
    """Refuse a table of people without a column for each feature."""
    from p2c._batch import Options
    from p2c._batch.columns import check_columns
    from p2c._batch.source import find_files

    check_columns(find_files(path), features, Options(), taken=(), aliases=aliases)


def _put(shop: Workshop, path: Path) -> None:
    for old in shop.folder.glob("[!.]*"):
        shutil.rmtree(old) if old.is_dir() else old.unlink()
    path.replace(shop.folder / f"people{path.suffix.lower()}")


def take_rows(shop: Workshop, entry: Entry) -> None:
    """Take the people that a problem is served with."""
    shop.refuse_if_busy()
    names = [each.name for each in entry.problem.theory.features]
    shop.folder.mkdir(parents=True, exist_ok=True)
    path = shop.folder / ".rows.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows(entry.rows.values())
    _put(shop, path)


def columns_in(table: Path) -> list[str]:
    """Return the columns that people may be divided by."""
    from p2c._batch.source import find_files

    (file,) = find_files(table)
    return list(file.reader.schema(file.path).names)


def start(shop: Workshop, problem: Problem, by: Sequence[str]) -> None:
    """Begin the audit of the table that is there, or go on with it where the same was asked before."""
    from p2c._audit.groups import read_divisions

    table = table_in(shop.folder)
    if table is None:
        raise PageError("audit_no_table")
    read_divisions(by)
    shop.refuse_if_busy()
    asked = {"problem": problem.to_message(), "table": table.name, "by": list(by)}
    question = shop.folder / QUESTION
    text = json.dumps(asked, ensure_ascii=False)
    if not question.exists() or question.read_text(encoding="utf-8") != text:
        shutil.rmtree(shop.folder / REPORT, ignore_errors=True)
    question.write_text(text, encoding="utf-8")
    shop.start("audit", perform_audit)


def perform_audit(folder: Path, step: Step) -> dict[str, Any]:
    """Audit the people of a folder and write the report in every format and language; `step` is told how many rows are planned for."""
    from p2c._audit.audit import FORMATS
    from p2c._batch.audited import audit_files
    from p2c._report.html import notebook_html

    asked = json.loads((folder / QUESTION).read_text(encoding="utf-8"))
    problem = Problem.from_message(asked["problem"])
    report = folder / REPORT

    def watch(*, rows: int, total: int, spare: Sequence[str]) -> None:
        step(rows=rows, total=total)

    found = audit_files(problem, folder / asked["table"], report, by=asked["by"], watch=watch)
    for language in LANGUAGES:
        body = notebook_html(found.document(language=language))
        (report / f"{REPORT}-{language}.part").write_text(body, encoding="utf-8")
        for ending in FORMATS:
            content = found.report(format=ending, language=language)
            (report / f"{REPORT}-{language}.{ending}").write_bytes(content)
    return {"by": asked["by"]}
