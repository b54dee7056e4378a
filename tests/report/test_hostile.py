"""Hostile labels and values are shown as the text that they are, in every format, and never break one."""

from __future__ import annotations

import io
import re
import unicodedata
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from typing import Any

import pytest
from markdown_it import MarkdownIt
from rich.console import Console

from p2c import P2CError, Problem
from p2c._explain.letter import write_letter
from p2c._explain.sentences import explain_proof
from p2c._markup import clean
from p2c._report.document import letter_document
from p2c._report.html import notebook_html
from p2c._report.terminal import show_plan
from tests.hostile import HOSTILE, unbraced

SVG_TAGS = {"svg", "title", "desc", "style", "rect", "path", "text", "tspan", "g", "circle"}
SVG_SPACE = "{http://www.w3.org/2000/svg}"
HTML_TAGS = SVG_TAGS | {
    "html", "head", "meta", "body", "main", "h1", "h2", "p", "ol", "ul", "li", "div", "table", "thead", "tbody", "tr",
    "th", "td", "code", "figure", "details", "summary", "section", "strong", "span",
}  # fmt: skip
ATTRIBUTES = {
    "lang", "charset", "http-equiv", "content", "name", "class", "tabindex", "role", "aria-label", "scope", "xmlns",
    "viewbox", "width", "height", "font-family", "x", "y", "rx", "cx", "cy", "r", "d", "fill", "stroke", "style", "open",
    "stroke-width", "stroke-dasharray", "stroke-linecap", "font-size", "text-anchor", "font-weight", "font-style",
}  # fmt: skip


def problem_with(text: str) -> Problem:
    """Return a problem whose every word is hostile, and that has a plan with an effect."""
    clause = unbraced(text)
    words = {"label": text, "unit": text, "phrase": clause, "advice": clause}
    return Problem.from_dict(
        {
            "name": text,
            "goal": "good(X)",
            "rules": "good(X) :- n(X,N), N>=5, c(X,'yes'), d(X,'on'). c(X,'yes') :- d(X,'on').",
            "features": {
                "n": {"type": "int", "min": 0, "max": 9, **words},
                "d": {"type": "category", "values": ["off", "on", f"v{text}"], "names": {"on": text or "on"}},
                "c": {"type": "category", "values": ["no", "yes"], **words, "languages": {"de": words}},
            },
        }
    )  # fmt: skip


def row_with(text: str) -> dict[str, Any]:
    return {"n": 1, "d": f"v{text}", "c": "no"}


class Reader(HTMLParser):
    """Collects the tags, attributes and text of a page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.attributes: dict[str, str] = {}
        self.text: list[str] = []
        self.others: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name: value or "" for name, value in attrs}

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def handle_comment(self, data: str) -> None:
        self.others.append(data)

    def unknown_decl(self, data: str) -> None:
        self.others.append(data)

    def handle_pi(self, data: str) -> None:
        self.others.append(data)


def assert_only_text(page: str, text: str) -> None:
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.tags <= HTML_TAGS
    assert set(reader.attributes) <= ATTRIBUTES
    assert reader.others == []
    assert clean(text).strip() in clean(" ".join(reader.text))


def assert_drawing(svg: str) -> None:
    for each in ET.fromstring(svg).iter():
        assert each.tag.removeprefix(SVG_SPACE) in SVG_TAGS
        assert {name.lower() for name in each.attrib} <= ATTRIBUTES


def test_there_are_at_least_fifty_of_them() -> None:
    assert len(set(HOSTILE)) >= 50


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_word_is_only_text_in_words_and_pictures(text: str) -> None:
    problem = problem_with(text)
    plan = problem.plan(row_with(text))
    assert plan.status == "found"
    for language in ("en", "de"):
        told = plan.explain(language=language)
        assert clean(text).strip() in told
        assert not any(unicodedata.category(each) == "Cc" for each in told.replace("\n", ""))
    for theme in ("light", "dark", "auto"):
        assert_drawing(plan.to_svg(theme=theme))
    assert_drawing(problem.to_svg())


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_word_is_only_text_in_pages_and_notebooks(text: str) -> None:
    problem = problem_with(text)
    row = row_with(text)
    plan = problem.plan(row)
    for audience in ("applicant", "expert"):
        page = problem.report(row, audience=audience).decode()
        assert_only_text(page, text)
    assert_only_text(plan._repr_html_() or "", text)
    assert_only_text(problem._repr_html_(), text)
    assert_only_text(problem.why(row)._repr_html_(), "d is v")
    letter = letter_document(write_letter(problem.theory, plan))
    assert_only_text(notebook_html(letter, ""), text)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_word_is_only_text_in_markdown(text: str) -> None:
    problem = problem_with(text)
    reader = MarkdownIt("gfm-like", {"html": True, "linkify": False})
    for audience in ("applicant", "expert"):
        source = problem.report(row_with(text), format="md", audience=audience).decode()
        tokens = reader.parse(source)
        every = [*tokens, *(child for token in tokens for child in token.children or ())]
        kinds = {token.type for token in every}
        assert not kinds & {
            "html_block",
            "html_inline",
            "link_open",
            "image",
            "fence",
            "code_block",
            "hr",
        }
        assert not kinds & {"blockquote_open", "s_open", "em_open"}
        shown = " ".join(token.content for token in every if token.type in ("text", "text_special"))
        squeezed = re.sub(r"[\s\u200b]+", "", shown)
        assert re.sub(r"[\s\u200b]+", "", clean(text)) in squeezed


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_word_is_only_text_on_a_terminal(text: str) -> None:
    problem = problem_with(text)
    screen = io.StringIO()
    plan = problem.plan(row_with(text))
    show_plan(Console(file=screen, width=80), problem.theory, plan)
    sentences = explain_proof(problem.theory, problem.why(row_with(text)))
    told = screen.getvalue() + "".join(each.text for each in sentences)
    assert not [each for each in told if each != "\n" and unicodedata.category(each) == "Cc"]


@pytest.mark.parametrize("text", [*HOSTILE[::12], "漢字かな"])
def test_a_hostile_word_breaks_neither_paper_nor_a_picture(text: str) -> None:
    problem = problem_with(text)
    row = row_with(text)
    assert problem.plan(row).to_png().startswith(b"\x89PNG")
    try:
        paper = problem.report(row, format="pdf")
    except P2CError as error:
        complaint = str(error)
    else:
        complaint = ""
        assert paper.startswith(b"%PDF-")
    assert ("has no '漢' (U+6F22); use .html, .md or .txt" in complaint) is (text == "漢字かな")
