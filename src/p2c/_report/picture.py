"""The picture of a plan as SVG. What a person does is a filled box with a number, what follows is a dashed pill in italics.

So the two are told apart without colour too. Nothing in the picture has an id, so several fit into one page.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING

from p2c._markup import element
from p2c._report.canvas import (
    LINE,
    PADDING,
    Canvas,
    badge,
    curve,
    legend,
    legend_width,
    pill,
    text_width,
    wrap,
)
from p2c._report.plan_layout import Sort, lay_out
from p2c.errors import check_word

if TYPE_CHECKING:
    from p2c._markup import Markup
    from p2c._plan.outcome import Plan
    from p2c._report.plan_layout import Arrow, Cell, PlanLayout
    from p2c._rules.theory import Theory


WIDTH = 344.0
TALL_MARGIN = 14.0
TALL_SIZE = 15.0
TALL_HEADER = 30.0
TALL_GAP = 12.0
INDENT = 26.0
DEEPEST = 3
"""How far what follows from what follows is set in."""
MOST_LINES = 4

Place = tuple[float, float, float]
"""The left, the top and the bottom of a box."""


def tall_svg(layout: PlanLayout, canvas: Canvas) -> str:
    """Draw a layout from the top down."""
    strip = _TallPicture(layout, canvas)
    for column in range(1, len(layout.columns)):
        strip.step(column)
    strip.end()
    return canvas.drawing(
        (WIDTH, strip.y + TALL_MARGIN),
        strip.shapes,
        title=layout.title,
        told=layout.told,
        language=layout.language,
    )


@dataclass
class _TallPicture:
    """A drawing that grows downwards."""

    layout: PlanLayout
    canvas: Canvas
    shapes: list[Markup] = field(default_factory=list)
    y: float = TALL_MARGIN

    def step(self, column: int) -> None:
        """Draw one step: its heading, what is done, and what follows from it."""
        place = (TALL_MARGIN + 16, self.y + TALL_HEADER / 2)
        heading = self.layout.columns[column]
        self.shapes.append(
            self.canvas.words(
                [heading], place, size=TALL_SIZE - 1, fill="muted", anchor="start", weight=600
            )
        )
        self.y += TALL_HEADER
        causes = self._causes(column)
        drawn: dict[int, Place] = {}
        depths: dict[int, int] = {}
        for cell in _ordered(self._changed(column), causes):
            sources = [row for row in causes.get(cell.row, ()) if row in drawn]
            depth = 0
            if cell.sort is Sort.EFFECT:
                depth = min(1 + max((depths[row] for row in sources), default=0), DEEPEST)
            depths[cell.row] = depth
            drawn[cell.row] = self._box(cell, TALL_MARGIN + depth * INDENT)
            for row in sources:
                self._arrow(drawn[row], drawn[cell.row])

    def _changed(self, column: int) -> list[Cell]:
        done = (Sort.DIRECT, Sort.EFFECT)
        return [c for c in self.layout.cells if c.column == column and c.sort in done]

    def _causes(self, column: int) -> dict[int, list[int]]:
        """Return for each row that changes in a step the rows of the same step that it follows from."""
        found: dict[int, list[int]] = {}
        for arrow in self.layout.arrows:
            (row, start), (end_row, end) = arrow.source, arrow.target
            if start == end == column:
                found.setdefault(end_row, []).append(row)
        return found

    def _box(self, cell: Cell, left: float) -> Place:
        before = next(
            c.text for c in self.layout.cells if (c.row, c.column) == (cell.row, cell.column - 1)
        )
        width = WIDTH - TALL_MARGIN - left
        inside = width - 4 * PADDING
        label = wrap(self.layout.rows[cell.row], inside, TALL_SIZE, most=MOST_LINES)
        values = wrap(f"{before} → {cell.text}", inside, TALL_SIZE, most=MOST_LINES)
        height = (len(label) + len(values)) * TALL_SIZE * LINE + 1.6 * PADDING
        top, direct = self.y, cell.sort is Sort.DIRECT
        if direct:
            shape = self.canvas.box((left, top), (width, height), fill="direct", radius=6)
        else:
            shape = pill(self.canvas, (left, top), (width, height))
        self.shapes.append(shape)
        fill = "direct-text" if direct else "effect-text"
        y = top + 0.8 * PADDING
        for lines, weight in ((label, 600), (values, None)):
            middle = y + len(lines) * TALL_SIZE * LINE / 2
            words = self.canvas.words(
                lines,
                (left + 2.2 * PADDING, middle),
                size=TALL_SIZE,
                fill=fill,
                anchor="start",
                weight=weight,
                italic=not direct,
            )
            self.shapes.append(words)
            y += len(lines) * TALL_SIZE * LINE
        if cell.number is not None:
            self.shapes += badge(self.canvas, cell.number, (left + 2, top + 2))
        self.y = top + height + TALL_GAP
        return left, top, top + height

    def _arrow(self, source: Place, target: Place) -> None:
        x, middle = source[0] + INDENT / 2, (target[1] + target[2]) / 2
        start = f"M{x:.1f} {source[2]:.1f}C{x:.1f} {middle:.1f} {x:.1f} {middle:.1f}"
        self.shapes += curve(self.canvas, start, (target[0], middle), (1, 0))

    def end(self) -> None:
        """Draw the band at the end, where the answer is yes."""
        height = TALL_SIZE * LINE + 1.6 * PADDING
        size = (WIDTH - 2 * TALL_MARGIN, height)
        self.shapes.append(self.canvas.box((TALL_MARGIN, self.y), size, fill="goal", radius=6))
        place = (WIDTH / 2, self.y + height / 2)
        text = f"{self.layout.yes} ✓"
        self.shapes.append(
            self.canvas.words([text], place, size=TALL_SIZE, fill="goal-text", weight=700)
        )
        self.y += height


def _ordered(cells: list[Cell], causes: dict[int, list[int]]) -> list[Cell]:
    """Return what changes in a step, causes before effects; in a circle the layout's order decides."""
    waiting = sorted(cells, key=lambda each: (each.sort is Sort.EFFECT, each.number or 0, each.row))
    placed: list[Cell] = []
    while waiting:
        left = {each.row for each in waiting}
        ready = next(
            (
                each
                for each in waiting
                if not left.intersection(causes.get(each.row, ())) - {each.row}
            ),
            waiting[0],
        )
        waiting.remove(ready)
        placed.append(ready)
    return placed


