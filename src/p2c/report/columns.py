"""What a look at the columns of a table saw, on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from p2c.learn.tables.look import USELESS
from p2c.markup import clean

if TYPE_CHECKING:
    from collections.abc import Collection

    from rich.console import Console

    from p2c.learn.tables.look import TableLook


def show_columns(console: Console, seen: TableLook, *, keep: Collection[str] = ()) -> None:
    """Print a line for each column, and which are left out, why, and how to keep them."""
    table = Table("column", "holds", "values", "missing", "", box=None, header_style="dim")
    for each in seen.columns:
        words = (each.name, each.kind.value, each.span, f"{each.missing:,}", each.note)
        table.add_row(*(Text(clean(word)) for word in words))
    console.print(table)
    for each in seen.left_out(keep):
        console.print(
            Text(
                clean(
                    f"column '{each.name}' is left out: {USELESS[each.kind]};"
                    f" keep it with --keep '{each.name}'"
                ),
                style="yellow",
            )
        )
    console.print()
