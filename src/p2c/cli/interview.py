"""An expert walked through a review: one candidate after the other, each answer on the disk before the next question."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer
from rich.text import Text

from p2c.domain.feature import Law
from p2c.errors import ReviewError
from p2c.learn.proposal import read_proposal
from p2c.learn.verdict import Verdict
from p2c.learn.weigh import weigh
from p2c.report.candidates import show_candidate, show_evidence

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd
    from rich.console import Console

    from p2c.learn.candidate import Candidate, Evidence
    from p2c.learn.review import Review

VERDICTS = {
    "approve": Verdict.APPROVED,
    "reject": Verdict.REJECTED,
    "edit": Verdict.EDITED,
    "skip": None,
    "quit": None,
}


def interview(
    review: Review, *, by: str, console: Console, frame: pd.DataFrame | None = None
) -> None:
    """Ask for an answer to every pending candidate; an edited rule is measured on the frame where there is one."""
    pending = review.pending()
    for number, candidate in enumerate(pending, start=1):
        show_candidate(console, candidate, place=f"{number} of {len(pending)}")
        if not _answer(review, candidate, by=by, console=console, frame=frame):
            return


def _answer(
    review: Review,
    candidate: Candidate,
    *,
    by: str,
    console: Console,
    frame: pd.DataFrame | None,
) -> bool:
    """Ask until an answer is taken or the candidate is skipped; False ends the interview."""
    while True:
        word = _choose("verdict", VERDICTS)
        verdict = VERDICTS[word]
        if verdict is None:
            return word == "skip"
        try:
            text = _edited(candidate) if verdict is Verdict.EDITED else None
            law = None if verdict is Verdict.REJECTED else _law(review, candidate, text)
            evidence = None
            if text is not None and law is not None and frame is not None:
                evidence = _measured(review, candidate, text, law, frame)
                show_evidence(console, evidence)
            why = typer.prompt("why").strip()
            review.decide(
                candidate.id, verdict, by=by, why=why, law=law, rule=text, evidence=evidence
            )
        except ReviewError as error:
            if not error.rules:
                raise
            console.print(Text(f"refused: {error}", style="red"))
        else:
            return True


def _choose(question: str, choices: Iterable[str], default: str | None = None) -> str:
    """Ask for one of some words; the first letters of one are enough."""
    words = tuple(choices)
    asked = f"{question} ({', '.join(words)})"
    while True:
        given = str(typer.prompt(asked, default=default)).strip().lower()
        if given in words:
            return given
        near = [word for word in words if given and word.startswith(given)]
        if len(near) == 1:
            return near[0]
        typer.echo(f"expected one of {', '.join(words)}")


def _edited(candidate: Candidate) -> str:
    typer.echo("the rule as it should be, on one line, helpers behind it:")
    return str(typer.prompt("rule", default=candidate.rule.replace("\n", " "))).strip()


def _law(review: Review, candidate: Candidate, text: str | None) -> Law:
    """Ask for the law; the default is that of the feature's approved rules, else the suggested one."""
    likely = candidate.law or Law.IFF
    checked = read_proposal(candidate.id, text or candidate.rule, likely, review.features)
    settled = review.approved().laws.get(checked.feature) or candidate.law
    word = _choose("law", [each.value for each in Law], settled.value if settled else None)
    return Law(word)


def _measured(
    review: Review, candidate: Candidate, text: str, law: Law, frame: pd.DataFrame
) -> Evidence:
    proposal = read_proposal(candidate.id, text, law, review.features)
    return weigh(proposal, frame, review.features)
