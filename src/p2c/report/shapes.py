"""The shapes that pictures of plans share: the pill of what follows, the number of what is done, and arrows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from p2c.markup import element

if TYPE_CHECKING:
    from p2c.markup import Markup
    from p2c.report.canvas import Canvas

PADDING = 9.0
HEAD = 7.0
"""How long the head of an arrow is."""


def pill(canvas: Canvas, place: tuple[float, float], size: tuple[float, float]) -> Markup:
    """Draw the ground of what follows by itself."""
    radius = min(size[1] / 2, 18)
    return canvas.box(place, size, fill="effect", stroke="effect-line", radius=radius, dashed=True)


def badge(canvas: Canvas, number: int, place: tuple[float, float]) -> list[Markup]:
    """Draw the number of what the person does."""
    circle = element(
        "circle",
        {
            "cx": place[0],
            "cy": place[1],
            "r": 10.0,
            **canvas.colours(fill="ground", stroke="direct"),
            "stroke-width": 2.0,
        },
    )
    return [circle, canvas.words([str(number)], place, size=12, fill="text", weight=700)]


def curve(
    canvas: Canvas, start: str, end: tuple[float, float], heading: tuple[int, int]
) -> list[Markup]:
    """Draw a line with a head at its end, which points where the arrow is heading."""
    (x, y), (along, down) = end, heading
    base = (x - along * HEAD, y - down * HEAD)
    joint = " " if "C" in start else "L"
    line = f"{start}{joint}{base[0]:.1f} {base[1]:.1f}"
    side = HEAD * 0.6
    corners = [
        (x, y),
        (base[0] - down * side, base[1] + along * side),
        (base[0] + down * side, base[1] - along * side),
    ]
    head = "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in corners) + "Z"
    return [
        canvas.path(line, stroke="effect-line", width=2),
        canvas.path(head, fill="effect-line"),
    ]
