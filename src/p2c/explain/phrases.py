"""The languages that there are. A further one is a file like `english.py` and a line here."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from p2c.errors import P2CError, suggestion
from p2c.explain.catalogue import Phrases
from p2c.explain.english import ENGLISH
from p2c.explain.german import GERMAN

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["ENGLISH", "GERMAN", "LANGUAGES", "Phrases", "phrases_of"]

LANGUAGES: Mapping[str, Phrases] = MappingProxyType({"en": ENGLISH, "de": GERMAN})


def phrases_of(language: str) -> Phrases:
    """Return the catalogue of a language, named as in HTML: `en`, `de`."""
    if language not in LANGUAGES:
        raise P2CError(f"language: no catalogue '{language}'; {suggestion(language, LANGUAGES)}")
    return LANGUAGES[language]
