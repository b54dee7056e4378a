"""The page of a report: its parts, written once, shown as Markdown or as HTML."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from benchmarks.tables.table import Table, to_html, to_markdown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchmarks.record import Result

TITLE = "The paper's evaluation, with p2c and its peers on the same rows"
STYLE = (
    "body{font:15px/1.5 sans-serif;max-width:75em;margin:2em auto;padding:0 1em;color:#111}"
    "table{border-collapse:collapse;display:block;overflow-x:auto;font-size:13px}"
    "td,th{border:1px solid #999;padding:.25em .6em;text-align:left}th{background:#eee}img{max-width:100%}"
)


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the report: a heading, paragraphs, tables, what scripts printed, and figures with their captions."""

    heading: str
    paragraphs: tuple[str, ...] = ()
    items: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    listings: tuple[Result, ...] = ()
    figures: tuple[tuple[str, str], ...] = ()


def told(result: Result) -> str:
    """Say when and on what something was measured."""
    return f"{result.date}, {result.machine}, Python {result.python}, load {result.load:g}."


def listing(lines: Iterable[str]) -> str:
    """Return what a script printed, word for word, as Markdown."""
    return "\n".join(["```text", *lines, "```"])


def markdown(parts: list[Section]) -> str:
    """Return the report as Markdown."""
    lines = [f"# {TITLE}"]
    for part in parts:
        lines += [f"## {part.heading}", *part.paragraphs]
        if part.items:
            lines.append("\n".join(f"- {item}" for item in part.items))
        lines += [f"![{caption}]({name})\n\n{caption}" for name, caption in part.figures]
        lines += [to_markdown(table) for table in part.tables]
        for each in part.listings:
            lines += [f"### `{each.command}`", told(each), listing(each.lines)]
    return "\n\n".join(lines) + "\n"


def html(parts: list[Section]) -> str:
    """Return the report as one HTML page; its figures lie beside it."""
    lines = [f"<h1>{escape(TITLE)}</h1>"]
    for part in parts:
        lines += [
            f"<h2>{escape(part.heading)}</h2>",
            *(f"<p>{escape(p)}</p>" for p in part.paragraphs),
        ]
        if part.items:
            lines.append(f"<ul>{''.join(f'<li>{escape(item)}</li>' for item in part.items)}</ul>")
        for name, caption in part.figures:
            label = escape(caption)
            lines.append(
                f'<figure><img src="{name}" alt="{label}"><figcaption>{label}</figcaption></figure>'
            )
        lines += [to_html(table) for table in part.tables]
        for each in part.listings:
            shown = escape("\n".join(each.lines))
            lines.append(f"<h3><code>{escape(each.command)}</code></h3>")
            lines.append(f"<p>{escape(told(each))}</p>\n<pre>{shown}</pre>")
    body = "\n".join(lines)
    return (
        f'<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8"><title>{escape(TITLE)}</title>'
        f"<style>{STYLE}</style></head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def renewed(report: str, page: str, heading: str, following: str) -> str:
    """Return a report, in either format, whose section up to the following one is that of a page with nothing else."""
    mark = "<h2>" if "<h2>" in page else "## "
    begin, end = (report.index(f"{mark}{each}") for each in (heading, following))
    section = page[page.index(f"{mark}{heading}") :].partition("\n</body>")[0].rstrip("\n")
    return report[:begin] + section + ("\n" if mark == "<h2>" else "\n\n") + report[end:]
