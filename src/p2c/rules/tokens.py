r"""The tokens of the rule language as regular expressions, the larger made of the smaller.

A body without fault or comment is one token from `:-` to the full stop, and an atom on one line is one: a token less is
time less. Every other body is read piece by piece, so that its fault is found where it stands.

They are put together here and not in the grammar: of tokens made of tokens, Lark measures every alternative, which takes
it as long as all the rest.
"""

from __future__ import annotations

VARIABLE = r"[A-Z_]\w*"
NAME = r"(?!not\b)[^\W\dA-Z_]\w*"
NUMBER = r"[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
QUOTED = r"'(?:[^'\\\n]|''|\\[^\n])*'"
COMPARATOR = r"(?:=<|>=|\\=|<|>|=)"
TERM = rf"(?:{VARIABLE}|{NUMBER}|{NAME}|{QUOTED})"
PREDICATE = rf"(?:{NAME}|{QUOTED})"
ATOM = rf"{PREDICATE}[ \t]*\([ \t]*{TERM}(?:[ \t]*,[ \t]*{TERM})*[ \t]*\)"
PLAIN = rf"(?:{ATOM}|{TERM}\s*{COMPARATOR}\s*{TERM})"
LITERAL = rf"(?:{PLAIN}|not\b\s*{PLAIN}|not\b\s*\(\s*{PLAIN}\s*\))"
WHOLE_BODY = rf":-\s*{LITERAL}(?:\s*,\s*{LITERAL})*\s*\.(?![0-9])"

TOKENS = {
    "WHOLE_BODY.4": WHOLE_BODY,
    "ATOM.3": ATOM,
    "PREDICATE.2": rf"{PREDICATE}\s*\(",
    "TERM": TERM,
    "COMPARATOR": COMPARATOR,
}
"""The tokens that the grammar names, with their precedence where several fit."""


def token_rules() -> str:
    """Return the tokens as rules of a grammar."""
    return "\n".join(f"{name}: /{pattern}/" for name, pattern in TOKENS.items())
