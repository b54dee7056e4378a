"""A model behind a problem, as an audit needs it: people by its columns, and its word on them and on where plans end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from p2c._learn.tables.view import as_frame
from p2c._plan.compiled.space import Space

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from p2c._blackbox.decider import Decider
    from p2c._blackbox.judge import Ask
    from p2c._rules.theory import Theory


@dataclass(frozen=True)
class Auditee:
    """A model that decides, the problem around it, and people: a table by the columns of either, or columns by feature."""

    decider: Decider
    theory: Theory
    frame: Any

    @cached_property
    def space(self) -> Space:
        """Return the compiled problem; where the model is only asked, that of the rules beside it."""
        return Space(self.theory if self.decider.is_read else replace(self.theory, model=None))

    @cached_property
    def rows(self) -> pd.DataFrame:
        """Return the table by the model's columns, other columns besides."""
        rows = as_frame(self.frame)
        names = {e.feature: e.name for e in self.decider.source.view.columns if e.name not in rows}
        return rows.rename(columns=names)

    @cached_property
    def _which(self) -> Any:
        """Return which of the different rows each row is, by number in the order of their first ones."""
        names = [each.name for each in self.decider.source.view.columns]
        return self.rows.groupby(names, dropna=False, sort=False, observed=True).ngroup().to_numpy()

    @cached_property
    def different(self) -> pd.DataFrame:
        """Return the rows that are not alike in all that the model reads, each once."""
        _, first = np.unique(self._which, return_index=True)
        return self.rows.iloc[first]

    def for_all(self, answers: pd.DataFrame) -> pd.DataFrame:
        """Return the answers of the different rows for all rows."""
        table: pd.DataFrame = answers.iloc[self._which].set_axis(self.rows.index)
        return table

    @cached_property
    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Return the columns by feature, and those that are no feature by their own names."""
        if isinstance(self.frame, Mapping):
            return self.frame
        table = self.decider.source.view.table(self.rows)
        known = {str(name): self.rows[name].tolist() for name in self.rows.columns}
        return known | {name: table[name].tolist() for name in table.columns}

    @property
    def ask(self) -> Ask | None:
        """Return what asks the model for scores; None where it keeps them to itself."""
        return self.decider.asker({}) if self.decider.scored else None

    def confirmed(self, answers: Any) -> tuple[int, int] | None:
        """Return how many ends of plans the model itself accepts, of how many; None where the answers do not say so."""
        table = as_frame(answers)
        if "verified" not in table.columns:
            return None
        found = table[table["status"] == "found"]
        return int(found["verified"].sum()), len(found)
