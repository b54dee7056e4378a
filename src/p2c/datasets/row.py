"""One row of a table: a value for every column, by name."""

from __future__ import annotations

from typing import TypeAlias

from p2c.domain.feature import Value

Row: TypeAlias = dict[str, Value]
