"""What a language has to say: every word that a reader sees and that is not the problem's own, as one frozen value.

A language is data: a file such as `english.toml` for letters, reports and pictures, `english_pages.toml` for the workbench and
audits, and a line in `LANGUAGES`; no other code changes. Words in braces are filled in: `{label}`, `{value}` and the like keep
their names in every language. A clause has neither a capital at its start nor a full stop at its end; those are added
when it becomes a sentence. What ends in a full stop or a colon there is shown as it is.
"""

from __future__ import annotations

import tomllib
from importlib import resources
from types import MappingProxyType
from typing import TYPE_CHECKING

from p2c.errors import check_word

if TYPE_CHECKING:
    from collections.abc import Mapping


class Phrases:
    """The phrases of one language by the keys of its files; the tables among them are listed here."""

    agree_with: Mapping[str, str]
    audit: Mapping[str, str]
    columns: Mapping[str, str]
    expert: Mapping[str, str]
    findings: Mapping[str, str]
    graph: Mapping[str, str]
    headings: Mapping[str, str]
    learned_from: Mapping[str, str]
    notice: Mapping[str, str]
    pages: Mapping[str, str]
    picture: Mapping[str, str]
    reached: Mapping[str, str]
    relations: Mapping[str, str]
    restrictions: Mapping[str, str]
    restrictions_of_many: Mapping[str, str]
    rules: Mapping[str, str]
    units_of_one: Mapping[str, str]
    unknown_relations: Mapping[str, str]

    def __init__(self, words: Mapping[str, str | dict[str, str]]) -> None:
        self.__dict__.update(words)

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> str: ...


def _read(name: str) -> Phrases:
    """Return a language from its two files."""
    folder = resources.files("p2c._explain")
    files = (folder.joinpath(f"{name}{part}.toml") for part in ("", "_pages"))
    letters, pages = (tomllib.loads(each.read_text(encoding="utf-8")) for each in files)
    return Phrases(letters | pages)


ENGLISH, GERMAN = _read("english"), _read("german")
LANGUAGES: Mapping[str, Phrases] = MappingProxyType({"en": ENGLISH, "de": GERMAN})


def phrases_of(language: str) -> Phrases:
    """Return the catalogue of a language, named as in HTML: `en`, `de`."""
    check_word("language: no catalogue", language, LANGUAGES)
    return LANGUAGES[language]
