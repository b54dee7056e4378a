"""The page of a review: candidates for causal rules with their evidence, and an expert's answer to each.

The file is read anew for each request and only ever grows, so that two experts at once lose nothing: what one wrote
while the other was thinking is shown before the other's answer is taken.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from starlette.datastructures import FormData  # noqa: TC002 - fastapi needs it at run time
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from p2c._explain.phrases import ENGLISH, phrases_of
from p2c._learn.causal.candidate import ReviewVerdict, approved_text
from p2c._learn.causal.review import read_review
from p2c._learn.relations.relation import Relation
from p2c._report.questions import conclude, effects, following, open_questions, read_back
from p2c._server.error_answers import Trouble
from p2c._server.identity import visitor_of
from p2c._server.pages.frame import language_of, sent_form, show, texts_of
from p2c._server.service import context_of
from p2c.errors import P2CError, ReviewError

if TYPE_CHECKING:
    from p2c._explain.phrases import Phrases
    from p2c._learn.causal.candidate import Evidence
    from p2c._learn.causal.review import Review
    from p2c._report.questions import Reading
    from p2c._server.settings import Settings

router = APIRouter()

ATTEMPTS = 50
"""How often an answer is tried again where another process writes to the same file."""
WRITING = Lock()
FIELDS = ("verdict", "law", "rule_text", "why", "by", "looked")


@dataclass(frozen=True, slots=True)
class Visit:
    """What a request asks of a review: which file and rule, in which language, and what was typed."""

    path: str
    number: str
    rule: str
    phrases: Phrases
    form: dict[str, str]

    def address(self, **more: str) -> str:
        """Return the address of the same file, reader and language."""
        keys = {"file": self.number, "by": self.form.get("by", ""), "language": self.language}
        return f"/review?{urlencode({**keys, **more})}"

    @property
    def language(self) -> str:
        """Return the tag of the language, empty where it is the usual one."""
        return "" if self.phrases is ENGLISH else self.phrases.language


@router.get("/review")
def review(request: Request) -> Response:
    """Show the candidates of a review, one of them opened; the end of the review where none is open."""
    if not context_of(request).settings.open_reviews:
        return show(request, "review_none.html", page="review", language=language_of(request))
    asked = request.query_params
    visit = _visit(request, {key: asked.get(key, "") for key in asked})
    return _shown(request, visit, saved=asked.get("saved", ""))


@router.post("/review")
def answer(request: Request, sent: Annotated[FormData, sent_form()]) -> Response:
    """Take one answer and go on to the next open candidate; one that cannot hold comes back with the reason.

    An edited rule is first shown in words and figures, and saved when it comes once more.
    """
    form = texts_of(sent)
    visitor = visitor_of(request)
    if visitor.user:
        form["by"] = (
            f"{visitor.user} ({visitor.role.name.lower()})" if visitor.role else visitor.user
        )
    visit, settings = _visit(request, form), context_of(request).settings
    try:
        if "look" in form or _is_unseen(form):
            return _shown(request, visit, reading=_read_edited(settings, visit))
        following = _decide(settings, visit)
    except P2CError as error:
        return _shown(request, visit, trouble=Trouble(str(error), "en"))
    return RedirectResponse(visit.address(rule=following, saved=visit.rule), 303)


def _visit(request: Request, form: dict[str, str]) -> Visit:
    number = form.get("file") or "1"
    path = _path(context_of(request).settings, number)
    phrases = phrases_of(form.get("language") or "en")
    return Visit(path, number, form.get("rule", ""), phrases, form)


def _path(settings: Settings, number: str) -> str:
    known = {str(place): path for place, path in enumerate(settings.open_reviews, start=1)}
    if number not in known:
        raise HTTPException(404, "no such review: start the server with --review FILE")
    return known[number]


def _edited_text(form: dict[str, str]) -> str:
    return form.get("rule_text", "").replace("\r\n", "\n").strip()


def _is_unseen(form: dict[str, str]) -> bool:
    """Tell whether an edited text has not been read back yet as it stands."""
    return form.get("verdict") == "edited" and form.get("looked", "") != _mark(_edited_text(form))


def _mark(text: str) -> str:
    return sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def _read_edited(settings: Settings, visit: Visit) -> Reading:
    """Return an edited text in words, with what the data say of it where the server was given data."""
    current = read_review(visit.path)
    candidate = current.candidate(visit.rule)
    text = approved_text(candidate, ReviewVerdict.EDITED, _edited_text(visit.form))
    evidence = _measured(settings, current, visit.rule, text)
    return read_back(current, candidate, text, evidence, visit.phrases)


def _decide(settings: Settings, visit: Visit) -> str:
    """Write an answer, and return the candidate to go on with; '' where none is open."""
    rule = visit.rule
    with WRITING:
        for _ in range(ATTEMPTS):
            current = read_review(visit.path)
            _refuse_overtaken(current, rule, visit.form.get("seen", ""))
            onward = following(effects(current), rule)
            try:
                _write(settings, current, visit)
            except ReviewError:
                if read_review(visit.path).journal.size == current.journal.size:
                    raise
            else:
                return onward
    raise ReviewError(f"{rule}: the file is being written to all the time: answer again")


def _refuse_overtaken(current: Review, rule: str, seen: str) -> None:
    history = current.history(rule)
    if seen != str(len(history)):
        last = f": {history[-1].by} said '{history[-1].verdict.value}'" if history else ""
        raise ReviewError(
            f"{rule}: someone answered since you opened it{last}. Look at the answers below; yours is"
            " still here, give it again if it stands",
            rules=[rule],
        )


def _write(settings: Settings, current: Review, visit: Visit) -> None:
    form, verdict = visit.form, visit.form.get("verdict", "")
    text = _edited_text(form) if verdict == "edited" else None
    is_relation = isinstance(current.candidates.get(visit.rule), Relation)
    current.decide(
        visit.rule,
        verdict,
        by=form.get("by", ""),
        why=form.get("why", ""),
        law=None if verdict == "rejected" or is_relation else form.get("law") or None,
        rule=text,
        evidence=None if text is None else _measured(settings, current, visit.rule, text),
    )


def _measured(settings: Settings, current: Review, rule: str, text: str) -> Evidence | None:
    """Return what the data say of an edited rule, where the server was given data."""
    if not settings.review_data or isinstance(current.candidates.get(rule), Relation):
        return None
    from p2c._learn.causal.learning import measure
    from p2c._learn.tables.files import read_frame

    return measure(current, rule, text, read_frame(Path(settings.review_data)))


def _shown(
    request: Request,
    visit: Visit,
    *,
    reading: Reading | None = None,
    saved: str = "",
    trouble: Trouble | None = None,
) -> Response:
    settings = context_of(request).settings
    typed = {key: visit.form.get(key, "") for key in FIELDS}
    if reading is not None:
        typed |= {"looked": _mark(_edited_text(visit.form)), "verdict": "edited"}
    return show(
        request,
        "review.html",
        page="review",
        language=visit.phrases.language,
        visit=visit,
        given=typed,
        edited=reading,
        saved=saved,
        trouble=trouble,
        status=409 if trouble else 200,
        measures=bool(settings.review_data),
        **_facts(settings, visit, reading),
    )


def _facts(settings: Settings, visit: Visit, edited: Reading | None) -> dict[str, Any]:
    """Return what the page shows of the file: all questions, the opened one read back, or the end."""
    current = read_review(visit.path)
    told = effects(current, visit.phrases)
    left = open_questions(told)
    opened = current.candidates.get(visit.rule) or (left[0].candidate if left else None)
    reading = None
    if opened is not None:
        evidence = None if isinstance(opened, Relation) else opened.evidence
        reading = read_back(current, opened, opened.text, evidence, visit.phrases)
    problem = settings.problems[0] if len(settings.problems) == 1 else "problem.toml"
    return {
        "review": current,
        "file_name": current.path.name,
        "effects": told,
        "left": len(left),
        "candidate": opened,
        "is_relation": isinstance(opened, Relation),
        "text": opened.text if opened else "",
        "reading": reading,
        "laws": (edited or reading).laws if reading else (),
        "history": current.history(opened.id) if opened else (),
        "skip": following(told, opened.id) if opened else "",
        "conclusion": conclude(current, problem),
    }
