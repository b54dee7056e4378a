"""The way in: the list of problems with what each is about, the token where one is needed, and the service described."""

from __future__ import annotations

import hmac
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from p2c._explain.phrases import phrases_of
from p2c._explain.sentences import (
    decision_words,
    filled,
    label_words,
    number_words,
    relation_words,
    value_words,
)
from p2c._rules.theory import Relation, Test
from p2c._server.guard import COOKIE, VISIT_COOKIE, locked_out, session
from p2c._server.identity import visitor_of
from p2c._server.pages.frame import language_of, show
from p2c._server.service import context_of
from p2c._spec.feature import in_language
from p2c.errors import first_few

if TYPE_CHECKING:
    from collections.abc import Iterable

    from p2c._explain.phrases import Phrases
    from p2c._rules.theory import Condition, Theory
    from p2c._server.problem_store import Entry

router = APIRouter()
MOST = 6
"""How many features are named on a card."""


@router.get("/")
async def index(request: Request) -> Response:
    """Show the problems, or the one there is."""
    context = context_of(request)
    if not context.settings.pages:
        return RedirectResponse("/docs", 303)
    language = language_of(request)
    if context.workshop is not None and not context.store.entries:
        return RedirectResponse("/new", 303)
    cards = [card_of(each, language) for each in context.store.entries.values()]
    return show(request, "index.html", language=language, cards=cards)


@router.get("/login")
async def login(request: Request) -> Response:
    """Ask for the token."""
    language = _first_language(request)
    return show(request, "login.html", wrong=False, language=language, onward=_onward(request))


@router.post("/login")
async def enter(request: Request) -> Response:
    """Admit a browser with the right token, and open the page that it wanted.

    The browser keeps a proof of the token until it is closed.
    """
    form = await request.form()
    context, visitor = context_of(request), visitor_of(request)
    token, language = context.settings.token, _first_language(request)
    assert context.identities is not None
    if context.identities.is_locked(visitor.client):
        return locked_out()
    given = str(form.get("token", ""))
    if not hmac.compare_digest(given.encode("utf-8", "replace"), token.encode()):
        context.identities.count_failure(visitor.client)
        onward = _onward(request)
        return show(request, "login.html", wrong=True, status=401, language=language, onward=onward)
    context.identities.forget_failures(visitor.client)
    usual = "/" if language == "en" else f"/?language={language}"
    answer = RedirectResponse(_onward(request) or usual, 303)
    secure = visitor.encrypted
    answer.set_cookie(COOKIE, session(token), httponly=True, samesite="strict", secure=secure)
    return answer


@router.post("/logout")
async def leave(request: Request) -> Response:
    """Take back the proof of the token and the states of the browser's pages."""
    answer = RedirectResponse("/login", 303)
    answer.delete_cookie(COOKIE)
    answer.delete_cookie(VISIT_COOKIE)
    return answer


def _onward(request: Request) -> str:
    """Return the page of this server that was wanted before the login, or ''."""
    target = request.query_params.get("next", "")
    return target if re.fullmatch(r"/(?![/\\])[\x21-\x7e]*", target) else ""


def _first_language(request: Request) -> str:
    """Return the language of the address or else the browser's own, for nobody has chosen one yet at the door."""
    preferred = request.headers.get("accept-language", "en")[:2].lower()
    return language_of(request, otherwise=preferred)


@router.get("/docs")
async def docs(request: Request) -> Response:
    """Show what the service can be asked."""
    description = request.app.openapi()
    schemas = description["components"]["schemas"]
    operations = [
        _operation(path, method, operation)
        for path, methods in description["paths"].items()
        for method, operation in methods.items()
    ]
    tables = [(name, _keys(schema)) for name, schema in schemas.items()]
    return show(
        request, "docs.html", operations=operations, tables=[each for each in tables if each[1]]
    )


def _operation(path: str, method: str, operation: dict[str, Any]) -> dict[str, Any]:
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    good = operation["responses"]["200"].get("content", {}).get("application/json", {})
    return {
        "method": method.upper(),
        "path": path,
        "text": operation.get("description", ""),
        "asked": _type(body.get("schema", {})),
        "answered": _type(good.get("schema", {})),
        "errors": {code: each["description"] for code, each in operation["responses"].items()},
    }


def _keys(schema: dict[str, Any]) -> list[dict[str, Any]]:
    needed = schema.get("required", ())
    return [
        {
            "name": name,
            "type": _type(key),
            "needed": name in needed,
            "text": key.get("description", ""),
        }
        for name, key in schema.get("properties", {}).items()
    ]


def _type(schema: dict[str, Any]) -> str:
    """Return the type of a schema in a few words."""
    if "$ref" in schema:
        return str(schema["$ref"]).rsplit("/", 1)[-1]
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_type(each) for each in schema["anyOf"]))
    if "enum" in schema or "const" in schema:
        return " or ".join(f"“{each}”" for each in schema.get("enum", [schema.get("const")]))
    match schema.get("type"):
        case "array":
            return f"list of {_type(schema.get('items', {}))}"
        case "object" if isinstance(schema.get("additionalProperties"), dict):
            return f"object of {_type(schema['additionalProperties'])}"
        case None:
            return ""
        case kind:
            return str(kind)


def card_of(entry: Entry, language: str) -> dict[str, Any]:
    """Return a problem in a few lines of a language; `facts` pairs headings with what they head."""
    phrases = phrases_of(language)
    words, theory = phrases.pages, entry.problem.theory
    read = theory.reads(theory.goal)
    changeable = [each.name for each in theory.features if each.action.is_direct]
    governed = [each.name for each in theory.features if each.governed]
    facts = (
        (words["card_reads"], _named(theory, read, phrases)),
        (words["card_change"], _named(theory, changeable, phrases)),
        (words["card_effect"], _named(theory, governed, phrases)),
    )
    size = filled(
        words["card_size"],
        features=number_words(len(theory.features), phrases),
        rules=number_words(len(theory.program.rules), phrases),
        people=number_words(len(entry.rows), phrases),
    )
    goal = phrases.conjunction.join(_told(theory, each, phrases) for each in theory.goal)
    return {
        "id": entry.id,
        "start": urlencode(_start(entry, language)),
        "name": entry.problem.name,
        "goal": goal,
        "facts": [(heading, text) for heading, text in facts if text],
        "size": size,
    }


def _start(entry: Entry, language: str) -> list[tuple[str, str]]:
    """Return the address of a first plan: the table's first person and the language."""
    example = [("row", "1")] if entry.rows else []
    return example if language == "en" else [*example, ("language", language)]


def _named(theory: Theory, names: Iterable[str], phrases: Phrases) -> str:
    chosen = set(names)
    labels = [
        label_words(in_language(each, phrases.language))
        for each in theory.features
        if each.name in chosen
    ]
    return first_few(labels, most=MOST)


def _told(theory: Theory, condition: Condition, phrases: Phrases) -> str:
    if isinstance(condition, Test):
        feature = in_language(theory.feature[condition.feature], phrases.language)
        sign = {"=<": "≤", ">=": "≥", "\\=": "≠"}.get(
            condition.comparator.value, condition.comparator.value
        )
        constant = value_words(feature, condition.constant, phrases)
        text = f"{label_words(feature)} {sign} {constant}"
    elif isinstance(condition, Relation):
        return relation_words(theory, condition, phrases)
    else:
        text = decision_words(condition.decision, phrases)
    return filled(phrases.pages["card_not"], decision=text) if condition.negated else text
