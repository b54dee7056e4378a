"""A follow-up: how a plan stands by a later row, and the plan from there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from p2c._explain.letter import Letter, Section, teller_in, write_letter
from p2c._explain.sentences import filled
from p2c._explain.teller import Item
from p2c._report.document import letter_document
from p2c._report.text import plain_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from p2c._explain.teller import Teller
    from p2c._plan.check.progress import Progress
    from p2c._plan.outcome import DirectAction, Plan
    from p2c._rules.theory import Theory
    from p2c._spec.feature import Value


@dataclass(frozen=True)
class FollowUp:
    """The done part of a plan, the rest of it, and the cheapest plan from here.

    >>> import p2c
    >>> loan, john = p2c.Problem.example("loan"), p2c.datasets.rows("loan")["john"]
    >>> later = loan.follow_up(loan.plan(john), {**john, "debt": 0, "credit_score": 620})
    >>> [each.feature for each in later.done], [each.feature for each in later.left]
    (['debt'], ['bank_balance'])
    >>> later.valid, later.cheapest, later.plan.cost
    (True, True, 2e-05)
    """

    theory: Theory
    progress: Progress
    valid: bool
    """Whether the rest of the old plan is a path to the goal from here."""
    cheapest: bool | None
    """Whether no path from here is cheaper than the rest; None if not proved."""
    plan: Plan
    """The cheapest plan from here, in which the done part is not changed again."""

    @property
    def done(self) -> tuple[DirectAction, ...]:
        """Return the direct actions that are done."""
        return self.progress.done

    @property
    def left(self) -> tuple[DirectAction, ...]:
        """Return the direct actions of the old plan that are not done."""
        return self.progress.left

    @property
    def changed(self) -> dict[str, tuple[Value, Value]]:
        """Return the expected and the present value of each other change."""
        return self.progress.changed

    def to_dict(self) -> dict[str, Any]:
        """Return the follow-up as JSON."""
        return {
            "done": [each.to_dict() for each in self.done],
            "left": [each.to_dict() for each in self.left],
            "changed": {
                name: {"expected": expected, "found": present}
                for name, (expected, present) in self.changed.items()
            },
            "valid": self.valid,
            "cheapest": self.cheapest,
            "plan": self.plan.to_dict(),
        }

    def explain(self, language: str = "en") -> str:
        """Return the follow-up in plain words for the person.

        Args:
            language: "en", "de" or "fr".

        >>> print(later.explain().splitlines()[3])
        - Your debt: now 0 dollars.
        """
        return plain_text(letter_document(self.letter(language)))

    def letter(self, language: str = "en") -> Letter:
        """Return the follow-up as a letter."""
        teller = teller_in(self.theory, language)
        whole = write_letter(self.theory, self.plan, language=language)
        verdict = getattr(teller.phrases, self._verdict())
        sections = (*self._progress(teller), *whole.sections[1:])
        return replace(
            whole, title=teller.phrases.title_follow_up, verdict=verdict, sections=sections
        )

    def _verdict(self) -> str:
        """Return the name of the sentence about the rest of the plan."""
        if self.plan.status == "already":
            return "follow_up_reached"
        if self.valid:
            other = "follow_up_valid" if self.cheapest is None else "follow_up_cheaper"
            return "follow_up_cheapest" if self.cheapest else other
        if self.plan.steps:
            return "follow_up_other"
        return "follow_up_closed" if self.plan.status == "infeasible" else "follow_up_unknown"

    def _progress(self, teller: Teller) -> Iterator[Section]:
        phrases = teller.phrases
        if self.done:
            done = [
                filled(
                    phrases.is_now,
                    label=teller.label(a.feature),
                    value=teller.value(a.feature, a.end),
                )
                for a in self.done
            ]
            yield _listing("done", teller, done)
        if self.changed:
            changed = [
                filled(
                    phrases.is_instead,
                    label=teller.label(name),
                    value=teller.value(name, present),
                    expected=teller.value(name, expected),
                )
                for name, (expected, present) in self.changed.items()
            ]
            yield _listing("changed", teller, changed)


def _listing(kind: str, teller: Teller, clauses: list[str]) -> Section:
    items = tuple(Item(teller.sentence(each)) for each in clauses)
    return Section(kind, teller.phrases.headings[kind], "", items)
