"""The picture of a plan down the page, for narrow screens and for plans of many steps.

Each step is a block: what the person does is a filled box with a number, what follows hangs below it as a dashed pill.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from p2c._report.canvas import LINE, PADDING, badge, curve, pill, wrap
from p2c._report.plan_layout import Sort

if TYPE_CHECKING:
    from p2c._markup import Markup
    from p2c._report.canvas import Canvas
    from p2c._report.plan_layout import Cell, PlanLayout

WIDTH = 344.0
MARGIN = 14.0
SIZE = 15.0
HEADER = 30.0
GAP = 12.0
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
        (WIDTH, strip.y + MARGIN),
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
    y: float = MARGIN

    def step(self, column: int) -> None:
        """Draw one step: its heading, what is done, and what follows from it."""
        place = (MARGIN + 16, self.y + HEADER / 2)
        heading = self.layout.columns[column]
        self.shapes.append(
            self.canvas.words(
                [heading], place, size=SIZE - 1, fill="muted", anchor="start", weight=600
            )
        )
        self.y += HEADER
        causes = self._causes(column)
        drawn: dict[int, Place] = {}
        depths: dict[int, int] = {}
        for cell in _ordered(self._changed(column), causes):
            sources = [row for row in causes.get(cell.row, ()) if row in drawn]
            depth = 0
            if cell.sort is Sort.EFFECT:
                depth = min(1 + max((depths[row] for row in sources), default=0), DEEPEST)
            depths[cell.row] = depth
            drawn[cell.row] = self._box(cell, MARGIN + depth * INDENT)
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
        width = WIDTH - MARGIN - left
        inside = width - 4 * PADDING
        label = wrap(self.layout.rows[cell.row], inside, SIZE, most=MOST_LINES)
        values = wrap(f"{before} → {cell.text}", inside, SIZE, most=MOST_LINES)
        height = (len(label) + len(values)) * SIZE * LINE + 1.6 * PADDING
        top, direct = self.y, cell.sort is Sort.DIRECT
        if direct:
            shape = self.canvas.box((left, top), (width, height), fill="direct", radius=6)
        else:
            shape = pill(self.canvas, (left, top), (width, height))
        self.shapes.append(shape)
        fill = "direct-text" if direct else "effect-text"
        y = top + 0.8 * PADDING
        for lines, weight in ((label, 600), (values, None)):
            middle = y + len(lines) * SIZE * LINE / 2
            words = self.canvas.words(
                lines,
                (left + 2.2 * PADDING, middle),
                size=SIZE,
                fill=fill,
                anchor="start",
                weight=weight,
                italic=not direct,
            )
            self.shapes.append(words)
            y += len(lines) * SIZE * LINE
        if cell.number is not None:
            self.shapes += badge(self.canvas, cell.number, (left + 2, top + 2))
        self.y = top + height + GAP
        return left, top, top + height

    def _arrow(self, source: Place, target: Place) -> None:
        x, middle = source[0] + INDENT / 2, (target[1] + target[2]) / 2
        start = f"M{x:.1f} {source[2]:.1f}C{x:.1f} {middle:.1f} {x:.1f} {middle:.1f}"
        self.shapes += curve(self.canvas, start, (target[0], middle), (1, 0))

    def end(self) -> None:
        """Draw the band at the end, where the answer is yes."""
        height = SIZE * LINE + 1.6 * PADDING
        size = (WIDTH - 2 * MARGIN, height)
        self.shapes.append(self.canvas.box((MARGIN, self.y), size, fill="goal", radius=6))
        place = (WIDTH / 2, self.y + height / 2)
        text = f"{self.layout.yes} ✓"
        self.shapes.append(
            self.canvas.words([text], place, size=SIZE, fill="goal-text", weight=700)
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
