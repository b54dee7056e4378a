"""Errors of the pages themselves, written in the language of the reader."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from p2c._explain.phrases import ENGLISH
from p2c._explain.sentences import filled
from p2c._server.error_answers import describe
from p2c._server.solver_pool import OutOfTime, Overloaded
from p2c.errors import P2CError, joined_lines

if TYPE_CHECKING:
    from p2c._explain.phrases import Phrases


class PageError(P2CError):
    """Report an error by its key in the catalogue and its facts."""

    def __init__(self, key: str, **facts: str) -> None:
        super().__init__(filled(ENGLISH.pages[key], **facts))
        self.key, self.facts = key, facts


class Trouble(NamedTuple):
    """An error on a page, with its language: the library speaks English alone."""

    text: str
    language: str


def trouble_of(error: Exception, phrases: Phrases) -> Trouble:
    """Return an error in a language if the pages have words for it, else in English."""
    match error:
        case PageError(key=key, facts=facts):
            return Trouble(filled(phrases.pages[key], **facts), phrases.language)
        case Overloaded():
            return Trouble(phrases.pages["busy"], phrases.language)
        case OutOfTime():
            return Trouble(phrases.pages["slow"], phrases.language)
        case P2CError():
            return Trouble(joined_lines(error), "en")
    return Trouble(describe(error)[1], "en")