SIZE = 14.0
MARGIN = 16.0
LABEL_WIDTH = 150.0
CELL_WIDTH = 136.0
GAP = 40.0
HEADER = 40.0
ROW_GAP = 20.0
LEGEND = 34.0
MOST_COLUMNS = 7
"""How many states stand side by side and can still be read; plans of more steps are drawn down the page."""
SHAPES = ("wide", "tall")


def plan_svg(
    theory: Theory,
    plan: Plan,
    *,
    theme: str = "auto",
    language: str = "en",
    shape: str | None = None,
) -> str:
    """Draw a plan, `wide` or `tall`, by itself whichever can be read; one without steps is a line of words."""
    if shape is not None:
        check_word("shape: there is no", shape, SHAPES)
    layout = lay_out(theory, plan, language=language)
    canvas = Canvas(theme)
    if not layout.columns:
        return _notice(layout, canvas)
    tall = shape == "tall" or (shape is None and len(layout.columns) > MOST_COLUMNS)
    return tall_svg(layout, canvas) if tall else _Picture(layout, canvas).draw()


def _notice(layout: PlanLayout, canvas: Canvas) -> str:
    width = text_width(layout.told, SIZE) + 2 * MARGIN
    words = canvas.words([layout.told], (width / 2, 28), size=SIZE)
    return canvas.drawing(
        (width, 56), [words], title=layout.title, told=layout.told, language=layout.language
    )


