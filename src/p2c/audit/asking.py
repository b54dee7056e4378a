"""A model behind a problem, as an audit needs it: people by its columns, its scores, and its word on where plans end."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from p2c.learn.tables.view import as_frame
from p2c.plan.compiled.space import Space

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from p2c.audit.intervals import Numbers
    from p2c.confirm.decider import Decider
    from p2c.rules.theory import Theory


@dataclass(frozen=True)
class Auditee:
    """A model that decides, the problem around it, and a table of people by the columns of either."""

    decider: Decider
    theory: Theory
    frame: Any

    @cached_property
    def space(self) -> Space:
        """Return the compiled problem; where the model is only asked, that of the rules beside it."""
        return Space(self.theory if self.decider.is_read else replace(self.theory, model=None))

    @cached_property
    def rows(self) -> pd.DataFrame:
        """Return the table as pandas has it."""
        return as_frame(self.frame)

    @cached_property
    def table(self) -> pd.DataFrame:
        """Return the people by feature."""
        view = self.decider.source.view
        names = {each.feature: each.name for each in view.columns if each.name not in self.rows}
        return view.table(self.rows.rename(columns=names))

    @cached_property
    def columns(self) -> dict[str, Sequence[Any]]:
        """Return the columns by feature, and those that are no feature by their own names."""
        known = {str(name): self.rows[name].tolist() for name in self.rows.columns}
        return known | {name: self.table[name].tolist() for name in self.table.columns}

    @cached_property
    def scores(self) -> Numbers | None:
        """Return what the model gives each; None where it keeps that to itself."""
        if not self.decider.scored:
            return None
        told = self.decider.asker({})(self.table.to_dict("records"))  # type: ignore[arg-type]
        return np.array([np.nan if score is None else score for _, score in told], dtype=float)

    def confirmed(self, answers: Any) -> tuple[int, int] | None:
        """Return how many ends of plans the model itself accepts, of how many; None where it cannot be asked so."""
        names = [feature.name for feature in self.theory.features]
        if any(each.feature not in names for each in self.decider.source.view.columns):
            return None
        table = as_frame(answers)
        found = table[table["status"] == "found"]
        columns = [found[f"end_{name}"].tolist() for name in names]
        ends: list[Mapping[str, Any]] = [
            dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)
        ]
        if not ends:
            return 0, 0
        return sum(accepted for accepted, _ in self.decider.asker({})(ends)), len(ends)
