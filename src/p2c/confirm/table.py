"""Confirmed plans for everybody in a table, as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from p2c.errors import RowError
from p2c.plan.tables.frames import bar
from p2c.plan.tables.table import plan_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from p2c.confirm.result import VerifiedPlan
    from p2c.domain.feature import Feature

SEVERAL = 50
"""From how many rows on progress is shown."""


def plan_table(
    features: Iterable[Feature],
    plan: Callable[[Any], VerifiedPlan],
    rows: pd.DataFrame,
    *,
    progress: bool | None,
) -> pd.DataFrame:
    """Return one line a row: what `Problem.plan_many` has, and whether the plan is verified and optimal."""
    names = [feature.name for feature in features]
    with bar(shown=len(rows) >= SEVERAL, wanted=progress) as watch:
        task = watch.add_task("planning", total=len(rows))
        lines = []
        for _, row in rows.iterrows():
            lines.append(_line(names, plan, row))
            watch.advance(task)
    columns = [
        "status",
        "cost",
        *(f"end_{name}" for name in names),
        "actions",
        "steps",
        "verified",
        "optimal",
        "message",
    ]
    return pd.DataFrame(lines, columns=columns, index=rows.index)


def _line(names: list[str], plan: Callable[[Any], VerifiedPlan], row: Any) -> dict[str, Any]:
    try:
        found = plan(row)
    except RowError as error:
        return {"status": "invalid", "verified": False, "optimal": False, "message": str(error)}
    end = found.plan.counterfactual or {}
    actions, steps = plan_texts(found.plan) if found.plan.steps else ("", "")
    return {
        "status": found.status,
        "cost": found.cost,
        **{f"end_{name}": end.get(name) for name in names},
        "actions": actions,
        "steps": steps,
        "verified": found.verified,
        "optimal": found.optimal,
        "message": "",
    }
