"""Shapes of SVG in the colours of a theme. A shape names its colours by what they mean, such as `direct` or `muted`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from p2c.markup import Markup, element
from p2c.report.lettering import FONT
from p2c.report.theme import dark_style, palette

if TYPE_CHECKING:
    from collections.abc import Sequence

LINE = 1.3
"""From one line of text to the next, in sizes of the font."""


@dataclass(frozen=True, slots=True)
class Canvas:
    """Draws in one theme."""

    theme: str = "light"

    def colours(self, *, fill: str | None = None, stroke: str | None = None) -> dict[str, object]:
        """Return the attributes that give a shape its colours, in light and where it applies in dark."""
        known = palette(self.theme)
        classes = [f"p2c-f-{fill}"] * bool(fill) + [f"p2c-s-{stroke}"] * bool(stroke)
        return {
            "class": " ".join(classes) or None,
            "fill": known[fill] if fill else "none",
            "stroke": known[stroke] if stroke else None,
        }

    def box(
        self,
        place: tuple[float, float],
        size: tuple[float, float],
        *,
        fill: str,
        stroke: str | None = None,
        radius: float = 0.0,
        dashed: bool = False,
    ) -> Markup:
        """Draw a rectangle, its corners rounded and its outline dashed where asked."""
        return element(
            "rect",
            {
                "x": float(place[0]),
                "y": float(place[1]),
                "width": float(size[0]),
                "height": float(size[1]),
                "rx": float(radius),
                **self.colours(fill=fill, stroke=stroke),
                "stroke-width": 1.5 if stroke else None,
                "stroke-dasharray": "5 3" if dashed else None,
            },
        )

    def path(
        self,
        commands: str,
        *,
        stroke: str | None = None,
        fill: str | None = None,
        width: float = 1.5,
    ) -> Markup:
        """Draw a path."""
        return element(
            "path",
            {
                "d": commands,
                **self.colours(fill=fill, stroke=stroke),
                "stroke-width": float(width) if stroke else None,
                "stroke-linecap": "round" if stroke else None,
            },
        )

    def words(
        self,
        lines: Sequence[str],
        place: tuple[float, float],
        *,
        size: float = 14.0,
        fill: str = "text",
        anchor: str = "middle",
        weight: int | None = None,
        italic: bool = False,
    ) -> Markup:
        """Write lines of text around the middle of a place."""
        top = place[1] - (len(lines) - 1) * size * LINE / 2 + size * 0.35
        spans = [
            element("tspan", {"x": float(place[0]), "y": float(top + number * size * LINE)}, line)
            for number, line in enumerate(lines)
        ]
        return element(
            "text",
            {
                **self.colours(fill=fill),
                "font-size": float(size),
                "text-anchor": None if anchor == "start" else anchor,
                "font-weight": weight,
                "font-style": "italic" if italic else None,
            },
            *spans,
        )

    def drawing(
        self,
        size: tuple[float, float],
        shapes: Sequence[Markup],
        *,
        title: str,
        told: str,
        language: str,
    ) -> str:
        """Return the whole SVG document, with a title and a description for those who do not see it."""
        width, height = (float(round(each)) for each in size)
        style = dark_style(self.theme)
        return str(
            element(
                "svg",
                {
                    "xmlns": "http://www.w3.org/2000/svg",
                    "role": "img",
                    "lang": language,
                    "aria-label": f"{title}. {told}",
                    "viewBox": f"0 0 {width:g} {height:g}",
                    "width": width,
                    "height": height,
                    "font-family": FONT,
                },
                element("title", None, title),
                element("desc", None, told),
                *([element("style", None, Markup(style))] if style else []),
                self.box((0, 0), (width, height), fill="ground"),
                *shapes,
            )
        )