@dataclass(frozen=True)
class _Picture:
    """The places of everything on a layout, and their drawing."""

    layout: PlanLayout
    canvas: Canvas

    @cached_property
    def lines(self) -> dict[tuple[int, int], tuple[str, ...]]:
        inside = CELL_WIDTH - 2.6 * PADDING
        return {(c.row, c.column): wrap(c.text, inside, SIZE) for c in self.layout.cells}

    @cached_property
    def labels(self) -> list[tuple[str, ...]]:
        return [wrap(label, LABEL_WIDTH - PADDING, SIZE) for label in self.layout.rows]

    @cached_property
    def label_width(self) -> float:
        widest = max(text_width(line, SIZE) for lines in self.labels for line in lines)
        return min(LABEL_WIDTH, widest + 2 * PADDING)

    @cached_property
    def heights(self) -> list[float]:
        """The height of the boxes of each row: as high as its longest text."""
        most = [len(lines) for lines in self.labels]
        for (row, _), lines in self.lines.items():
            most[row] = max(most[row], len(lines))
        return [count * SIZE * LINE + 1.4 * PADDING for count in most]

    @cached_property
    def tops(self) -> list[float]:
        tops = [MARGIN + HEADER + ROW_GAP]
        for height in self.heights:
            tops.append(tops[-1] + height + ROW_GAP)
        return tops

    @cached_property
    def size(self) -> tuple[float, float]:
        count = len(self.layout.columns)
        wide = self.left(count - 1) + CELL_WIDTH + GAP / 2 + MARGIN
        words = legend_width((text for _, text in self.layout.legend), SIZE)
        return max(wide, 2 * MARGIN + words), self.tops[-1] + LEGEND + MARGIN

    def left(self, column: int) -> float:
        return MARGIN + self.label_width + column * (CELL_WIDTH + GAP)

    def middle(self, row: int) -> float:
        return self.tops[row] + self.heights[row] / 2

    def draw(self) -> str:
        shapes = [self._goal(), *self._headers(), *self._rows()]
        shapes += [self._cell(cell) for cell in self.layout.cells]
        shapes += [shape for arrow in self.layout.arrows for shape in self._arrow(arrow)]
        shapes += self._legend()
        return self.canvas.drawing(
            self.size,
            shapes,
            title=self.layout.title,
            told=self.layout.told,
            language=self.layout.language,
        )

    def _goal(self) -> Markup:
        """Draw the band behind the last state, where the answer is yes."""
        left = self.left(len(self.layout.columns) - 1) - GAP / 2 + 6
        bottom = self.tops[-1] - MARGIN - ROW_GAP / 2
        size = (CELL_WIDTH + GAP - 12, bottom + ROW_GAP / 2)
        return self.canvas.box((left, MARGIN / 2), size, fill="goal", radius=8)

    def _headers(self) -> list[Markup]:
        last = len(self.layout.columns) - 1
        shapes = []
        for column, text in enumerate(self.layout.columns):
            middle = self.left(column) + CELL_WIDTH / 2
            shown = f"{text}: {self.layout.yes} ✓" if column == last else text
            fill = "goal-text" if column == last else "muted"
            place = (middle, MARGIN + HEADER / 2)
            shapes.append(self.canvas.words([shown], place, size=SIZE, fill=fill, weight=600))
        return shapes

    def _rows(self) -> list[Markup]:
        shapes = []
        last = self.left(len(self.layout.columns) - 1) + CELL_WIDTH / 2
        for row, lines in enumerate(self.labels):
            middle = self.middle(row)
            start = self.left(0) + CELL_WIDTH / 2
            line = f"M{start:.1f} {middle:.1f}H{last:.1f}"
            shapes.append(self.canvas.path(line, stroke="line"))
            words = self.canvas.words(
                lines, (MARGIN, middle), size=SIZE, anchor="start", weight=600
            )
            shapes.append(element("g", None, element("title", None, self.layout.rows[row]), words))
        return shapes

    def _cell(self, cell: Cell) -> Markup:
        lines = self.lines[cell.row, cell.column]
        left, top, height = self.left(cell.column), self.tops[cell.row], self.heights[cell.row]
        place = (left + CELL_WIDTH / 2, top + height / 2)
        shapes = [element("title", None, cell.text)]
        match cell.sort:
            case Sort.DIRECT:
                shapes.append(
                    self.canvas.box((left, top), (CELL_WIDTH, height), fill="direct", radius=4)
                )
                shapes.append(
                    self.canvas.words(lines, place, size=SIZE, fill="direct-text", weight=600)
                )
            case Sort.EFFECT:
                shapes.append(pill(self.canvas, (left, top), (CELL_WIDTH, height)))
                shapes.append(
                    self.canvas.words(lines, place, size=SIZE, fill="effect-text", italic=True)
                )
            case Sort.START | Sort.STAYS:
                shapes += self._plain(cell, lines, place)
        if cell.number is not None:
            shapes += badge(self.canvas, cell.number, (left, top))
        return element("g", None, *shapes)

    def _plain(
        self, cell: Cell, lines: tuple[str, ...], place: tuple[float, float]
    ) -> list[Markup]:
        """Draw a value that just is: on the ground, so that the line of its row stops before it."""
        width = max(text_width(line, SIZE) for line in lines) + PADDING
        height = len(lines) * SIZE * LINE
        last = cell.column == len(self.layout.columns) - 1
        ground = self.canvas.box(
            (place[0] - width / 2, place[1] - height / 2),
            (width, height),
            fill="goal" if last else "ground",
        )
        fill = "text" if cell.sort is Sort.START else "muted"
        return [ground, self.canvas.words(lines, place, size=SIZE, fill=fill)]

    def _arrow(self, arrow: Arrow) -> list[Markup]:
        (row, column), (end_row, end_column) = arrow.source, arrow.target
        if column != end_column:
            return self._across(arrow)
        if abs(row - end_row) == 1:
            x = self.left(column) + CELL_WIDTH / 2
            down = end_row > row
            start = self.tops[row] + (self.heights[row] if down else 0)
            end = self.tops[end_row] + (0 if down else self.heights[end_row])
            return curve(self.canvas, f"M{x:.1f} {start:.1f}", (x, end), (0, 1 if down else -1))
        x = self.left(column) + CELL_WIDTH
        start, end = self.middle(row), self.middle(end_row)
        bend = x + 26
        return curve(
            self.canvas,
            f"M{x:.1f} {start:.1f}C{bend:.1f} {start:.1f} {bend:.1f} {end:.1f}",
            (x, end),
            (-1, 0),
        )

    def _across(self, arrow: Arrow) -> list[Markup]:
        (row, column), (end_row, end_column) = arrow.source, arrow.target
        x, end_x = self.left(column) + CELL_WIDTH, self.left(end_column)
        start, end = self.middle(row), self.middle(end_row)
        bend = (x + end_x) / 2
        return curve(
            self.canvas,
            f"M{x:.1f} {start:.1f}C{bend:.1f} {start:.1f} {bend:.1f} {end:.1f}",
            (end_x, end),
            (1, 0),
        )

    def _legend(self) -> list[Markup]:
        entries = [(partial(self._sample, sort), text) for sort, text in self.layout.legend]
        return legend(self.canvas, entries, (MARGIN, self.size[1] - MARGIN - LEGEND / 2), SIZE)

    def _sample(self, sort: Sort | None, x: float, y: float) -> list[Markup]:
        place, size = (x, y - 9), (32.0, 18.0)
        if sort is Sort.DIRECT:
            return [self.canvas.box(place, size, fill="direct", radius=4)]
        if sort is Sort.EFFECT:
            return [pill(self.canvas, place, size)]
        return curve(self.canvas, f"M{x:.1f} {y:.1f}", (x + 32, y), (1, 0))
