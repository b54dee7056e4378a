"""What a syntax error says: what was found, what would be right, and the slip that is behind it if it is a common one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from p2c.errors import RuleError, comma_hint, shorten

if TYPE_CHECKING:
    from lark.exceptions import UnexpectedCharacters, UnexpectedToken

MISTAKES = {
    "<=": "write '=<' for at most",
    "=>": "write '>=' for at least",
    "==": "write '=' for equal",
    "!=": "write '\\=' for different",
    "<>": "write '\\=' for different",
    "=\\=": "write '\\=' for different",
    "=:=": "write '=' for equal",
    "\\+": "write 'not'",
    "<-": "write ':-' after a head",
    ":=": "write ':-' after a head",
    "?-": "a query is the problem's goal, not one of its rules",
    '"': "write names in single quotes",
    "&": "write ',' between literals",
    ";": "write two rules instead of ';'",
    "|": "write two rules instead of '|'",
    "#": "write '%' before a comment",
    "//": "write '%' before a comment",
    "≤": "write '=<' for at most",
    "≥": "write '>=' for at least",
    "≠": "write '\\=' for different",
    **dict.fromkeys("‘’‚‛“”„‟", "write names in straight single quotes"),
}

MISTAKEN_WORDS = {
    "or": "write two rules instead of 'or'",
    "and": "write ',' between literals",
    "if": "write ':-' after a head",
}

WORDS = {
    "ATOM": "an atom such as age(X,N)",
    "TERM": "a term such as X, 5 or 'name'",
    "COMPARATOR": "a comparison sign such as =<",
    "IF": "':-'",
    "NOT": "'not'",
    "LPAR": "'('",
    "RPAR": "')'",
    "COMMA": "','",
    "DOT": "'.'",
    "$END": "the end of the text",
}

HEAD = re.compile(r"\s*\w+\([^()]*\)\s*")
"""What stands on a line before the sign that should be ':-'."""

CAPITAL_PREDICATE = re.compile(r"[A-Z_]\w*\s*\(")
NAME = re.compile(r"(?!not\b)([^\W\dA-Z_]\w*)(?![\w(])")
LAST_NAME = re.compile(r"(?<!\w)([^\W\dA-Z_]\w*)\s*$")

UNDERSCORED = re.compile(r"(_\d+)+")
DECIMAL_COMMA = re.compile(r"(?<![\w.])([+-]?[0-9]+),([0-9]+)(?![\w.]*[(\w])")

GROUPS = (
    (frozenset({"ATOM", "IF", "$END", "COMMA", "DOT"}), "',' or '.'"),
    (frozenset({"ATOM", "TERM", "NOT"}), "a literal such as age(X,N) or N=<5"),
    (frozenset({"ATOM", "IF", "$END"}), "a rule such as 'reject(X) :- age(X,N), N<18.'"),
    (frozenset({"ATOM", "TERM"}), "an atom or a comparison"),
)


def unexpected_token(error: UnexpectedToken, text: str, *, goal: bool) -> RuleError:
    """Return the error for a token that stands where the grammar has no place for it."""
    token = error.token
    terminals = set(error.accepts or error.expected)
    expected = _expected(terminals)
    if goal and token.startswith(":-"):
        problem = "found ':-', but a goal is the body of a rule, without a head"
        return RuleError(problem, line=token.line or 1, column=token.column or 1, source=text)
    if token.type == "$END":
        lines = text.rstrip().split("\n")
        end = len(text.rstrip())
        hint = _comma_hint(text, end) or _name_hint(text, end, terminals)
        problem = f"expected {expected}, found the end of the text{hint}"
        return RuleError(problem, line=len(lines), column=len(lines[-1]) + 1, source=text)
    start = token.start_pos or 0
    hint = (
        _word_hint(token)
        or _mistake(text, start)
        or _comma_hint(text, start)
        or _underscore_hint(text, start)
        or _name_hint(text, start, terminals)
    )
    problem = f"expected {expected}, found '{shorten(token.strip())}'{hint}"
    return RuleError(problem, line=token.line or 1, column=token.column or 1, source=text)


def unexpected_characters(error: UnexpectedCharacters, text: str) -> RuleError:
    """Return the error for a character that starts no token."""
    offset = error.pos_in_stream or 0
    found = text[offset]
    if found == "'":
        problem = "this quoted name has no closing quote on its line"
    elif text.startswith("/*", offset):
        problem = "this comment has no closing '*/'"
    else:
        hint = _mistake(text, offset) or _head_hint(text, offset) or _dash_hint(text, offset)
        problem = f"found {found!r}, which has no place in a rule{hint}"
    return RuleError(problem, line=error.line, column=error.column, source=text)


def _expected(terminals: set[str]) -> str:
    known = {name for name in terminals if name in WORDS}
    phrases = []
    for group, phrase in GROUPS:
        if group <= known:
            known -= group
            phrases.append(phrase)
    phrases += [WORDS[name] for name in WORDS if name in known]
    return " or ".join(phrases) or "something else"


def _mistake(text: str, offset: int) -> str:
    """Return the hint for the longest known slip that covers a character."""
    slips = [
        wrong
        for wrong in MISTAKES
        for start in range(max(offset - len(wrong) + 1, 0), offset + 1)
        if text.startswith(wrong, start)
    ]
    return f" ({MISTAKES[max(slips, key=len)]})" if slips else ""


def _word_hint(found: str) -> str:
    """Return the hint for a word that stands in the place of a sign."""
    hint = MISTAKEN_WORDS.get(found.strip())
    return f" ({hint})" if hint else ""


def _head_hint(text: str, offset: int) -> str:
    """Return the hint for a dash or a colon right after what may be a head."""
    before = text[text.rfind("\n", 0, offset) + 1 : offset]
    slip = text[offset] in "-–—:" and HEAD.fullmatch(before)
    return f" ({MISTAKES[':=']})" if slip else ""


def _dash_hint(text: str, offset: int) -> str:
    """Return the hint for a dash within a name, or where a constraint might begin."""
    if text[offset] not in "-–—":
        return ""
    if not text[text.rfind("\n", 0, offset) + 1 : offset].strip():
        return " (a constraint begins with ':-')"
    within = text[offset - 1].isalnum() and text[offset + 1 : offset + 2].isalpha()
    return " (a name with a dash is written in single quotes)" if within else ""


def _comma_hint(text: str, offset: int) -> str:
    """Return what is wrong with a number that has a comma and at whose comma or end a character stands."""
    line = text.rfind("\n", 0, offset) + 1
    found = [each for each in DECIMAL_COMMA.finditer(text, line) if each.start() < offset]
    if not found or found[-1].end() < len(text[:offset].rstrip()):
        return ""
    whole, rest = found[-1].groups()
    if len(whole) > 20 or len(rest) > 20:
        return ""
    return f" ({comma_hint(whole, rest)})"


def _underscore_hint(text: str, offset: int) -> str:
    """Return how to write a number that is divided by underscores, at the first of which a character stands."""
    before = len(text[:offset]) - len(text[:offset].rstrip("0123456789"))
    after = UNDERSCORED.match(text, offset)
    if not before or not after or len(after[0]) > 20:
        return ""
    return (
        f" (write numbers without '_', {text[offset - before : offset]}{after[0].replace('_', '')})"
    )


def _name_hint(text: str, offset: int, terminals: set[str]) -> str:
    """Return what is wrong with a name: a capital without quotes, or an atom without its person."""
    if CAPITAL_PREDICATE.match(text, offset) or (
        terminals == {"COMPARATOR"} and text.startswith("(", offset)
    ):
        return " (a name with a capital is written in single quotes)"
    alone = None
    if terminals == {"COMPARATOR"}:
        alone = LAST_NAME.search(text, max(text.rfind("\n", 0, offset), offset - 100, 0), offset)
    elif "IF" in terminals and "COMMA" not in terminals:
        alone = NAME.match(text, offset)
    return f" (an atom names the person, as in {shorten(alone[1])}(X))" if alone else ""
