"""Shapes of SVG in the colours of a theme. A shape names its colours by what they mean, such as `direct` or `muted`.

Themes are light and dark; each pair of text and ground has a contrast of at least 4.5. How wide text is, is known near enough
to say where it breaks.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from p2c._markup import Markup, element
from p2c.errors import MissingExtra, check_word

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    Sample = Callable[[float, float], list[Markup]]


FONT = (
    "'Source Sans Pro', 'Source Sans 3', system-ui, 'Segoe UI', 'Helvetica Neue', Arial, "
    "'DejaVu Sans', sans-serif"
)
NARROW = frozenset("iljtfrI.,;:'|!()[] -")
ELLIPSIS = "…"


def text_width(text: str, size: float) -> float:
    """Return about how wide text is; the fonts of readers differ, so it is a little more than most need."""
    return sum(map(_letter_width, text)) * size


@cache
def _letter_width(letter: str) -> float:
    if unicodedata.combining(letter):
        return 0.0
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.05
    if letter in NARROW:
        return 0.36
    return 0.74 if letter.isupper() or letter in "mwMW@%" else 0.58


def wrap(text: str, width: float, size: float, *, most: int = 3) -> tuple[str, ...]:
    """Break text into lines that fit a width, at blanks where there are any; what is too long ends in `…`.

    >>> wrap("a rather long label", 60, 12)
    ('a rather', 'long label')
    """
    lines: list[str] = []
    for word in text.split():
        for part in _parts(word, width, size):
            joined = f"{lines[-1]} {part}" if lines else part
            if lines and text_width(joined, size) <= width:
                lines[-1] = joined
            else:
                lines.append(part)
    if len(lines) <= most:
        return tuple(lines) or ("",)
    last = lines[most - 1]
    while last and text_width(last + ELLIPSIS, size) > width:
        last = last[:-1]
    return (*lines[: most - 1], last.rstrip() + ELLIPSIS)


def _parts(word: str, width: float, size: float) -> list[str]:
    """Return a word in pieces that fit, parted after `-` or `/` where there is one."""
    parts: list[str] = []
    start = 0
    used = 0.0
    for place, letter in enumerate(word):
        wide = _letter_width(letter) * size
        if used + wide > width and place > start:
            marks = [m + 1 for m in range(start + (place - start) // 3, place) if word[m] in "-/_"]
            end = marks[-1] if marks else place
            parts.append(word[start:end])
            start, used = end, text_width(word[end:place], size)
        used += wide
    return [*parts, word[start:]]


LIGHT: Mapping[str, str] = MappingProxyType(
    {
        "ground": "#ffffff",
        "text": "#1c2126",
        "muted": "#5b6670",
        "line": "#c9d1d8",
        "goal": "#e9f5ec",
        "goal-text": "#1a6b2f",
        "direct": "#0b5cad",
        "direct-text": "#ffffff",
        "effect": "#fff6e5",
        "effect-line": "#9a5b00",
        "effect-text": "#5c3200",
    }
)
DARK: Mapping[str, str] = MappingProxyType(
    {
        "ground": "#15191e",
        "text": "#e6e9ec",
        "muted": "#a3adb6",
        "line": "#3d4751",
        "goal": "#17281c",
        "goal-text": "#8fdc9f",
        "direct": "#7db7f5",
        "direct-text": "#0d1117",
        "effect": "#2b2213",
        "effect-line": "#f0b45a",
        "effect-text": "#ffd9a0",
    }
)
THEMES: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {"light": LIGHT, "dark": DARK, "auto": LIGHT}
)
LINE = 1.3
"""From one line of text to the next, in sizes of the font."""
PADDING = 9.0
HEAD = 7.0
"""How long the head of an arrow is."""


def palette(theme: str) -> Mapping[str, str]:
    """Return the colours that a theme starts from; `auto` turns dark where the reader's screen is."""
    check_word("theme: there is no", theme, THEMES)
    return THEMES[theme]


