"""Read the fields of cases from JSON, JSON lines, CSV or options."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from p2c._spec.files import read_sheet
from p2c._spec.misread import misread
from p2c._spec.spec import read_text
from p2c.errors import P2CError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

FLAGS = {"true": True, "false": False}


def read_cases(path: Path) -> list[dict[str, Any]]:
    """Return the fields of each case in a file, in the order of its rows.

    A blank cell of CSV is a missing field.
    """
    text = read_text(path)
    if not text.lstrip().startswith(("{", "[")):
        sheet = read_sheet(path)
        rows = (zip(sheet.names, row.cells, strict=True) for row in sheet.rows)
        return [{name: typed(cell) for name, cell in row if cell.strip()} for row in rows]
    try:
        data = json.loads(text)
    except json.JSONDecodeError:
        data = _json_lines(path, text)
    except (ValueError, RecursionError) as error:
        raise P2CError(f"{path}: not JSON: {misread(error, text)}") from None
    cases = data if isinstance(data, list) else [data]
    if not all(isinstance(each, dict) for each in cases):
        raise P2CError(f"{path}: expected a JSON object of fields for each person")
    return cases


def _json_lines(path: Path, text: str) -> list[Any]:
    try:
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    except (ValueError, RecursionError) as error:
        raise P2CError(f"{path}: not JSON: {misread(error, text)}") from None


def typed(text: str) -> str | bool:
    """Return the text of a field, a truth value where it is one."""
    return FLAGS.get(text.strip().lower(), text.strip())


def fields_of(options: Iterable[str]) -> dict[str, str | bool]:
    """Return the fields of options such as `reference=4711`.

    >>> fields_of(["reference=4711", "outside_source=false"])
    {'reference': '4711', 'outside_source': False}
    """
    fields: dict[str, str | bool] = {}
    for option in options:
        name, equals, text = option.partition("=")
        if not (equals and name.strip()):
            raise P2CError(f"--field: expected NAME=VALUE, found '{option}'")
        fields[name.strip()] = typed(text)
    return fields
