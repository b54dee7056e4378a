"""The page of a review: candidates for causal rules with their evidence, and an expert's answer to each.

The file is read anew for each request and only ever grows, so that two experts at once lose nothing: what one wrote
while the other was thinking is shown before the other's answer is taken.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from p2c.errors import P2CError, ReviewError
from p2c.web.pages.paper import show
from p2c.web.service import desk_of

if TYPE_CHECKING:
    from p2c.learn.candidate import Evidence
    from p2c.learn.review import Review
    from p2c.web.settings import Settings

router = APIRouter()

ATTEMPTS = 50
"""How often an answer is tried again where another process writes to the same file."""
WRITING = Lock()
FIELDS = ("verdict", "law", "rule_text", "why", "by")


@router.get("/review")
async def review(request: Request) -> Response:
    """Show the candidates of a review, one of them opened."""
    asked = request.query_params
    return await _shown(
        request, asked.get("file", "1"), asked.get("rule", ""), by=asked.get("by", "")
    )


@router.post("/review")
async def answer(request: Request) -> Response:
    """Take one answer and go on to the next candidate; one that cannot hold comes back with the reason."""
    form = {key: str(each) for key, each in (await request.form()).items() if isinstance(each, str)}
    number, rule = form.get("file", "1"), form.get("rule", "")
    path = _path(desk_of(request).settings, number)
    try:
        following = await asyncio.to_thread(_decide, desk_of(request).settings, path, form)
    except P2CError as error:
        return await _shown(
            request, number, rule, by=form.get("by", ""), form=form, trouble=str(error)
        )
    query = urlencode({"file": number, "rule": following, "by": form.get("by", ""), "saved": rule})
    return RedirectResponse(f"/review?{query}", 303)


def _path(settings: Settings, number: str) -> str:
    known = {str(place): path for place, path in enumerate(settings.reviews, start=1)}
    if number not in known:
        raise HTTPException(404, "no such review: start the server with --review FILE")
    return known[number]


def _decide(settings: Settings, path: str, form: dict[str, str]) -> str:
    """Write an answer, and return the candidate to go on with."""
    from p2c.learn.review import read_review

    rule = form.get("rule", "")
    with WRITING:
        for _ in range(ATTEMPTS):
            current = read_review(path)
            _refuse_overtaken(current, rule, form.get("seen", ""))
            try:
                _write(settings, current, rule, form)
            except ReviewError:
                if read_review(path).journal.size == current.journal.size:
                    raise
            else:
                left = [each.id for each in current.pending()]
                return left[0] if left else rule
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


def _write(settings: Settings, current: Review, rule: str, form: dict[str, str]) -> None:
    verdict = form.get("verdict", "")
    text = form.get("rule_text", "").strip() if verdict == "edited" else None
    law = form.get("law") or None
    current.decide(
        rule,
        verdict,
        by=form.get("by", ""),
        why=form.get("why", ""),
        law=None if verdict == "rejected" else law,
        rule=text,
        evidence=_measured(settings, current, rule, text, law),
    )


def _measured(
    settings: Settings, current: Review, rule: str, text: str | None, law: str | None
) -> Evidence | None:
    """Return what the data say of an edited rule, where the server was given data."""
    if not settings.data or text is None or law is None or rule not in current.candidates:
        return None
    from p2c.learn.files import read_frame
    from p2c.learn.proposal import read_proposal
    from p2c.learn.verdict import approved_law
    from p2c.learn.weigh import weigh

    settled = approved_law(current.candidates[rule], law)
    proposal = read_proposal(rule, text, settled, current.features)
    return weigh(proposal, read_frame(Path(settings.data)), current.features)


async def _shown(
    request: Request,
    number: str,
    rule: str,
    *,
    by: str,
    form: dict[str, str] | None = None,
    trouble: str = "",
) -> Response:
    settings = desk_of(request).settings
    if not settings.reviews:
        return show(request, "review_none.html", page="review")
    path = _path(settings, number)
    from p2c.learn.review import read_review

    current = await asyncio.to_thread(read_review, path)
    candidates = tuple(current.candidates.values())
    pending = current.pending()
    opened = (
        current.candidates.get(rule) or next(iter(pending), None) or next(iter(candidates), None)
    )
    given = form or {"by": by}
    return show(
        request,
        "review.html",
        page="review",
        number=number,
        review=current,
        candidates=candidates,
        pending={each.id for each in pending},
        verdicts=current.verdicts(),
        candidate=opened,
        history=current.history(opened.id) if opened else (),
        given={key: given.get(key, "") for key in FIELDS},
        saved=request.query_params.get("saved", ""),
        trouble=trouble,
        status=409 if trouble else 200,
        file_name=current.path.name,
    )