def dark_style(screens: str = "(prefers-color-scheme:dark)") -> str:
    """Return the style sheet that makes pictures dark on some screens, those that their readers have dark.

    Colours are attributes of the shapes, so that a picture also shows where a page forbids style sheets in it.
    """
    rules = "".join(
        f".p2c-f-{name}{{fill:{colour}}}.p2c-s-{name}{{stroke:{colour}}}"
        for name, colour in DARK.items()
    )
    return f"@media {screens}{{{rules}}}"


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
        dotted: bool = False,
    ) -> Markup:
        """Draw a path."""
        return element(
            "path",
            {
                "d": commands,
                **self.colours(fill=fill, stroke=stroke),
                "stroke-width": float(width) if stroke else None,
                "stroke-linecap": "round" if stroke and not dotted else None,
                "stroke-dasharray": "2 4" if dotted else None,
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
        style = dark_style() if self.theme == "auto" else ""
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
    """Draw a line, given up to its last point, with a head at its end, which points where the arrow is heading."""
    joint = " " if "C" in start else "L"
    line = f"{start}{joint}{end[0] - heading[0] * HEAD:.1f} {end[1] - heading[1] * HEAD:.1f}"
    return arrow(canvas, line, end, heading)


def arrow(
    canvas: Canvas,
    line: str,
    end: tuple[float, float],
    heading: tuple[int, int] = (1, 0),
    *,
    colour: str = "effect-line",
    dotted: bool = False,
) -> list[Markup]:
    """Draw a line that goes on in a head of the length `HEAD`."""
    (x, y), (along, down) = end, heading
    base, side = (x - along * HEAD, y - down * HEAD), HEAD * 0.6
    corners = [
        (x, y),
        (base[0] - down * side, base[1] + along * side),
        (base[0] + down * side, base[1] - along * side),
    ]
    head = "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in corners) + "Z"
    shaft = canvas.path(line, stroke=colour, width=2, dotted=dotted)
    return [shaft, canvas.path(head, fill=colour)]


def legend(
    canvas: Canvas, entries: Iterable[tuple[Sample, str]], place: tuple[float, float], size: float
) -> list[Markup]:
    """Draw what signs mean, side by side from a place on: each as a sample 32 wide, then its words."""
    shapes: list[Markup] = []
    x, y = place
    for sample, text in entries:
        shapes += sample(x, y)
        shapes.append(
            canvas.words([text], (x + 40, y), size=size - 1, fill="muted", anchor="start")
        )
        x += legend_width([text], size)
    return shapes


def legend_width(texts: Iterable[str], size: float) -> float:
    """Return how wide a legend of some words is."""
    return sum(text_width(text, size) + 72 for text in texts)


FACES = ("Regular", "It", "Semibold", "Bold", "BoldIt")
ZOOM = 2.0
"""Pixels for each unit of the drawing, enough for paper and for fine screens."""


def png(svg: str, *, zoom: float = ZOOM) -> bytes:
    """Return an SVG drawing as the bytes of a PNG file.

    Letters that the font lacks are drawn in a font of the system.
    """
    try:
        from resvg_py import svg_to_bytes
    except ModuleNotFoundError as error:
        raise MissingExtra("resvg-py", extra="report") from error
    files = [str(font_file(face)) for face in FACES]
    return bytes(
        svg_to_bytes(
            svg_string=svg,
            zoom=zoom,
            font_files=files,
            font_family="Source Sans Pro",
            sans_serif_family="Source Sans Pro",
        )
    )


def font_file(face: str) -> Path:
    """Return the path of a face of the font."""
    try:
        import font_source_sans_pro
    except ModuleNotFoundError as error:
        raise MissingExtra("font-source-sans-pro", extra="report") from error
    return Path(font_source_sans_pro.font_directory) / f"SourceSansPro-{face}.ttf"
