"""Which measured figures the documentation quotes, and where the report holds each.

    python -m benchmarks.quoted                    every figure with its place; ends with 1 where one is nowhere

A section of README.md or docs/ that names a script of `benchmarks/` quotes it: its figures are those in prose, tables and
printed text, not those in commands and programs. Each has to be in what the script printed when it was last run with
`--record`, or in the report's table that the same measurement fills, rounded to the digits that are quoted.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.record import RESULTS, results

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

REPORT = Path("benchmarks/report/REPORT.md")
TABLES = {"fidelity": "### Table 4"}
"""Scripts whose measurement is a part of the report itself, and the heading of that part."""

SETTINGS: dict[str, dict[str, str]] = {
    "docs/asp.md": {
        "50": "people that the slow tests ask about",
        "92": "cars that the slow tests ask about",
        "200": "problems that the slow tests make",
        "400": "problems that the slow tests make",
        "5,000": "problems that the slow tests make",
    },
    "docs/learning.md": {
        "0.25": "a choice",
        "0.5": "a choice",
        "0.75": "a choice",
        "1": "a choice",
    },
    "docs/operators.md": {"9": "a signal", "12,400": "a count of the data"},
    "docs/service.md": {"5": "seconds of each load"},
    "docs/workbench.md": {"30": "an upper bound that a test holds"},
}
"""Figures that stand among measured ones and are none: what was chosen, or what a test makes sure of."""

FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.M | re.S)
NUMBER = re.compile(r"(?<![\w.,/-])(\d[\d,]*(?:\.\d+)?%?)(?!\.?\d)(?![A-Za-wyz_])")
SCRIPT = re.compile(r"benchmarks\.(\w+)")
WORD = re.compile(r"[A-Za-z]{2,}")

Lines = Mapping[str, Sequence[str]]
"""What is known of each script, in blocks: a line and the indented ones below it."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A number as it is written, and the words of its row; a number in prose has none."""

    text: str
    row: frozenset[str] = frozenset()

    @property
    def readings(self) -> Iterator[tuple[float, int]]:
        """Return the values that the figure may stand for, with their digits: 30% is 30 or 0.30."""
        value, digits = _value(self.text), len(self.text.rstrip("%").partition(".")[2])
        yield value, digits
        if self.text.endswith("%"):
            yield value / 100, digits + 2


@dataclass(frozen=True, slots=True)
class Passage:
    """A section of a document that quotes scripts: their names and its figures."""

    document: str
    heading: str
    scripts: tuple[str, ...]
    figures: tuple[Figure, ...]


def passages(document: str, text: str) -> Iterator[Passage]:
    """Return the sections of a document that quote scripts."""
    for section in re.split(r"^(?=#+ )", _without_comments(text), flags=re.M):
        scripts = tuple(dict.fromkeys(SCRIPT.findall(section)))
        if scripts:
            heading, _, body = section.partition("\n")
            yield Passage(document, heading.lstrip("# "), scripts, figures(body))


def _without_comments(text: str) -> str:
    """Return a text in which a comment within a program does not look like a heading."""
    return FENCE.sub(lambda found: re.sub(r"^#", " #", found.group(), flags=re.M), text)


def figures(text: str) -> tuple[Figure, ...]:
    """Return the numbers in prose, tables and printed text, each once a row.

    >>> [each.text for each in figures("Version 1.2.3 took 0.04 ms, `wait 7` 1,385 times, 47.2x.")]
    ['0.04', '1,385', '47.2']
    >>> [(each.text, sorted(each.row)) for each in figures("| Adult, RF | 84.1 |")]
    [('84.1', ['adult', 'rf'])]
    """
    text = FENCE.sub(
        lambda found: _marked(found.group(2)) if found.group(1) == "text" else "", text
    )
    text = re.sub(r"`[^`]*`|\]\([^)]*\)", " ", text)
    found: dict[Figure, None] = {}
    for line in text.splitlines():
        first = line.partition("|")[2].partition("|")[0] if line.startswith("|") else ""
        words = _words(line[1:] if line.startswith(">") else first)
        numbers = NUMBER.findall(line.removeprefix(f"|{first}"))
        found |= dict.fromkeys(Figure(number, words) for number in numbers)
    return tuple(found)


def _marked(printed: str) -> str:
    return "".join(f"> {line}\n" for line in printed.splitlines())


def _words(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in WORD.findall(text))


def place(figure: Figure, blocks: Iterable[str]) -> str | None:
    """Return the line that holds a figure, rounded to as many digits, or None.

    Where a block has all the words of the figure's row, only such blocks count.

    >>> place(Figure("0.05"), ["first 3.1", "median 0.0493 ms"])
    'median 0.0493 ms'
    >>> place(Figure("3.1", frozenset({"adult"})), ["cars 3.1", "adult 4.5"])
    """
    blocks = list(blocks)
    own = [block for block in blocks if figure.row and figure.row <= _words(block)]
    for line in (line for block in own or blocks for line in block.splitlines()):
        known = [_value(each) for each in NUMBER.findall(line)]
        for value, digits in figure.readings:
            if any(abs(each - value) <= 0.5000001 / 10**digits for each in known):
                return line.strip()
    return None


def _value(number: str) -> float:
    return float(number.rstrip("%").replace(",", ""))


def sources(report: str, folder: Path = RESULTS) -> dict[str, list[str]]:
    """Return, for each script, the blocks that it printed or that the report has of it."""
    found: dict[str, list[str]] = {}
    for result in results(folder):
        printed = re.split(r"\n(?!\s)", "\n".join(result.lines))
        found.setdefault(result.script, []).extend([result.command, *printed])
    for script, heading in TABLES.items():
        rest = report.partition(f"\n{heading}")[2]
        if rest:
            found.setdefault(script, []).extend(re.split(r"^#", rest, flags=re.M)[0].splitlines())
    return found


def unrecorded(passage: Passage, known: Lines) -> list[str]:
    """Return the scripts of a passage of which nothing is known."""
    return [script for script in passage.scripts if script not in known]


def places(passage: Passage, known: Lines) -> dict[Figure, str | None]:
    """Return, for each figure of a passage, the line that holds it, why it needs none, or None."""
    settings = SETTINGS.get(passage.document, {})
    blocks = [block for script in passage.scripts for block in known.get(script, ())]
    return {each: place(each, blocks) or settings.get(each.text) for each in passage.figures}


def documents(root: Path = Path()) -> Iterator[Passage]:
    """Return every passage of the README and the documentation that quotes scripts."""
    for path in (root / "README.md", *sorted((root / "docs").glob("*.md"))):
        yield from passages(str(path.relative_to(root)), path.read_text("utf-8"))


def main() -> None:
    """Print every figure and its place."""
    known = sources(REPORT.read_text("utf-8"))
    nowhere = 0
    for passage in documents():
        absent = unrecorded(passage, known)
        told = f", nothing recorded of {', '.join(absent)}" if absent else ""
        print(f"\n{passage.document}: {passage.heading} ({', '.join(passage.scripts)}{told})")
        for figure, line in places(passage, known).items():
            print(f"  {figure.text:>10}  {'NOWHERE' if line is None else line}")
            nowhere += line is None
    sys.exit(f"{nowhere} figures are nowhere in the report" if nowhere else 0)


if __name__ == "__main__":
    main()
