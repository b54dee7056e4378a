"""A table for the report: written once, shown as Markdown or as HTML."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape


@dataclass(frozen=True, slots=True)
class Table:
    """A title, what the columns are, the cells as text, and what a reader has to know about them."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()


def to_markdown(table: Table) -> str:
    r"""Return a table as Markdown.

    >>> print(to_markdown(Table("Costs", ("who", "cost"), (("we", "1|2"),), ("In euros.",))))
    ### Costs
    <BLANKLINE>
    | who | cost |
    | --- | --- |
    | we | 1\|2 |
    <BLANKLINE>
    In euros.
    """
    lines = [table.head, ("---",) * len(table.head), *table.rows]
    cells = [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in lines]
    return "\n\n".join([f"### {table.title}", "\n".join(cells), *table.notes])


def to_html(table: Table) -> str:
    """Return a table as HTML.

    >>> print(to_html(Table("Costs", ("who",), (("we & they",),))))
    <h3>Costs</h3>
    <table>
    <tr><th>who</th></tr>
    <tr><td>we &amp; they</td></tr>
    </table>
    """
    rows = [_row(table.head, "th"), *(_row(row, "td") for row in table.rows)]
    notes = [f"<p>{escape(note)}</p>" for note in table.notes]
    body = "\n".join(["<table>", *rows, "</table>"])
    return "\n".join([f"<h3>{escape(table.title)}</h3>", body, *notes])


def _row(cells: tuple[str, ...], tag: str) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in cells)}</tr>"
