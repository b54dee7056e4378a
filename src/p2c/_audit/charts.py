"""The pictures of an audit: what a yes costs each group as curves, and counts as bars."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from p2c._report.canvas import Canvas, text_width, wrap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from p2c._markup import Markup

WIDTH, LEFT, RIGHT = 760.0, 70.0, 230.0
HIGH = 260.0
COLOURS = ("text", "direct", "effect-line", "goal-text", "muted")
"""The colours of curves, which light and dark pages have; further curves are thin."""
BAR, GAP = 18.0, 10.0


@dataclass(frozen=True, slots=True)
class Curve:
    """A line through points, with its name."""

    name: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Bar:
    """A count with its name, and what is written beside it."""

    name: str
    count: float
    told: str


def curves_svg(
    curves: Sequence[Curve], *, axes: tuple[str, str], title: str, told: str, language: str
) -> str:
    """Draw shares of people, from 0 to 1, over what a yes costs."""
    canvas = Canvas()
    most = max((x for curve in curves for x, _ in curve.points), default=0.0) or 1.0
    across = WIDTH - LEFT - RIGHT

    def place(x: float, y: float) -> tuple[float, float]:
        return LEFT + x / most * across, 20 + (1 - y) * HIGH

    shapes: list[Markup] = []
    for share in (0, 0.25, 0.5, 0.75, 1):
        x, y = place(0, share)
        shapes += [
            canvas.path(f"M{x:.1f} {y:.1f}L{x + across:.1f} {y:.1f}", stroke="line", width=1),
            canvas.words([f"{share:.0%}"], (x - 8, y), size=12, fill="muted", anchor="end"),
        ]
    for part in range(5):
        x, y = place(most * part / 4, 0)
        shapes.append(canvas.words([f"{most * part / 4:.3g}"], (x, y + 14), size=12, fill="muted"))
    shapes.append(canvas.words([axes[0]], (LEFT + across / 2, HIGH + 56), size=13, fill="muted"))
    shapes.append(canvas.words([axes[1]], (LEFT, 8), size=13, fill="muted", anchor="start"))
    for number, curve in enumerate(curves):
        colour, width = COLOURS[number % len(COLOURS)], 2.5 if number < len(COLOURS) else 1.0
        line = "L".join(f"{x:.1f} {y:.1f}" for x, y in (place(*each) for each in curve.points))
        top = 28 + number * 22
        shapes += [
            canvas.path(f"M{line}", stroke=colour, width=width),
            canvas.path(f"M{WIDTH - RIGHT + 16} {top}h20", stroke=colour, width=width),
            canvas.words(
                wrap(curve.name, RIGHT - 44, 12, most=1),
                (WIDTH - RIGHT + 42, top),
                size=12,
                anchor="start",
            ),
        ]
    size = (WIDTH, max(HIGH + 72, 40 + 22 * len(curves)))
    return canvas.drawing(size, shapes, title=title, told=told, language=language)


def bars_svg(bars: Sequence[Bar], *, title: str, told: str, language: str) -> str:
    """Draw counts below one another, each with its name above it."""
    canvas = Canvas()
    most = max((bar.count for bar in bars), default=0) or 1
    room = WIDTH - 20 - max(text_width(bar.told, 12) for bar in bars) - 10
    shapes: list[Markup] = []
    top = 8.0
    for bar in bars:
        lines = wrap(bar.name, WIDTH - 20, 13, most=4)
        height = 17.0 * len(lines)
        wide = max(bar.count / most * room, 1.0)
        shapes += [
            canvas.words(lines, (10, top + height / 2), size=13, anchor="start"),
            canvas.box((10, top + height), (wide, BAR), fill="direct"),
            canvas.words([bar.told], (18 + wide, top + height + BAR / 2), size=12, anchor="start"),
        ]
        top += height + BAR + GAP
    return canvas.drawing((WIDTH, top), shapes, title=title, told=told, language=language)
