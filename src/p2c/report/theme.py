"""The colours of pictures and pages, light and dark; each pair of text and ground has a contrast of at least 4.5."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from p2c.errors import P2CError, suggestion

if TYPE_CHECKING:
    from collections.abc import Mapping

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


def palette(theme: str) -> Mapping[str, str]:
    """Return the colours that a theme starts from; `auto` turns dark where the reader's screen is."""
    if theme not in THEMES:
        raise P2CError(f"theme: there is no '{theme}'; {suggestion(theme, THEMES)}")
    return THEMES[theme]


def dark_style(theme: str) -> str:
    """Return the style sheet that makes a picture of the theme `auto` dark on dark screens, and none else.

    Colours are attributes of the shapes, so that a picture also shows where a page forbids style sheets in it.
    """
    if theme != "auto":
        return ""
    rules = "".join(
        f".p2c-f-{name}{{fill:{colour}}}.p2c-s-{name}{{stroke:{colour}}}"
        for name, colour in DARK.items()
    )
    return f"@media (prefers-color-scheme:dark){{{rules}}}"
