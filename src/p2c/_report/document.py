"""A report as one frozen value: blocks in reading order, from which each format is rendered by one renderer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from p2c._explain.letter import teller_in, write_letter
from p2c._explain.model_reasons import rules_words
from p2c._explain.phrases import ENGLISH, phrases_of
from p2c._explain.sentences import filled, label_words, number_words
from p2c._explain.teller import Item
from p2c._markup import clean
from p2c._report.picture import plan_svg
from p2c._report.plan_layout import Sort, lay_out
from p2c._rules.render import render_rule
from p2c._spec.feature import Points
from p2c.errors import first_few

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from p2c._explain.letter import Letter
    from p2c._explain.phrases import Phrases
    from p2c._plan.outcome import Plan
    from p2c._report.plan_layout import Cell, PlanLayout
    from p2c._rules.theory import Theory
    from p2c._spec.feature import Feature


FEATURE_ROW = ("feature", "label", "type", "values", "action")
SHOWN = 8
"""How many values of a category are listed in a few words."""


@dataclass(frozen=True, slots=True)
class Heading:
    """The title of a part."""

    text: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A few sentences; `strong` for the verdict."""

    text: str
    strong: bool = False


@dataclass(frozen=True, slots=True)
class Listing:
    """Points, numbered where their order matters."""

    items: tuple[Item, ...]
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class Grid:
    """A table."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @classmethod
    def under(
        cls, words: Mapping[str, str], keys: Iterable[str], rows: Iterable[tuple[str, ...]]
    ) -> Grid:
        """Return a table whose columns have words of a catalogue for their titles, by their keys."""
        return cls(tuple(words[key] for key in keys), tuple(rows))


@dataclass(frozen=True, slots=True)
class Code:
    """Lines to be shown letter by letter, such as rules and commands; `numbered` from one."""

    lines: tuple[str, ...]
    numbered: bool = False


@dataclass(frozen=True, slots=True)
class Outline:
    """A tree: each line with its depth and whether others stand below it."""

    rows: tuple[tuple[str, int, bool], ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture, as SVG in light colours, with its title, what it shows in words and, where it fits, as a table."""

    svg: str
    title: str
    told: str
    table: Grid | None = None


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines that stay apart, such as an address; `side` is left or right."""

    lines: tuple[str, ...]
    side: str = "left"


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture as the bytes of a file, such as a logo.

    `kind` is png, jpeg or svg; `alt` replaces the picture in text.
    """

    content: bytes
    kind: str
    alt: str


Block = Heading | Paragraph | Listing | Grid | Code | Outline | Figure | Lines | Picture


@dataclass(frozen=True, slots=True)
class Document:
    """A report: its language, its title and its blocks.

    `head` stands above the title, as in a letter.
    """

    language: str
    title: str
    blocks: tuple[Block, ...]
    head: tuple[Block, ...] = ()


def letter_document(letter: Letter, figure: Figure | None = None) -> Document:
    """Return a letter as a document, with a picture after the steps where there is one."""
    blocks: list[Block] = [Paragraph(letter.verdict, strong=True)]
    for section in letter.sections:
        blocks.append(Heading(section.heading))
        if section.lead:
            blocks.append(Paragraph(section.lead))
        if section.items:
            blocks.append(Listing(section.items, section.ordered))
        if section.kind == "steps" and figure:
            blocks.append(figure)
    return Document(letter.language, letter.title, tuple(blocks))


def applicant_document(
    theory: Theory, plan: Plan, *, language: str = "en", reasons: tuple[str, ...] = ()
) -> Document:
    """Return the page for the person: the verdict, the letter with its picture, and the values that were given.

    `reasons` are the principal ones in a lender's own words; they come right after the verdict.
    """
    letter = write_letter(theory, plan, language=language)
    figure = plan_figure(theory, plan, language=language) if plan.steps else None
    given = Listing(tuple(map(Item, _given(theory, plan, language))))
    document = letter_document(letter, figure)
    verdict, *rest = document.blocks
    told: tuple[Block, ...] = ()
    if reasons:
        listed = Listing(tuple(map(Item, reasons)), ordered=True)
        told = (Heading(phrases_of(language).audit["reasons"]), listed)
    heading = Heading(phrases_of(language).headings["given"])
    return replace(document, blocks=(verdict, *told, *rest, heading, given))


def _given(theory: Theory, plan: Plan, language: str) -> Iterator[str]:
    """Yield each value of the person, so that whoever holds the page can tell what it is about."""
    teller = teller_in(theory, language)
    for name, value in plan.question.initial.items():
        yield clean(f"{teller.label(name)}: {teller.value(name, value)}")


def plan_figure(theory: Theory, plan: Plan, *, language: str) -> Figure:
    """Return the picture of a plan."""
    layout = lay_out(theory, plan, language=language)
    svg = plan_svg(theory, plan, theme="light", language=language)
    return Figure(svg, layout.title, layout.told, layout_grid(layout))


def layout_grid(layout: PlanLayout) -> Grid:
    """Return a layout as a table; what the person does has its number, what follows has an arrow."""
    rows = [
        (label, *(_cell_text(cell) for cell in layout.cells if cell.row == row))
        for row, label in enumerate(layout.rows)
    ]
    return Grid(("", *layout.columns), tuple(rows))


def _cell_text(cell: Cell) -> str:
    match cell.sort:
        case Sort.DIRECT:
            return f"({cell.number}) {cell.text}"
        case Sort.EFFECT:
            return f"→ {cell.text}"
        case Sort.START | Sort.STAYS:
            return cell.text


def problem_document(theory: Theory) -> Document:
    """Return a problem as a document: its goal, its features and its rules."""
    by = rules_words(theory)
    blocks: list[Block] = [
        Paragraph(theory.name, strong=True),
        Paragraph(f"goal: {theory.goal_text}"),
    ]
    blocks += [Paragraph(filled(ENGLISH.given_by, by=by))] if by else []
    blocks += [
        Grid(FEATURE_ROW, tuple(feature_row(each, ENGLISH) for each in theory.features)),
        Code(tuple(map(render_rule, theory.program.rules)), numbered=True),
    ]
    return Document("en", theory.name, tuple(blocks))


def feature_row(feature: Feature, phrases: Phrases) -> tuple[str, ...]:
    """Return what a table says of a feature, under the titles of `FEATURE_ROW`."""
    kind, action = feature.kind.value, feature.action.value
    return feature.name, label_words(feature), kind, values_text(feature, phrases), action


def values_text(feature: Feature, phrases: Phrases) -> str:
    """Return the values of a feature, or its range, in a few words."""
    domain = feature.domain
    if not isinstance(domain, Points):
        ends = {"least": feature.minimum, "most": feature.maximum}
        written = {key: number_words(end, phrases) for key, end in ends.items()}
        span = filled(phrases.pages["range"], **written)
        return f"{span} {feature.unit}".strip()
    return first_few(map(str, domain.values), most=SHOWN)
