"""What an outcome can be asked for besides its values: words and pictures, which the layers above this one make.

An outcome is a plain value and knows no words. `Problem.plan` puts a renderer, which knows the problem, into the question
that it answers; an outcome that came straight from an engine has none and says so.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Protocol

from p2c.errors import P2CError

if TYPE_CHECKING:
    from p2c.plan.outcome import Question


class Renderer(Protocol):
    """What tells and draws an outcome."""

    def explain(self, plan: Any, *, language: str) -> str:
        """Return the outcome in words for the person."""

    def svg(self, plan: Any, *, theme: str, language: str) -> str:
        """Return the outcome as a picture."""

    def png(self, plan: Any, *, theme: str, language: str) -> bytes:
        """Return the outcome as a picture in pixels."""

    def html(self, plan: Any) -> str:
        """Return the outcome as a piece of a notebook."""


class _Outcome(Protocol):
    @property
    def question(self) -> Question: ...

    def to_dict(self) -> dict[str, Any]: ...


class Rendered:
    """What every outcome can be asked for: its JSON and, once its question has a renderer, words and pictures."""

    __slots__ = ()

    def to_json(self: _Outcome, *, indent: int | None = None) -> str:
        """Return the plan as the text of the contract's JSON."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False)

    def explain(self: _Outcome, language: str = "en") -> str:
        """Return the plan in plain words for the person: why, what to do, what follows, what it takes."""
        return _renderer(self).explain(self, language=language)

    def to_svg(self: _Outcome, *, theme: str = "auto", language: str = "en") -> str:
        """Return the plan as a picture; the theme is light, dark, or auto for that of the reader's screen."""
        return _renderer(self).svg(self, theme=theme, language=language)

    def to_png(self: _Outcome, *, theme: str = "light", language: str = "en") -> bytes:
        """Return the plan as the bytes of a PNG file; needs the extra `report`."""
        return _renderer(self).png(self, theme=theme, language=language)

    def _repr_html_(self: _Outcome) -> str | None:
        renderer = self.question.renderer
        return None if renderer is None else renderer.html(self)


def _renderer(outcome: _Outcome) -> Renderer:
    if outcome.question.renderer is None:
        raise P2CError(
            "this plan came from an engine and does not know its problem's words: plan with Problem.plan"
        )
    return outcome.question.renderer
