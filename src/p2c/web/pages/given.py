"""Reads what someone pastes to compare with: a plan, or an end state, as JSON or as CSV with a line of names."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from p2c.domain.row import read_row, read_text_row
from p2c.domain.sheet import open_sheet, split_lines
from p2c.errors import Fault, P2CError, RowError, counted, suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable

    from p2c.problem import Problem
    from p2c.web.pages.address import Case


def read_given(problem: Problem, case: Case, text: str) -> dict[str, Any]:
    """Return a `document`, or an `end` state in which features that are not given keep the person's values."""
    features = problem.theory.features
    known = [each.name for each in features]
    if text.lstrip()[:1] not in ("{", "["):
        cells = _csv_row(text)
        _refuse_unknown(cells, known)
        end = read_text_row([each for each in features if each.name in cells], cells)
        return {"end": {**case.row(problem.theory), **end}}
    data = _json_object(text)
    if "steps" in data:
        return {"document": data}
    inner = data.get("counterfactual")
    row = inner if isinstance(inner, dict) and "counterfactual" not in known else data
    _refuse_unknown(row, known)
    return {"end": read_row(features, {**case.row(problem.theory), **row})}


def _json_object(text: str) -> dict[str, Any]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise P2CError(f"not JSON: {str(error)[:200]}") from None
    if isinstance(data, list) and len(data) == 1:
        data = data[0]
    if not isinstance(data, dict):
        raise P2CError("expected one JSON object: a plan, or a value for each feature")
    return data


def _csv_row(text: str) -> dict[str, str]:
    sheet = open_sheet(split_lines(text))
    rows = list(sheet.rows)
    if len(rows) != 1:
        raise P2CError(
            f"expected a line of names and one row of values, found {counted(len(rows), 'row')}"
        )
    return dict(zip(sheet.names, rows[0].cells, strict=True))


def _refuse_unknown(given: Iterable[str], known: list[str]) -> None:
    odd = [name for name in given if name not in known]
    if odd:
        raise RowError(
            [
                Fault(name[:60], f"no such feature; {suggestion(name[:60], known)}")
                for name in odd[:5]
            ]
        )
