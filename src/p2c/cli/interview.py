"""An expert walked through a review: one candidate after the other, each answer on the disk before the next question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer
from rich.text import Text

from p2c.cli.desk import choose
from p2c.domain.feature import Law
from p2c.errors import ReviewError
from p2c.explain.phrases import ENGLISH
from p2c.learn.causal.contradictions import read_proposal
from p2c.learn.causal.learning import measure
from p2c.learn.causal.records import ReviewVerdict
from p2c.markup import clean
from p2c.report.learned import show_candidate, show_rule_reading
from p2c.report.questions import effects, read_back

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from p2c.explain.phrases import Phrases
    from p2c.learn.causal.candidate import Candidate
    from p2c.learn.causal.review import Review

VERDICTS = {
    "approve": ReviewVerdict.APPROVED,
    "reject": ReviewVerdict.REJECTED,
    "edit": ReviewVerdict.EDITED,
    "skip": None,
    "quit": None,
}


@dataclass(frozen=True, slots=True)
class Interview:
    """A review that is being answered: by whom, where it is shown, in which words, and on which data edits are measured."""

    review: Review
    by: str
    console: Console
    frame: pd.DataFrame | None = None
    phrases: Phrases = ENGLISH
    again: tuple[str, ...] = ()
    """The candidates to be answered once more; where there are any, nothing else is asked."""


def interview(talk: Interview) -> None:
    """Ask for an answer to every open candidate, effect by effect; each is on the disk before the next is asked."""
    asked = [
        (effect.label, question.candidate)
        for effect in effects(talk.review, talk.phrases)
        for question in effect.questions
        if (question.candidate.id in talk.again if talk.again else question.is_open)
    ]
    for number, (label, candidate) in enumerate(asked, start=1):
        rule, evidence = candidate.rule, candidate.evidence
        reading = read_back(talk.review, candidate, rule, evidence, talk.phrases)
        show_candidate(talk.console, candidate, reading, place=f"{number} of {len(asked)}, {label}")
        if not _answer(talk, candidate):
            return


def _answer(talk: Interview, candidate: Candidate) -> bool:
    """Ask until an answer is taken or the candidate is skipped; False ends the interview."""
    while True:
        word = choose("verdict", VERDICTS)
        verdict = VERDICTS[word]
        if verdict is None:
            return word == "skip"
        try:
            if _decided(talk, candidate, verdict):
                return True
        except ReviewError as error:
            if not error.rules:
                raise
            talk.console.print(Text(clean(f"refused: {error}"), style="red"))


def _decided(talk: Interview, candidate: Candidate, verdict: ReviewVerdict) -> bool:
    """Ask for what a verdict needs and write it; an edited rule is shown with its figures before it is saved."""
    text = evidence = law = None
    if verdict is ReviewVerdict.EDITED:
        text = _edited(candidate)
        if talk.frame is not None:
            evidence = measure(talk.review, candidate.id, text, talk.frame)
        reading = read_back(talk.review, candidate, text, evidence, talk.phrases)
        show_rule_reading(talk.console, reading)
        if choose("take this text", ("yes", "no")) == "no":
            return False
    if verdict is not ReviewVerdict.REJECTED:
        law = _law(talk.review, candidate, text)
    why = typer.prompt("why").strip()
    talk.review.decide(
        candidate.id, verdict, by=talk.by, why=why, law=law, rule=text, evidence=evidence
    )
    return True


def _edited(candidate: Candidate) -> str:
    typer.echo("the rule as it should be, on one line, helpers behind it:")
    return str(typer.prompt("rule", default=candidate.rule.replace("\n", " "))).strip()


def _law(review: Review, candidate: Candidate, text: str | None) -> Law:
    """Ask for the law; the default is that of the feature's approved rules, else the suggested one."""
    likely = candidate.law or Law.IFF
    checked = read_proposal(candidate.id, text or candidate.rule, likely, review.features)
    settled = review.approved().laws.get(checked.feature) or candidate.law
    word = choose("law", [each.value for each in Law], settled.value if settled else None)
    return Law(word)
