"""Draw the pictures of the documentation again: python -m website.pictures."""

from __future__ import annotations

from pathlib import Path

from p2c import Problem, datasets
from p2c._markup import Markup, element

FOLDER = Path(__file__).parents[1] / "docs/pictures"
INK, SOFT, YES, NO = "#334155", "#94a3b8", "#99f6e4", "#fecaca"
Shapes = list[Markup]


def pictures() -> dict[str, str]:
    """Return each picture by the name of its file."""
    loan, adult = Problem.example("loan"), Problem.example("adult")
    john = datasets.rows("loan")["john"]
    return {
        "loan-plan.svg": loan.plan(john).to_svg(),
        "loan-graph.svg": loan.to_svg(),
        "adult-graph.svg": adult.to_svg(),
        "cells.svg": cells(),
        "laws.svg": laws(),
        "effects.svg": effects(),
    }


def cells() -> str:
    """Draw two axes, each cut at the constant that a rule compares it with."""
    shapes: Shapes = []
    for row, (name, ends, cut, share) in enumerate(
        [
            ("bank balance", ("0", "1,000,000,000"), "60,000", 0.35),
            ("credit score", ("300", "850"), "620", 0.58),
        ]
    ):
        top, middle = 30 + 80 * row, 150 + 420 * share
        shapes += [
            _text(10, top + 25, name),
            _box(150, top, middle - 150, NO),
            _box(middle, top, 570 - middle, YES),
            _text(150, top + 56, ends[0], SOFT),
            _text(570, top + 56, ends[1], SOFT, "end"),
            _text(middle, top - 6, cut, INK, "middle"),
            _text((150 + middle) / 2, top + 25, "one cell: refused", INK, "middle"),
            _text((570 + middle) / 2, top + 25, "one cell", INK, "middle"),
        ]
    return _picture(600, 180, "Cells of a bank balance and of a credit score", shapes)


def laws() -> str:
    """Draw for each law which scores are allowed, without debt and with debt."""
    shapes: Shapes = [
        _text(290, 20, "no debt: the rule fires", INK, "middle"),
        _text(480, 20, "debt: it does not", INK, "middle"),
    ]
    allowed = {
        "iff": ((False, True), (True, False)),
        "if": ((False, True), (True, True)),
        "only_if": ((True, True), (True, False)),
    }
    for row, (law, both) in enumerate(allowed.items()):
        top = 35 + 55 * row
        shapes.append(_text(10, top + 25, law))
        for column, (low, high) in enumerate(both):
            left = 210 + 190 * column
            for place, (is_allowed, words) in enumerate(((low, "below 620"), (high, "620 on"))):
                shapes += [
                    _box(left + 80 * place, top, 78, YES if is_allowed else NO),
                    _text(left + 39 + 80 * place, top + 25, words, INK, "middle"),
                ]
    shapes.append(_text(10, 215, "green: allowed; red: broken, so the score follows", SOFT))
    return _picture(600, 225, "The values that the three laws allow", shapes)


def effects() -> str:
    """Draw when an effect happens: triggered, or supported too."""
    shapes: Shapes = []
    ways = {
        "triggered": ("cause changes", "law is broken", "effect follows"),
        "supported": ("cause holds", "nothing is broken", "effect may follow"),
    }
    for row, (name, boxes) in enumerate(ways.items()):
        top = 15 + 60 * row
        shapes.append(_text(10, top + 25, name))
        for place, words in enumerate(boxes):
            left = 110 + 165 * place
            broken = words == "law is broken"
            shapes += [
                _box(left, top, 135, NO if broken else YES),
                _text(left + 67, top + 25, words, INK, "middle"),
            ]
            if place:
                shapes.append(_text(left - 15, top + 25, "→", INK, "middle"))
    return _picture(600, 130, "When effects happen: triggered, and supported", shapes)


def _picture(width: int, height: int, title: str, shapes: Shapes) -> str:
    view = {
        "xmlns": "http://www.w3.org/2000/svg",
        "viewBox": f"0 0 {width} {height}",
        "width": width,
        "height": height,
        "role": "img",
        "font-family": "sans-serif",
        "font-size": 13,
    }
    ground = element("rect", {"width": width, "height": height, "fill": "#ffffff", "rx": 6})
    return str(element("svg", view, element("title", None, title), ground, *shapes))


def _box(left: float, top: float, width: float, fill: str) -> Markup:
    place = {"x": round(left, 1), "y": top, "width": round(width, 1), "height": 40, "rx": 4}
    return element("rect", {**place, "fill": fill, "stroke": INK})


def _text(left: float, top: float, words: str, fill: str = INK, anchor: str = "start") -> Markup:
    place = {"x": round(left, 1), "y": top, "fill": fill, "text-anchor": anchor}
    return element("text", place, words)


if __name__ == "__main__":
    for file, svg in pictures().items():
        (FOLDER / file).write_text(f"{svg}\n", encoding="utf-8")
